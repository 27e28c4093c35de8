"""Kaplan-Meier curves of clustered delays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.stats.rates import Floats, check_confidence, wilson_rate

Ints = NDArray[np.int64]

# Influence sums below this are rounding: the clusters do not differ.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SurvivalCurve:
    """Kaplan-Meier curve: a right-continuous step function, one row a distinct delay.

    Row 0 is the start, one unit before the smallest delay, with survival 1. From ``time[i]``
    (included) until ``time[i + 1]`` (excluded) the curve stands at ``survival[i]``; beyond the last
    row nothing was observed. Arrays are read-only; all are empty when there was no delay at all.

    Attributes
    ----------
    time : ndarray of float of shape (rows,)
        Delays, increasing.
    survival : ndarray of float of shape (rows,)
        Estimated share whose delay exceeds ``time``, in [0, 1].
    lower, upper : ndarray of float of shape (rows,)
        Pointwise band in [0, 1] that contains `survival`; NaN with fewer than two clusters.
    at_risk : ndarray of int of shape (rows,)
        Delays of ``time`` or more, events and censorings alike.
    events, censored : ndarray of int of shape (rows,)
        Events and censorings at ``time``.
    clusters : ndarray of int of shape (rows,)
        Clusters that have a delay at risk; row 0 has all clusters.
    """

    time: Floats
    survival: Floats
    lower: Floats
    upper: Floats
    at_risk: Ints
    events: Ints
    censored: Ints
    clusters: Ints

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            getattr(self, name).setflags(write=False)

    @property
    def median(self) -> float:
        """Smallest delay at which survival is 0.5 or less; NaN where the curve stays above."""
        below = np.flatnonzero(self.survival <= 0.5 + _ROUNDING)
        return float(self.time[below[0]]) if below.size else float("nan")


def kaplan_meier(
    delay: ArrayLike, event: ArrayLike, cluster: ArrayLike, *, confidence: float = 0.95
) -> SurvivalCurve:
    """Kaplan-Meier estimate of right-censored delays, with a band clustered by `cluster`.

    Parameters
    ----------
    delay : array_like of shape (tokens,)
        Observed or censored delay, in corrections. Zero and negative delays are ordinary ones: what
        is negative was there before it was taught.
    event : array_like of bool of shape (tokens,)
        True where the delay was observed, False where it is only known to be longer. Events come
        before censorings at ties: what is censored at t was at risk at t.
    cluster : array_like of shape (tokens,)
        Label of the cluster, such as the concept, that a token belongs to. Clusters are
        independent; tokens of one need not be.
    confidence : float, default 0.95
        Nominal pointwise coverage of the band.

    Returns
    -------
    SurvivalCurve
        Estimate, band and counts, with a first row before the smallest delay.

    Raises
    ------
    ValueError
        If the arguments differ in shape or are not one-dimensional, a delay is not finite, an event
        is neither true nor false, a cluster label is missing, or `confidence` is not between 0 and
        1.

    Notes
    -----
    The variance V is that of the infinitesimal jackknife: influences on the estimate summed
    within a cluster [1]_, times clusters / (clusters - 1). The band is Wilson's interval on an
    effective sample size [2]_, in the way of [3]_. That size is n / deff: n is the size by
    Greenwood's variance, as if tokens were independent, and deff is how many times V exceeds
    Greenwood's (at least 1). Where few clusters deviate from the curve, V says little, and mostly
    too little; so deff is averaged with that of wholly dependent tokens, max(n / clusters, 1). The
    observed one weighs m - m1, the dependent one 1: m = (Σg²)² / Σg⁴ over the influence sums g
    tells how many clusters V comes from, and m1 is its value where one cluster deviates and the
    others are alike. So the size is the number of clusters where clusters do not differ or one
    alone does, and the number of clusters at risk where the curve is at 1 or at 0: the band never
    has zero width, and among clusters of one size the first slip does not narrow it. With two or
    three clusters m tells nothing, and every token of a cluster counts as dependent.

    Chosen by simulation among seven bands; the table is in ``docs/statistics.md``.

    References
    ----------
    .. [1] Williams, R. L. (1995). Product-limit survival functions with correlated survival times.
       Lifetime Data Analysis 1, 171-186.
    .. [2] Dorey, F. J. and Korn, E. L. (1987). Effective sample sizes for confidence intervals for
       survival probabilities. Statistics in Medicine 6, 679-687.
    .. [3] Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small
       expected number of positive counts estimated from survey data. Survey Methodology 24,
       193-201.

    Examples
    --------
    >>> concept = ["wisdom", "memory", "wisdom", "memory"]
    >>> curve = kaplan_meier([0, 0, 1, 2], [True, True, True, False], concept)
    >>> curve.time, curve.survival
    (array([-1.,  0.,  1.,  2.]), array([1.  , 0.5 , 0.25, 0.25]))
    >>> curve.at_risk, curve.median
    (array([4, 4, 2, 1]), 0.0)
    """
    level = check_confidence(confidence)
    times, fails, lost, at_risk = count_table(*_checked(delay, event, cluster))
    if times.size == 0:
        none, nothing = np.empty(0), np.empty(0, dtype=np.int64)
        return SurvivalCurve(
            none, none.copy(), none.copy(), none.copy(),
            nothing, nothing.copy(), nothing.copy(), nothing.copy(),
        )  # fmt: skip
    survival, influence, greenwood = product_limit(fails, at_risk)
    exposed = np.count_nonzero(at_risk, axis=0)
    if fails.shape[0] > 1:
        size = effective_size(survival, influence, greenwood, exposed)
        lower, upper = wilson_rate(survival, size, confidence=level)
    else:
        lower, upper = np.full_like(survival, np.nan), np.full_like(survival, np.nan)
    return SurvivalCurve(
        time=times,
        survival=survival,
        lower=lower,
        upper=upper,
        at_risk=at_risk.sum(axis=0),
        events=fails.sum(axis=0),
        censored=lost.sum(axis=0),
        clusters=exposed.astype(np.int64),
    )


def count_table(
    delay: Floats, event: NDArray[np.bool_], cluster: NDArray[np.intp]
) -> tuple[Floats, Ints, Ints, Ints]:
    """Events, censorings and delays at risk, per cluster and distinct delay.

    Parameters
    ----------
    delay : ndarray of float of shape (tokens,)
        Finite delays.
    event : ndarray of bool of shape (tokens,)
        Whether the delay was observed.
    cluster : ndarray of int of shape (tokens,)
        Cluster numbers 0, 1, …, none left out.

    Returns
    -------
    time : ndarray of shape (rows,)
        Start row, then the distinct delays; empty without tokens.
    events, censored, at_risk : ndarray of int of shape (clusters, rows)
        Counts.

    Examples
    --------
    >>> time, events, censored, at_risk = count_table(
    ...     np.array([0.0, 1.0]), np.array([True, False]), np.array([0, 1]))
    >>> time, at_risk.tolist()
    (array([-1.,  0.,  1.]), [[1, 1, 0], [1, 1, 1]])
    """
    distinct, row = np.unique(delay, return_inverse=True)
    if distinct.size == 0:
        empty = np.zeros((0, 0), dtype=np.int64)
        return distinct, empty, empty, empty
    shape = (int(cluster.max()) + 1, distinct.size + 1)
    events, censored = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    np.add.at(events, (cluster[event], row[event] + 1), 1)
    np.add.at(censored, (cluster[~event], row[~event] + 1), 1)
    at_risk = np.cumsum((events + censored)[:, ::-1], axis=1)[:, ::-1]
    return np.concatenate([distinct[:1] - 1, distinct]), events, censored, at_risk


def product_limit(events: Ints, at_risk: Ints) -> tuple[Floats, Floats, Floats]:
    """Product-limit estimate, cluster influences on it, and Greenwood's variance.

    Parameters
    ----------
    events, at_risk : ndarray of int of shape (clusters, rows)
        Counts per cluster and time, in order of time.

    Returns
    -------
    survival : ndarray of shape (rows,)
        Estimate.
    influence : ndarray of shape (clusters, rows)
        Summed derivative of the estimate by the weights of a cluster's tokens; columns sum to 0.
    greenwood : ndarray of shape (rows,)
        Variance if all tokens were independent; 0 where the estimate is 0 or 1.

    Examples
    --------
    >>> survival, influence, greenwood = product_limit(np.array([[1], [0]]), np.array([[2], [2]]))
    >>> survival, influence.ravel(), greenwood
    (array([0.75]), array([-0.125,  0.125]), array([0.046875]))
    """
    total = at_risk.sum(axis=0)
    hazard = events.sum(axis=0) / total
    survival = np.cumprod(1 - hazard)
    before = np.concatenate([[1.0], survival[:-1]])
    # Recursive, so that it holds at a hazard of 1 too, where that of log-survival does not.
    step = -before * (events - at_risk * hazard) / total
    influence = np.empty_like(step)
    current = np.zeros(step.shape[0])
    for row in range(step.shape[1]):
        current = current * (1 - hazard[row]) + step[:, row]
        influence[:, row] = current
    terms = np.divide(hazard, total * (1 - hazard), out=np.zeros_like(hazard), where=hazard < 1)
    return survival, influence, survival**2 * np.cumsum(terms)


def effective_size(
    survival: Floats, influence: Floats, greenwood: Floats, exposed: NDArray[np.intp]
) -> Floats:
    """Independent tokens that the estimate is worth; the notes of `kaplan_meier` say how.

    Parameters
    ----------
    survival : ndarray of shape (rows,)
        Estimate.
    influence : ndarray of shape (clusters, rows)
        Influence sums of at least two clusters.
    greenwood : ndarray of shape (rows,)
        Variance of the estimate if tokens were independent.
    exposed : ndarray of int of shape (rows,)
        Clusters at risk.

    Returns
    -------
    ndarray of shape (rows,)
        Effective sample size, above 0.

    Examples
    --------
    >>> influence = np.array([[-0.0625], [-0.0625], [0.0625], [0.0625]])
    >>> effective_size(np.array([0.75]), influence, np.array([0.0234375]), np.array([4])).round(3)
    array([6.133])
    """
    clusters = influence.shape[0]
    inside = (survival > 0) & (survival < 1)
    naive = np.where(inside, greenwood, 1.0)
    independent = survival * (1 - survival) / naive
    square = (influence**2).sum(axis=0)
    fourth = (influence**4).sum(axis=0)
    differ = square > _ROUNDING**2
    spread_over = np.divide(square**2, fourth, out=np.zeros_like(square), where=differ)
    alone, other = 1 - 1 / clusters, 1 / clusters
    single = alone**2 / (alone**4 + (clusters - 1) * other**4)
    informed = np.maximum(spread_over - single, 0.0)
    robust = clusters / (clusters - 1) * np.where(differ, square, 0.0)
    observed = np.maximum(robust / naive, 1.0)
    dependent = np.maximum(independent / clusters, 1.0)
    deff = (informed * observed + dependent) / (informed + 1)
    return np.where(inside, independent / deff, exposed.astype(float))


def _checked(
    delay: ArrayLike, event: ArrayLike, cluster: ArrayLike
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
    """Check and return the three arguments of `kaplan_meier` as arrays, with clusters numbered."""
    times, flags, labels = np.asarray(delay, dtype=float), np.asarray(event), np.asarray(cluster)
    shapes = (times.shape, flags.shape, labels.shape)
    if times.ndim != 1 or len(set(shapes)) > 1:
        raise ValueError(
            "`delay`, `event` and `cluster` must be one-dimensional and of one length; "
            f"their shapes are {shapes[0]}, {shapes[1]} and {shapes[2]}"
        )
    if not np.isfinite(times).all():
        at = int(np.argmin(np.isfinite(times)))
        raise ValueError(f"`delay` must be finite; at {at} it is {float(times[at])!r}")
    true = np.array([value == 1 for value in flags.tolist()], dtype=bool)
    false = np.array([value == 0 for value in flags.tolist()], dtype=bool)
    if not (true | false).all():
        at = int(np.argmin(true | false))
        raise ValueError(f"`event` must be true or false; at {at} it is {flags[at]!r}")
    numbers: dict[object, int] = {}
    for at, label in enumerate(labels.tolist()):
        if label is None or label != label:
            raise ValueError(f"`cluster` has no label at {at}")
        numbers.setdefault(label, len(numbers))
    order = np.array([numbers[label] for label in labels.tolist()], dtype=np.intp)
    return times, true, order
