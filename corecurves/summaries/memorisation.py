"""Memorisation: whether levels work better on the episodes that their compressor was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from corecurves.engine.dataset import check_dataset, check_summary
from corecurves.errors import DatasetError
from corecurves.schema import ROSE, SCHEMA_VERSION
from corecurves.stats import mean_known
from corecurves.stats.rates import check_confidence
from corecurves.summaries import rose_units as over
from corecurves.summaries.figures import number, with_interval
from corecurves.summaries.provenance import carried

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["memorisation", "table_memorisation"]


def memorisation(ds: xr.Dataset, *, confidence: float = 0.95) -> xr.Dataset:
    """Transfer on the episodes that a compressor was shown, on the others, and the gap between.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` with ``holdout=1`` and ``leaks="keep"``, on levels that a compressor
        made: then the episodes that it was shown are run too, and marked as leaked.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        Over ``level``, those that a compressor made and that were run. ``shown`` and ``unseen`` are
        transfers, ``gap`` is the mean over lessons of shown − unseen, ``full_gap`` the same of L0
        with the same lessons and episodes, and ``net_gap`` their difference: what the compression
        added to it. Each has ``_ci``, ``_n`` (lessons), ``_episodes`` and ``_unit``. Dimensionless.

    Raises
    ------
    DatasetError
        If `ds` is no rose Dataset, no level of it was made by a compressor, or none of these was
        run with an episode that its compressor was shown.
    ValueError
        If `confidence` is not between 0 and 1.

    Notes
    -----
    Only the lessons that have both kinds of episode at a level are in it, and only episodes that
    were judged there and at L0. An episode that L0 itself was written from is neither kind, and is
    left out. The gap alone also holds how hard the episodes of the two halves happen to be, which
    ``full_gap`` shows; a compressor that memorises has a ``net_gap`` above 0. Intervals are *t*
    with a floor over lessons; with one lesson they are NaN, for a single gap has no spread.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> made = cc.compress_store(store, "prune", model="simulated", depths=1, progress=False).store
    >>> arms = ("control", "ceiling", "treatment")
    >>> ds = cc.run_rose_eval(made, "simulated", arms=arms, holdout=1, leaks="keep", samples=1,
    ...                       ledger=False, progress=False)
    >>> cc.memorisation(ds).gap.dims
    ('level',)
    """
    check_confidence(confidence)
    ds = check_dataset(ds, ROSE, "passed", "leaked", "episode_id")
    arms = [str(arm) for arm in ds.arm.values]
    if "treatment" not in arms or "ceiling" not in arms:
        raise DatasetError("the arms treatment and ceiling are needed for the memorisation")
    if "compressor" not in ds.variables or not (ds.compressor != "").any():
        raise DatasetError("no level was made by a compressor; see compress_store")
    nested = ds.transpose("concept", "episode", "level", "arm", "sample")
    names = [str(name) for name in nested.level.values]
    made = nested.compressor.transpose("concept", "level").values != ""
    passed = mean_known(nested.passed.values.astype(float))
    judged = (~np.isnan(nested.passed.values.astype(float))).sum(-1).astype(float)
    leaked = nested.leaked.transpose("concept", "episode", "level").values.astype(bool)
    full = passed[:, :, names.index("L0"), arms.index("ceiling")]
    written = leaked[:, :, names.index("L0")]
    levels = [name for i, name in enumerate(names) if made[:, i].any()]
    parts: dict[str, list[over.Estimate]] = {}
    for name in levels:
        i = names.index(name)
        here = np.where(made[:, i][:, None] & ~written, passed[:, :, i, arms.index("treatment")],
                        np.nan)  # fmt: skip
        here = np.where(np.isnan(full), np.nan, here)
        seen = np.where(leaked[:, :, i], here, np.nan)
        new = np.where(leaked[:, :, i], np.nan, here)
        both = ~np.isnan(seen).all(axis=1) & ~np.isnan(new).all(axis=1)
        count = judged[:, :, i, arms.index("treatment")]
        gap = mean_known(seen[both]) - mean_known(new[both])
        top = np.where(np.isnan(here), np.nan, full)[both]
        at_full = mean_known(np.where(np.isnan(seen[both]), np.nan, top)) - mean_known(
            np.where(np.isnan(new[both]), np.nan, top)
        )
        found = {
            "shown": over.rate(seen[both], count[both], confidence),
            "unseen": over.rate(new[both], count[both], confidence),
            "gap": _over_lessons(gap, confidence),
            "full_gap": _over_lessons(at_full, confidence),
            "net_gap": _net(gap - at_full, confidence),
        }
        for key, value in found.items():
            parts.setdefault(key, []).append(value)
    if not any(estimate.lessons for estimate in parts["gap"]):
        raise DatasetError(
            "no lesson was run with episodes that its compressor was shown and with others; run "
            "with holdout=1 and leaks='keep'"
        )
    return _dataset(ds, levels, parts, confidence)


_LABELS = {
    "shown": ("transfer on the episodes shown to the compressor", "Wilson on the effective size"),
    "unseen": ("transfer on the episodes not shown", "Wilson on the effective size"),
    "gap": ("transfer: shown - not shown", "t with a floor"),
    "full_gap": ("the same of L0", "t with a floor"),
    "net_gap": ("gap - that of L0", "t with a floor"),
}


def _over_lessons(values: np.ndarray[Any, Any], confidence: float) -> over.Estimate:
    found = over.difference(values[:, None], confidence)
    return found._replace(unit="lesson" if len(values) else "")


def _net(values: np.ndarray[Any, Any], confidence: float) -> over.Estimate:
    """A difference of two differences lies within [-2, 2]."""
    half = _over_lessons(values / 2, confidence)
    return half._replace(value=2 * half.value, lower=2 * half.lower, upper=2 * half.upper)


def _dataset(
    ds: xr.Dataset, levels: list[str], parts: Mapping[str, list[over.Estimate]], confidence: float
) -> xr.Dataset:
    figures: dict[str, xr.DataArray] = {}
    for name, found in parts.items():
        what, kind = _LABELS[name]
        figures.update(
            over.estimates(
                name, ("level",), (len(levels),), over.label(what), kind, confidence,
                lambda i, found=found: found[i],
            )
        )  # fmt: skip
    summary = xr.Dataset(figures).assign_coords(
        level=np.array(levels, dtype=object), ci_bound=np.array(["lower", "upper"], dtype=object)
    )
    summary.attrs = carried(ds) | {
        "summary_of": "memorisation",
        "schema_version": SCHEMA_VERSION,
        "ci_prob": confidence,
    }
    return summary


def table_memorisation(summaries: Mapping[str, xr.Dataset] | xr.Dataset) -> pd.DataFrame:
    """Table of memorisation, one row a compressor and level.

    Parameters
    ----------
    summaries : mapping of str to Dataset, or Dataset
        From `memorisation`, by the name of the compressor.

    Returns
    -------
    DataFrame
        Transfer on the episodes shown and on the others, the gap with its interval, that of L0, the
        difference of both, and what it is over. One decimal where six episodes or fewer are in a
        part.

    Raises
    ------
    DatasetError
        If one is no Dataset of `memorisation`.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> made = cc.compress_store(store, "prune", model="simulated", depths=1, progress=False).store
    >>> arms = ("control", "ceiling", "treatment")
    >>> ds = cc.run_rose_eval(made, "simulated", arms=arms, holdout=1, leaks="keep", samples=1,
    ...                       ledger=False, progress=False)
    >>> cc.table_memorisation({"prune": cc.memorisation(ds)}).columns.tolist()
    ['shown', 'unseen', 'gap', 'gap of L0', 'net gap', 'lessons', 'episodes']
    """
    import pandas as pd

    given = {"": summaries} if isinstance(summaries, xr.Dataset) else summaries
    rows = {}
    for name, one in given.items():
        summary = check_summary(one, "memorisation", "a Dataset of memorisation")
        for level in summary.level.values:
            at = summary.sel(level=level)
            few = min(int(at.shown_episodes), int(at.unseen_episodes)) <= 6
            digits = 1 if few else 2
            rows[name, str(level)] = {
                "shown": with_interval(at.shown, at.shown_ci, digits),
                "unseen": with_interval(at.unseen, at.unseen_ci, digits),
                "gap": with_interval(at.gap, at.gap_ci, digits, sign=True),
                "gap of L0": number(at.full_gap, digits, sign=True),
                "net gap": with_interval(at.net_gap, at.net_gap_ci, digits, sign=True),
                "lessons": int(at.gap_n),
                "episodes": f"{int(at.shown_episodes)} shown, {int(at.unseen_episodes)} not",
            }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(list(rows), names=["compressor", "level"])
    return frame
