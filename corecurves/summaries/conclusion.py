"""What a lane can and cannot conclude, said before any curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.errors import DatasetError
from corecurves.markup import FIGURES, Html, box, item_list, paragraph
from corecurves.stats import difference_interval
from corecurves.summaries.figures import FEW, number, with_interval
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Conclusion", "conclude_lane", "conclude_systems"]


@dataclass(frozen=True)
class Conclusion:
    """Sentences on what a run shows, and on what it does not.

    Parameters
    ----------
    about : str
        What it is over.
    can, cannot : tuple of str
        The sentences, the control's first.
    figures : mapping of str to str
        Key figures, which the index of a sweep sets beside those of other runs.
    """

    about: str
    can: tuple[str, ...]
    cannot: tuple[str, ...]
    figures: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [self.about, "can be concluded:", *(f"  {text}" for text in self.can)]
        return "\n".join([*lines, "cannot be concluded:", *(f"  {text}" for text in self.cannot)])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {FIGURES: dict(self.figures)}

    def _repr_html_(self) -> str:
        can = item_list(self.can) or paragraph("Nothing.")
        return box(
            self.about,
            Html('<p style="margin:.6em 0 0">Can be concluded</p>'),
            can,
            Html('<p style="margin:.6em 0 0">Cannot be concluded</p>'),
            item_list(self.cannot),
        )


def conclude_lane(summary: xr.Dataset) -> Conclusion:
    """What the curves of one system show, and what they do not.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    Conclusion
        The control first, then what was learned over it: the share of expected tokens in the last
        answer, taught minus control, paired by concept, with a floored *t* interval over concepts.
        It prints as sentences. With six concepts or fewer it says the direction, and no decimal.

    Raises
    ------
    DatasetError
        If it is no lane summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> cc.conclude_lane(summary).can[0]
    'Untaught (control), the last answer holds none of the expected tokens, over 3 concepts.'
    """
    if getattr(summary, "attrs", {}).get("summary_of") != "lane":
        raise DatasetError("a Dataset of summarize_lane is needed")
    arms = [str(arm) for arm in summary.arm.values]
    inside = summary.contract.values == (summary.attrs.get("aggregates_over") == "contract")
    scores = summary.saturation_score.mean("sample").isel(concept=np.flatnonzero(inside))
    of = {arm: scores.sel(arm=arm).values.astype(float) for arm in arms}
    can: list[str] = []
    cannot = _simulated(summary)
    figures = {"gate": str(summary.gate.item())}
    for arm in sorted(arms):
        who = "Untaught (control)" if arm == "control" else "Taught"
        can += [_last_answer(who, of[arm])]
    if {"taught", "control"} <= set(arms):
        learned = difference_interval(
            of["taught"] - of["control"], confidence=float(summary.attrs["ci_prob"])
        )
        text, shown = _learned("the system", *learned)
        (can if shown else cannot).append(text)
        figures["learned"] = _figure(*learned)
    else:
        cannot.append(
            "What was learned: without both arms, taught and control, nothing tells it from what "
            "the system says anyway."
        )
    cannot += [*_gate(str(summary.gate.item())), *_lost(summary)]
    taught = of.get("taught", of[arms[0]])
    cannot += _limits(int(np.isfinite(taught).sum()))
    return Conclusion(_about(summary, int(inside.sum())), tuple(can), tuple(cannot), figures)


def conclude_systems(summary: xr.Dataset) -> Conclusion:
    """Which of the compared systems learned, and what the comparison does not show.

    Parameters
    ----------
    summary : Dataset
        From `compare_systems`.

    Returns
    -------
    Conclusion
        The controls, then a sentence a system. A system has learned where the interval of what it
        learned lies above zero.

    Raises
    ------
    DatasetError
        If it is no summary of systems.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("grounded", "blank")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> cc.conclude_systems(cc.compare_systems(runs)).can[1:]
    ('That grounded learned, over 3 concepts.',)
    """
    if getattr(summary, "attrs", {}).get("summary_of") != "systems":
        raise DatasetError("a summary of systems is needed: what compare_systems returns")
    n = int(summary.used.sum())
    can: list[str] = []
    cannot = _simulated(summary)
    figures = {}
    if "control" in summary.arm.values:
        shares = summary.share_of.sel(arm="control").isel(k=-1, concept=summary.used.values)
        said = (
            f"{one.system.item()} {_share(one.values)}" for one in shares.transpose("system", ...)
        )
        can.append(f"Untaught (control), of the expected tokens say: {', '.join(said)}.")
    for system in summary.system.values:
        last = summary.sel(system=system).isel(k=-1)
        low, high = last.learned_ci.values
        text, shown = _learned(str(system), float(last.learned), low, high, n)
        figures[f"{system} learned"] = _figure(float(last.learned), low, high, n)
        (can if shown else cannot).append(text)
    unused = summary.sizes["concept"] - n
    if unused:
        cannot.append(
            f"Anything about {counted(unused, 'concept')} without a result in every system and arm."
        )
    if bool(summary.replay_determinism.isnull().any()):
        cannot.append("Whether the points can be reproduced: replays were not compared.")
    cannot += _limits(n)
    about = f"{counted(summary.sizes['system'], 'system')}, {counted(n, 'concept')}"
    return Conclusion(about, tuple(can), tuple(cannot), figures)


def _about(summary: xr.Dataset, concepts: int) -> str:
    system = summary.attrs["system"]
    if summary.attrs.get("aggregates_over") != "contract":
        return f"{system}: {counted(concepts, 'concept')}"
    return f"{system}: {counted(concepts, 'concept')} that keep{'s' * (concepts == 1)} the contract"


def _last_answer(who: str, scores: np.ndarray) -> str:
    known = int(np.isfinite(scores).sum())
    if not known:
        return f"{who}, no last answer has a result."
    share = _share(scores)
    tokens = "all expected tokens" if share == "all" else f"{share} of the expected tokens"
    return f"{who}, the last answer holds {tokens}, over {counted(known, 'concept')}."


def _share(values: np.ndarray) -> str:
    """Mean share of tokens in words, or in whole percent where that many concepts support it."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "not known"
    if (known == 0).all():
        return "none"
    if (known == 1).all():
        return "all"
    return "some" if known.size <= FEW else f"{100 * known.mean():.0f} %"


