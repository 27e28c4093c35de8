"""What the recall score cannot see: lessons that no prompt reaches, and what one prompt gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.run import LedgerChoice
from corecurves.errors import UsageError
from corecurves.recall.material import Material, read_material
from corecurves.recall.pack import BELOW, OVER
from corecurves.recall.run import prepare, run_design
from corecurves.specs import Store
from corecurves.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["explain_recall", "run_coverage"]

NEVER = "never a candidate"
OUTRANKED = "always outranked"
OVER_BUDGET = "over budget"
REJECTED = "always below the threshold"


def run_coverage(
    store: str | Path | Store = "demo_store",
    selector: object = "bm25",
    *,
    probes: Sequence[str] | Mapping[str, str] | None = None,
    pool: int | None = None,
    threshold: float | None = None,
    max_pack_tokens: int | None = None,
    samples: int = 1,
    seed: int = 0,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Every lesson of a store, and whether any prompt reaches it.

    Precision and recall are over candidates that were considered; a lesson that is never considered
    is in neither.

    Parameters
    ----------
    store, selector
        See `run_recall_eval`.
    probes : sequence or mapping of str, optional
        Prompts; those of all recorded episodes by default, whatever else is known of these.
    pool, threshold, max_pack_tokens, samples, seed, max_concurrency, ledger, progress
        See `run_recall_eval`.

    Returns
    -------
    DataFrame
        One row a lesson (an L0), the unreachable ones first: ``reached`` (probes that serve it in
        any of its forms), ``reason`` (empty where it is reached), ``why``, ``form``, ``tokens``,
        ``best_rank`` and ``best_score``; ``undecided`` counts probes of which failed calls leave it
        open, and ``best_rank`` is over those with a score for every candidate. Reasons: *not known*
        (it is open, and no other probe reaches it), *never a candidate*, *over budget* (alone it
        exceeds the budget), *always below the threshold*, *always outranked* (others took the
        budget, each time). ``attrs`` hold what was asked.

    Raises
    ------
    UsageError
        If an argument is wrong, or there is no prompt.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> table = cc.run_coverage("demo_store", "bm25", ledger=False, progress=False)
    >>> table.reason.iloc[-1]
    ''
    """
    import pandas as pd

    material = read_material(store, whole_store=True)
    asked = _named(material.probes if probes is None else probes)
    design = prepare(
        material, selector, whole_store=True, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, samples=samples, seed=seed, probes=asked,
    )  # fmt: skip
    ds = run_design(design, None, max_concurrency, ledger, False, progress)
    rows = [_row(key, material, ds, max_pack_tokens) for key in sorted(_lessons(material))]
    table = pd.DataFrame(rows).set_index("lesson")
    table = table.sort_values(["reached", "reason"], kind="stable")
    table.attrs = {
        "store": material.store.name,
        "selector": str(ds.attrs["selector"]),
        "threshold": float(ds.attrs["threshold"]),
        "max_pack_tokens": ds.attrs["max_pack_tokens"],
        "probes": len(asked),
        "failed": int(((ds.status != "ok") & (ds.status != "")).sum()),
    }
    return table


def explain_recall(
    store: str | Path | Store,
    prompt: str,
    selector: object = "bm25",
    *,
    pool: int | None = None,
    threshold: float | None = None,
    max_pack_tokens: int | None = None,
    seed: int = 0,
    ledger: LedgerChoice = False,
) -> pd.DataFrame:
    """What would be served for a prompt today, and why.

    Parameters
    ----------
    store
        See `run_recall_eval`.
    prompt : str
        The prompt.
    selector, pool, threshold, max_pack_tokens, seed, ledger
        See `run_recall_eval`.

    Returns
    -------
    DataFrame
        One row a candidate of the whole store, best first: ``score`` (NaN where the selector is
        silent or failed), ``tokens``, ``served``, ``decision``, and what the selector says.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> table = cc.explain_recall("demo_store", "The disk is full of logs.")
    >>> table.index[0], table.decision.iloc[0]
    ('truncate-open-log.l2', 'kept')
    """
    import pandas as pd

    if not prompt.strip():
        raise UsageError("the prompt is empty; give what would be asked")
    design = prepare(
        store, selector, whole_store=True, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, seed=seed, probes={"prompt": prompt},
    )  # fmt: skip
    ds = run_design(design, None, 1, ledger, True, False).isel(episode=0, sample=0)
    shown = ds.sel(lesson=list(design.probes[0].candidates))
    table = pd.DataFrame(
        {
            "lesson": shown.lesson.values,
            "score": shown.score.values,
            "tokens": shown.lesson_tokens.values.astype(int),
            "served": shown.kept.values == 1,
            "decision": np.where(
                shown.status.values == "ok", shown.decision.values, shown.status.values
            ),
            "says": shown.reason.values,
        }
    ).set_index("lesson")
    return table.sort_values("score", ascending=False, kind="stable", na_position="last")


