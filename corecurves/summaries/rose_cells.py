"""The cells of a rose Dataset as arrays: which count, and what they average to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import check_dataset
from corecurves.errors import DatasetError, unknown
from corecurves.schema import ROSE
from corecurves.stats import mean_known

__all__ = ["CEILING", "CONTROL", "FULL", "NO_LESSON", "TREATMENT", "RoseCells", "read_cells"]

CONTROL, CEILING, TREATMENT = "control", "ceiling", "treatment"
NO_LESSON, FULL = "none", "L0"

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
_NEEDED = ("passed", "score", "status", "kind", "planted", "half", "leaked", "lesson_tokens",
           "episode_id")  # fmt: skip


@dataclass(frozen=True, eq=False)
class RoseCells:
    """What the summary is computed from.

    Parameters
    ----------
    concepts, kinds : list of str of length (concept,)
        Lessons and their kinds.
    levels, arms : list of str
        Labels; `drawn` are the shorter levels that are drawn, as positions in `levels`.
    drawn : list of int
        See `levels`.
    passed, score : ndarray of shape (concept, episode, level, arm, sample)
        Results of the cells that count.
    status : ndarray of str of the same shape
        How they ended; ``""`` where none was planned or the cell does not count.
    leaked : ndarray of bool of the same shape
        Planned cells of the test half that are left out because they leaked.
    half, ids : ndarray of str of shape (concept, episode)
        ``"test"``, ``"train"`` or ``""``; and the names of the episodes.
    pairs, leaked_pairs : ndarray of bool of shape (concept, episode, level)
        Held-out episodes of each shorter level asked for, whether it could be run or not; and those
        that are left out because the episode leaked into the level.
    having, common : ndarray of bool of shape (concept,)
        Lessons that were planned at every level drawn, and those that were judged at every one
        at which any was.
    planted, compressed : ndarray of bool of shape (concept, level)
        Levels at which, or above which, a loss was planted by hand (a shorter level inherits it),
        and levels that a compressor made.
    marks : ndarray of str of shape (concept, level)
        What was planted.
    tokens : ndarray of shape (concept, level, arm)
        Length of the text served.
    """

    concepts: list[str]
    kinds: list[str]
    levels: list[str]
    arms: list[str]
    drawn: list[int]
    passed: Floats
    score: Floats
    status: NDArray[Any]
    leaked: Flags
    pairs: Flags
    leaked_pairs: Flags
    half: NDArray[Any]
    ids: NDArray[Any]
    having: Flags
    common: Flags
    planted: Flags
    compressed: Flags
    marks: NDArray[Any]
    tokens: Floats

    @property
    def asked(self) -> Flags:
        """Planned cells, but for episodes that the grader skipped altogether."""
        some = (self.status == "ok").any(axis=(2, 3, 4), keepdims=True)
        found: Flags = (self.status != "") & (some | (self.status != "skipped"))
        return found

    @property
    def unjudged(self) -> Flags:
        """Cells asked for that have neither pass nor fail."""
        found: Flags = self.asked & np.isnan(self.passed)
        return found

    @property
    def filled(self) -> tuple[Floats, Floats]:
        """Episode means if all unjudged cells had failed, and if all had passed."""
        low, high = (mean_known(np.where(self.unjudged, x, self.passed)) for x in (0.0, 1.0))
        return low, high

    @property
    def made(self) -> bool:
        """Whether a compressor made any of the levels asked for, run or not."""
        return bool((self.compressed & self.pairs.any(axis=1)).any())

    @property
    def nothing_left(self) -> Flags:
        """Levels that could not be run, for every held-out episode leaked; of shape (level,)."""
        kept = self.pairs & ~self.leaked_pairs
        found: Flags = np.any(self.pairs, axis=(0, 1)) & ~np.any(kept, axis=(0, 1))
        return found

    @property
    def shown(self) -> Flags:
        """Levels drawn, of shape (1, level)."""
        return np.isin(np.arange(len(self.levels)), self.drawn)[None]

    def at(self, level: int | str, arm: str) -> tuple[int, int] | None:
        """Positions of a level and an arm; None where there is no such."""
        name = level if isinstance(level, str) else self.levels[level]
        if name not in self.levels or arm not in self.arms:
            return None
        return self.levels.index(name), self.arms.index(arm)

    def episodes(self, values: Floats, level: int | str, arm: str) -> Floats:
        """Means over samples (concept, episode) of one level and arm; NaN where there is none."""
        where = self.at(level, arm)
        if where is None:
            return np.full(self.passed.shape[:2], np.nan)
        return mean_known(values[:, :, where[0], where[1]])


def read_cells(ds: xr.Dataset, levels: Sequence[str] | None = None) -> RoseCells:
    """Cells of a Dataset that count: planned, held out, and not leaked at any level drawn."""
    ds = check_dataset(ds, ROSE, *_NEEDED)
    nested = ds.transpose("concept", "episode", "level", "arm", "sample")
    names, arms = _texts(nested.level), _texts(nested.arm)
    status = nested.status.values.astype(object)
    half = np.where(nested.episode_id.values != "", nested.half.values, "")
    held_out = half == "test"
    keeps = str(ds.attrs.get("leaks", "drop")) == "keep"
    leaked = nested.leaked.transpose("concept", "episode", "level").values.astype(bool)
    tokens = nested.lesson_tokens.transpose("concept", "level", "arm").values.astype(float)
    pairs = _pairs(names, held_out, tokens, levels)
    gone = [names[i] for i in np.flatnonzero((pairs & leaked).any(axis=(0, 1)))]
    drawn = _drawn(names, arms, status, levels, gone)
    concerned = [i for i, name in enumerate(names) if i in drawn or name == FULL]
    leaks = leaked[:, :, concerned].any(axis=2) & held_out & (not keeps)
    counts = held_out & ~leaks
    planned = status != ""
    if not counts.any():
        raise DatasetError(
            f"no held-out episode is left: {int((half == 'train').sum())} are in the train half "
            f"and {int(leaks.sum())} leaked into a level drawn"
        )
    five = counts[:, :, None, None, None]
    status = np.where(five, status, "")
    ok = status == "ok"
    passed = np.where(ok, nested.passed.values.astype(float), np.nan)
    score = np.where(ok, nested.score.values.astype(float), np.nan)
    places = [(FULL, CEILING), (NO_LESSON, CONTROL), *((names[i], TREATMENT) for i in drawn)]
    found = [(names.index(a), arms.index(b)) for a, b in places if a in names and b in arms]
    graded = ~np.isnan(passed) | ~np.isnan(score)
    # Where an arm failed as a whole no lesson stands out, and the other arms are still complete.
    judged = [(i, j) for i, j in found if graded[:, :, i, j].any()]
    # A run of other arms alone has no levels that a lesson could lack.
    every = [(i, j) for i, j in np.ndindex(len(names), len(arms)) if planned[:, :, i, j].any()]
    having, common = (
        np.logical_and.reduce([what[:, :, i, j].any(axis=(1, 2)) for i, j in places])
        for what, places in ((status != "", found or every), (graded, judged or found or every))
    )
    made: Any = False
    if "compressor" in nested.variables:
        made = nested.compressor.transpose("concept", "level").values != ""
    marks = nested.planted.transpose("concept", "level").values.astype(object)
    shape = (len(having), len(names))
    return RoseCells(
        concepts=_texts(nested.concept),
        kinds=_texts(nested["kind"]),
        levels=names,
        arms=arms,
        drawn=drawn,
        passed=passed,
        score=score,
        status=status,
        leaked=planned & leaks[:, :, None, None, None],
        pairs=pairs,
        leaked_pairs=pairs & leaked & (not keeps),
        half=half,
        ids=nested.episode_id.values.astype(object),
        having=having,
        common=common,
        planted=np.logical_or.accumulate(marks != "", axis=1),
        marks=marks,
        compressed=np.broadcast_to(made, shape),
        tokens=tokens,
    )


def _pairs(
    names: list[str], held_out: Flags, tokens: Floats, levels: Sequence[str] | None
) -> Flags:
    """Held-out episodes of the shorter levels asked for, of shape (concept, episode, level)."""
    asked = [levels] if isinstance(levels, str) else levels
    wanted = [name not in (NO_LESSON, FULL) and (asked is None or name in asked) for name in names]
    there = ~np.isnan(tokens).all(axis=2) & np.array(wanted, dtype=bool)
    return held_out[:, :, None] & there[:, None, :]


def _drawn(
    names: list[str],
    arms: list[str],
    status: NDArray[Any],
    levels: Sequence[str] | None,
    gone: list[str],
) -> list[int]:
    """Positions of the shorter levels to draw; of those in `gone` nothing may be left to draw."""
    if TREATMENT in arms:
        ran = (status[:, :, :, arms.index(TREATMENT)] != "").any(axis=(0, 1, 3))
    else:
        ran = np.zeros(len(names), dtype=bool)
    known = [name for name, any_ran in zip(names, ran, strict=True) if any_ran and name != FULL]
    if levels is None:
        return [names.index(name) for name in known]
    if isinstance(levels, str):
        levels = (levels,)
    for name in levels:
        if name not in (*known, *gone, FULL, NO_LESSON):
            raise DatasetError(unknown("level", name, known))
    return [names.index(name) for name in known if name in levels]


def _texts(array: xr.DataArray) -> list[str]:
    return [str(value) for value in array.values]
