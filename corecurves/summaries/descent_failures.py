"""The failures of a descent run as arrays: which count, what became of them, what they took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import check_dataset
from corecurves.schema import DESCENT
from corecurves.stats import mean_known
from corecurves.summaries.rose_units import Estimate, label, rate, shift

__all__ = ["Failures", "read_failures"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

GAP, RESCUED = "knowledge gap", "rescued"
_NEEDED = ("tried", "passed", "tokens_spent", "calls", "rung", "fault", "control_passed", "ceiling",
           "full_tokens", "concept", "judge_tokens_in", "judge_tokens_out")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Failures:
    """Failures at the shortest form, over (strategy, episode, sample) and (episode, sample).

    Parameters
    ----------
    concepts : ndarray of str of shape (episode,)
        Lessons.
    counted : ndarray of bool of shape (episode, sample)
        Failures that count.
    rescued : ndarray of shape (strategy, episode, sample)
        1 or 0; NaN where it was not judged or does not count.
    early : ndarray of the same shape
        Rescued by another rung than L0.
    tokens, calls : ndarray of the same shape
        Spent until the rescue; NaN where there was none.
    """

    concepts: NDArray[Any]
    counted: Flags
    rescued: Floats
    early: Floats
    tokens: Floats
    calls: Floats

    def nested(self, values: Floats) -> tuple[Floats, Floats]:
        """Means over samples, and how many, of shape (lesson, episode within it)."""
        names = list(dict.fromkeys(self.concepts.tolist()))
        rows = [np.flatnonzero(self.concepts == name) for name in names]
        wide = max(map(len, rows))
        means = np.full((len(rows), wide), np.nan)
        counts = np.zeros((len(rows), wide))
        for i, row in enumerate(rows):
            means[i, : len(row)] = mean_known(values[row])
            counts[i, : len(row)] = (~np.isnan(values[row])).sum(axis=-1)
        return means, counts

    def rate(self, values: Floats, confidence: float) -> Estimate:
        """A share of failures: samples within episodes within lessons."""
        return rate(*self.nested(values), confidence)

    def mean(self, values: Floats, confidence: float, *, positive: bool = True) -> Estimate:
        """A mean with a *t* interval; from 0 on where it cannot be negative."""
        found = shift(self.nested(values)[0], confidence)
        return found._replace(lower=max(found.lower, 0.0)) if positive else found


def read_failures(ds: xr.Dataset, controls: str) -> tuple[Failures, dict[str, xr.DataArray]]:
    """Failures of a run that count, and how many there are of everything."""
    ds = check_dataset(ds, DESCENT, *_NEEDED)
    ds = ds.transpose("strategy", "episode", "sample", "step", ...)
    passed = ds.passed.values
    short = passed[0, :, :, 0]
    failed = short == 0
    control = ds.control_passed.transpose("episode", "sample").values
    # Of a failure whose control has no result it is not known whether it counts.
    counted = failed & (control == 0) if controls == "drop" else failed
    fault = ds.fault.values
    judged = np.isin(fault, (RESCUED, GAP)) & counted
    won = (fault == RESCUED) & counted
    # The last step tried is the one that passed.
    last = np.maximum((ds.tried.values == 1).sum(axis=-1) - 1, 0)[..., None]
    spent = np.take_along_axis(ds.tokens_spent.values, last, axis=-1)[..., 0]
    calls = np.take_along_axis(ds.calls.values, last, axis=-1)[..., 0]
    reached = np.take_along_axis(ds.rung.values, last, axis=-1)[..., 0]
    rescued = np.where(judged, won.astype(float), np.nan)
    failures = Failures(
        ds.concept.values,
        counted,
        rescued,
        np.where(judged, (won & (reached != "L0")).astype(float), np.nan),
        np.where(won, spent, np.nan),
        np.where(won, calls, np.nan),
    )
    having = counted.any(axis=-1)
    planned = np.broadcast_to(counted, fault.shape)

    def total(values: Any) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.asarray(values).sum(axis=(-2, -1)).astype(np.int64)
        return found

    figures = {
        "failures_planned": (total(planned), "failures that count"),
        "failures_judged": (total(judged), "failures whose ladder was judged to its end"),
        "failures_failed": (total(planned & ~judged), "failures whose ladder was not judged"),
        "failures_rescued": (total(won), "failures rescued"),
        "failures_early": (total(won & (reached != "L0")), "failures rescued before L0"),
        "failures_gaps": (total((fault == GAP) & counted), "knowledge gaps"),
    }
    single = {
        "lessons": (len(set(ds.concept.values[having])), "lessons with a failure that counts"),
        "episodes": (int(having.sum()), "episodes with a failure that counts"),
        "failures": (int(counted.sum()), "failures that count, over samples"),
        "tests": (int(failed.size), "episodes by samples that were tested"),
        "short_passed": (int((short == 1).sum()), "passes at the shortest form"),
        "short_failed_calls": (int(np.isnan(short).sum()), "shortest forms without a result"),
        "control_passes": (int((failed & (control == 1)).sum()),
                           "failures that the control passes"),
        "controls_unknown": (int((failed & np.isnan(control)).sum()),
                             "failures whose control has no result"),
    }  # fmt: skip
    arrays = {k: xr.DataArray(v, dims=("strategy",), attrs=label(n)) for k, (v, n) in
              figures.items()}  # fmt: skip
    arrays |= {k: xr.DataArray(np.int64(v), attrs=label(n)) for k, (v, n) in single.items()}
    return failures, arrays
