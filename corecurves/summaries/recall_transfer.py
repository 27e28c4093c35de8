"""Retrieval joined with transfer, case by case: what each miss was."""

from __future__ import annotations

import numpy as np
import xarray as xr

from corecurves.engine.dataset import check_dataset
from corecurves.errors import DatasetError
from corecurves.schema import SCHEMA_VERSION, SERVED
from corecurves.summaries.recall_episodes import count, read_episodes

__all__ = ["MISSES", "join_recall_transfer"]

NOT_RETRIEVED = "not retrieved"
UNUSED = "retrieved but unused"
NOISE = "noise that cost tokens"
MISSES = (NOT_RETRIEVED, UNUSED, NOISE)
"""What can go wrong, the worst first."""
_HALF = 0.5


def join_recall_transfer(ds: xr.Dataset, served: xr.Dataset) -> xr.Dataset:
    """What each case of a bench lacked: the right lessons, their use, or silence beside them.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval` on a bench, over its whole store.
    served : Dataset
        From `run_served_cases` on the same bench.

    Returns
    -------
    Dataset
        Over ``case``: ``kind``, ``right`` (lessons that the case needs; 0 in a *distractor* and a
        *null*), ``retrieved`` (share of these that is served, NaN where there is none),
        ``passed`` (share of samples that pass with the right lessons, or with none where that is
        right), ``noise_lessons`` and ``noise_tokens``, and over ``(case, miss)`` whether the case
        has it: *not retrieved* (a lesson that it needs is not served), *retrieved but unused*
        (all are, and most samples fail all the same), *noise that cost tokens* (anything else is
        served). ``first`` is the worst of them, empty where there is none. ``miss_cases (miss,
        case_kind)`` counts them.

    Raises
    ------
    DatasetError
        If one is of another question, or they have no case in common.

    Examples
    --------
    >>> import corecurves as cc
    >>> quiet = {"ledger": False, "progress": False}
    >>> ds = cc.run_recall_eval("rose_bench", "bm25", whole_store=True, **quiet)
    >>> served = cc.run_served_cases("rose_bench", "simulated", samples=1, **quiet)
    >>> cc.join_recall_transfer(ds, served).miss.values.tolist()
    ['not retrieved', 'retrieved but unused', 'noise that cost tokens']
    """
    check_dataset(served, SERVED, "passed", "kind")
    episodes = read_episodes(ds)
    counts = count(episodes)
    place = {str(name): i for i, name in enumerate(ds.episode.values)}
    cases = [str(name) for name in served.case.values if str(name) in place]
    if not cases:
        raise DatasetError("the two have no case in common; run both on the same bench")
    at = np.array([place[name] for name in cases])
    kinds = np.array([str(k) for k in served.kind.sel(case=cases).values], dtype=object)
    right, noise = counts.useful[at], (counts.kept - counts.hits)[at]
    needs = right > 0
    serving = np.where(needs, "all", "none")
    rates = served.passed.sel(case=cases).mean("sample")
    passed = np.array(
        [float(rates.sel(case=c, served=s)) for c, s in zip(cases, serving, strict=True)]
    )
    known = ~np.isnan(right)
    whole = counts.hits[at] >= right
    has = np.stack(
        [
            known & needs & ~whole,
            known & needs & whole & (passed < _HALF),
            known & (noise > 0),
        ],
        axis=1,
    )
    first = np.array(
        [next((m for m, so in zip(MISSES, row, strict=True) if so), "") for row in has],
        dtype=object,
    )
    names = list(dict.fromkeys(kinds))
    total = np.array([[int(row[kinds == k].sum()) for k in names] for row in has.T])
    share = {"units": "1"}
    joined = xr.Dataset(
        {
            "right": ("case", right, {"long_name": "lessons needed", "units": "lessons"}),
            "retrieved": ("case", counts.recall[at],
                          {"long_name": "share of needed lessons served", **share}),
            "passed": ("case", passed,
                       {"long_name": "share of samples passed with the right lessons", **share}),
            "noise_lessons": ("case", noise, {"long_name": "lessons served that are not needed",
                                              "units": "lessons"}),
            "noise_tokens": ("case", counts.noise[at],
                             {"long_name": "tokens of lessons not needed",
                              "units": "o200k tokens"}),
            "has_miss": (("case", "miss"), has, {"long_name": "whether the case has the miss",
                                                 **share}),
            "first": ("case", first, {"long_name": "the worst miss", **share}),
            "miss_cases": (("miss", "case_kind"), total, {"long_name": "cases with the miss",
                                                          "units": "cases"}),
        },
        {
            "case": ("case", np.array(cases, dtype=object)),
            "kind": ("case", kinds),
            "miss": ("miss", np.array(MISSES, dtype=object)),
            "case_kind": ("case_kind", np.array(names, dtype=object)),
        },
    )  # fmt: skip
    joined.attrs = {
        "summary_of": "recall_transfer",
        "schema_version": SCHEMA_VERSION,
        "selector": str(ds.attrs["selector"]),
        "candidates": str(ds.attrs["candidates"]),
        "model": str(served.attrs["model"]),
        "grader": str(served.attrs["grader"]),
        "simulated": max(str(x.attrs.get("simulated", "no")) for x in (ds, served)),
        "store": str(ds.attrs["store"]),
        "token_counter": str(ds.attrs["token_counter"]),
    }
    return joined
