"""What a lane can and cannot conclude, said before any curve."""

from __future__ import annotations

import json
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

__all__ = ["Conclusion", "conclude_lane", "conclude_systems"]

_NEVER = "That {} learned: it is a baseline, {}."
_ONE_ARM = (
    "What was learned: without both arms, taught and control, nothing tells it from what the "
    "system says anyway."
)
_ALONE = (
    "That anything was learned: parrot, the baseline that repeats the last correction, was not run "
    "beside it, and stands above its control too."
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
        The control first, then whether the system stands above it: the share of expected tokens in
        the last answer, taught minus control, paired by concept, with a floored *t* interval over
        concepts. Whether it *learned* needs the baselines beside it, see `conclude_systems`. It
        prints as sentences. With six concepts or fewer it says the direction, and no decimal.

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
        gap = difference_interval(
            of["taught"] - of["control"], confidence=float(summary.attrs["ci_prob"])
        )
        text, shown = _above_control("the system", *gap)
        (can if shown else cannot).append(text)
        figures["above control"] = _figure(*gap)
        name = identity_name(summary)
        cannot.append(_NEVER.format(name, BASELINES[name]) if name in BASELINES else _ALONE)
    else:
        cannot.append(_ONE_ARM)
    if nothing := nothing_taught(summary):
        cannot.append(f"Anything about learning: {nothing}.")
    cannot += [*_gate(summary), *_lost(summary)]
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
        The controls, then a sentence a system. A system has learned where it stands above its
        control, and farther than each baseline among the systems: parrot, which has to be one of
        them, and blank. A baseline never has.

    Raises
    ------
    DatasetError
        If it is no summary of systems.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("grounded", "parrot")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> cc.conclude_systems(cc.compare_systems(runs)).can[1][-42:]
    ', and above parrot: that grounded learned.'
    """
    summary = check_summary(summary, "systems", "a Dataset of compare_systems")
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
    baselines = summary.baseline.values.tolist() if "baseline" in summary else []
    names = {str(name): str(json.loads(summary.attrs["identities"])[str(name)]["name"])
             for name in summary.system.values}  # fmt: skip
    compared = "above_control" in summary
    for system, name in names.items() if compared else ():
        last = summary.sel(system=system).isel(k=-1)
        gap = (float(last.above_control), *last.above_control_ci.values, n)
        figures[f"{system} above control"] = _figure(*gap)
        beside = {}
        if system not in baselines:
            for other in baselines:
                one = last.sel(baseline=other)
                beside[other] = (float(one.above_baseline), *one.above_baseline_ci.values, n)
                figures[f"{system} above {other}"] = _figure(*beside[other])
        text, shown = _above_control(system, *gap)
        over = [other for other, one in beside.items() if one[1] > 0]
        under = [other for other in beside if other not in over]
        if shown and gap[1] > 0 and "parrot" in map(names.get, over) and not under:
            text = f"{text[:-1]}, and above {' and '.join(over)}: that {system} learned."
        (can if shown else cannot).append(text)
        if name in BASELINES:
            cannot.append(_NEVER.format(system, BASELINES[name]))
        elif under:
            cannot.append(_not_above(system, {other: beside[other] for other in under}))
    if not compared:
        cannot.append(_ONE_ARM)
    elif "parrot" not in names.values():
        cannot.append(_ALONE)
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


def _above_control(who: str, mean: float, low: float, high: float, n: int) -> tuple[str, bool]:
    """The sentence, and whether it is a conclusion."""
    over = f"over {counted(n, 'concept')}"
    if np.isnan(low):
        return f"Whether {who} stands above its control: {over}, there is no interval.", False
    figure = _shown("taught − control", mean, low, high, n)
    if low > 0:
        return f"That {who} stands above its control{figure}, {over}.", True
    if high < 0:
        return f"That {who} says less when it is taught{figure}, {over}.", True
    return (
        f"Whether {who} stands above its control{figure}, {over}: the interval holds zero.",
        False,
    )


def _not_above(who: str, others: Mapping[str, tuple[float, ...]]) -> str:
    shown = [
        other + _shown(f"{who} − {other}, each above its control", *gap)
        for other, gap in others.items()
    ]
    n = int(next(iter(others.values()))[-1])
    over = f"over {counted(n, 'concept')}"
    return f"Whether {who} learned: it is not shown to stand above {' and '.join(shown)}, {over}."


def _shown(what: str, mean: float, low: float, high: float, n: float) -> str:
    if n <= FEW or np.isnan(low):
        return ""
    return f" ({what}: {with_interval(mean, [low, high], 2, sign=True)} of the tokens)"


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


def _limits(n: int) -> list[str]:
    found = []
    if n <= FEW:
        found.append(f"A size: {counted(n, 'concept')}: a direction, not a decimal place.")
    found.append(
        "Understanding: a hit is a word in an answer. Nor is anything shown about other concepts "
        "than those drawn here, combination, other domains, or the cost of a growing memory."
    )
    return found
