"""The Dataset of a rose run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from corecurves.canonical import JSON
from corecurves.engine.dataset import build_dataset
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block
from corecurves.rose.design import Design
from corecurves.schema import ROSE
from corecurves.text import count_tokens

__all__ = ["rose_dataset"]


def rose_dataset(
    plan: Plan,
    design: Design,
    blocks: Iterable[Block],
    attrs: Mapping[str, JSON],
    *,
    gain: bool,
    texts: bool,
) -> xr.Dataset:
    """Dataset of a run."""
    ds = build_dataset(
        plan, blocks, ROSE, sizes={}, given=_given(plan, design), attrs=attrs, texts=texts
    )
    if gain:
        baseline = ds.score.sel(level="none", arm="control", drop=True)
        ds["score"] = (ds.score - baseline).transpose(*ds.score.dims).assign_attrs(ds.score.attrs)
    return ds


def _given(plan: Plan, design: Design) -> dict[str, Any]:
    sizes = {name: len(labels) for name, labels in plan.coords.items()}
    levels, arms = list(plan.coords["level"]), list(plan.coords["arm"])

    def text(*dims: str) -> np.ndarray[Any, Any]:
        return np.full([sizes[dim] for dim in dims], "", dtype=object)

    by_level = {name: text("concept", "level") for name in
                ("lesson_text", "dropped", "planted", "compressor")}  # fmt: skip
    by_episode = {name: text("concept", "episode") for name in ("task", "half", "episode_id")}
    framing = text("concept", "episode", "sample")
    leaked = np.zeros([sizes["concept"], sizes["episode"], sizes["level"]], dtype=bool)
    tokens = np.full([sizes["concept"], sizes["level"], sizes["arm"]], np.nan)
    for c, lesson in enumerate(design.lessons):
        for level in lesson.levels:
            if level.name not in levels:
                continue
            at = c, levels.index(level.name)
            by_level["lesson_text"][at] = level.text
            by_level["dropped"][at] = "; ".join(x.claim for x in level.dropped)
            by_level["planted"][at] = level.planted
            by_level["compressor"][at] = level.compressor
        for arm, place in design.places(lesson):
            name = place.name if place else "none"
            served = design.texts[lesson.id, arm, name]
            tokens[c, levels.index(name), arms.index(arm)] = count_tokens(served or "")
        for e, episode in enumerate(design.episodes(lesson)):
            by_episode["task"][c, e] = episode.task
            by_episode["half"][c, e] = "test" if design.tested(episode) else "train"
            by_episode["episode_id"][c, e] = episode.id
            for s in range(sizes["sample"]):
                framing[c, e, s] = design.framing(lesson, episode, s).name
            for depth in design.depths:
                leaked[c, e, levels.index(f"L{depth}")] = design.leaks(lesson, depth, episode)
    return {
        **by_level,
        **by_episode,
        "task_recorded": by_episode["task"] != "",
        "lesson_text_recorded": by_level["lesson_text"] != "",
        "framing": framing,
        "leaked": leaked,
        "lesson_tokens": tokens,
        "kind": np.array([lesson.kind for lesson in design.lessons], dtype=object),
        "family": np.array([lesson.family for lesson in design.lessons], dtype=object),
        "depth": np.array([np.nan, *design.depths], dtype=float),
    }
