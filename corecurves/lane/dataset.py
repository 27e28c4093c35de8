"""The Dataset of a lane run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from corecurves import __version__
from corecurves.canonical import JSON, canonical_json
from corecurves.engine.dataset import build_dataset
from corecurves.engine.failures import warn_of_failures
from corecurves.engine.ledger import Ledger
from corecurves.engine.plan import Plan
from corecurves.lane.work import LaneWork
from corecurves.schema import LANE, SCHEMA_VERSION
from corecurves.specs import is_simulated

__all__ = ["lane_dataset"]


def lane_dataset(plan: Plan, work: LaneWork, book: Ledger, texts: bool) -> xr.Dataset:
    """Dataset of what is known of a plan's cells."""
    curricula = work.curricula
    n_tokens = max(len(curriculum.tokens) for curriculum in curricula)
    ds = build_dataset(
        plan,
        book.blocks(),
        LANE,
        sizes={"token": n_tokens},
        given=_given(plan, work, n_tokens),
        attrs=_attrs(plan, work),
        texts=texts,
    )
    ds["replay_match"] = (LANE["replay_match"].dims, _replay_match(plan, ds),
                          LANE["replay_match"].attrs)  # fmt: skip
    warn_of_failures(book.failed(), plan)
    return ds


def _given(plan: Plan, work: LaneWork, n_tokens: int) -> dict[str, Any]:
    curricula = work.curricula
    n, n_k, n_arms = len(curricula), len(plan.coords["k"]), len(plan.coords["arm"])
    correction = np.full((n, n_k, n_arms), "", dtype=object)
    adds = np.full((n, n_k), "", dtype=object)
    expected = np.full((n, n_tokens), "", dtype=object)
    introduced = np.full((n, n_tokens), np.nan)
    for c, curriculum in enumerate(curricula):
        for a in range(n_arms):
            texts = work.scripts[c][a].corrections
            correction[c, 1 : len(texts) + 1, a] = texts
        for k, taught in enumerate(curriculum.corrections, start=1):
            adds[c, k] = ", ".join(token.text for token in taught.adds)
        tokens = [token.text for token in curriculum.tokens]
        expected[c, : len(tokens)] = tokens
        introduced[c, : len(tokens)] = curriculum.introduced
    return {
        "correction": correction,
        "correction_recorded": correction != "",
        "adds": adds,
        "expected": expected,
        "expected_recorded": expected != "",
        "introduced": introduced,
        "replay_match": np.full([len(plan.coords[d]) for d in LANE["replay_match"].dims], np.nan),
        "split": np.array([c.split for c in curricula], dtype=object),
        "pack": np.array([c.pack for c in curricula], dtype=object),
        "shape": np.array([c.shape for c in curricula], dtype=object),
        "contract": np.array([c.contract for c in curricula]),
        "probe": np.array([c.probe for c in curricula], dtype=object),
        "curriculum_length": np.array([float(len(c)) for c in curricula]),
    }


def _replay_match(plan: Plan, ds: xr.Dataset) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 where all replays ended well with one non-empty hash, 0 where not, NaN where unplanned."""
    shape = [len(labels) for labels in plan.coords.values()]
    if shape[-1] < 2:
        return np.full(shape[:-1], np.nan)
    planned = np.zeros(shape, dtype=bool)
    planned[tuple(plan.index.T)] = True
    # A cell that did not end well has no hash.
    hashes = ds.trace_hash.values
    same = (hashes == hashes[..., :1]).all(axis=-1) & (hashes[..., 0] != "")
    return np.where(planned[..., 0], same.astype(float), np.nan)


def _attrs(plan: Plan, work: LaneWork) -> Mapping[str, JSON]:
    packs = {c.pack: c.pack_digest for c in work.curricula if c.pack}
    return {
        "question": "lane",
        "schema_version": SCHEMA_VERSION,
        "corecurves_version": __version__,
        "plan_hash": plan.hash,
        "system": work.system.source if isinstance(work.system.source, str)
        else work.system.identity.name,
        "simulated": "yes" if is_simulated(work.system) else "no",
        "identity": canonical_json(work.system.identity.content()),
        "stochastic": "yes" if work.system.stochastic else "no",
        "replay_process": plan.config["replay_process"],
        "pack_digest": canonical_json(packs),
        "config": canonical_json(dict(plan.config)),
    }  # fmt: skip
