"""Deciding a loss against a margin: p-values, and how many units would decide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from corecurves.stats.change import change_bounds, change_interval, units_to_hold
from corecurves.stats.rates import check_confidence, within

__all__ = ["Decision", "p_below", "units_to_decide"]

LIMIT = 2000
_DRAWS = 1000
_STEPS = 45


class Decision(NamedTuple):
    """How many units would decide.

    Attributes
    ----------
    units : int or None
        The smallest number; None where even the limit would not do.
    power : float
        Share of the simulated stores of that size that were decided.
    """

    units: int | None
    power: float


def p_below(values: ArrayLike, bound: float) -> float:
    """One-sided p-value of a mean of differences of rates that is not below a bound.

    Parameters
    ----------
    values : array_like of shape (units,)
        One difference of rates a unit, in [-1, 1]; NaN is skipped.
    bound : float
        The bound, such as minus the margin.

    Returns
    -------
    float
        The p at which `change_interval` with confidence ``1 - 2 * p`` ends at the bound; 1 where
        the mean is not below it; NaN below two units.

    Raises
    ------
    ValueError
        If `values` is not one-dimensional or a value is outside [-1, 1].

    Examples
    --------
    >>> print(f"{p_below([-0.3, -0.5, -0.2, -0.6, -0.4, -0.3, -0.5, -0.4], -0.1):.4f}")
    0.0003
    """
    mean, _, _, units = change_interval(values)
    if units < 2:
        return float("nan")
    if mean >= bound:
        return 1.0
    data = within("values", values, -1, 1)
    data = np.sort(data[~np.isnan(data)])
    low, high = 0.0, 0.5  # the upper end is below the bound at p = high, and not at p = low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        upper = change_bounds(data, confidence=1 - 2 * middle)[1]
        low, high = (low, middle) if upper < bound else (middle, high)
    return high


def units_to_decide(
    values: ArrayLike,
    *,
    margin: float,
    confidence: float = 0.95,
    power: float = 0.8,
    limit: int = LIMIT,
    seed: int = 0,
) -> Decision:
    """Units with which a loss would be told from the margin, by simulation.

    Parameters
    ----------
    values : array_like of shape (units,)
        Differences of rates seen so far; NaN is skipped.
    margin : float
        Loss that is tolerated, above 0.
    confidence : float, default 0.95
        Coverage of the interval that decides.
    power : float, default 0.8
        Share of the simulated stores that has to be decided.
    limit : int, default 2000
        Largest number that is tried.
    seed : int, default 0
        Seed of the simulation.

    Returns
    -------
    Decision
        The smallest number of units, more than there are now, with which the interval would stand
        wholly above minus the margin or wholly below it in this share of stores, which are drawn
        with replacement from the values: true mean and variance are those that were observed.
        At least `units_to_hold`: with fewer it could only stand below. None below two units, and
        where the limit would not do: the loss seen is too near to the margin.

    Raises
    ------
    ValueError
        If `margin` is not above 0, `power` or `confidence` not between 0 and 1, or a value is
        outside [-1, 1].

    Notes
    -----
    The luck of the units seen is in the answer. From few units it is often too small: simulated,
    stores of the size that 8 lessons named were decided in 34 to 84 % of cases, not in four of
    five; from 40 lessons in 79 to 98 % (``tests/benchmarks/coverage.py``).

    Examples
    --------
    >>> units_to_decide([0.0, -0.2, 0.1, 0.0, -0.1], margin=0.1).units
    61
    """
    level = check_confidence(confidence)
    check_confidence(power)
    if not margin > 0:
        raise ValueError(f"`margin` must be above 0; it is {margin!r}")
    units = change_interval(values, confidence=level).units
    if units < 2:
        return Decision(None, float("nan"))
    data = within("values", values, -1, 1)
    data = np.sort(data[~np.isnan(data)])

    def share(n: int) -> float:
        # A larger store begins as the smaller one does: fewer ups and downs along n.
        stores = data[np.random.default_rng(seed).integers(units, size=(n, _DRAWS))].T
        lower, upper = change_bounds(stores, confidence=level)
        return float(np.mean((lower > -margin) | (upper < -margin)))

    least = units_to_hold(margin, confidence=level)
    low = max(units, min(least, limit) - 1)
    high = low + 1
    while high < limit and share(high) < power:
        low, high = high, min(2 * high, limit)
    if (reached := share(high)) < power or high < least:
        return Decision(None, reached)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if share(middle) >= power else (middle, high)
    return Decision(high, share(high))
