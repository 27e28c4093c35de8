"""What a lane can and cannot conclude, said before any curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.engine.dataset import check_summary
from corecurves.markup import FIGURES, Html, box, item_list, paragraph
from corecurves.stats import difference_interval
from corecurves.summaries.figures import FEW, number, with_interval
from corecurves.summaries.refusals import nothing_taught
from corecurves.summaries.systems import identity_name
from corecurves.systems.baselines import BASELINES
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "ALONE",
    "NEVER",
    "ONE_ARM",
    "Conclusion",
    "above_control_text",
    "conclude_lane",
    "figure_text",
    "gap_text",
    "limits",
    "share_text",
    "simulated_text",
]

NEVER = "That {} learned: it is a baseline, {}."
ONE_ARM = (
    "What was learned: without both arms, taught and control, nothing tells it from what the "
    "system says anyway."
)
ALONE = (
    "That anything was learned: parrot, the baseline that repeats the last correction, was not run "
    "beside it, so learning cannot be told from repeating."
)


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
        can = self.can or ("Nothing.",)
        lines = [self.about, "can be concluded:", *(f"  {text}" for text in can)]
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
        The control first, then whether the system stands above it: the share of expected tokens in
        the last answer, taught minus control, paired by concept, with a floored *t* interval over
        concepts. Whether it *learned* needs the baselines beside it, see `conclude_systems`. Where
        the gate failed, nothing is concluded. It prints as sentences. With six concepts or fewer it
        says the direction, and no decimal.

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
    summary = check_summary(summary, "lane", "a Dataset of summarize_lane")
    figures = {"gate": str(summary.gate.item())}
    cannot = simulated_text(summary)
    if figures["gate"] == "failed":
        cannot += [*_gate(summary), *_lost(summary)]
        return Conclusion(_about(summary), (), tuple(cannot), figures)
    arms = [str(arm) for arm in summary.arm.values]
    inside = _inside(summary)
    scores = summary.saturation_score.mean("sample").isel(concept=np.flatnonzero(inside))
    of = {arm: scores.sel(arm=arm).values.astype(float) for arm in arms}
    can: list[str] = []
    for arm in sorted(arms):
        who = "Untaught (control)" if arm == "control" else "Taught"
        can += [_last_answer(who, of[arm])]
    if {"taught", "control"} <= set(arms):
        gap = difference_interval(
            of["taught"] - of["control"], confidence=float(summary.attrs["ci_prob"])
        )
        text, shown = above_control_text("the system", *gap)
        (can if shown else cannot).append(text)
        figures["above control"] = figure_text(*gap)
        name = identity_name(summary)
        cannot.append(NEVER.format(name, BASELINES[name]) if name in BASELINES else ALONE)
    else:
        cannot.append(ONE_ARM)
    if nothing := nothing_taught(summary):
        cannot.append(f"Anything about learning: {nothing}.")
    cannot += [*_gate(summary), *_lost(summary)]
    taught = of.get("taught", of[arms[0]])
    cannot += limits(int(np.isfinite(taught).sum()))
    return Conclusion(_about(summary), tuple(can), tuple(cannot), figures)


def _inside(summary: xr.Dataset) -> np.ndarray:
    """Which concepts the aggregates are over."""
    inside: np.ndarray = summary.contract.values == (
        summary.attrs.get("aggregates_over") == "contract"
    )
    return inside


def _about(summary: xr.Dataset) -> str:
    concepts = int(_inside(summary).sum())
    system = summary.attrs["system"]
    if summary.attrs.get("aggregates_over") != "contract":
        return f"{system}: {counted(concepts, 'concept')}"
    return f"{system}: {counted(concepts, 'concept')} that keep{'s' * (concepts == 1)} the contract"


def _last_answer(who: str, scores: np.ndarray) -> str:
    known = int(np.isfinite(scores).sum())
    if not known:
        return f"{who}, no last answer has a result."
    share = share_text(scores)
    tokens = "all expected tokens" if share == "all" else f"{share} of the expected tokens"
    return f"{who}, the last answer holds {tokens}, over {counted(known, 'concept')}."


def share_text(values: np.ndarray) -> str:
    """Mean share of tokens in words, or in whole percent where that many concepts support it."""
    known = values[np.isfinite(values)]
    if not known.size:
        return "not known"
    if (known == 0).all():
        return "none"
    if (known == 1).all():
        return "all"
    return "some" if known.size <= FEW else f"{100 * known.mean():.0f} %"


def above_control_text(who: str, mean: float, low: float, high: float, n: int) -> tuple[str, bool]:
    """The sentence, and whether it is a conclusion."""
    over = f"over {counted(n, 'concept')}"
    if np.isnan(low):
        return f"Whether {who} stands above its control: {over}, there is no interval.", False
    figure = gap_text("taught − control", mean, low, high, n)
    if low > 0:
        return f"That {who} stands above its control{figure}, {over}.", True
    if high < 0:
        return f"That {who} says less when it is taught{figure}, {over}.", True
    return (
        f"Whether {who} stands above its control{figure}, {over}: the interval holds zero.",
        False,
    )


def gap_text(what: str, mean: float, low: float, high: float, n: float) -> str:
    """A difference in brackets; nothing where it is over few concepts."""
    if n <= FEW or np.isnan(low):
        return ""
    return f" ({what}: {with_interval(mean, [low, high], 2, sign=True)} of the tokens)"


def figure_text(mean: float, low: float, high: float, n: int) -> str:
    """A difference as a key figure."""
    if n <= FEW:
        return "not known" if np.isnan(low) else "yes" if low > 0 else "not shown"
    return with_interval(mean, [low, high], 2, sign=True)


def simulated_text(summary: xr.Dataset) -> list[str]:
    """What a simulation says nothing about."""
    said = str(summary.attrs.get("simulated", "no"))
    if said in ("no", ""):
        return []
    which = "this one" if said == "yes" else said
    return [f"Anything about a real model: SIMULATED is {which}."]


def _gate(summary: xr.Dataset) -> list[str]:
    gate = summary.gate.item()
    if gate == "failed":
        why = "too few snapshots can be reproduced"
        if failed := int(summary.replay_failed):
            why = (
                f"{failed} of {counted(summary.replay_planned, 'snapshot')} have no full result "
                f"({summary.replay_causes.item()}), so {why}"
            )
        return [f"Anything from these curves: {why} (gate: failed)."]
    if gate == "not measured":
        return ["Whether the points can be reproduced: replays were not compared."]
    if summary.attrs.get("replay_process") == "same process":
        return [
            "Whether another interpreter reproduces the points: replays ran in the same process."
        ]
    return []


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


def limits(n: int) -> list[str]:
    """What so many concepts, and hits of words, never show."""
    found = []
    if n <= FEW:
        found.append(f"A size: {counted(n, 'concept')}: a direction, not a decimal place.")
    found.append(
        "Understanding: a hit is a word in an answer. Nor is anything shown about other concepts "
        "than those drawn here, combination, other domains, or the cost of a growing memory."
    )
    return found