def _named(probes: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(probes, str):
        probes = [probes]
    named = (
        dict(probes)
        if isinstance(probes, Mapping)
        else {f"probe{i + 1}": text for i, text in enumerate(probes)}
    )
    if not named:
        raise UsageError("there is no probe; give prompts, or a store whose episodes have some")
    return {str(key): str(text) for key, text in named.items()}


def _lessons(material: Material) -> list[str]:
    """Every L0 of the store, those that are left out of evaluations among them."""
    return [key for key, piece in material.pieces.items() if piece.level == 0]


def _row(
    key: str, material: Material, ds: xr.Dataset, budget: int | None
) -> dict[str, str | int | float]:
    piece = material.pieces[key]
    forms = [form for form in material.forms.get(key, ()) if form in ds.lesson.values]
    row: dict[str, str | int | float] = {
        "lesson": key, "family": piece.family, "form": forms[0] if forms else "", "reached": 0,
        "reason": NEVER, "why": "", "tokens": piece.tokens, "best_rank": np.nan,
        "best_score": np.nan, "undecided": 0,
    }  # fmt: skip
    if not material.forms.get(key):
        row["why"] = f"its status is {piece.status}"
        return row
    if not forms:
        row["why"] = "no probe's pool holds it"
        return row
    own = ds.sel(lesson=forms)
    row["tokens"] = int(material.pieces[forms[0]].tokens)
    served = (own.kept == 1).any(["lesson", "sample"])
    failed = (own.kept.isnull() & (own.status != "")).any(["lesson", "sample"])
    row["reached"], row["undecided"] = int(served.sum()), int((failed & ~served).sum())
    # Where a call failed, whoever it was about may stand ahead.
    whole = ds.status.isin(("ok", "")).all("lesson")
    ahead = [(ds.score > ds.score.sel(lesson=form)).sum("lesson") for form in forms]
    ranks = [float(n.where(whole & ds.score.sel(lesson=f).notnull()).min()) + 1
             for n, f in zip(ahead, forms, strict=True)]  # fmt: skip
    row["best_rank"] = min((rank for rank in ranks if rank == rank), default=np.nan)
    row["best_score"] = float(own.score.max())
    if row["reached"]:
        row["reason"] = ""
        return row
    decisions = own.decision.values[own.status.values != ""].tolist()
    if budget is not None and all(material.pieces[form].tokens > budget for form in forms):
        row["reason"] = OVER_BUDGET
        row["why"] = f"{row['tokens']} tokens, the budget is {budget}"
    elif row["undecided"]:
        n = ds.sizes["episode"]
        row["reason"] = "not known"
        row["why"] = f"calls failed for {row['undecided']} of {counted(n, 'probe')}"
    elif set(decisions) <= {BELOW, ""}:
        row["reason"] = REJECTED
        row["why"] = f"best score {row['best_score']:.3g}, the threshold is " \
                     f"{float(ds.attrs['threshold']):.3g}"  # fmt: skip
    else:
        others = [d for d in decisions if d not in (BELOW, OVER, "")]
        row["reason"] = OUTRANKED
        row["why"] = f"above the threshold for {len(others)}, each time others took the budget"
    return row
