"""What becomes of scored candidates under a threshold and a budget of tokens."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BELOW",
    "KEPT",
    "OUTRANKED",
    "OUTSIDE",
    "OVER",
    "SILENT",
    "Packed",
    "pack",
    "thresholds_of",
]

Floats = NDArray[np.float64]

KEPT = "kept"
SILENT = "kept: the selector is silent"
BELOW = "below the threshold"
OVER = "over budget alone"
OUTRANKED = "outranked: others took the budget"
OUTSIDE = "never a candidate: outside the pool"
_MOST = 101


class Packed(NamedTuple):
    """What becomes of each candidate.

    Parameters
    ----------
    kept : ndarray of shape (candidates,)
        1 or 0; NaN where it is not known.
    decision : list of str
        Why; empty where it is not known.
    order : ndarray of int of shape (candidates,)
        Candidates from the first to the last.
    """

    kept: Floats
    decision: list[str]
    order: NDArray[np.intp]


def pack(
    score: Floats, known: NDArray[np.bool_], tokens: Floats, *, threshold: float, budget: int | None
) -> Packed:
    """Candidates that are served.

    Examples
    --------
    >>> scores, lengths = np.array([0.2, 0.9, np.nan, 0.8]), np.array([5.0, 6.0, 4.0, 7.0])
    >>> found = pack(scores, np.full(4, True), lengths, threshold=0.5, budget=10)
    >>> found.decision[0], found.kept.tolist()
    ('below the threshold', [0.0, 1.0, 1.0, 0.0])
    """
    silent = np.isnan(score)
    order = np.lexsort((np.arange(score.size), np.where(silent, 0.0, -score), silent))
    kept, decision = np.full(score.size, np.nan), [""] * score.size
    below = known & ~silent & ~(score > threshold)
    left = float("inf") if budget is None else float(budget)
    open_ = budget is None or bool(known.all())
    for i in order.tolist():
        if not known[i]:
            continue
        if below[i]:
            kept[i], decision[i] = 0.0, BELOW
        elif budget is not None and tokens[i] > budget:
            kept[i], decision[i] = 0.0, OVER
        elif open_ and tokens[i] <= left:
            kept[i], decision[i] = 1.0, SILENT if silent[i] else KEPT
            left -= float(tokens[i])
        elif open_:
            kept[i], decision[i] = 0.0, OUTRANKED
    return Packed(kept, decision, order)


def thresholds_of(score: Floats) -> Floats:
    """Thresholds at which what is kept changes.

    Examples
    --------
    >>> thresholds_of(np.array([0.5, 0.25, np.nan, 0.5])).tolist()
    [-0.75, 0.25, 0.5]
    """
    known = np.unique(score[~np.isnan(score)])
    if not known.size:
        return np.zeros(1)
    every = np.concatenate([[known[0] - 1.0], known])
    if every.size > _MOST:
        every = every[np.unique(np.linspace(0, every.size - 1, _MOST).round().astype(int))]
    return every
