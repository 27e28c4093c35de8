"""A recall run under another threshold and budget, from the scores that it stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corecurves.recall.pack import OUTSIDE, pack, thresholds_of
from corecurves.schema import SWEPT

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Limits", "curve_of", "limits_of", "moved", "steps_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """What decides which of the scored candidates are served.

    Parameters
    ----------
    threshold : float
        A score must exceed it.
    budget : int or None
        Most tokens that are served together; None for no limit.
    """

    threshold: float
    budget: int | None


def limits_of(ds: xr.Dataset) -> Limits:
    """Limits of a run as it was."""
    budget = ds.attrs["max_pack_tokens"]
    return Limits(float(ds.attrs["threshold"]), None if budget == "none" else int(budget))


def steps_of(ds: xr.Dataset) -> tuple[tuple[float, ...], tuple[int | None, ...]]:
    """Thresholds and budgets at which something changes, for the sliders."""
    own = limits_of(ds)
    thresholds = sorted({*thresholds_of(ds.score.values).tolist(), own.threshold})
    lengths = ds.lesson_tokens.values
    planned = (ds.status != "").any("sample").transpose("episode", "lesson").values
    most = int(np.where(planned, lengths[None, :], 0.0).sum(axis=1).max(initial=1))
    least = int(lengths.min(initial=most))
    grid = np.unique(np.linspace(min(least, most), most, 40).round().astype(int)).tolist()
    budgets = sorted({*grid, *([] if own.budget is None else [own.budget])})
    return tuple(thresholds), (*budgets, None)


def moved(ds: xr.Dataset, limits: Limits) -> xr.Dataset:
    """The run under other limits."""
    order = _orders(ds)
    one = ds.drop_vars(SWEPT.name, errors="ignore")
    kept, decision = _packed(ds, order, limits)
    dims = ("episode", "lesson", "sample")
    budget = "none" if limits.budget is None else limits.budget
    return one.assign(
        kept=(dims, kept, ds.kept.attrs), decision=(dims, decision, ds.decision.attrs)
    ).assign_attrs(threshold=limits.threshold, max_pack_tokens=budget)


def curve_of(ds: xr.Dataset, thresholds: tuple[float, ...], budget: int | None) -> xr.Dataset:
    """The run with a sweep of thresholds under a budget."""
    order = _orders(ds)
    found = [_packed(ds, order, Limits(level, budget))[0] for level in thresholds]
    one = ds.drop_vars([SWEPT.name, "threshold"], errors="ignore")
    swept = one.assign_coords(threshold=("threshold", np.array(thresholds)))
    return swept.assign({SWEPT.name: (SWEPT.dims, np.stack(found, axis=-1), SWEPT.attrs)})


def _orders(ds: xr.Dataset) -> list[list[int]]:
    """Candidates of each episode in the order in which they were shown, which decides ties."""
    place = {str(name): i for i, name in enumerate(ds.lesson.values)}
    planned = (ds.status != "").any("sample").transpose("episode", "lesson").values
    try:
        probes = json.loads(str(ds.attrs.get("config", "{}"))).get("probes", [])
    except (ValueError, AttributeError):
        probes = []
    shown = {p["id"]: [place[n] for n in p["candidates"] if n in place] for p in probes}
    found = []
    for e, name in enumerate(map(str, ds.episode.values)):
        there = np.flatnonzero(planned[e]).tolist()
        first = [i for i in shown.get(name, []) if i in set(there)]
        found.append([*first, *(i for i in there if i not in set(first))])
    return found


def _packed(
    ds: xr.Dataset, orders: list[list[int]], limits: Limits
) -> tuple[Floats, NDArray[np.object_]]:
    dims = ("episode", "lesson", "sample")
    score, status = ds.score.transpose(*dims).values, ds.status.transpose(*dims).values
    before = ds.decision.transpose(*dims).values
    tokens = ds.lesson_tokens.values
    outside = before == OUTSIDE
    kept = np.where(outside, 0.0, np.nan)
    decision = np.where(outside, OUTSIDE, "").astype(object)
    for e, at in enumerate(orders):
        for s in range(score.shape[2]):
            packed = pack(
                score[e, at, s], status[e, at, s] == "ok", tokens[at],
                threshold=limits.threshold, budget=limits.budget,
            )  # fmt: skip
            kept[e, at, s], decision[e, at, s] = packed.kept, packed.decision
    return kept, decision
