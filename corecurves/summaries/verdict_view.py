"""A verdict as a notebook shows it: the word, why, and each level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.markup import Html, badge, box, item_list, paragraph, table
from corecurves.summaries.verdict_text import kept_and_lost, lift_line, terms

if TYPE_CHECKING:
    from corecurves.summaries.verdict_types import Verdict

__all__ = ["verdict_figures", "verdict_html"]

_COLOURS = {
    "holds": "good",
    "degrades within margin": "open",
    "refuted": "bad",
    "inconclusive": "open",
    "untestable": "plain",
}


def verdict_html(found: Verdict) -> Html:
    """What can and cannot be concluded.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> "planted, no part of the thesis" in verdict_html(cc.verdict(ds))
    True
    """
    lift = lift_line(found)
    rows = (
        (
            one.level,
            badge(one.verdict, _COLOURS[one.verdict]),
            one.reason,
            "–" if one.token_ratio != one.token_ratio else f"{100 * one.token_ratio:.0f} %",
            kept_and_lost(one),
        )
        for one in found.levels
    )
    header = ["level", "verdict", "why", "tokens of L0", "episodes"]
    return box(
        Html(f"Thesis: {badge(found.thesis, _COLOURS[found.thesis])}"),
        paragraph(terms(found), quiet=True),
        item_list([*found.reasons, *([lift] if lift else [])]),
        table(header, rows) if found.levels else "",
        item_list(f"planted, no part of the thesis: {one.reason}" for one in found.planted),
        item_list(f"note: {text}" for text in found.notes),
    )


def verdict_figures(found: Verdict) -> dict[str, str]:
    """Key figures, which the index of a sweep sets beside those of other runs.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> list(verdict_figures(cc.verdict(ds)))[:2]
    ['thesis', 'lift']
    """
    lift = lift_line(found).removeprefix("Lift of the full lesson: ").removesuffix(".")
    levels = {one.level: one.verdict for one in found.levels}
    thesis = found.thesis
    if any(reason.startswith("SIMULATED") for reason in found.reasons):
        thesis += " (SIMULATED)"
    return {"thesis": thesis, **({"lift": lift} if lift else {}), **levels}
