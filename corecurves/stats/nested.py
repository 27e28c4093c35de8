"""Repeats within episodes within lessons: means, and which of them are the independent units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.stats.rates import check_confidence, wilson_rate, within

__all__ = ["RateInterval", "Units", "independent_units", "mean_known", "nested_rate"]

Floats = NDArray[np.float64]

# Variances of a mean below this are rounding: the units do not differ.
_ROUNDING = 1e-12


class Units(NamedTuple):
    """Means of the independent units.

    Attributes
    ----------
    values : ndarray of shape (units,)
        One mean a unit, none of them NaN.
    repeats : ndarray of shape (units,)
        What each mean is over: episodes of a lesson, or samples of an episode.
    kind : {"lesson", "episode", ""}
        What a unit is; empty where there is none.
    lessons, episodes : int
        How many of each have a value.
    """

    values: Floats
    repeats: Floats
    kind: str
    lessons: int
    episodes: int


def mean_known(values: ArrayLike, axis: int | tuple[int, ...] = -1) -> Floats:
    """Mean over what is not NaN, without a warning where all is.

    Parameters
    ----------
    values : array_like
        Values; NaN marks one that is missing.
    axis : int or tuple of int
        What to average over.

    Returns
    -------
    ndarray
        Means; NaN where nothing was known.

    Examples
    --------
    >>> nan = float("nan")
    >>> mean_known([[1, 0, nan], [nan, nan, nan]])
    array([0.5, nan])
    """
    data = np.asarray(values, dtype=float)
    known = ~np.isnan(data)
    count = known.sum(axis=axis)
    total = np.where(known, data, 0.0).sum(axis=axis)
    mean: Floats = np.divide(total, count, out=np.full(np.shape(count), np.nan), where=count > 0)
    return mean


def independent_units(values: ArrayLike, *, samples: ArrayLike | None = None) -> Units:
    """Lessons as the independent units; the episodes where there is one lesson only.

    Parameters
    ----------
    values : array_like of shape (lessons, episodes)
        Mean of each episode over its samples; NaN where there is none.
    samples : array_like of shape (lessons, episodes), optional
        Judged samples of each episode; 1 by default.

    Returns
    -------
    Units
        Means over episodes, one a lesson; the episodes themselves where one lesson has values.

    Raises
    ------
    ValueError
        If `values` has not two dimensions or `samples` another shape.

    Examples
    --------
    >>> nan = float("nan")
    >>> independent_units([[1.0, 0.0], [1.0, nan]]).values
    array([0.5, 1. ])
    >>> independent_units([[1.0, 0.0], [nan, nan]]).kind
    'episode'
    """
    data = np.asarray(values, dtype=float)
    counts = np.ones(data.shape) if samples is None else np.asarray(samples, dtype=float)
    if data.ndim != 2 or counts.shape != data.shape:
        raise ValueError(
            f"`values` and `samples` must be of shape (lessons, episodes); they are {data.shape} "
            f"and {counts.shape}"
        )
    known = ~np.isnan(data)
    per_lesson = known.sum(axis=1)
    having = per_lesson > 0
    lessons, episodes = int(having.sum()), int(known.sum())
    if lessons > 1:
        return Units(
            mean_known(data[having]), per_lesson[having].astype(float), "lesson", lessons, episodes
        )
    return Units(data[known], counts[known], "episode" if lessons else "", lessons, episodes)


class RateInterval(NamedTuple):
    """A rate and its interval.

    Parameters
    ----------
    rate : float
        Mean of the unit means.
    lower, upper : float
        Bounds in [0, 1].
    units : int
        Independent units that the rate is over.
    """

    rate: float
    lower: float
    upper: float
    units: int


def nested_rate(means: ArrayLike, repeats: ArrayLike, *, confidence: float = 0.95) -> RateInterval:
    """Rate over few independent units, each of which has a mean over its repeats.

    Parameters
    ----------
    means : array_like of shape (units,)
        Mean of each unit in [0, 1]; NaN marks a unit without a judged repeat, which is left out.
    repeats : array_like of shape (units,)
        Judged repeats of each unit.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    RateInterval
        Mean of the unit means with Wilson's interval on the effective sample size. This is taken
        from the spread of the unit means, times (z / t)² with units - 1 degrees of freedom; it is
        at most the number of repeats. It is the number of units where these do not differ, or have
        one repeat each: then it is Wilson's own interval. The bounds are NaN below two units.

    Raises
    ------
    ValueError
        If a mean is outside [0, 1] or `confidence` not between 0 and 1.

    Notes
    -----
    The factor (z / t)² matters up to some 20 units (``tests/benchmarks/coverage.py``).

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    >>> rate, lower, upper, units = nested_rate([1.0, 1.0, 0.5, 0.5], [2, 2, 2, 2])
    >>> f"{rate:.2f} [{lower:.2f}, {upper:.2f}] over {units}"
    '0.75 [0.28, 0.96] over 4'
    """
    from scipy.special import ndtri, stdtrit

    level = check_confidence(confidence)
    values = within("means", means, 0, 1)
    judged = ~np.isnan(values)
    values = np.sort(values[judged])  # sorted, so that the order of units changes no bit
    units = int(values.size)
    if not units:
        return RateInterval(np.nan, np.nan, np.nan, 0)
    rate = float(np.clip(values.mean(), values[0], values[-1]))
    if units == 1:
        return RateInterval(rate, np.nan, np.nan, 1)
    size = float(units)
    counts = np.asarray(repeats, dtype=float)[judged]
    if counts.max() > 1 and (variance := float(values.var(ddof=1)) / units) > _ROUNDING:
        few = float(ndtri(0.5 + level / 2) / stdtrit(units - 1, 0.5 + level / 2)) ** 2
        size = min(rate * (1 - rate) / variance * few, float(counts.sum()))
    lower, upper = wilson_rate(rate, max(size, 1.0), confidence=level)
    return RateInterval(rate, float(lower), float(upper), units)
