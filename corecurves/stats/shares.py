"""Ratios of sums over episodes, such as a pooled precision, and their paired differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.stats.means import MeanInterval, no_spread_half_width
from corecurves.stats.nested import RateInterval
from corecurves.stats.rates import check_confidence, counts, wilson_rate

__all__ = ["pooled_difference", "pooled_rate"]

Floats = NDArray[np.float64]

# Variances below this are rounding: the units do not differ.
_ROUNDING = 1e-12


def pooled_rate(part: ArrayLike, whole: ArrayLike, *, confidence: float = 0.95) -> RateInterval:
    """Share of a pooled whole, where units contribute as much as they have.

    Parameters
    ----------
    part, whole : array_like of shape (units,)
        What each unit has of either, with ``0 <= part <= whole``; one whose whole is 0 or NaN is
        skipped.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    RateInterval
        Sum of the parts over sum of the wholes, with Wilson's interval on the effective sample
        size: that of the linearised variance of the ratio over units [1]_, times (z / t)² with
        units - 1 degrees of freedom, and at most the pooled whole; the number of units where these
        do not differ. Bounds in [0, 1], never of zero width; NaN below two units.

    Raises
    ------
    ValueError
        If the shapes differ, a part is negative or exceeds its whole, or `confidence` is not
        between 0 and 1.

    Notes
    -----
    Chosen by simulation (``tests/benchmarks/ratio_coverage.py --quick``: 18 settings of 100 stores,
    rates of 0.6 to 0.95). Least and mean coverage at 95 % with 6, 12, 36 and 80 episodes: 92/97.5,
    90/96.8, 85/94.6 and 91/95.4. Wilson on counts, as if lessons of an episode were independent:
    74/88.3 down to 63/85.6; *t* on the linearised ratio 27/72.7 to 87/93.9; Fieller with a floor
    41/84.6 to 89/94.1; a bootstrap over episodes 27/69.6 to 89/93.7. Without the factor (z / t)²:
    90/95.7 with 6 episodes. The least is where a few episodes lose everything.

    References
    ----------
    .. [1] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data. Survey Methodology 24,
       193-201.

    Examples
    --------
    >>> rate, lower, upper, units = pooled_rate([2, 1, 0, 1], [2, 1, 2, 1])
    >>> f"{rate:.2f} [{lower:.2f}, {upper:.2f}] over {units}"
    '0.67 [0.09, 0.97] over 4'
    """
    from scipy.special import ndtri, stdtrit

    level = check_confidence(confidence)
    top, bottom = _pairs(part, whole)
    units, total = int(top.size), float(bottom.sum())
    if not units:
        return RateInterval(np.nan, np.nan, np.nan, 0)
    rate = float(np.clip(top.sum() / total, 0.0, 1.0))
    if units == 1:
        return RateInterval(rate, np.nan, np.nan, 1)
    size = float(units)
    variance = units / (units - 1) * float(((top - rate * bottom) ** 2).sum()) / total**2
    if variance > _ROUNDING:
        few = float(ndtri(0.5 + level / 2) / stdtrit(units - 1, 0.5 + level / 2)) ** 2
        size = min(rate * (1 - rate) / variance * few, max(total, 1.0))
    lower, upper = wilson_rate(rate, max(size, 1.0), confidence=level)
    return RateInterval(rate, float(lower), float(upper), units)


def pooled_difference(
    part: ArrayLike,
    whole: ArrayLike,
    other_part: ArrayLike,
    other_whole: ArrayLike,
    *,
    confidence: float = 0.95,
) -> MeanInterval:
    """Difference of two pooled shares over the same units.

    Parameters
    ----------
    part, whole, other_part, other_whole : array_like of shape (units,)
        As for `pooled_rate`; the first share minus the other one. A whole may be 0 in a unit; a
        unit where any is NaN is skipped.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    MeanInterval
        *t* on the linearised difference over units, with the floor `no_spread_half_width`, cut to
        [-1, 1]; NaN where a pooled whole is 0; NaN bounds below two units.

    Raises
    ------
    ValueError
        If the shapes differ, a part is negative or exceeds its whole, or `confidence` is not
        between 0 and 1.

    Notes
    -----
    In the simulation of `pooled_rate`, for a run that drops a tenth of what was useful: least and
    mean coverage 99/99.9, 98/99.4, 90/96.0 and 90/93.9 with 6, 12, 36 and 80 episodes; without the
    floor 53/68.3, 75/88.1, 87/92.1 and 90/93.9.

    Examples
    --------
    >>> mean, lower, upper, units = pooled_difference([1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 1, 1])
    >>> f"{mean:.2f} [{lower:.2f}, {upper:.2f}] over {units}"
    '0.33 [-1.00, 1.00] over 3'
    """
    from scipy.special import stdtrit

    level = check_confidence(confidence)
    arrays = [*_checked(part, whole), *_checked(other_part, other_whole)]
    if arrays[0].shape != arrays[2].shape:
        raise ValueError(f"the two shares are of shapes {arrays[0].shape} and {arrays[2].shape}")
    known = ~np.isnan(np.stack(arrays)).any(axis=0)
    one, whole_one, two, whole_two = (x[known] for x in arrays)
    units, totals = int(one.size), (float(whole_one.sum()), float(whole_two.sum()))
    if not units or min(totals) <= 0:
        return MeanInterval(np.nan, np.nan, np.nan, units)
    rates = float(one.sum()) / totals[0], float(two.sum()) / totals[1]
    mean = rates[0] - rates[1]
    if units == 1:
        return MeanInterval(mean, np.nan, np.nan, 1)
    own = (one - rates[0] * whole_one) / totals[0] - (two - rates[1] * whole_two) / totals[1]
    error = float(np.sqrt(units / (units - 1) * np.sum(np.sort(own**2))))
    half = float(stdtrit(units - 1, 0.5 + level / 2)) * error
    half = max(half, no_spread_half_width(units, confidence=level))
    return MeanInterval(mean, max(mean - half, -1.0), min(mean + half, 1.0), units)


def _pairs(part: ArrayLike, whole: ArrayLike) -> tuple[Floats, Floats]:
    """Units that have a whole, sorted, so that their order changes no bit."""
    top, bottom = _checked(part, whole)
    having = ~(np.isnan(top) | np.isnan(bottom)) & (bottom > 0)
    top, bottom = top[having], bottom[having]
    order = np.lexsort((top, bottom))
    return top[order], bottom[order]


def _checked(part: ArrayLike, whole: ArrayLike) -> tuple[Floats, Floats]:
    shapes = np.shape(part), np.shape(whole)
    if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
        raise ValueError(
            "`part` and `whole` must be one-dimensional and of one length; their shapes are "
            f"{shapes[0]} and {shapes[1]}"
        )
    return counts(part, whole, "part", "whole")
