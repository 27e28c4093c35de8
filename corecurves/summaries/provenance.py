"""Where the figures of a Dataset come from, for a reader who wants to repeat them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from corecurves.errors import DatasetError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["provenance"]


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
        If `ds` is not from a run.

    Examples
    --------
    >>> import corecurves as cc
    >>> cc.provenance(cc.run_lane("dev", ledger=False, progress=False))["system"]
    'grounded'
    """
    if "config" not in getattr(ds, "attrs", {}):
        raise DatasetError("a Dataset of a run is needed")
    config = json.loads(ds.attrs["config"])
    status = ds.replay_status if "replay_status" in ds else ds.status
    planned, judged = int((status != "").sum()), int((status == "ok").sum())
    packs = json.loads(ds.attrs.get("pack_digest", "{}"))
    found = {
        "question": str(ds.attrs["question"]),
        "system": str(ds.attrs["system"]),
        "identity": str(ds.attrs["identity"]),
        "arms, samples, replays": f"{', '.join(config['arms'])}; {config['samples']}; "
        f"{config['replays']}",
        "mode": str(config["mode"]),
        "seed": str(config["seed"]),
        "cells": f"{planned} planned, {judged} judged, {planned - judged} without a result",
        "plan hash": str(ds.attrs["plan_hash"]),
        "corecurves": str(ds.attrs["corecurves_version"]),
    }
    return found | {f"digest of {name}": digest for name, digest in packs.items()}
