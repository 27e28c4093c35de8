"""Checks of arguments that are numbers, each with one clear line."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex

from corecurves.errors import UsageError

__all__ = ["finite", "whole"]


def whole(name: str, value: object, *, least: int | None = 1) -> int:
    """Whole number that an argument gives.

    Examples
    --------
    >>> whole("samples", 3)
    3
    >>> whole("samples", 0)
    Traceback (most recent call last):
    corecurves.errors.UsageError: `samples` is 0; give a whole number from 1
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        number = operator.index(value)
        if least is None or number >= least:
            return number
    limit = "" if least is None else f" from {least}"
    raise UsageError(f"`{name}` is {value!r}; give a whole number{limit}")


def finite(
    name: str, value: object, *, least: float = -math.inf, above: float = -math.inf,
    below: float = math.inf, most: float = math.inf,
) -> float:  # fmt: skip
    """Finite number that an argument gives.

    Examples
    --------
    >>> finite("margin", 0.1, above=0, below=0.5)
    0.1
    >>> finite("confidence", 2, above=0, below=1)
    Traceback (most recent call last):
    corecurves.errors.UsageError: `confidence` is 2; give a number above 0 and below 1
    """
    limits = [
        f"{word} {bound:g}"
        for word, bound in (("from", least), ("above", above), ("below", below), ("at most", most))
        if math.isfinite(bound)
    ]
    try:
        # A boolean of NumPy is one too.
        none = isinstance(value, str | bytes | bool) or str(getattr(value, "dtype", "")) == "bool"
        number = math.nan if none else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isfinite(number) and least <= number <= most and above < number < below:
        return number
    said = f"a number {' and '.join(limits)}" if limits else "a finite number"
    raise UsageError(f"`{name}` is {value!r}; give {said}")
