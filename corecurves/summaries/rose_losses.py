"""What the levels lost against the full lesson, what was counted, and each lesson by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.schema import STATUSES
from corecurves.stats import mean_known
from corecurves.summaries import rose_units as over
from corecurves.summaries.rose_cells import (
    CEILING,
    CONTROL,
    FULL,
    NO_LESSON,
    TREATMENT,
    RoseCells,
)

__all__ = ["FATES", "PARTS", "counts", "losses", "per_lesson", "thesis_parts"]

PARTS = ("all", "thesis", "planted")
"""Whose losses: every lesson's; those that the thesis is about; those that were planted by hand."""

FATES = ("kept", "lost", "gained", "failed_at_both")
UNDECIDED = "undecided"
"""What became of an episode at a shorter level; it passes where most of its samples do."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def thesis_parts(cells: RoseCells, lessons: Flags | None = None) -> Flags:
    """Which lesson belongs to which part at each level."""
    here = (cells.common if lessons is None else lessons)[:, None] & cells.shown
    thesis = here & ~cells.planted
    if cells.made:
        thesis = thesis & cells.compressed
    return np.stack([here, thesis, here & cells.planted])


def losses(
    cells: RoseCells, groups: list[Flags], parts: Flags, confidence: float
) -> dict[str, xr.DataArray]:
    """Loss, retained share, token ratio and fates of episodes, by kind, part and level."""
    dims = ("kind", "part", "level")
    shape = (len(groups), len(PARTS), len(cells.levels))
    loss = _episode_losses(cells)
    prior = cells.episodes(cells.passed, NO_LESSON, CONTROL)
    lift = cells.episodes(cells.passed, FULL, CEILING) - prior
    fate = _fates(cells)
    full, short = cells.at(FULL, CEILING), [cells.at(i, TREATMENT) for i in cells.drawn]
    ratio = np.full(shape, np.nan)
    fates = {name: np.zeros(shape) for name in (*FATES, UNDECIDED)}
    for k, p, i in np.ndindex(*shape):
        lessons = groups[k] & parts[p, :, i]
        for name in FATES:
            fates[name][k, p, i] = (fate[lessons, :, i] == name).sum()
        fates[UNDECIDED][k, p, i] = (_both_planned(cells, i) & (fate[..., i] == ""))[lessons].sum()
        if i in cells.drawn and full and (place := short[cells.drawn.index(i)]):
            tokens = cells.tokens[lessons]
            both = ~np.isnan(tokens[:, place[0], place[1]]) & (tokens[:, full[0], full[1]] > 0)
            if both.any():
                ratio[k, p, i] = (
                    tokens[both, place[0], place[1]].sum() / tokens[both, full[0], full[1]].sum()
                )

    def lost(k: int, p: int, i: int) -> over.Estimate | None:
        if i not in cells.drawn:
            return None
        return over.change(loss[groups[k] & parts[p, :, i]][:, :, i], confidence)

    def left(k: int, p: int, i: int) -> over.Estimate | None:
        if i not in cells.drawn:
            return None
        lessons = groups[k] & parts[p, :, i]
        return over.ratio((lift + loss[:, :, i])[lessons], lift[lessons], confidence)

    def lifted(k: int, p: int, i: int) -> over.Estimate | None:
        if i not in cells.drawn:
            return None
        return over.difference(lift[groups[k] & parts[p, :, i]], confidence)

    label = over.label
    found = {
        **over.estimates("change", dims, shape, label("transfer at the level - at L0"),
                         "t with floors, and Wilson on gains and losses", confidence, lost),
        **over.estimates("retained", dims, shape, label("share of the lift that is left"),
                         "Fieller with a floor", confidence, left),
        **over.estimates("part_lift", dims, shape, label("lift of the lessons in the change"),
                         "t with a floor", confidence, lifted),
        "token_ratio": xr.DataArray(ratio, dims=dims, attrs=label("tokens / tokens of L0")),
    }  # fmt: skip
    for name, values in fates.items():
        text = f"episodes {name.replace('_', ' ')}"
        found[f"episodes_{name}"] = xr.DataArray(values, dims=dims, attrs=label(text, "episodes"))
    return found


def counts(cells: RoseCells, groups: list[Flags]) -> dict[str, xr.DataArray]:
    """Cells by status, and lessons, over all that were planned at every level drawn."""
    dims = ("kind", "level", "arm")
    flags = np.stack([cells.status == name for name in STATUSES], axis=-1)
    by_lesson = flags.sum(axis=(1, 4))
    leaked = cells.leaked.sum(axis=(1, 4))
    having = [group & cells.having for group in groups]
    table = xr.DataArray(
        np.stack([by_lesson[lessons].sum(axis=0) for lessons in having]),
        dims=(*dims, "status"), attrs=over.label("held-out cells, by how they ended", "cells"),
    )  # fmt: skip
    planned, ok = table.sum("status"), table.isel(status=STATUSES.index("ok"))
    lessons = {
        "lessons_in_kind": groups,
        "lessons_planned": having,
        "lessons_common": [group & cells.common for group in groups],
    }
    texts = ("lessons", "lessons planned at every level drawn", "lessons judged at every level")
    return {
        "cells": table,
        "cells_planned": planned.assign_attrs(over.label("planned cells", "cells")),
        "cells_judged": ok.assign_attrs(over.label("judged cells", "cells")),
        "cells_failed": (planned - ok).assign_attrs(over.label("cells without a result", "cells")),
        "cells_leaked": xr.DataArray(
            np.stack([leaked[group].sum(axis=0) for group in groups]),
            dims=dims, attrs=over.label("held-out cells left out because they leaked", "cells"),
        ),
    } | {
        name: xr.DataArray(
            np.array([int(mask.sum()) for mask in masks]), dims="kind",
            attrs=over.label(text, "lessons"),
        )
        for (name, masks), text in zip(lessons.items(), texts, strict=True)
    }  # fmt: skip


def per_lesson(cells: RoseCells, parts: Flags) -> dict[str, xr.DataArray]:
    """Means of each lesson and episode, fates of episodes, and why a lesson is left out."""
    means, loss = mean_known(cells.passed), _episode_losses(cells)
    label = over.label
    nested = ("concept", "episode", "level")
    return {
        "lesson_transfer": xr.DataArray(
            mean_known(means, axis=1), dims=("concept", "level", "arm"), attrs=label("transfer")
        ),
        "lesson_change": xr.DataArray(
            mean_known(loss, axis=1), dims=("concept", "level"),
            attrs=label("transfer at the level - at L0"),
        ),
        "episode_transfer": xr.DataArray(means, dims=(*nested, "arm"), attrs=label("transfer")),
        "episode_change": xr.DataArray(
            loss, dims=nested, attrs=label("transfer at the level - at L0")
        ),
        "fate": xr.DataArray(_fates(cells), dims=nested, attrs=label("against L0")),
        "in_part": xr.DataArray(
            parts, dims=("part", "concept", "level"), attrs=label("whether the lesson is in it")
        ),
        "planned_in_part": xr.DataArray(
            thesis_parts(cells, cells.having), dims=("part", "concept", "level"),
            attrs=label("whether the lesson would be in it if every cell had a result"),
        ),
        "episode_transfer_bounds": xr.DataArray(
            np.stack(cells.filled, axis=-1), dims=(*nested, "arm", "ci_bound"),
            attrs=label("transfer if all unjudged cells had failed, or passed"),
        ),
        "episode_planned": xr.DataArray(
            cells.asked.sum(axis=-1), dims=(*nested, "arm"),
            attrs=label("planned cells", "cells"),
        ),
        "episode_unjudged": xr.DataArray(
            cells.unjudged.sum(axis=-1), dims=(*nested, "arm"),
            attrs=label("planned cells without a pass or fail", "cells"),
        ),
        "pair": xr.DataArray(
            cells.pairs, dims=nested,
            attrs=label("whether the episode is held out and the lesson has the level"),
        ),
        "leaked_pair": xr.DataArray(
            cells.leaked_pairs, dims=nested,
            attrs=label("whether the episode leaked into the level and is left out"),
        ),
        "left_out": xr.DataArray(
            _left_out(cells), dims="concept", attrs=label("why the lesson is in no estimate")
        ),
    }  # fmt: skip


def _episode_losses(cells: RoseCells) -> Floats:
    """Treatment at a level minus ceiling at L0, of shape (concept, episode, level)."""
    full = cells.episodes(cells.passed, FULL, CEILING)
    loss = np.full((*full.shape, len(cells.levels)), np.nan)
    for i in cells.drawn:
        loss[:, :, i] = cells.episodes(cells.passed, i, TREATMENT) - full
    return loss


def _both_planned(cells: RoseCells, level: int) -> NDArray[np.bool_]:
    """Episodes that were to be run with L0 and at a level, of shape (concept, episode)."""
    where = cells.at(FULL, CEILING), cells.at(level, TREATMENT)
    found = [(cells.status[:, :, *at] != "").any(axis=-1) if at else False for at in where]
    return np.broadcast_to(found[0] & found[1], cells.passed.shape[:2])


def _fates(cells: RoseCells) -> NDArray[Any]:
    full = cells.episodes(cells.passed, FULL, CEILING)
    fate = np.full((*full.shape, len(cells.levels)), "", dtype=object)
    for i in cells.drawn:
        short = cells.episodes(cells.passed, i, TREATMENT)
        known = ~np.isnan(full) & ~np.isnan(short)
        before, after = full > 0.5, short > 0.5
        ways = (before & after, before & ~after, ~before & after, ~before & ~after)
        for name, way in zip(FATES, ways, strict=True):
            fate[known & way, i] = name
    return fate


def _left_out(cells: RoseCells) -> NDArray[Any]:
    """Reason for each lesson outside the common set; empty for the others."""
    places: list[tuple[int | str, str]] = [(FULL, CEILING), (NO_LESSON, CONTROL)]
    places += [(i, TREATMENT) for i in cells.drawn]
    found = np.full(len(cells.concepts), "", dtype=object)
    for lesson in np.flatnonzero(~cells.common):
        if not (cells.half[lesson] == "test").any():
            found[lesson] = "no held-out episode"
            continue
        absent, unjudged = [], []
        for level, arm in places:
            if (place := cells.at(level, arm)) is None:
                continue
            at = (lesson, slice(None), *place)
            name = "no lesson" if arm == CONTROL else cells.levels[place[0]]
            if not (cells.status[at] != "").any():
                absent.append(name)
            elif np.isnan(cells.passed[at]).all() and np.isnan(cells.score[at]).all():
                unjudged.append(name)
        reasons = [f"not run at {', '.join(absent)}"] if absent else []
        reasons += [f"no judged cell at {', '.join(unjudged)}"] if unjudged else []
        if len(absent) + len(unjudged) == len(places) and cells.leaked[lesson].any():
            reasons = ["every held-out episode leaked"]
        found[lesson] = "; ".join(reasons)
    return found
