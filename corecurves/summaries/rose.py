"""Summary of a rose run: transfer against tokens, across levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import in_memory
from corecurves.schema import SCHEMA_VERSION, STATUSES
from corecurves.stats import mean_known
from corecurves.stats.rates import check_confidence
from corecurves.summaries import rose_units as over
from corecurves.summaries.provenance import carried
from corecurves.summaries.rose_cells import (
    CEILING,
    CONTROL,
    FULL,
    NO_LESSON,
    TREATMENT,
    RoseCells,
    read_cells,
)
from corecurves.summaries.rose_losses import PARTS, counts, losses, per_lesson, thesis_parts

__all__ = ["summarize_rose"]

Flags = NDArray[np.bool_]
_BOUNDS = ["lower", "upper"]


def summarize_rose(
    ds: xr.Dataset, *, levels: Sequence[str] | None = None, confidence: float = 0.95
) -> xr.Dataset:
    """Transfer of each level and arm, and what each level lost against the full lesson.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval`.
    levels : sequence of str, optional
        Shorter levels to draw. A lesson that lacks one of them is left out of every figure, so
        fewer levels may mean more lessons. Every level that was run by default.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        Dims ``kind`` of lesson (``"all"`` first), ``level``, ``arm``, ``part``, ``ci_bound``. By
        level and arm: ``transfer`` and its ``_bounds`` (if all unjudged cells had failed, or
        passed), ``tokens``, ``shift`` against control, ``advantage`` of the treatment over the
        arm, and the counts ``cells (…, status)``, ``cells_planned``, ``_judged``, ``_failed``,
        ``_leaked``. By part and level: ``change`` against L0 (negative where transfer is lost),
        paired by episode, ``retained``, ``token_ratio``, ``episodes_kept``, ``_lost``, ``_gained``,
        ``_failed_at_both`` and ``_undecided`` (a side has no result). By kind: ``lift``,
        ``lessons_planned``, ``lessons_common``. Each estimate has ``_ci``, ``_n`` (lessons),
        ``_episodes`` and ``_unit``, which says what the interval is over. By lesson:
        ``lesson_transfer``, ``lesson_change``, ``left_out``; by episode: ``episode_transfer`` with
        its ``_bounds`` as above, ``episode_planned`` and ``_unjudged`` cells, ``episode_change``,
        ``fate``; and of shorter levels, run or not, the held-out episodes ``pair``, those left out
        because they leaked, ``leaked_pair``,
        and as ``nothing_left (level)`` where that is all of them.

    Raises
    ------
    DatasetError
        If `ds` is no rose Dataset, a level is unknown, or no held-out episode is left.
    ValueError
        If `confidence` is not between 0 and 1.

    Notes
    -----
    Only held-out episodes count, and of these only those that leaked into no level drawn (unless
    the run keeps leaks). Samples are averaged within an episode, episodes within a lesson, and the
    lesson is the independent unit. With one lesson it is the episode, and then nothing is claimed
    about other lessons.

    Every estimate is over the *common set*: lessons that were judged at L0, without a lesson, and
    at every level drawn; an arm without any judged cell at a level has no estimate there, and takes
    none from the others. Counts and bounds are over all that were planned there, so that failed
    calls cannot hide by leaving the set. ``part`` splits the common set level by level: ``thesis``
    has the levels that a compressor made (where none was, the hand-written ones) and whose loss
    was planted neither there nor at a longer level. Its lessons may differ from level to level;
    ``change_n`` counts them.

    Intervals: Wilson on the effective size for rates; for changes the lower of two ends, see
    `corecurves.stats.change_interval`; *t* with a floor for other differences of rates, plain *t*
    for shifts, Fieller with a floor for ``retained``; ``tests/benchmarks/coverage.py``
    has the table that they were chosen by.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.summarize_rose(ds).change.dims
    ('kind', 'part', 'level')
    """
    check_confidence(confidence)
    ds = in_memory(ds)
    cells = read_cells(ds, levels)
    kinds = ["all", *dict.fromkeys(kind for kind in cells.kinds if kind and kind != "all")]
    groups = [np.array([kind in ("all", own) for own in cells.kinds], dtype=bool) for kind in kinds]
    parts = thesis_parts(cells)
    figures: dict[str, Any] = {
        **_transfer(cells, groups, confidence),
        **_contrasts(cells, groups, confidence),
        **losses(cells, groups, parts, confidence),
        **counts(cells, groups),
        **per_lesson(cells, parts),
    }
    coords = {
        "kind": kinds, "level": cells.levels, "arm": cells.arms, "concept": cells.concepts,
        "status": list(STATUSES), "part": list(PARTS), "ci_bound": _BOUNDS,
    }  # fmt: skip
    summary = xr.Dataset(figures).assign_coords(
        {name: (name, np.array(labels, dtype=object)) for name, labels in coords.items()}
    )
    summary = summary.assign_coords(
        episode=ds.episode.values,
        episode_id=(("concept", "episode"), cells.ids),
        planted=(("concept", "level"), cells.marks),
        concept_kind=("concept", np.array(cells.kinds, dtype=object)),
        depth=("level", [_depth(name) for name in cells.levels]),
        drawn=("level", [i in cells.drawn for i in range(len(cells.levels))]),
        nothing_left=("level", cells.nothing_left),
    )
    summary.attrs = carried(ds) | {
        "summary_of": "rose",
        "schema_version": SCHEMA_VERSION,
        "ci_prob": confidence,
        "leaks": str(ds.attrs.get("leaks", "drop")),
        "thesis_about": "compressor-made levels" if cells.made else "hand-written levels",
    }
    return summary


def _depth(name: str) -> float:
    return float(name[1:]) if name[1:].isdigit() else np.nan


def _transfer(cells: RoseCells, groups: list[Flags], confidence: float) -> dict[str, xr.DataArray]:
    dims = ("kind", "level", "arm")
    shape = (len(groups), len(cells.levels), len(cells.arms))
    means, known = mean_known(cells.passed), (~np.isnan(cells.passed)).sum(-1)
    planned = cells.status != ""
    bounds, tokens = np.full((*shape, 2), np.nan), np.full(shape, np.nan)
    for k, i, j in np.ndindex(*shape):
        having = groups[k] & cells.having
        for end, values in enumerate(cells.filled):
            bounds[k, i, j, end] = mean_known(mean_known(values[having][:, :, i, j]))
        common = groups[k] & cells.common & planned[:, :, i, j].any(axis=(1, 2))
        tokens[k, i, j] = mean_known(cells.tokens[common, i, j])

    def one(k: int, i: int, j: int) -> over.Estimate:
        common = groups[k] & cells.common
        return over.rate(means[common][:, :, i, j], known[common][:, :, i, j], confidence)

    return {
        **over.estimates("transfer", dims, shape, over.label("transfer"),
                     "Wilson on the effective size", confidence, one),
        "transfer_bounds": xr.DataArray(
            bounds, dims=(*dims, "ci_bound"),
            attrs=over.label("transfer if all unjudged cells had failed, or passed"),
        ),
        "tokens": xr.DataArray(
            tokens, dims=dims, attrs=over.label("tokens served", "o200k tokens")
        ),
    }  # fmt: skip


def _contrasts(cells: RoseCells, groups: list[Flags], confidence: float) -> dict[str, xr.DataArray]:
    """Lift of the full lesson; shift against control; advantage of the treatment over an arm."""
    dims = ("kind", "level", "arm")
    shape = (len(groups), len(cells.levels), len(cells.arms))
    ceiling = cells.episodes(cells.passed, FULL, CEILING)
    lift = ceiling - cells.episodes(cells.passed, NO_LESSON, CONTROL)
    place = cells.at(NO_LESSON, CONTROL)
    prior = cells.score[:, :, place[0], place[1]] if place else np.nan
    shifts = mean_known(cells.score - np.asarray(prior)[..., None, None, :]) if place else None

    def shifted(k: int, i: int, j: int) -> over.Estimate | None:
        if shifts is None or cells.arms[j] == CONTROL:
            return None
        return over.shift(shifts[groups[k] & cells.common][:, :, i, j], confidence)

    def ahead(k: int, i: int, j: int) -> over.Estimate | None:
        arm = cells.arms[j]
        if i not in cells.drawn or arm == TREATMENT:
            return None
        level: int | str = {CONTROL: NO_LESSON, CEILING: FULL}.get(arm, i)
        gap = cells.episodes(cells.passed, i, TREATMENT) - cells.episodes(cells.passed, level, arm)
        return over.difference(gap[groups[k] & cells.common], confidence)

    return {
        **over.estimates("lift", ("kind",), shape[:1], over.label("lift: ceiling - control"),
                     "t with a floor", confidence,
                     lambda k: over.difference(lift[groups[k] & cells.common], confidence)),
        **over.estimates("shift", dims, shape, over.label("shift against control", "nats/token"),
                     "t", confidence, shifted),
        **over.estimates("advantage", dims, shape,
                         over.label("transfer of the treatment - of the arm"),
                         "t with a floor", confidence, ahead),
    }  # fmt: skip
