"""What a selector serves, as texts: what `run_served_cases` puts to a model, noise included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corecurves.canonical import digest
from corecurves.engine.dataset import check_dataset
from corecurves.errors import DatasetError
from corecurves.schema import RECALL

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["pack_digest", "read_packs"]


def read_packs(ds: xr.Dataset) -> dict[str, tuple[str | None, ...]]:
    """Texts that a selector serves."""
    check_dataset(ds, RECALL, "kept", "score", "status")
    if "lesson_text" not in ds:
        raise DatasetError("`retrieved` has no texts; run run_recall_eval with texts=True")
    ds = ds.transpose("episode", "lesson", "sample", ...)
    kept, score, status = ds.kept.values, ds.score.values, ds.status.values
    found: dict[str, tuple[str | None, ...]] = {}
    for e, name in enumerate(ds.episode.values):
        packs: list[str | None] = []
        for s in range(ds.sizes["sample"]):
            planned = status[e, :, s] != ""
            if np.isnan(kept[e, planned, s]).any():
                packs.append(None)
                continue
            order = np.argsort(-np.nan_to_num(score[e, :, s], nan=-np.inf), kind="stable")
            best = [i for i in order if kept[e, i, s] == 1]
            packs.append("\n\n".join(str(ds.lesson_text.values[i]) for i in best))
        found[str(name)] = tuple(packs)
    return found


def pack_digest(ds: xr.Dataset) -> str:
    """SHA-256 of what a selector serves: the same for the runs that belong together."""
    return digest({name: list(packs) for name, packs in read_packs(ds).items()})
