"""Intervals for rates: Wilson on a (possibly effective) sample size, and an exact upper bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from corecurves.arguments import finite

Floats = NDArray[np.float64]

# Sums and means of many cells leave their range by less than this.
_ROUNDING = 1e-9


def check_confidence(confidence: float) -> float:
    """Confidence as a float, once it is known to lie strictly between 0 and 1.

    Parameters
    ----------
    confidence : float
        Nominal coverage, such as 0.95.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    ValueError
        If `confidence` is not between 0 and 1.

    Examples
    --------
    >>> check_confidence(0.95)
    0.95
    """
    return finite("confidence", confidence, above=0, below=1)


def within(name: str, values: ArrayLike, low: float = 0.0, high: float = np.inf) -> Floats:
    """Computed values as an array, those that leave a range by rounding put back to its end.

    Parameters
    ----------
    name : str
        What they are, for the message.
    values : array_like of shape (...)
        Values; NaN is left alone.
    low, high : float
        Ends of the range, which belong to it unless they are infinite.

    Returns
    -------
    ndarray of shape (...)
        Values within the range.

    Raises
    ------
    ValueError
        If a value is outside by more than rounding, 1e-9, or infinite.

    Examples
    --------
    >>> within("rate", [1.0000000000000002, 0.5], 0, 1).tolist()
    [1.0, 0.5]
    """
    given = np.asarray(values, dtype=float)
    outside = (given < low - _ROUNDING) | (given > high + _ROUNDING) | np.isinf(given)
    if outside.any():
        worst = float(given.flat[int(np.argmax(outside))])
        limits = "be finite and not negative" if high == np.inf else f"lie in [{low:g}, {high:g}]"
        raise ValueError(f"`{name}` must {limits}; it has {worst!r}")
    clipped: Floats = np.clip(given, low, high)
    return clipped


def wilson(
    passed: ArrayLike, judged: ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Wilson score interval for `passed` of `judged`.

    Parameters
    ----------
    passed : array_like of shape (...)
        Passes; need not be whole numbers when `judged` is an effective size.
    judged : array_like of shape (...)
        Judged cells or effective sample size, broadcast against `passed`. Cells that were not
        judged belong in neither.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    lower, upper : ndarray of shape (...)
        Bounds in [0, 1] with ``lower <= passed / judged <= upper`` exactly, so that error lengths
        are never negative. Never of zero width for up to 1e15 judged. NaN where `judged` is 0 or
        either argument is NaN.

    Raises
    ------
    ValueError
        If a count is negative or infinite, more passed than were judged, or `confidence` is not
        between 0 and 1.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
    inference. Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> lower, upper = wilson([12, 0, 0], [12, 9, 0])
    >>> lower.round(3), upper.round(3)
    (array([0.758, 0.   ,   nan]), array([1.   , 0.299,   nan]))
    """
    check_confidence(confidence)
    k, n = counts(passed, judged, "passed", "judged")
    rate = np.divide(k, n, out=np.full(n.shape, np.nan), where=n > 0)
    return wilson_rate(rate, n, confidence=confidence)


def wilson_rate(
    rate: ArrayLike, size: ArrayLike, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Wilson score interval for an estimated rate and its effective sample size.

    Parameters
    ----------
    rate : array_like of shape (...)
        Estimate in [0, 1].
    size : array_like of shape (...)
        Number of independent observations that the estimate is worth, broadcast against `rate`.
    confidence : float, default 0.95
        Nominal two-sided coverage.

    Returns
    -------
    lower, upper : ndarray of shape (...)
        Bounds in [0, 1] that contain `rate` exactly; NaN where `size` is 0 or either argument is
        NaN.

    Raises
    ------
    ValueError
        If a rate lies outside [0, 1], a size is negative or infinite, or `confidence` is not
        between 0 and 1.

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with
    small expected number of positive counts estimated from survey data. Survey Methodology 24,
    193-201. (An interval for counts, on the effective sample size.)

    Examples
    --------
    >>> lower, upper = wilson_rate(0.25, 7.5)
    >>> print(f"{lower:.3f} {upper:.3f}")
    0.069 0.601
    """
    from scipy.special import ndtri

    quantile = float(ndtri(0.5 + check_confidence(confidence) / 2))
    p, n = np.broadcast_arrays(within("rate", rate, 0, 1), within("size", size))
    a = np.divide(quantile**2, n, out=np.full(n.shape, np.nan), where=n > 0)
    centre = (p + a / 2) / (1 + a)
    half = np.sqrt(a * p * (1 - p) + a * a / 4) / (1 + a)
    # Rounding leaves all-pass a hair under 1 and all-fail a hair over 0; the estimate is the limit.
    lower = np.minimum(np.maximum(centre - half, 0.0), p)
    upper = np.maximum(np.minimum(centre + half, 1.0), p)
    return lower[()], upper[()]


def exact_upper(events: ArrayLike, trials: ArrayLike, *, confidence: float = 0.95) -> Floats:
    """One-sided Clopper-Pearson upper bound for a rate.

    Parameters
    ----------
    events : array_like of shape (...)
        How often it happened.
    trials : array_like of shape (...)
        Independent trials, broadcast against `events`.
    confidence : float, default 0.95
        One-sided coverage, guaranteed for independent trials.

    Returns
    -------
    ndarray of shape (...)
        The largest rate that `events` or fewer leave possible, in [0, 1]; 1 where every trial was
        an event; NaN where there was no trial.

    Raises
    ------
    ValueError
        If a count is negative or infinite, there are more events than trials, or `confidence` is
        not between 0 and 1.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
    illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> print(f"{exact_upper(0, 300):.4f}")
    0.0099
    """
    from scipy.special import betaincinv

    level = check_confidence(confidence)
    k, n = counts(events, trials, "events", "trials")
    some = (n > 0) & (k < n)
    inverse = betaincinv(np.where(some, k + 1, 1.0), np.where(some, n - k, 1.0), level)
    bound = np.where(some, inverse, np.where((n > 0) & (k == n), 1.0, np.nan))
    return np.asarray(bound, dtype=float)[()]


def counts(part: ArrayLike, whole: ArrayLike, part_name: str, name: str) -> tuple[Floats, Floats]:
    """Both as floats of one shape, refused where they cannot be a part and its whole.

    Parameters
    ----------
    part, whole : array_like of shape (...)
        Counts, broadcast against each other; NaN is left alone.
    part_name, name : str
        What they are, for the message.

    Returns
    -------
    part, whole : ndarray of shape (...)
        The counts, a part that exceeds its whole by rounding cut to it.

    Raises
    ------
    ValueError
        If a count is negative or infinite, or a part exceeds its whole by more than rounding.

    Examples
    --------
    >>> part, whole = counts([0.1 + 0.2], [0.3], "part", "whole")
    >>> (part == whole).tolist()
    [True]
    """
    k, n = np.broadcast_arrays(within(part_name, part), within(name, whole))
    beyond = k > n * (1 + _ROUNDING) + _ROUNDING
    if beyond.any():
        at = int(np.argmax(beyond))
        got = f"{float(k.flat[at])} of {float(n.flat[at])}"
        raise ValueError(f"`{part_name}` exceeds `{name}`: {got}")
    return np.minimum(k, n), n
