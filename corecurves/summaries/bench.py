"""Summary of a bench by its four axes: transfer, retention, retrieval and cost."""

from __future__ import annotations

import numpy as np
import xarray as xr

from corecurves.errors import DatasetError
from corecurves.stats import mean_known, nested_rate
from corecurves.summaries.rose import summarize_rose

__all__ = ["bench_summary"]


def bench_summary(
    ds: xr.Dataset,
    served: xr.Dataset,
    answered: xr.Dataset | None = None,
    *,
    confidence: float = 0.95,
) -> xr.Dataset:
    """Figures of a bench on its four axes.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` on the bench.
    served : Dataset
        From `run_served_cases` on the bench.
    answered : Dataset or None
        From `run_rose_eval` with ``grader="checklist"``: the same episodes answered in free text.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        *Transfer* ``(kind, level, arm)`` and *retention* ``retained (kind, part, level)`` by kind
        of lesson, *cost* as ``tokens (kind, level, arm)``, and the *retrieval* axis:
        ``served_rate (case_kind, served)``, what happens when nothing, one of two, or all lessons
        of a case are served. With `answered`: ``agreement (level, arm)``, the share of cells in
        which preference and checklist say the same, over ``agreement_n`` cells.

    Raises
    ------
    DatasetError
        If a Dataset is of another question, or the answers are of other episodes.

    Examples
    --------
    >>> import corecurves as cc
    >>> arguments = {"samples": 1, "ledger": False, "progress": False}
    >>> ds = cc.run_rose_eval(cc.open_store("rose_bench").demo(), "simulated", **arguments)
    >>> served = cc.run_served_cases("rose_bench", "simulated", **arguments)
    >>> cc.bench_summary(ds, served).served_rate.dims
    ('case_kind', 'served')
    """
    if served.attrs.get("question") != "served":
        raise DatasetError("`served` must come from run_served_cases")
    if served.attrs.get("model") != ds.attrs.get("model"):
        raise DatasetError(
            f"`served` is of the model {served.attrs.get('model')!r} and `ds` of "
            f"{ds.attrs.get('model')!r}; give runs of the same"
        )
    if answered is not None and answered.attrs.get("grader") != "checklist":
        raise DatasetError("`answered` must come from run_rose_eval with grader='checklist'")
    summary = summarize_rose(ds, confidence=confidence)
    names = ("transfer", "transfer_ci", "transfer_n", "retained", "retained_ci", "tokens")
    found = xr.Dataset({name: summary[name] for name in names})
    kinds = list(dict.fromkeys(map(str, served.kind.values)))
    shape = (len(kinds), served.sizes["served"])
    rate, count = np.full(shape, np.nan), np.zeros(shape)
    bounds = np.full((*shape, 2), np.nan)
    for k, s in np.ndindex(*shape):
        cases = served.passed.isel(served=s).values[served.kind.values == kinds[k]]
        judged = (~np.isnan(cases)).sum(axis=1)
        estimate = nested_rate(mean_known(cases), judged, confidence=confidence)
        rate[k, s], count[k, s] = estimate.rate, estimate.units
        bounds[k, s] = estimate.lower, estimate.upper
    found = found.assign_coords(case_kind=kinds, served=served.served)
    label = {"units": "1", "long_name": "share of cases passed"}
    found["served_rate"] = (("case_kind", "served"), rate, label)
    found["served_rate_ci"] = (("case_kind", "served", "ci_bound"), bounds, label)
    found["served_rate_n"] = (("case_kind", "served"), count, {"units": "cases"})
    if answered is not None:
        found = found.assign(_agreement(ds, answered).data_vars)
    found.attrs = summary.attrs | {"summary_of": "bench"}
    return found


def _agreement(ds: xr.Dataset, answered: xr.Dataset) -> xr.Dataset:
    """Share of cells in which preference and checklist say the same."""
    concepts = [name for name in answered.concept.values if name in ds.concept.values]
    arms = [arm for arm in answered.arm.values if arm in ds.arm.values]
    if not concepts or not arms:
        raise DatasetError("`answered` has no lesson or arm in common with `ds`")
    n = min(ds.sizes["sample"], answered.sizes["sample"])
    place = {"concept": concepts, "arm": arms, "level": answered.level.values}
    ours = ds.passed.sel(place).isel(sample=slice(n), episode=slice(answered.sizes["episode"]))
    theirs = answered.passed.sel(place).isel(sample=slice(n), episode=slice(ours.sizes["episode"]))
    both = ours.notnull() & theirs.notnull()
    dims = ("concept", "episode", "sample")
    count = both.sum(dims)
    same = ((ours == theirs) & both).sum(dims)
    label = {"long_name": "share of cells in which preference and checklist agree", "units": "1"}
    return xr.Dataset(
        {
            "agreement": (same / count.where(count > 0)).assign_attrs(label),
            "agreement_n": count.assign_attrs(units="cells"),
        }
    )
