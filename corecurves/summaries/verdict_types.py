"""What a verdict holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from corecurves.markup import FIGURES
from corecurves.summaries.verdict_text import verdict_lines

__all__ = ["LevelVerdict", "PlantedCheck", "Verdict"]


@dataclass(frozen=True)
class LevelVerdict:
    """The verdict on one level.

    Parameters
    ----------
    level : str
        Its label.
    verdict : str
        ``holds``, ``degrades within margin``, ``refuted``, ``inconclusive`` or ``untestable``.
    change, lower, upper : float
        Transfer at the level minus transfer at L0, and its interval.
    lift_lower : float
        Lower end of the lift of the same lessons.
    p : float
        One-sided p-value of a loss that is no larger than the margin, before Holm, with the most
        favourable results for cells without one; 1 where these could turn the verdict.
    token_ratio : float
        Tokens of the level over tokens of L0.
    unit : str
        What the interval is over: ``lesson``, ``episode``, or empty.
    lessons, episodes : int
        How many are in it.
    kept, lost, gained, failed_at_both, undecided : int
        Episodes that pass at both, at L0 only, at the level only, at neither; or one of the two has
        no result.
    needed_lessons, needed_episodes : int or None
        Where it is inconclusive, what would decide it four times in five if mean and variance are
        those that were observed; None where 2000 would not.
    as_judged : str
        The verdict over the cells that have a result.
    unjudged : tuple of str
        How many cells have none, where any has none.
    least : int
        Units below which nothing can hold without a gain.
    reason : str
        The sentence that says why.
    """

    level: str
    verdict: str
    change: float
    lower: float
    upper: float
    lift_lower: float
    p: float
    token_ratio: float
    unit: str
    lessons: int
    episodes: int
    kept: int
    lost: int
    gained: int
    failed_at_both: int
    undecided: int
    needed_lessons: int | None
    needed_episodes: int | None
    as_judged: str
    unjudged: tuple[str, ...]
    least: int
    reason: str = ""


@dataclass(frozen=True)
class PlantedCheck:
    """Whether the instrument detects a loss that was planted by hand.

    Parameters
    ----------
    level : str
        Where it was planted.
    detected : bool
        Whether the change's interval is below 0, whatever the cells without a result had given.
    change, lower, upper : float
        Change against L0, over the lessons where it was planted.
    lessons, episodes : int
        How many these are.
    unjudged : tuple of str
        How many cells have no result, where these leave it open.
    reason : str
        The sentence.
    """

    level: str
    detected: bool
    change: float
    lower: float
    upper: float
    lessons: int
    episodes: int
    unjudged: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """Verdict on the thesis that transfer stays while tokens fall.

    Parameters
    ----------
    thesis : str
        ``holds``, ``degrades within margin``, ``refuted``, ``inconclusive`` or ``untestable``.
    about : str
        ``compressor-made levels`` or ``hand-written levels``.
    levels : tuple of LevelVerdict
        One a level.
    planted : tuple of PlantedCheck
        One a level where a loss was planted; no part of the thesis.
    lift, lift_lower, lift_upper : float
        Transfer at L0 minus transfer without a lesson.
    margin, confidence : float
        The loss that is tolerated; coverage of the intervals.
    lessons, episodes : int
        Lessons in the common set, and distinct episodes in them.
    direction_only : bool
        Whether the episodes support a direction only, and no decimal place.
    reasons : tuple of str
        Sentences that say why.
    notes : tuple of str
        Sentences on what the figures leave out or keep in.
    nothing_left : tuple of str
        Levels that could not be run, for every held-out episode leaked into them.
    lift_unjudged : tuple of str
        How many cells have no result, where these leave open whether the lift is large enough.
    """

    thesis: str
    about: str
    levels: tuple[LevelVerdict, ...]
    planted: tuple[PlantedCheck, ...]
    lift: float
    lift_lower: float
    lift_upper: float
    margin: float
    confidence: float
    lessons: int
    episodes: int
    direction_only: bool
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    nothing_left: tuple[str, ...] = ()
    lift_unjudged: tuple[str, ...] = ()

    def __getitem__(self, level: str) -> LevelVerdict:
        for one in self.levels:
            if one.level == level:
                return one
        raise KeyError(level)

    def __str__(self) -> str:
        return "\n".join(verdict_lines(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        from corecurves.summaries.verdict_view import verdict_figures

        return {FIGURES: verdict_figures(self)}

    def _repr_html_(self) -> str:
        from corecurves.summaries.verdict_view import verdict_html

        return verdict_html(self)
