"""Retrieval joined with transfer, case by case: what each miss was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import check_dataset, in_memory
from corecurves.errors import DatasetError
from corecurves.rose.packs import pack_digest
from corecurves.rose.served import RETRIEVED
from corecurves.schema import SCHEMA_VERSION, SERVED
from corecurves.specs import SIMULATED
from corecurves.summaries.recall_episodes import count, read_episodes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MISSES", "join_recall_transfer", "notes_of_misses", "table_misses"]

Floats = NDArray[np.float64]

NOT_RETRIEVED = "not retrieved"
UNUSED = "retrieved but unused, with the right lessons alone"
UNUSED_AS_SERVED = "retrieved but unused, as served, noise included"
NOISE = "noise that cost tokens"
MISSES = (NOT_RETRIEVED, UNUSED, UNUSED_AS_SERVED, NOISE)
"""What can go wrong, the worst first."""
UNDECIDED = "undecided"
_HALF = 0.5


def join_recall_transfer(ds: xr.Dataset, served: xr.Dataset) -> xr.Dataset:
    """What each case of a bench lacked: the right lessons, their use, or silence beside them.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval` on a bench, over its whole store.
    served : Dataset
        From `run_served_cases` on the same bench; with ``retrieved=ds``, use is measured with what
        the selector really serves too.

    Returns
    -------
    Dataset
        Over ``case``: ``kind``, ``right`` (lessons that the case needs; 0 in a *distractor* and a
        *null*), ``retrieved`` (share of these that is served, NaN where there is none),
        ``passed`` (share of samples that pass with exactly the right lessons, or with none where
        that is right), ``passed_as_served`` (with what the selector serves, noise included; NaN
        where `served` was run without it), ``noise_lessons`` and ``noise_tokens``. Over ``(case,
        miss)``, ``has_miss`` is 1, 0, or NaN where failed calls leave it open: *not retrieved* (a
        lesson that it needs is not served); *retrieved but unused* (all are, and most samples fail
        all the same), once *with the right lessons alone* and once *as served, noise included*;
        *noise that cost tokens* (anything else is served). ``first`` is the worst of them, empty
        where there is none, ``undecided`` where it is open. ``miss_cases (miss, case_kind)`` counts
        cases with the miss, ``undecided_cases`` those in which it is open.

    Raises
    ------
    DatasetError
        If one is of another question, they have no case in common, or `served` was run with what
        another run retrieved.

    Examples
    --------
    >>> import corecurves as cc
    >>> quiet = {"ledger": False, "progress": False}
    >>> limits = {"whole_store": True, "max_pack_tokens": 300}
    >>> ds = cc.run_recall_eval("rose_bench", "bm25", **limits, **quiet)
    >>> served = cc.run_served_cases("rose_bench", "simulated", samples=1, retrieved=ds, **quiet)
    >>> joined = cc.join_recall_transfer(ds, served)
    >>> int(joined.undecided_cases.sum())
    0
    """
    served = check_dataset(served, SERVED, "passed", "status", "kind")
    ds = in_memory(ds)
    episodes = read_episodes(ds)
    counts = count(episodes)
    place = {str(name): i for i, name in enumerate(ds.episode.values)}
    cases = [str(name) for name in served.case.values if str(name) in place]
    if not cases:
        raise DatasetError("the two have no case in common; run both on the same bench")
    as_served = RETRIEVED in served.served.values
    if as_served and served.attrs["retrieved"] != pack_digest(ds):
        raise DatasetError(
            "`served` was run with what another run retrieved; run it with retrieved=ds"
        )
    at = np.array([place[name] for name in cases])
    kinds = np.array([str(k) for k in served.kind.sel(case=cases).values], dtype=object)
    right = (episodes.used[at] == 1).sum(axis=1).astype(float)
    noise = (counts.kept - counts.hits)[at]
    needs = right > 0
    passed, fails = _fails(served, cases, np.where(needs, "all", "none"))
    rate, fails_as_served = _fails(served, cases, np.full(len(cases), RETRIEVED))
    short = _less(counts.hits[at], right)
    retrieved = np.where(needs, 1 - short, 0.0)
    found = {
        NOT_RETRIEVED: np.where(needs, short, 0.0),
        UNUSED: _both(retrieved, fails),
        UNUSED_AS_SERVED: _both(retrieved, fails_as_served),
        NOISE: _less(np.zeros(len(cases)), noise),
    }
    misses = [miss for miss in MISSES if as_served or miss != UNUSED_AS_SERVED]
    has = np.stack([found[miss] for miss in misses], axis=1)
    first = np.array([_first(misses, row) for row in has], dtype=object)
    names = list(dict.fromkeys(kinds))
    total, undecided = (
        np.array([[int(row[kinds == k].sum()) for k in names] for row in marks.T])
        for marks in (has == 1, np.isnan(has))
    )
    share = {"units": "1"}
    joined = xr.Dataset(
        {
            "right": ("case", right, {"long_name": "lessons needed", "units": "lessons"}),
            "retrieved": ("case", counts.recall[at],
                          {"long_name": "share of needed lessons served", **share}),
            "passed": ("case", passed,
                       {"long_name": "share of samples passed with the right lessons", **share}),
            "passed_as_served": ("case", rate,
                                 {"long_name": "share of samples passed with what is served",
                                  **share}),
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
            "undecided_cases": (("miss", "case_kind"), undecided,
                                {"long_name": "cases in which the miss is open", "units": "cases"}),
        },
        {
            "case": ("case", np.array(cases, dtype=object)),
            "kind": ("case", kinds),
            "miss": ("miss", np.array(misses, dtype=object)),
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


def table_misses(joined: xr.Dataset) -> pd.DataFrame:
    """Cases with each miss by kind, and in how many of all it is open."""
    import pandas as pd

    kinds = [str(kind) for kind in joined.case_kind.values]
    cases = [f"{kind} ({int((joined.kind == kind).sum())})" for kind in kinds]
    frame = pd.DataFrame(joined.miss_cases.values, index=joined.miss.to_index(), columns=cases)
    return frame.assign(undecided=joined.undecided_cases.sum("case_kind").values)


def notes_of_misses(joined: xr.Dataset) -> list[str]:
    """What the table of misses is over."""
    attrs = joined.attrs
    lines = [
        f"store {attrs['store']}, selector {attrs['selector']}, model {attrs['model']}, grader "
        f"{attrs['grader']}; cases, by kind"
    ]
    if attrs["simulated"] == "yes":
        lines.append(SIMULATED)
    if UNUSED_AS_SERVED not in joined.miss.values:
        lines.append(f"not measured: {UNUSED_AS_SERVED}; run_served_cases(…, retrieved=ds) does")
    return lines


def _fails(
    served: xr.Dataset, cases: list[str], serving: NDArray[np.str_]
) -> tuple[Floats, Floats]:
    """Share of samples that pass, and whether most fail: NaN where failed calls leave it open."""
    rate, fails = np.full(len(cases), np.nan), np.full(len(cases), np.nan)
    for i, (case, where) in enumerate(zip(cases, serving, strict=True)):
        if where not in served.served.values:
            continue
        one = served[["passed", "status"]].sel(case=case, served=where)
        planned, known = int((one.status != "").sum()), int(one.passed.notnull().sum())
        passes = float(one.passed.sum())
        rate[i] = passes / known if known else np.nan
        if planned and (passes + planned - known) / planned < _HALF:
            fails[i] = 1.0
        elif planned and passes / planned >= _HALF:
            fails[i] = 0.0
    return rate, fails


def _less(a: Floats, b: Floats) -> Floats:
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a < b).astype(float))


def _both(a: Floats, b: Floats) -> Floats:
    """1 where both are 1, 0 where one is 0, else NaN."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def _first(misses: list[str], row: Floats) -> str:
    for miss, has in zip(misses, row, strict=True):
        if has != 0:
            return UNDECIDED if np.isnan(has) else miss
    return ""
