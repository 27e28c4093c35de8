"""Intervals for a ratio of two means over the same units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from corecurves.stats.means import MeanInterval
from corecurves.stats.rates import check_confidence

__all__ = ["ratio_interval"]


def ratio_interval(
    numerator: ArrayLike, denominator: ArrayLike, *, confidence: float = 0.95, floor: float = 0.0
) -> MeanInterval:
    """Ratio of two means over paired units, with Fieller's interval.

    Parameters
    ----------
    numerator, denominator : array_like of shape (units,)
        Two values of each unit; a unit that lacks either (NaN) is skipped.
    confidence : float, default 0.95
        Nominal two-sided coverage.
    floor : float, default 0
        Smallest half-width allowed for the mean of ``numerator - ratio * denominator`` where the
        ratio is between 0 and 1; it grows with the ratio outside, as does the range of such a
        difference of rates. See `no_spread_half_width`.

    Returns
    -------
    MeanInterval
        Mean of the numerators over the mean of the denominators, with bounds that contain it: all
        ratios at which the mean of ``numerator - ratio * denominator`` is not told from 0. All are
        NaN where the denominator is not told from numbers of 0 or less, by its own *t* interval
        with this floor: there the ratio has no bounds, and no meaning. NaN below two units.

    Raises
    ------
    ValueError
        If the arguments differ in shape or are not one-dimensional, one holds an infinity, `floor`
        is negative or not finite, or `confidence` is not between 0 and 1.

    Notes
    -----
    Without the floor the interval has no width where no unit lost anything, which says nothing
    about the units that were not seen.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical
    Society B 16, 175-185.

    Examples
    --------
    >>> ratio, lower, upper, units = ratio_interval([0.5, 0.6, 0.7, 0.4], [0.8, 0.7, 0.9, 0.6])
    >>> print(f"{ratio:.2f} [{lower:.2f}, {upper:.2f}] over {units}")
    0.73 [0.56, 0.90] over 4
    """
    from scipy.special import stdtrit

    level = check_confidence(confidence)
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    if top.ndim != 1 or top.shape != bottom.shape:
        raise ValueError(
            "`numerator` and `denominator` must be one-dimensional and of one length; their shapes "
            f"are {top.shape} and {bottom.shape}"
        )
    if np.isinf(top).any() or np.isinf(bottom).any():
        raise ValueError("a value is infinite; NaN marks a unit without a value")
    if not 0.0 <= floor < np.inf:
        raise ValueError(f"`floor` must be finite and not negative; it is {floor!r}")
    both = ~(np.isnan(top) | np.isnan(bottom))
    top, bottom = top[both], bottom[both]
    units = int(top.size)
    undefined = MeanInterval(np.nan, np.nan, np.nan, units)
    if units < 2:
        return undefined
    n, d = float(top.mean()), float(bottom.mean())
    square = float(stdtrit(units - 1, 0.5 + level / 2)) ** 2 / units
    cov = square * np.cov(top, bottom)
    # A unit more in either direction of rounding is no evidence of spread.
    if d - max(float(cov[1, 1]) ** 0.5, floor) <= 0 or (floor == 0 and not cov.any()):
        return undefined
    ratio = n / d
    a, b, c = d * d - cov[1, 1], n * d - cov[0, 1], n * n - cov[0, 0]
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    low, high = float((b - root) / a), float((b + root) / a)
    return MeanInterval(
        ratio,
        min(low, ratio, _floored_lower(n, d, floor)),
        max(high, ratio, _floored_upper(n, d, floor)),
        units,
    )


def _floored_upper(n: float, d: float, floor: float) -> float:
    """Largest ratio r with r * d - n <= floor * max(1, r, 1 - r)."""
    ends = (n / (d - floor), (n + floor) / d, (n + floor) / (d + floor))
    return ends[0] if ends[0] >= 1 else ends[1] if ends[1] >= 0 else ends[2]


def _floored_lower(n: float, d: float, floor: float) -> float:
    """Smallest ratio r with n - r * d <= floor * max(1, r, 1 - r)."""
    ends = ((n - floor) / (d - floor), (n - floor) / d, n / (d + floor))
    return ends[0] if ends[0] <= 0 else ends[1] if ends[1] <= 1 else ends[2]
