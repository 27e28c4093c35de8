"""Figures as tables show them: a number, and a number with its interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["number", "with_interval"]


def number(value: ArrayLike, digits: int, *, sign: bool = False) -> str:
    """A number with so many decimals.

    Parameters
    ----------
    value : float or array_like of one
        The number.
    digits : int
        Decimals.
    sign : bool
        Whether a plus is written.

    Returns
    -------
    str
        A dash for NaN.
    """
    shown = float(np.asarray(value))
    return "–" if np.isnan(shown) else f"{shown:{'+' if sign else ''}.{digits}f}"


def with_interval(value: ArrayLike, bounds: ArrayLike, digits: int, *, sign: bool = False) -> str:
    """A number with its interval.

    Parameters
    ----------
    value : float or array_like of one
        The number.
    bounds : array_like of shape (2,)
        Lower and upper end.
    digits : int
        Decimals.
    sign : bool
        Whether pluses are written.

    Returns
    -------
    str
        The number alone where an end is NaN, a dash where the number is.

    Examples
    --------
    >>> with_interval(0.5, [0.25, 0.75], 2), with_interval(0.5, [float("nan")] * 2, 2)
    ('0.50 [0.25, 0.75]', '0.50')
    """
    low, high = np.asarray(bounds, dtype=float)
    shown = number(value, digits, sign=sign)
    if shown == "–" or np.isnan(low) or np.isnan(high):
        return shown
    return f"{shown} [{number(low, digits, sign=sign)}, {number(high, digits, sign=sign)}]"
