"""Figures as tables show them: a number, and a number with its interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["FEW", "decimals", "named", "number", "with_interval"]

FEW = 6
"""So many independent units or fewer support a direction, not a decimal place."""


def named(long_name: str, units: str = "1") -> dict[str, str]:
    """Attributes that every variable has."""
    return {"long_name": long_name, "units": units}


def decimals(units: int) -> int:
    """Decimals of a rate over so many units: one where they are few, so that it can be read.

    Examples
    --------
    >>> decimals(3), decimals(18)
    (1, 2)
    """
    return 1 if units <= FEW else 2


def number(value: ArrayLike, digits: int, *, sign: bool = False) -> str:
    """A number with so many decimals."""
    shown = float(np.asarray(value))
    if np.isnan(shown):
        return "–"
    # Adding 0 makes a negative zero a plain one.
    return f"{round(shown, digits) + 0.0:{'+' if sign else ''}.{digits}f}"


def with_interval(value: ArrayLike, bounds: ArrayLike, digits: int, *, sign: bool = False) -> str:
    """A number with its interval.

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
