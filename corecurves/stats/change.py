"""Interval for a mean change of rates, where what is lost may be lost wholly on a few units."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.arguments import finite
from corecurves.stats.means import MeanInterval, no_spread_half_width
from corecurves.stats.rates import check_confidence, exact_upper, within

__all__ = ["change_bounds", "change_interval", "units_to_hold", "unseen_loss"]

Floats = NDArray[np.float64]

# Variances of unit means below this are rounding: the units do not differ.
_ROUNDING = 1e-12


def unseen_loss(units: int, *, confidence: float = 0.95) -> float:
    """Share of units that may lose everything although none that was seen did.

    Parameters
    ----------
    units : int
        Independent units, none of which lost anything.
    confidence : float, default 0.95
        Nominal two-sided coverage of the interval that it is the floor of.

    Returns
    -------
    float
        The share at which seeing none has probability ``1 - confidence``; NaN below two units.

    Raises
    ------
    ValueError
        If `units` is negative or `confidence` is not between 0 and 1.

    Examples
    --------
    >>> [round(unseen_loss(n), 3) for n in (4, 8, 20, 22, 40, 80)]
    [0.527, 0.312, 0.139, 0.127, 0.072, 0.037]
    """
    level = check_confidence(confidence)
    if units < 0:
        raise ValueError(f"`units` must not be negative; it is {units!r}")
    if units < 2:
        return float("nan")
    return float(1 - (1 - level) ** (1 / units))


def units_to_hold(margin: float, *, confidence: float = 0.95) -> int:
    """Fewest units without a gain whose `change_interval` can end above minus the margin.

    Parameters
    ----------
    margin : float
        Loss that is tolerated, above 0 and below 1.
    confidence : float, default 0.95
        Nominal two-sided coverage of the interval.

    Returns
    -------
    int
        With fewer, a loss of the margin that falls wholly on some units may have gone unseen.

    Raises
    ------
    ValueError
        If `margin` or `confidence` is not between 0 and 1.

    Examples
    --------
    >>> [units_to_hold(margin) for margin in (0.05, 0.1, 0.2)]
    [59, 29, 14]
    """
    level = check_confidence(confidence)
    kept = 1 - finite("margin", margin, above=0, below=1)
    return max(2, int(np.log(1 - level) / np.log(kept)) + 1)


def change_interval(values: ArrayLike, *, confidence: float = 0.95) -> MeanInterval:
    """Mean change over units, with an interval that allows for losses that fall on a few.

    Parameters
    ----------
    values : array_like of shape (units,)
        Change of a rate in each unit, in [-1, 1], negative where something is lost; NaN marks a
        unit without one and is skipped.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    MeanInterval
        Mean with bounds that contain it, cut to [-1, 1] and never of zero width; NaN bounds below
        two units.

    Raises
    ------
    ValueError
        If `values` is not one-dimensional or leaves [-1, 1], or `confidence` is not between 0 and
        1.

    Notes
    -----
    Compression loses a detail wholly or not at all. Losses that fall on a few units make the mean
    skewed: a store that happens to hold few of them shows a small loss *and* a small spread, and
    *t* is too short towards loss. So each end is the lower one of two. The first is *t* with a
    floor: towards loss, that the share `unseen_loss` of units falls to -1 instead of changing as
    the others do; towards gain, `no_spread_half_width`. The second is for the difference between
    mean gain and mean loss: the exact interval of Clopper and Pearson for each on its effective
    size, with the factor for the degrees of freedom [2]_, put together by their variance estimates
    [1]_ with the correlation between them.

    Chosen by simulation; the table is in ``docs/statistics.md``.

    References
    ----------
    .. [1] Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect
       measures: a general approach. Statistics in Medicine 27, 1693-1702.
    .. [2] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data. Survey Methodology 24,
       193-201.

    Examples
    --------
    >>> mean, lower, upper, units = change_interval([0, 0, 0, 0, -1, 0, 0, 0, 0, 0])
    >>> print(f"{mean:.2f} [{lower:.2f}, {upper:.2f}] over {units}")
    -0.10 [-0.54, 0.07] over 10
    """
    level = check_confidence(confidence)
    data = within("values", values, -1, 1)
    if data.ndim != 1:
        raise ValueError(f"`values` must have one dimension, the units; its shape is {data.shape}")
    data = np.sort(data[~np.isnan(data)])  # sorted, so that the order of units changes no bit
    units = int(data.size)
    if units == 0:
        return MeanInterval(np.nan, np.nan, np.nan, 0)
    mean = float(np.clip(data.mean(), data[0], data[-1]))
    if units == 1:
        return MeanInterval(mean, np.nan, np.nan, 1)
    lower, upper = change_bounds(data, confidence=level)
    return MeanInterval(mean, min(float(lower), mean), max(float(upper), mean), units)


def change_bounds(values: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Bounds of `change_interval` for many stores of one size at once.

    Parameters
    ----------
    values : ndarray of shape (..., units)
        Changes in [-1, 1], none of them NaN, of at least two units.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    lower, upper : ndarray of shape (...)
        Bounds in [-1, 1].

    Examples
    --------
    >>> lower, upper = change_bounds(np.array([[0.0, -0.5, 0.0], [0.0, 0.0, 0.0]]))
    >>> lower.round(2), upper.round(2)
    (array([-0.99, -0.63]), array([0.16, 0.28]))
    """
    from scipy.special import stdtrit

    units = values.shape[-1]
    quantile = float(stdtrit(units - 1, 0.5 + confidence / 2))
    mean, spread = values.mean(axis=-1), values.std(axis=-1, ddof=1)
    half = quantile * spread / units**0.5
    floor = no_spread_half_width(units, confidence=confidence)
    gain, loss = np.maximum(values, 0.0), np.maximum(-values, 0.0)
    gain_lower, gain_upper = _share(gain, quantile, floor, confidence)
    loss_lower, loss_upper = _share(loss, quantile, floor, confidence)
    product = np.sqrt(gain.var(axis=-1) * loss.var(axis=-1))
    together = -gain.mean(axis=-1) * loss.mean(axis=-1)  # a unit has one of the two only
    correlation = np.divide(
        together, product, out=np.zeros_like(product), where=product > _ROUNDING
    ).clip(-1.0, 0.0)
    down = _joined(gain_lower, loss_upper, correlation)
    up = _joined(gain_upper, loss_lower, correlation)
    # Those that were not seen to lose may also be where the others gained.
    unseen = unseen_loss(units, confidence=confidence) * (1 + np.maximum(mean, 0.0))
    lower = mean - np.maximum.reduce([half, unseen, down])
    upper = mean + np.minimum(np.maximum(half, floor), up)
    return lower.clip(-1.0, 1.0), upper.clip(-1.0, 1.0)


def _share(part: Floats, quantile: float, floor: float, confidence: float) -> tuple[Floats, Floats]:
    """How far the mean of a part reaches down and up, by the exact bounds on its effective size."""
    from scipy.special import ndtri

    units = part.shape[-1]
    mean, error = part.mean(axis=-1).clip(0.0, 1.0), part.var(axis=-1, ddof=1) / units
    differ = error > _ROUNDING
    size = np.divide(mean * (1 - mean), error, out=np.ones_like(mean), where=differ)
    size = np.maximum(size * (float(ndtri(0.5 + confidence / 2)) / quantile) ** 2, _ROUNDING)
    lower = 1 - exact_upper((1 - mean) * size, size, confidence=0.5 + confidence / 2)
    upper = exact_upper(mean * size, size, confidence=0.5 + confidence / 2)
    down = np.where(differ, mean - lower, np.minimum(floor, mean))
    up = np.where(differ, np.maximum(upper - mean, floor), floor)
    return down, up


def _joined(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Reach of a difference of two estimates whose own reaches are given."""
    square = first**2 + second**2 - 2 * correlation * first * second
    reach: Floats = np.sqrt(np.maximum(square, 0.0))
    return reach
