"""Rates whose repeats are nested in independent units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from corecurves.stats.rates import wilson_rate

__all__ = ["RateInterval", "clustered_rate"]


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


def clustered_rate(
    means: ArrayLike, repeats: ArrayLike, *, confidence: float = 0.95
) -> RateInterval:
    """Rate over independent units, each of which has a mean over its repeats.

    Parameters
    ----------
    means : array_like of shape (units,)
        Mean of each unit in [0, 1]; NaN marks a unit without a judged repeat, which is left out.
    repeats : array_like of shape (units,)
        Judged repeats of each unit.
    confidence : float
        Nominal coverage.

    Returns
    -------
    RateInterval
        Wilson's interval on the effective sample size, which is taken from the spread of the unit
        means; it is at most the number of repeats, and the number of units where these do not
        differ. NaN without a unit.

    Raises
    ------
    ValueError
        If a mean is outside [0, 1] or `confidence` not between 0 and 1.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected
    number of positive counts estimated from survey data. Survey Methodology 24, 193-201.

    Examples
    --------
    >>> rate, lower, upper, units = clustered_rate([1.0, 1.0, 0.5, float("nan")], [2, 2, 2, 0])
    >>> f"{rate:.2f} [{lower:.2f}, {upper:.2f}] over {units}"
    '0.83 [0.40, 0.97] over 3'
    """
    values = np.asarray(means, dtype=float)
    judged = ~np.isnan(values)
    values, counts = values[judged], np.asarray(repeats, dtype=float)[judged]
    units = int(values.size)
    if not units:
        return RateInterval(np.nan, np.nan, np.nan, 0)
    rate = float(values.mean())
    size = float(units)
    if units > 1 and (variance := float(values.var(ddof=1)) / units) > 0:
        size = min(rate * (1 - rate) / variance, float(counts.sum()))
    lower, upper = wilson_rate(rate, max(size, 1.0), confidence=confidence)
    return RateInterval(rate, float(lower), float(upper), units)
