"""What a system's review refused: a curve that stays flat for that reason must say so."""

from __future__ import annotations

import numpy as np
import xarray as xr

__all__ = ["refusals"]


def refusals(ds: xr.Dataset) -> xr.DataArray:
    """Corrections that were refused, by concept and arm.

    Parameters
    ----------
    ds : Dataset
        From `run_lane`.

    Returns
    -------
    DataArray of shape (concept, arm)
        How many of how many corrections were refused, in any sample, with the first and the reason
        for it; empty where none was, or where the system has no review. ``attrs``: long_name,
        units.

    Examples
    --------
    >>> import corecurves as cc
    >>> twice = cc.Correction("Wisdom requires patience.", (cc.Token("patience"),))
    >>> again = cc.Curriculum("wisdom", "What is wisdom?", (twice, twice), contract=False)
    >>> ds = cc.run_lane(again, ledger=False, progress=False)
    >>> refusals(ds).sel(concept="wisdom", arm="taught").item()
    '1 of 2 corrections refused, the first at k = 2: duplicate'
    """
    arranged = ds[["accepted", "review"]].transpose("concept", "arm", "k", "sample")
    accepted = arranged.accepted.values
    found = np.full(accepted.shape[:2], "", dtype=object)
    for place in np.ndindex(found.shape):
        refused = (accepted[place] == 0).any(axis=-1)
        if refused.any():
            first = int(np.argmax(refused))
            sample = int(np.argmax(accepted[place][first] == 0))
            reason = str(arranged.review.values[place][first][sample])
            of = int((~np.isnan(accepted[place])).any(axis=-1).sum())
            found[place] = (
                f"{int(refused.sum())} of {of} corrections refused, the first at "
                f"k = {int(ds.k.values[first])}: {reason}"
            )
    attrs = {"long_name": "corrections that the review refused", "units": "1"}
    labels = {dim: ds[dim].values for dim in ("concept", "arm")}
    return xr.DataArray(found, labels, ("concept", "arm"), attrs=attrs)
