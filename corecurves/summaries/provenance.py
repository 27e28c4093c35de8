"""Where the figures of a Dataset come from, for a reader who wants to repeat them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corecurves.errors import DatasetError
from corecurves.files.labels import LABELS, refuse_merged

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["carried", "provenance"]

_WHO = ("system", "store", "selector", "candidates", "model", "grader", "simulated")
_SETTINGS = (
    "arms", "levels", "samples", "replays", "mode", "holdout", "leaks", "temperature", "seed",
)  # fmt: skip


def carried(ds: xr.Dataset) -> dict[str, Any]:
    """Attributes of a run that its summary has too: all but those that are about its raw cells."""
    return {str(key): value for key, value in ds.attrs.items() if key not in ("config", LABELS)}


def provenance(ds: xr.Dataset) -> dict[str, str]:
    """Labels and texts that say what was run.

    Parameters
    ----------
    ds : Dataset
        From a run.

    Returns
    -------
    dict of str to str
        Versions, identity of the system, seed, plan hash, counts, and the packs' digests.

    Raises
    ------
    DatasetError
        If `ds` is not from a run, or two were put into it.

    Examples
    --------
    >>> import corecurves as cc
    >>> cc.provenance(cc.run_lane("dev", ledger=False, progress=False))["system"]
    'grounded'
    """
    if "config" not in getattr(ds, "attrs", {}):
        raise DatasetError("a Dataset of a run is needed")
    refuse_merged(ds)
    config = json.loads(ds.attrs["config"])
    status = ds.replay_status if "replay_status" in ds else ds.status
    planned, judged = int((status != "").sum()), int((status == "ok").sum())
    packs = json.loads(ds.attrs.get("pack_digest", "{}"))
    found = {"question": str(ds.attrs["question"])}
    found |= {name: str(ds.attrs[name]) for name in _WHO if name in ds.attrs}
    found["identity"] = str(ds.attrs["identity"])
    found |= {
        name: ", ".join(map(str, config[name]))
        if isinstance(config[name], list)
        else str(config[name])
        for name in _SETTINGS
        if name in config
    }
    if at_once := ds.seconds.attrs.get("max_concurrency") if "seconds" in ds else None:
        found["max_concurrency"] = f"{at_once} at work at once"
    if "remarks" in ds.attrs:
        found["remarks"] = "; ".join(json.loads(ds.attrs["remarks"]))
    found |= {
        "cells": f"{planned} planned, {judged} judged, {planned - judged} without a result",
        "plan hash": str(ds.attrs["plan_hash"]),
        "corecurves": str(ds.attrs["corecurves_version"]),
    }
    return found | {f"digest of {name}": digest for name, digest in packs.items()}
