"""What a system's review refused: a curve that stays flat for that reason must say so."""

from __future__ import annotations

import numpy as np
import xarray as xr

__all__ = ["nothing_taught", "refusal_counts", "refusals"]


def refusals(ds: xr.Dataset) -> xr.DataArray:
    """Corrections that were refused, by concept and arm.

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


def refusal_counts(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    """How many corrections were reviewed and refused, by arm, and each reason once."""
    seen = ds.accepted.notnull().any("sample").sum(("concept", "k"))
    refused = (ds.accepted == 0).any("sample").sum(("concept", "k"))
    texts = ds.review.where(ds.accepted == 0, "").values.ravel().tolist()
    reasons = dict.fromkeys(str(text).partition(":")[0] for text in texts if text)
    units = {"units": "corrections"}
    return {
        "corrections_reviewed": seen.assign_attrs(long_name="corrections reviewed", **units),
        "corrections_refused": refused.assign_attrs(long_name="corrections refused", **units),
        "refusal_reasons": xr.DataArray(
            np.array(", ".join(reasons), dtype=object),
            attrs={"long_name": "reasons of the review", "units": "1"},
        ),
    }


def nothing_taught(summary: xr.Dataset) -> str:
    """What to do where the review refused all that was to be taught."""
    if "taught" not in summary.arm:
        return ""
    taught = summary.sel(arm="taught")
    n = int(taught.corrections_reviewed)
    if not n or int(taught.corrections_refused) < n:
        return ""
    return (
        f"nothing was taught: {summary.attrs['system']} refused all {n} corrections, so the curve "
        "says nothing about learning; teach a system that takes any text, such as retrieval or "
        "in-context:MODEL"
    )
