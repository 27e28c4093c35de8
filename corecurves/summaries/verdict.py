"""Whether transfer stays while tokens fall: a verdict on each level, and on the thesis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.arguments import finite
from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError
from corecurves.specs import SIMULATED
from corecurves.stats import holm, independent_units, p_below, units_to_decide, units_to_hold
from corecurves.stats.rates import check_confidence
from corecurves.summaries import rose_units as over
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.rose_cells import CEILING, CONTROL, FULL, NO_LESSON, TREATMENT
from corecurves.summaries.rose_leaks import leaks_line, nothing_left
from corecurves.summaries.verdict_text import FEW, level_reason, planted_reason, thesis_reasons
from corecurves.summaries.verdict_types import LevelVerdict, PlantedCheck, Verdict
from corecurves.text import counted

__all__ = ["LevelVerdict", "PlantedCheck", "Verdict", "verdict"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def verdict(ds: xr.Dataset, *, margin: float = 0.1, confidence: float = 0.95) -> Verdict:
    """Verdict on whether shorter levels still transfer.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` or `summarize_rose`.
    margin : float
        Loss of transfer that is tolerated, between 0 and 0.5.
    confidence : float
        Coverage of the intervals that decide.

    Returns
    -------
    Verdict
        It prints as sentences.

    Raises
    ------
    DatasetError
        If `ds` is neither.
    ValueError
        If `margin` is not above 0 and below 0.5, or `confidence` not between 0 and 1.

    Notes
    -----
    Each level is compared with L0 on the same episodes. It *holds* when the interval's lower end is
    above -margin and tokens fall, *degrades within margin* when besides the upper end is below 0,
    is *refuted* when the upper end is below -margin, *untestable* unless the lower end of its
    lessons' lift is at least twice the margin, and *inconclusive* otherwise.

    A cell without a result is unknown. What is concluded must stay so with the least favourable
    results in their place, one by one for each condition above: the change with those that L0 and
    the level fail to give, the lift with those of L0 and of no lesson, and with the lessons that
    were left out for want of a result. Else the level is *inconclusive*, and says so.

    The thesis is refuted when a level is, after Holm over the levels; it holds when every level
    does, for which no correction is needed; it degrades within margin when every level is within
    and one degrades. Where a level could not be run, for every held-out episode leaked into it,
    it can only be refuted. Levels whose loss was planted by hand check the instrument and are no
    part of it. It is about the levels that a compressor made; where none was, about the
    hand-written ones, and it says so.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> str(cc.verdict(ds)).split(":")[0]
    'thesis'
    """
    check_confidence(confidence)
    margin = finite("margin", margin, above=0, below=0.5)
    attrs = getattr(ds, "attrs", {})
    if attrs.get("summary_of") == "rose":
        summary = in_memory(ds)
    elif attrs.get("question") == "rose":
        summary = summarize_rose(ds, confidence=confidence)
    else:
        raise DatasetError("a rose Dataset of run_rose_eval or summarize_rose is needed")
    lessons, episodes = _size(summary)
    few = episodes <= FEW
    drawn = [str(name) for name in summary.level.values[summary.drawn.values]]
    lifts = _episode_lifts(summary)
    common = summary.in_part.sel(part="all").values.any(axis=1)
    lift = over.difference(lifts[common], confidence)
    levels = tuple(
        replace(one, reason=level_reason(one, margin, few))
        for one in (_level(summary, name, lifts, margin, confidence) for name in drawn)
        # Where passes are known, a level of which every cell failed is a level all the same.
        if one.lessons or (one.unjudged and not np.isnan(lift.value))
    )
    planted = tuple(
        replace(one, reason=planted_reason(one, few))
        for name in drawn
        if (one := _planted(summary, name, confidence)).lessons
    )
    lift_is_high = lift.lower >= 2 * margin
    planned = summary.planned_in_part.sel(part="all").values.any(axis=1)
    lift_unjudged: tuple[str, ...] = ()
    if lift_is_high and not _lift(summary, planned, confidence).lower >= 2 * margin:
        lift_unjudged = _unjudged(summary, planned, (FULL, NO_LESSON))
    gone = nothing_left(summary)
    thesis = _thesis(levels, lift_is_high, (1 - confidence) / 2)
    if lift_unjudged and thesis != "untestable":
        thesis = "inconclusive"
    elif gone and thesis in ("holds", "degrades within margin"):
        # It is about every level, and of these nothing is known.
        thesis = "inconclusive"
    about = str(summary.attrs["thesis_about"])
    result = Verdict(
        thesis=thesis, about=about, levels=levels, planted=planted, lift=lift.value,
        lift_lower=lift.lower, lift_upper=lift.upper, margin=margin, confidence=confidence,
        lessons=lessons, episodes=episodes, direction_only=few, reasons=(),
        notes=_notes(summary, levels), nothing_left=gone, lift_unjudged=lift_unjudged,
    )  # fmt: skip
    simulated = summary.attrs.get("simulated") == "yes"
    shorter = not {NO_LESSON, FULL}.issuperset(map(str, summary.level.values))
    reasons = (f"{SIMULATED}.",) * simulated + thesis_reasons(result, shorter)
    return replace(result, reasons=reasons)


def _places(summary: xr.Dataset, name: str, level: str, arm: str) -> Floats:
    if arm not in summary.arm.values or level not in summary.level.values:
        return np.full(summary[name].isel(level=0, arm=0).shape, np.nan)
    found: Floats = summary[name].sel(level=level, arm=arm).values
    return found


def _episode_lifts(summary: xr.Dataset) -> Floats:
    ceiling = _places(summary, "episode_transfer", FULL, CEILING)
    return ceiling - _places(summary, "episode_transfer", NO_LESSON, CONTROL)


def _filled(summary: xr.Dataset, level: str, arm: str) -> tuple[Floats, Floats]:
    """Transfer of each episode if all its unjudged cells had failed, and if they had passed."""
    ends = _places(summary, "episode_transfer_bounds", level, arm)
    return ends[..., 0], ends[..., 1]


def _lift(summary: xr.Dataset, lessons: Flags, confidence: float) -> over.Estimate:
    """Lift with the least favourable results where there is none."""
    worst = _filled(summary, FULL, CEILING)[0] - _filled(summary, NO_LESSON, CONTROL)[1]
    return over.difference(worst[lessons], confidence)


def _changes(summary: xr.Dataset, level: str, lessons: Flags) -> tuple[Floats, Floats]:
    """Changes of the episodes with the least and with the most favourable results."""
    full, short = _filled(summary, FULL, CEILING), _filled(summary, level, TREATMENT)
    return (short[0] - full[1])[lessons], (short[1] - full[0])[lessons]


def _unjudged(summary: xr.Dataset, lessons: Flags, levels: tuple[str, ...]) -> tuple[str, ...]:
    """How many cells have no result, at each level where any has none."""
    found = []
    for level in levels:
        arm = {FULL: CEILING, NO_LESSON: CONTROL}.get(level, TREATMENT)
        counts = (
            np.nan_to_num(_places(summary, name, level, arm)[lessons]).sum()
            for name in ("episode_unjudged", "episode_planned")
        )
        failed, planned = (int(count) for count in counts)
        if failed:
            place = "without a lesson" if level == NO_LESSON else f"at {level}"
            found.append(f"{failed} of {counted(planned, 'cell')} {place}")
    return tuple(found)


def _size(summary: xr.Dataset) -> tuple[int, int]:
    """Lessons that the verdict is over, and their episodes, each once."""
    drawn = summary.sel(level=summary.drawn.values)
    counts = drawn.in_part.sel(part="all").transpose("concept", "level").values[:, None, :]
    changes = drawn.episode_change.transpose("concept", "episode", "level").values
    over_these = (counts & ~np.isnan(changes)).any(axis=2)
    names = summary.episode_id.values[over_these]
    return int(over_these.any(axis=1).sum()), len(set(names.tolist()))


def _level(
    summary: xr.Dataset, level: str, lifts: Floats, margin: float, confidence: float
) -> LevelVerdict:
    one = summary.sel(kind="all", part="thesis", level=level)
    lessons, planned = one.in_part.values, one.planned_in_part.values
    changes = one.episode_change.values[lessons]
    change = over.change(changes, confidence)
    lift_lower = over.difference(lifts[lessons], confidence).lower
    ratio = float(one.token_ratio)
    kind = as_judged = _judge(change.lower, change.upper, lift_lower, ratio, margin)
    units = independent_units(changes)
    unjudged = _unjudged(summary, planned, (level, FULL, NO_LESSON))
    best = units.values
    if unjudged:
        worst, favourable = _changes(summary, level, planned)
        best = independent_units(favourable).values
        lower = min(change.lower, over.change(worst, confidence).lower)
        upper = over.change(favourable, confidence).upper
        if as_judged == "holds":  # a loss within the margin is no objection to it
            upper = change.upper
        lift = _lift(summary, planned, confidence).lower
        if kind != "untestable" and kind != _judge(lower, upper, lift, ratio, margin):
            kind = "inconclusive"
    needed: tuple[int | None, int | None] = (None, None)
    if kind == as_judged == "inconclusive" and ratio < 1 and len(units.values) > 1:
        count = units_to_decide(units.values, margin=margin, confidence=confidence).units
        per_unit = units.episodes / len(units.values)
        if count is not None:
            needed = (1 if units.kind == "episode" else count, round(count * per_unit))
    p = 1.0 if kind != as_judged else p_below(best, -margin) if len(best) > 1 else np.nan
    return LevelVerdict(
        level, kind, change.value, change.lower, change.upper, lift_lower, p, ratio,
        change.unit, change.lessons, change.episodes, int(one.episodes_kept),
        int(one.episodes_lost), int(one.episodes_gained), int(one.episodes_failed_at_both),
        int(one.episodes_undecided), *needed, as_judged, unjudged,
        units_to_hold(margin, confidence=confidence),
    )  # fmt: skip


def _judge(lower: float, upper: float, lift_lower: float, ratio: float, margin: float) -> str:
    if not lift_lower >= 2 * margin:
        return "untestable"
    if upper < -margin:
        return "refuted"
    if lower > -margin and ratio < 1:
        return "degrades within margin" if upper < 0 else "holds"
    return "inconclusive"


def _thesis(levels: tuple[LevelVerdict, ...], testable: bool, error: float) -> str:
    kinds = [one.verdict for one in levels]
    if not testable or not kinds or set(kinds) == {"untestable"}:
        return "untestable"
    p = [np.nan if one.verdict == "untestable" else one.p for one in levels]
    if np.any(holm(p) < error):
        return "refuted"
    if set(kinds) <= {"holds", "degrades within margin"}:
        return "holds" if set(kinds) == {"holds"} else "degrades within margin"
    return "inconclusive"


def _planted(summary: xr.Dataset, level: str, confidence: float) -> PlantedCheck:
    one = summary.sel(part="planted", level=level)
    found = over.change(one.episode_change.values[one.in_part.values], confidence)
    planned = one.planned_in_part.values
    upper = over.change(_changes(summary, level, planned)[1], confidence).upper
    unjudged = _unjudged(summary, planned, (level, FULL)) if found.upper < 0 <= upper else ()
    return PlantedCheck(
        level, bool(max(found.upper, upper) < 0), *found[:3], lessons=found.lessons,
        episodes=found.episodes, unjudged=unjudged,
    )  # fmt: skip


def _notes(summary: xr.Dataset, levels: tuple[LevelVerdict, ...]) -> tuple[str, ...]:
    one = summary.sel(kind="all")
    total, common = int(one.lessons_in_kind), int(one.lessons_common)
    found = []
    if common < total:
        names = summary.concept.values[summary.left_out.values != ""].tolist()
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        found.append(
            f"Left out: {total - common} of {counted(total, 'lesson')} "
            f"({', '.join(names[:5])}{more})."
        )
    if len({each.lessons for each in levels}) > 1:
        counts = ", ".join(f"{each.level} over {each.lessons}" for each in levels)
        found.append(f"The levels are over different lessons: {counts}.")
    failed = int(one.cells_failed.sum())
    if failed:
        planned = int(one.cells_planned.sum())
        found.append(
            f"{failed} of {counted(planned, 'cell')} have no result and count neither way."
        )
    if line := leaks_line(summary):
        found.append(f"{line}.")
    if leaked := int(one.cells_leaked.sum()):
        found.append(f"Left out with the episodes that leaked: {counted(leaked, 'cell')}.")
    if summary.attrs["leaks"] == "keep":
        found.append("Episodes that leaked into a level were kept, so it may remember them.")
    return tuple(found)
