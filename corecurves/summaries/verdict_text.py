"""The sentences of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corecurves.specs.lesson import MAKE_SHORTER
from corecurves.summaries.figures import FEW
from corecurves.text import counted

if TYPE_CHECKING:
    from corecurves.summaries.verdict_types import LevelVerdict, PlantedCheck, Verdict

__all__ = [
    "FEW",
    "kept_and_lost",
    "level_reason",
    "lift_line",
    "planted_reason",
    "terms",
    "thesis_reasons",
    "verdict_lines",
]

_DIRECTION = "a direction, not a decimal place"


def level_reason(one: LevelVerdict, margin: float, few: bool) -> str:
    """Sentence on one level."""
    seen = _change(one, few, margin)
    limit = "the margin" if few else f"the margin of {margin:g}"
    if np.isnan(one.change):
        why = "no cell was graded as passed or failed at both this level and L0"
        return f"{why}; {_without(one.unjudged)}." if one.unjudged else f"{why}."
    if one.verdict == "untestable":
        if np.isnan(one.lift_lower):
            why = "no interval for the lift" if one.episodes > 1 else "one episode has no interval"
            return f"{why}, so a loss could not be seen; {seen}."
        lower = _apart(one.lift_lower, 2 * margin)
        low = "" if few else f" (lower end {lower}, needed {2 * margin:g})"
        return f"the full lesson lifts transfer too little{low} for a loss to be seen; {seen}."
    if one.verdict != one.as_judged:
        said = {"holds": "it holds", "refuted": "it is refuted"}.get(one.as_judged, "it degrades")
        return (
            f"{seen}: over the cells that were judged {said}, but {_without(one.unjudged)}, and "
            "the least favourable results there would undo that. Run it again: failed cells are "
            "retried."
        )
    if one.verdict == "refuted":
        return f"{seen}: the loss exceeds {limit}."
    if one.verdict == "degrades within margin":
        return f"{seen}: a loss, and within {limit}."
    if one.verdict == "holds":
        return f"{seen}: any loss is within {limit}."
    if np.isnan(one.token_ratio):
        return f"{seen}, but its tokens are not known, so it shows nothing about compression."
    if not one.token_ratio < 1:
        return f"{seen}, but its tokens do not fall, so it shows nothing about compression."
    return f"{seen}: neither surely within {limit} nor surely beyond it. {_needed(one)}"


def planted_reason(one: PlantedCheck, few: bool) -> str:
    """Sentence on a planted loss."""
    answer = "yes" if one.detected else "no"
    if one.unjudged:
        answer = f"not known, for {_without(one.unjudged)}"
    return (
        f"the instrument detects the planted loss at {one.level}: {answer} ({_change(one, few)})."
    )


def thesis_reasons(found: Verdict, shorter: bool) -> tuple[str, ...]:
    """Sentences on the thesis."""
    if not shorter:
        return (f"There is no shorter level to judge: {MAKE_SHORTER}.",)
    about = (
        "The verdict is about compressor-made levels."
        if found.about.startswith("compressor")
        else "No compressor made these levels: the verdict is about these hand-written levels."
    )
    names = {kind: [one.level for one in found.levels if one.verdict == kind] for kind in _KINDS}
    listed = {kind: ", ".join(levels) for kind, levels in names.items()}
    if not found.levels:
        why = (
            "Every loss was planted by hand, so no level is left to judge."
            if found.planted
            else "No level is left to judge."
            if found.nothing_left
            else "No episode has a pass or fail both at a shorter level and at L0; a score alone "
            "has a shift, and no verdict."
        )
    elif found.thesis == "untestable":
        why = _untestable(found)
    elif found.lift_unjudged:
        why = (
            "Whether the full lesson helps enough for a loss to be seen is open: "
            f"{_without(found.lift_unjudged)}."
        )
    elif found.thesis == "refuted":
        why = f"Transfer falls by more than the margin at {listed['refuted']}, after Holm."
    elif found.thesis == "holds":
        why = "Transfer stays within the margin at every level while tokens fall."
    elif found.thesis == "degrades within margin":
        why = (
            "Transfer stays within the margin at every level while tokens fall, but a loss is seen "
            f"at {listed['degrades within margin']}."
        )
    elif turned := [one.level for one in found.levels if one.verdict != one.as_judged]:
        why = f"Cells without a result could turn the verdict at {', '.join(turned)}."
    elif listed["refuted"]:
        why = f"{listed['refuted']} alone would be refuted, but not after Holm over the levels."
    else:
        open_ = [*names["inconclusive"], *names["untestable"]]
        why = (
            f"Undecided at {', '.join(open_)}."
            if open_
            else "Transfer stays within the margin at every level that was judged."
        )
    reasons = [about, why]
    if found.nothing_left:
        reasons.append(
            f"Nothing can be concluded about {', '.join(found.nothing_left)}: every held-out "
            "episode leaked, so no cell is left there. Hold episodes out from what makes a level, "
            "or record new ones."
        )
    if {one.unit for one in found.levels} == {"episode"}:
        reasons.append(
            "One lesson: its episodes are the units, and nothing is claimed about other lessons."
        )
    if found.direction_only and found.episodes:
        reasons.append(f"{counted(found.episodes, 'episode')}: {_DIRECTION}.")
    return tuple(reasons)


def verdict_lines(found: Verdict) -> list[str]:
    """Lines of a verdict."""
    lines = [f"thesis: {found.thesis} ({terms(found)})", *(f"  {text}" for text in found.reasons)]
    lift = lift_line(found)
    lines += [f"  {lift}"] if lift else []
    lines += [f"{one.level}: {one.verdict}: {one.reason} {_beside(one)}" for one in found.levels]
    lines += [f"planted, no part of the thesis: {one.reason}" for one in found.planted]
    return lines + [f"note: {text}" for text in found.notes]


def terms(found: Verdict) -> str:
    """Margin, coverage and size of a verdict."""
    size = f"; {counted(found.lessons, 'lesson')}, {counted(found.episodes, 'episode')}"
    margin = "" if found.direction_only else f"margin {found.margin:g}, "
    return f"{margin}{100 * found.confidence:g} % intervals{size * (found.episodes > 0)}"


def lift_line(found: Verdict) -> str:
    """Sentence on the lift; empty where the episodes support no decimal place."""
    if found.direction_only:
        return ""
    bounds = _bounds(found.lift_lower, found.lift_upper)
    return f"Lift of the full lesson: {_signed(found.lift)}{bounds}."


def kept_and_lost(one: LevelVerdict) -> str:
    """What became of the episodes at a level."""
    return (
        f"{one.kept} kept, {one.lost} lost, {one.gained} gained, "
        f"{one.failed_at_both} failed at both"
        + f", {one.undecided} undecided"
        * (one.undecided > 0)
    )


_KINDS = ("holds", "degrades within margin", "refuted", "inconclusive", "untestable")


def _untestable(found: Verdict) -> str:
    if np.isnan(found.lift):
        return "The lift is not known: passes with the full lesson and without any are needed."
    if found.lift_lower >= 2 * found.margin:
        return "The lift is too small over the lessons of each level."
    if found.direction_only:
        return "The full lesson does not help surely enough for a loss to be seen."
    lower = _apart(found.lift_lower, 2 * found.margin)
    return (
        f"The lift's lower end ({lower}) is below twice the margin "
        f"({2 * found.margin:g}): a loss could not be seen."
    )


def _change(one: LevelVerdict | PlantedCheck, few: bool, margin: float = 0.0) -> str:
    size = f"{counted(one.lessons, 'lesson')}, {counted(one.episodes, 'episode')}"
    if one.lessons == 1:
        size += ", nothing about other lessons"
    if np.isnan(one.change):
        return f"no change known over {size}"
    if few:
        way = "falls" if one.change < 0 else "rises" if one.change > 0 else "does not move"
        return f"transfer {way} over {size}"
    return f"change {_signed(one.change)}{_bounds(one.lower, one.upper, -margin, 0.0)} over {size}"


def _without(counts: tuple[str, ...]) -> str:
    """Words on the cells that have no result."""
    return f"{' and '.join(counts)} have no result"


def _needed(one: LevelVerdict) -> str:
    units = one.episodes if one.unit == "episode" else one.lessons
    if units >= one.least:
        return _decides(one)
    gain = "Without a gain it" if one.change > 0 else "It"
    return (
        f"{gain} cannot hold below n = {one.least} {one.unit}s, for a loss that falls wholly on a "
        f"few may go unseen. {_decides(one)}"
    )


def _decides(one: LevelVerdict) -> str:
    if one.needed_episodes is None:
        unit = one.unit or "lesson"
        return f"Even 2000 {unit}s would not decide it: what is seen is too near to the margin."
    if one.unit == "episode":
        return (
            f"About {counted(one.needed_episodes, 'episode')} of this lesson would decide it, "
            "if like these."
        )
    episodes = counted(one.needed_episodes, "episode")
    size = f"{counted(one.needed_lessons or 0, 'lesson')} ({episodes})"
    return f"About {size} would decide it, if they are like these."


def _beside(one: LevelVerdict) -> str:
    tokens = "" if np.isnan(one.token_ratio) else f"{100 * one.token_ratio:.0f} % of the tokens; "
    return f"{tokens}episodes: {kept_and_lost(one)}.".capitalize()


def _signed(value: float, *limits: float) -> str:
    return "not known" if np.isnan(value) else _apart(value, *limits, sign="+")


def _apart(value: float, *limits: float, sign: str = "-") -> str:
    """Two decimals; one more where these alone would put a value on a limit."""
    on = any(round(value, 2) == round(limit, 9) and abs(value - limit) > 1e-9 for limit in limits)
    return f"{value:{sign}.{3 if on else 2}f}"


def _bounds(lower: float, upper: float, *limits: float) -> str:
    if np.isnan(lower):
        return " (no interval)"
    return f" [{_signed(lower, *limits)}, {_signed(upper, *limits)}]"
