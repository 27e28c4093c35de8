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
from corecurves.stats import holm, independent_units, p_below, units_to_decide
from corecurves.stats.rates import check_confidence
from corecurves.summaries import rose_units as over
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.rose_leaks import leaks_line, nothing_left
from corecurves.summaries.verdict_text import FEW, level_reason, planted_reason, thesis_reasons
from corecurves.summaries.verdict_types import LevelVerdict, PlantedCheck, Verdict
from corecurves.text import counted

__all__ = ["LevelVerdict", "PlantedCheck", "Verdict", "verdict"]

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
    episodes = _distinct_episodes(summary)
    few = episodes <= FEW
    drawn = [str(name) for name in summary.level.values[summary.drawn.values]]
    lifts = _episode_lifts(summary)
    common = summary.in_part.sel(part="all").values.any(axis=1)
    lift = over.difference(lifts[common], confidence)
    found = [_level(summary, name, lifts, margin, confidence) for name in drawn]
    levels = tuple(
        replace(one, reason=level_reason(one, margin, few)) for one in found if one.lessons
    )
    planted = tuple(
        replace(one, reason=planted_reason(one, few))
        for name in drawn
        if (one := _planted(summary, name, confidence)).lessons
    )
    testable = lift.lower >= 2 * margin
    gone = nothing_left(summary)
    thesis = _thesis(levels, testable, (1 - confidence) / 2)
    if gone and thesis in ("holds", "degrades within margin"):
        # It is about every level, and of these nothing is known.
        thesis = "inconclusive"
    about = str(summary.attrs["thesis_about"])
    result = Verdict(
        thesis=thesis, about=about, levels=levels, planted=planted, lift=lift.value,
        lift_lower=lift.lower, lift_upper=lift.upper, margin=margin, confidence=confidence,
        lessons=lift.lessons, episodes=episodes, direction_only=few, reasons=(),
        notes=_notes(summary, levels), nothing_left=gone,
    )  # fmt: skip
    simulated = summary.attrs.get("simulated") == "yes"
    return replace(result, reasons=(f"{SIMULATED}.",) * simulated + thesis_reasons(result))


def _places(summary: xr.Dataset, name: str, level: str, arm: str) -> Floats:
    if arm not in summary.arm.values or level not in summary.level.values:
        return np.full((summary.sizes["concept"], summary.sizes["episode"]), np.nan)
    found: Floats = summary[name].sel(level=level, arm=arm).values
    return found


def _episode_lifts(summary: xr.Dataset) -> Floats:
    ceiling = _places(summary, "episode_transfer", "L0", "ceiling")
    return ceiling - _places(summary, "episode_transfer", "none", "control")


def _distinct_episodes(summary: xr.Dataset) -> int:
    """Episodes of the lessons that the verdict is over, each once."""
    drawn = summary.sel(level=summary.drawn.values)
    counts = drawn.in_part.sel(part="all").transpose("concept", "level").values[:, None, :]
    changes = drawn.episode_change.transpose("concept", "episode", "level").values
    names = summary.episode_id.values[(counts & ~np.isnan(changes)).any(axis=2)]
    return len(set(names.tolist()))


def _level(
    summary: xr.Dataset, level: str, lifts: Floats, margin: float, confidence: float
) -> LevelVerdict:
    one = summary.sel(kind="all", part="thesis", level=level)
    lessons = one.in_part.values
    changes = one.episode_change.values[lessons]
    change = over.change(changes, confidence)
    lift = over.difference(lifts[lessons], confidence)
    units = independent_units(changes)
    ratio = float(one.token_ratio)
    kind = _judge(change, lift.lower, ratio, margin)
    needed: tuple[int | None, int | None] = (None, None)
    if kind == "inconclusive" and ratio < 1 and len(units.values) > 1:
        count = units_to_decide(units.values, margin=margin, confidence=confidence).units
        per_unit = units.episodes / len(units.values)
        if count is not None:
            needed = (1 if units.kind == "episode" else count, round(count * per_unit))
    p = p_below(units.values, -margin) if len(units.values) > 1 else np.nan
    return LevelVerdict(
        level, kind, change.value, change.lower, change.upper, lift.lower, p, ratio,
        change.unit, change.lessons, change.episodes, int(one.episodes_kept),
        int(one.episodes_lost), int(one.episodes_gained), int(one.episodes_failed_at_both), *needed,
    )  # fmt: skip


def _judge(change: over.Estimate, lift_lower: float, ratio: float, margin: float) -> str:
    if not lift_lower >= 2 * margin:
        return "untestable"
    if change.upper < -margin:
        return "refuted"
    if change.lower > -margin and ratio < 1:
        return "degrades within margin" if change.upper < 0 else "holds"
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
    return PlantedCheck(
        level, bool(found.upper < 0), *found[:3], lessons=found.lessons, episodes=found.episodes
    )


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
