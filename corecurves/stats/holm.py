"""Correction of several tests that are made at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.stats.rates import within

__all__ = ["holm"]


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values by Holm's step-down method.

    Parameters
    ----------
    p : array_like of shape (tests,)
        One p-value a test; NaN marks a test that was not made, which costs the others nothing.

    Returns
    -------
    ndarray of shape (tests,)
        The smallest error rate of the whole family at which each test still rejects, at most 1.

    Raises
    ------
    ValueError
        If `p` is not one-dimensional or a value is outside [0, 1].

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal
    of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    values = np.asarray(p, dtype=float)
    if values.ndim != 1:
        raise ValueError(f"`p` must have one dimension, the tests; its shape is {values.shape}")
    values = within("p", values, 0, 1)
    order = np.argsort(values)  # NaN last
    made = int(np.count_nonzero(~np.isnan(values)))
    adjusted = np.full(values.shape, np.nan)
    steps = values[order[:made]] * np.arange(made, 0, -1)
    adjusted[order[:made]] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