def _learned(who: str, mean: float, low: float, high: float, n: int) -> tuple[str, bool]:
    """The sentence, and whether it is a conclusion."""
    over = f"over {counted(n, 'concept')}"
    if np.isnan(low):
        return f"Whether {who} learned: {over}, there is no interval.", False
    figure = ""
    if n > FEW:
        shown = with_interval(mean, [low, high], 2, sign=True)
        figure = f" (taught − control: {shown} of the tokens)"
    if low > 0:
        return f"That {who} learned{figure}, {over}.", True
    if high < 0:
        return f"That {who} says less when it is taught{figure}, {over}.", True
    return f"Whether {who} learned{figure}, {over}: the interval holds zero.", False


def _figure(mean: float, low: float, high: float, n: int) -> str:
    if n <= FEW:
        return "not known" if np.isnan(low) else "yes" if low > 0 else "not shown"
    return with_interval(mean, [low, high], 2, sign=True)


def _simulated(summary: xr.Dataset) -> list[str]:
    said = str(summary.attrs.get("simulated", "no"))
    if said in ("no", ""):
        return []
    which = "this one" if said == "yes" else said
    return [f"Anything about a real model: SIMULATED is {which}."]


def _gate(gate: str) -> list[str]:
    if gate == "passed":
        return []
    if gate == "failed":
        return ["Anything from these curves: too few snapshots can be reproduced (gate: failed)."]
    return ["Whether the points can be reproduced: replays were not compared."]


def _lost(summary: xr.Dataset) -> list[str]:
    found = []
    for arm in summary.arm.values:
        one = summary.sel(arm=arm)
        failed = int(one.cells_failed)
        if failed:
            low, high = (number(bound, 2) for bound in one.saturation_rate_bounds.values)
            found.append(
                f"What {failed} of {counted(one.cells_planned, 'snapshot')} of {arm} would have "
                f"said; they have no result, so the saturation rate lies from {low} to {high}."
            )
    return found


def _limits(n: int) -> list[str]:
    found = []
    if n <= FEW:
        found.append(f"A size: {counted(n, 'concept')}: a direction, not a decimal place.")
    found.append(
        "Understanding: a hit is a word in an answer. Nor is anything shown about other concepts "
        "than those drawn here, combination, other domains, or the cost of a growing memory."
    )
    return found
