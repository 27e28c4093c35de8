"""Estimates over lessons, or over the episodes of the only lesson."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.stats import (
    MeanInterval,
    change_interval,
    difference_interval,
    independent_units,
    nested_rate,
    no_spread_half_width,
    ratio_interval,
    t_interval,
)

__all__ = ["Estimate", "change", "difference", "estimates", "label", "rate", "ratio", "shift"]

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """An estimate, its interval, and what it is over.

    Attributes
    ----------
    value, lower, upper : float
        NaN where they are not defined.
    lessons, episodes : int
        What it is over.
    unit : str
        ``"lesson"``; ``"episode"`` where there is one lesson only; ``""`` where there is nothing.
    """

    value: float
    lower: float
    upper: float
    lessons: int
    episodes: int
    unit: str


def rate(values: Floats, samples: Floats, confidence: float) -> Estimate:
    """Transfer: a rate, with Wilson's interval on the effective size."""
    units = independent_units(values, samples=samples)
    found = nested_rate(units.values, units.repeats, confidence=confidence)
    return Estimate(*found[:3], units.lessons, units.episodes, units.kind)


def change(values: Floats, confidence: float) -> Estimate:
    """Mean change against L0, with the interval that allows for losses that fall on a few."""
    return _over(values, lambda units: change_interval(units, confidence=confidence))


def difference(values: Floats, confidence: float) -> Estimate:
    """Mean difference of rates, with a *t* interval that has a floor."""
    return _over(values, lambda units: difference_interval(units, confidence=confidence))


def shift(values: Floats, confidence: float) -> Estimate:
    """Mean difference of scores, with a *t* interval."""
    return _over(values, lambda units: t_interval(units, confidence=confidence))


def ratio(top: Floats, bottom: Floats, confidence: float) -> Estimate:
    """Share of the lift that is left, with Fieller's interval; NaN unless the lift is above 0.

    The lower end is at least as low as that of the change divided by the lift.
    """
    both = ~(np.isnan(top) | np.isnan(bottom))
    n = independent_units(np.where(both, top, np.nan))
    d = independent_units(np.where(both, bottom, np.nan))
    size = len(n.values)
    floor = no_spread_half_width(size, confidence=confidence) if size > 1 else 0.0
    found = ratio_interval(n.values, d.values, confidence=confidence, floor=floor)
    lower = found.lower
    if not np.isnan(lower):
        lost = change_interval(n.values - d.values, confidence=confidence)
        lower = min(lower, 1 + lost.lower / float(d.values.mean()))
    return Estimate(found.mean, lower, found.upper, n.lessons, n.episodes, n.kind)


def _over(values: Floats, interval: Callable[[Floats], MeanInterval]) -> Estimate:
    units = independent_units(values)
    return Estimate(*interval(units.values)[:3], units.lessons, units.episodes, units.kind)


def label(long_name: str, units: str = "1", **more: Any) -> dict[str, Any]:
    """Attributes of a variable."""
    return {"long_name": long_name, "units": units, **more}


def estimates(
    name: str, dims: tuple[str, ...], shape: tuple[int, ...], attrs: dict[str, Any], kind: str,
    confidence: float, compute: Callable[..., Estimate | None],
) -> dict[str, xr.DataArray]:  # fmt: skip
    """Variables of an estimate at each place."""
    value, bounds = np.full(shape, np.nan), np.full((*shape, 2), np.nan)
    lessons, episodes = np.zeros(shape), np.zeros(shape)
    unit = np.full(shape, "", dtype=object)
    for at in np.ndindex(*shape):
        if (found := compute(*at)) is None:
            continue
        value[at], bounds[at] = found.value, (found.lower, found.upper)
        lessons[at], episodes[at], unit[at] = found.lessons, found.episodes, found.unit
    what = attrs["long_name"]
    interval = label(f"interval of {what}", attrs["units"], ci_kind=kind, ci_prob=confidence)
    return {
        name: xr.DataArray(value, dims=dims, attrs=attrs),
        f"{name}_ci": xr.DataArray(bounds, dims=(*dims, "ci_bound"), attrs=interval),
        f"{name}_n": xr.DataArray(lessons, dims=dims, attrs=label("lessons in it", "lessons")),
        f"{name}_episodes": xr.DataArray(
            episodes, dims=dims, attrs=label("episodes in it", "episodes")
        ),
        f"{name}_unit": xr.DataArray(unit, dims=dims, attrs=label("what the interval is over")),
    }
