"""Readings of a curve: when it first reaches a target."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def first_reach(
    hits: ArrayLike, target: ArrayLike, *, planned: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """First k at which a curve stands at its target or above.

    Parameters
    ----------
    hits : array_like of shape (..., k)
        Hits after 0, 1, 2, … corrections; NaN where the snapshot was not judged or is beyond the
        curriculum.
    target : array_like of shape (...)
        Hits to reach, broadcast against the leading shape of `hits`; for example 1, or each
        curriculum's length.
    planned : array_like of bool of shape (..., k), optional
        Which k exist in each curriculum; all of them by default.

    Returns
    -------
    k_first : ndarray of float of shape (...)
        Corrections given at the first reach; NaN unless the state is ``"reached"``.
    state : ndarray of str of shape (...)
        ``"reached"``; ``"never"``, where every planned snapshot was judged and fell short; or
        ``"undecided"``, where a planned snapshot that was not judged stands before the first reach,
        or anywhere when none is seen, or where nothing was planned. A missing snapshot counts
        neither as a pass nor as a fail.

    Raises
    ------
    ValueError
        If `hits` has no dimension, a target is NaN or does not broadcast, `planned` has another
        shape or is not boolean, or a snapshot was judged at a k that was not planned.

    Notes
    -----
    An undecided figure has bounds: call again with the missing hits replaced by ``inf`` (the
    earliest it could be) and by ``-inf`` (the latest).

    Examples
    --------
    >>> nan = float("nan")
    >>> k_first, state = first_reach([[0, 1, 2], [0, nan, 2], [0, 0, nan], [0, 0, 0]], 1)
    >>> k_first, state.tolist()
    (array([ 1., nan, nan, nan]), ['reached', 'undecided', 'undecided', 'never'])
    """
    curve = np.asarray(hits, dtype=float)
    if curve.ndim == 0:
        raise ValueError("`hits` needs at least one dimension, k")
    exists = np.ones(curve.shape, dtype=bool) if planned is None else np.asarray(planned)
    if exists.shape != curve.shape:
        raise ValueError(f"`planned` has shape {exists.shape}; `hits` has {curve.shape}")
    if exists.dtype != np.bool_:
        raise ValueError(f"`planned` must be boolean; its type is {exists.dtype}")
    goal = np.broadcast_to(np.asarray(target, dtype=float), curve.shape[:-1])
    if np.isnan(goal).any():
        raise ValueError("`target` holds NaN; every curve needs a number of hits to reach")
    judged = ~np.isnan(curve)
    if np.any(judged & ~exists):
        where = tuple(int(i) for i in np.argwhere(judged & ~exists)[0])
        raise ValueError(f"`hits` is judged at {where}, which `planned` says does not exist")

    count = curve.shape[-1]
    reach = _first(judged & (curve >= goal[..., np.newaxis]))
    gap = _first(exists & ~judged)
    reached = (reach < count) & (reach < gap)
    never = (reach == count) & (gap == count) & exists.any(axis=-1)
    state = np.where(reached, "reached", np.where(never, "never", "undecided"))
    return np.where(reached, reach.astype(float), np.nan)[()], state[()]


def _first(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Index of the first true on the last axis, or its length."""
    if mask.shape[-1] == 0:
        return np.zeros(mask.shape[:-1], dtype=np.intp)
    first: NDArray[np.intp] = np.where(mask.any(axis=-1), mask.argmax(axis=-1), mask.shape[-1])
    return first
