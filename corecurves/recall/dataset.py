"""The Dataset of a recall run: scores from the ledger, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves import __version__
from corecurves.canonical import JSON, canonical_json
from corecurves.engine.dataset import build_dataset
from corecurves.engine.records import Block
from corecurves.recall.design import Design
from corecurves.recall.pack import OUTSIDE, pack, thresholds_of
from corecurves.schema import RECALL, SCHEMA_VERSION, SWEPT
from corecurves.specs import is_simulated

__all__ = ["recall_dataset"]

Floats = NDArray[np.float64]


def recall_dataset(design: Design, blocks: Iterable[Block], *, texts: bool) -> xr.Dataset:
    """Dataset of a run."""
    plan = design.plan
    shape = tuple(len(labels) for labels in plan.coords.values())
    given: dict[str, Any] = {
        "kept": np.full(shape, np.nan),
        "decision": np.full(shape, "", dtype=object),
        **_given(design),
    }
    if not texts:
        # The store has them.
        given = {name: values for name, values in given.items() if "lesson_text" not in name}
    ds = build_dataset(
        plan, blocks, RECALL, sizes={}, given=given, attrs=_attrs(design), texts=texts
    )
    kept, decision = _packed(design, ds, design.limits.threshold)
    ds["kept"].values[:], ds["decision"].values[:] = kept, decision
    if design.limits.sweep is not False:
        swept = design.limits.sweep
        levels = thresholds_of(ds.score.values) if swept is True else np.array(swept)
        found = np.stack([_packed(design, ds, float(level))[0] for level in levels], axis=-1)
        ds[SWEPT.name] = (SWEPT.dims, found, SWEPT.attrs)
        ds = ds.assign_coords(threshold=("threshold", levels))
    return ds


def _packed(design: Design, ds: xr.Dataset, threshold: float) -> tuple[Floats, NDArray[np.object_]]:
    """What is kept at a threshold, and why."""
    place = {name: i for i, name in enumerate(design.lessons)}
    score, known = ds.score.values, ds.status.values == "ok"
    tokens = ds.lesson_tokens.values
    kept = np.full(score.shape, np.nan)
    decision = np.full(score.shape, "", dtype=object)
    for e, probe in enumerate(design.probes):
        at = [place[name] for name in probe.candidates]
        outside = [place[name] for name in probe.used if name not in probe.candidates]
        for s in range(design.samples):
            packed = pack(
                score[e, at, s], known[e, at, s], tokens[at],
                threshold=threshold, budget=design.limits.budget,
            )  # fmt: skip
            kept[e, at, s], decision[e, at, s] = packed.kept, packed.decision
        kept[e, outside], decision[e, outside] = 0.0, OUTSIDE
    return kept, decision


def _given(design: Design) -> dict[str, Any]:
    lessons, probes = design.lessons, design.probes
    pieces = [design.material.pieces[name] for name in lessons]
    served = np.zeros((len(probes), len(lessons)))
    used = np.full((len(probes), len(lessons)), np.nan)
    for e, probe in enumerate(probes):
        for i, name in enumerate(lessons):
            served[e, i] = name in probe.served
            if probe.judged and (name in probe.candidates or name in probe.used):
                used[e, i] = name in probe.used
    tokens = np.array([piece.tokens for piece in pieces], dtype=float)
    texts = [piece.text for piece in pieces]
    tasks = [probe.task for probe in probes]
    return {
        "served": served,
        "used": used,
        "task": tasks,
        "task_recorded": [bool(task) for task in tasks],
        "lesson_text": texts,
        "lesson_text_recorded": [bool(text) for text in texts],
        "outcome": [probe.outcome for probe in probes],
        "created": [probe.created for probe in probes],
        "gone": ["; ".join(probe.gone) for probe in probes],
        "lost": ["; ".join(probe.lost) for probe in probes],
        "served_tokens": served @ tokens,
        "lesson_tokens": tokens,
        "family": [piece.family for piece in pieces],
        "depth": [float(piece.level) for piece in pieces],
        "lesson_status": [piece.status for piece in pieces],
    }


def _attrs(design: Design) -> dict[str, JSON]:
    material, limits, plan = design.material, design.limits, design.plan
    who = design.selector.identity
    budget: JSON = "none" if limits.budget is None else limits.budget
    # A level that a simulation made is no real one either.
    makers = {x.compressor for lesson in material.store.lessons for x in lesson.levels}
    simulated = is_simulated(design.selector, *makers)
    config = {**plan.config, "seed": design.seed, "threshold": limits.threshold,
              "max_pack_tokens": limits.budget}  # fmt: skip
    return {
        "question": "recall",
        "schema_version": SCHEMA_VERSION,
        "corecurves_version": __version__,
        "plan_hash": plan.hash,
        "store": material.store.name,
        "store_path": material.store.path,
        "store_digest": material.digest,
        "candidates": design.candidates,
        "pool": "all" if design.pool is None else design.pool,
        "selector": who.name,
        "threshold": limits.threshold,
        "max_pack_tokens": budget,
        "simulated": "yes" if simulated else "no",
        "token_counter": "o200k",
        "skipped": canonical_json({k: list(v) for k, v in material.skipped.items()}),
        "identity": canonical_json({"selector": who.content()}),
        "config": canonical_json(config),
    }
