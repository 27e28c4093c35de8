"""Rates, means and first reach: answers by hand and by scipy, and what must always hold."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from corecurves.stats import (
    difference_interval,
    exact_upper,
    first_reach,
    no_spread_half_width,
    t_interval,
    wilson,
    wilson_rate,
)

NAN = float("nan")
rates = st.floats(0, 1)
sizes = st.floats(0.1, 1e6)
confidences = st.floats(0.5, 0.999)


def test_import_takes_numpy_only():
    code = (
        "import sys, corecurves.stats;"
        "print([m for m in ('scipy', 'pandas', 'xarray', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Wilson


def test_wilson_by_hand():
    # z² = 3.841459, a = z²/n = 0.3841459: centre 0.5, half sqrt(a/4 + a²/4) / (1 + a).
    lower, upper = wilson(5, 10)
    assert lower == pytest.approx(0.236593, abs=1e-6)
    assert upper == pytest.approx(0.763407, abs=1e-6)
    # All of n: from n / (n + z²) to 1.
    lower, upper = wilson(12, 12)
    assert lower == pytest.approx(12 / (12 + 3.8414588), abs=1e-7)
    assert upper == 1.0


@pytest.mark.parametrize("n", range(1, 61))
def test_wilson_agrees_with_scipy(n):
    for k in {0, 1, n // 2, n - 1, n}:
        for level in (0.8, 0.95, 0.99):
            expected = scipy_stats.binomtest(k, n).proportion_ci(level, method="wilson")
            assert np.allclose(wilson(k, n, confidence=level), expected, atol=1e-12)


def test_wilson_bounds_all_pass_and_all_fail_exactly():
    n = np.arange(1, 61)
    for k in (n, 0 * n):
        lower, upper = wilson(k, n)
        mean = k / n
        assert (upper - mean >= 0).all()
        assert (mean - lower >= 0).all()
        assert (upper > lower).all()
        assert (np.diff(upper - lower) < 0).all()


def test_wilson_of_nothing_is_missing():
    lower, upper = wilson([0, 3, NAN], [0, NAN, 4])
    assert np.isnan(lower).all()
    assert np.isnan(upper).all()


def test_wilson_broadcasts_and_gives_scalars():
    lower, upper = wilson(np.array([[1], [2]]), np.array([4, 8, 16]))
    assert lower.shape == upper.shape == (2, 3)
    assert isinstance(wilson(1, 2)[0], float)


@settings(deadline=None)
@given(rates, sizes, confidences)
def test_wilson_contains_its_estimate(rate, size, confidence):
    lower, upper = wilson_rate(rate, size, confidence=confidence)
    assert 0 <= lower <= rate <= upper <= 1
    assert upper > lower


@settings(deadline=None)
@given(st.integers(1, 500), st.data())
def test_wilson_contains_passed_by_judged(judged, data):
    passed = data.draw(st.integers(0, judged))
    lower, upper = wilson(passed, judged)
    assert 0 <= lower <= passed / judged <= upper <= 1


@settings(deadline=None)
@given(rates, sizes, st.floats(1.01, 100))
def test_wilson_shrinks_with_size_and_grows_with_confidence(rate, size, factor):
    lower, upper = wilson_rate(rate, [size, size * factor])
    assert upper[1] - lower[1] < upper[0] - lower[0]
    wide_lower, wide_upper = wilson_rate(rate, size, confidence=0.99)
    assert wide_upper - wide_lower > upper[0] - lower[0]


@settings(deadline=None)
@given(rates, sizes)
def test_wilson_mirrors(rate, size):
    lower, upper = wilson_rate(rate, size)
    mirrored_lower, mirrored_upper = wilson_rate(1 - rate, size)
    assert lower == pytest.approx(1 - mirrored_upper, abs=1e-12)
    assert upper == pytest.approx(1 - mirrored_lower, abs=1e-12)


@pytest.mark.parametrize(
    ("passed", "judged", "match"),
    [
        (3, 2, "`passed` exceeds `judged`: 3.0 of 2.0"),
        ([1, -1], 2, "`passed` must be finite and not negative; it has -1.0"),
        (1, -2, "`judged`"),
        (1, np.inf, "`judged`"),
    ],
)
def test_wilson_refuses(passed, judged, match):
    with pytest.raises(ValueError, match=match):
        wilson(passed, judged)


@pytest.mark.parametrize("confidence", [0, 1, 95, NAN])
def test_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ValueError, match=r"`confidence` is .*; give a number above 0 and below 1"):
        wilson(1, 2, confidence=confidence)
    with pytest.raises(ValueError, match="`confidence`"):
        t_interval([1, 2], confidence=confidence)
    with pytest.raises(ValueError, match="`confidence`"):
        exact_upper(1, 2, confidence=confidence)


def test_wilson_rate_refuses():
    with pytest.raises(ValueError, match=r"`rate` must lie in \[0, 1\]; it has 1.5"):
        wilson_rate([0.5, 1.5], 3)
    with pytest.raises(ValueError, match="`size`"):
        wilson_rate(0.5, -1)


# Exact upper bound


def test_exact_upper_by_hand():
    assert exact_upper(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300), abs=1e-12)
    assert exact_upper(0, 300) == pytest.approx(0.0099, abs=1e-4)
    assert exact_upper(0, 1) == pytest.approx(0.95)
    assert exact_upper(1, 1) == 1.0
    assert np.isnan(exact_upper(0, 0))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_exact_upper_agrees_with_scipy(n):
    k = np.arange(n + 1)
    expected = [
        scipy_stats.binomtest(int(i), n, alternative="less").proportion_ci(0.95, "exact").high
        for i in k
    ]
    assert np.allclose(exact_upper(k, n), expected, atol=1e-9)


@settings(deadline=None)
@given(st.integers(1, 400), st.data())
def test_exact_upper_leaves_its_tail(n, data):
    k = data.draw(st.integers(0, n - 1))
    bound = float(exact_upper(k, n))
    assert k / n < bound < 1
    assert scipy_stats.binom.cdf(k, n, bound) == pytest.approx(0.05, abs=1e-8)
    assert exact_upper(k, n + 1) < bound < exact_upper(k + 1, n)


# Means


def test_t_interval_by_hand():
    # mean 2, sd 1, n 3: t(2) = 4.302653, half 4.302653 / sqrt(3) = 2.484138.
    mean, lower, upper, units = t_interval([1, 2, NAN, 3])
    assert (mean, units) == (2.0, 3)
    assert upper - mean == pytest.approx(2.484138, abs=1e-6)
    assert mean - lower == pytest.approx(2.484138, abs=1e-6)


@settings(deadline=None)
@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=30),
    st.floats(0.5, 0.999),
)
def test_t_interval_agrees_with_scipy(values, confidence):
    assume(np.ptp(values) > 1e-3)
    got = t_interval(values, confidence=confidence)
    expected = scipy_stats.ttest_1samp(values, 0).confidence_interval(confidence)
    assert np.allclose([got.lower, got.upper], expected, rtol=1e-7, atol=1e-7)


def test_t_interval_of_too_little():
    assert np.isnan(t_interval([]).mean)
    assert t_interval([]).units == 0
    one = t_interval([NAN, 0.25], floor=0.1)
    assert (one.mean, one.units) == (0.25, 1)
    assert np.isnan([one.lower, one.upper]).all()


@pytest.mark.parametrize("values", [[0.3, 0.3, 0.3], [0.3, 0.1 + 0.2], [0, 0]])
def test_t_interval_without_spread_is_not_certain(values):
    mean, lower, upper, _ = t_interval(values)
    assert mean == pytest.approx(values[0])
    assert np.isnan([lower, upper]).all()
    mean, lower, upper, _ = t_interval(values, floor=0.2)
    assert upper - lower == pytest.approx(0.4)


@settings(deadline=None)
@given(st.permutations([0.0, 0.1, 0.7, 1.0, NAN, 0.3333]))
def test_t_interval_ignores_order_to_the_bit(values):
    assert t_interval(values) == t_interval([0.0, 0.1, 0.3333, 0.7, 1.0])


def test_t_interval_refuses():
    with pytest.raises(ValueError, match="one dimension"):
        t_interval([[1, 2]])
    with pytest.raises(ValueError, match="infinity"):
        t_interval([1, np.inf])
    with pytest.raises(ValueError, match="`floor`"):
        t_interval([1, 2], floor=-1)
    with pytest.raises(ValueError, match="`floor`"):
        t_interval([1, 2], floor=NAN)


@settings(deadline=None)
@given(st.integers(2, 200), confidences)
def test_no_spread_is_half_of_wilson_at_all_pass(units, confidence):
    lower, upper = wilson(units, units, confidence=confidence)
    half = no_spread_half_width(units, confidence=confidence)
    assert half == pytest.approx((upper - lower) / 2, rel=1e-9)
    assert no_spread_half_width(units + 1, confidence=confidence) < half


def test_no_spread_needs_two_units():
    assert np.isnan([no_spread_half_width(0), no_spread_half_width(1)]).all()
    with pytest.raises(ValueError, match="`units`"):
        no_spread_half_width(-1)


@settings(deadline=None)
@given(st.integers(2, 60), st.integers(1, 45))
def test_one_slip_never_narrows_a_difference(units, runs):
    calm = difference_interval([0.0] * units)
    slip = difference_interval([0.0] * (units - 1) + [-1 / runs])
    assert slip.upper - slip.lower >= calm.upper - calm.lower - 1e-12
    assert slip.lower <= calm.lower


@settings(deadline=None)
@given(st.lists(st.one_of(st.floats(-1, 1), st.just(NAN)), max_size=12))
def test_difference_interval_contains_its_mean(values):
    mean, lower, upper, units = difference_interval(values)
    assert units == np.count_nonzero(~np.isnan(values))
    if units < 2:
        assert np.isnan([lower, upper]).all()
    else:
        assert -1 <= lower <= mean <= upper <= 1
        assert upper > lower


def test_difference_interval_refuses():
    with pytest.raises(ValueError, match=r"in \[-1, 1\]; it has -1.25"):
        difference_interval([0.5, -1.25])


# First reach


def test_first_reach_of_a_chain():
    hits = np.arange(7.0)
    assert first_reach(hits, 1) == (1.0, "reached")
    assert first_reach(hits, 6) == (6.0, "reached")
    assert first_reach(hits, 0) == (0.0, "reached")
    k_first, state = first_reach(hits, 7)
    assert np.isnan(k_first)
    assert state == "never"


def test_first_reach_takes_the_first_of_a_curve_that_falls():
    assert first_reach([2, 2, 1, 2, 2], 2) == (0.0, "reached")
    assert first_reach([0, 1, 0, 1], 1) == (1.0, "reached")


@pytest.mark.parametrize(
    ("hits", "k_first", "state"),
    [
        ([0, NAN, 1, 1], NAN, "undecided"),
        ([0, 1, NAN, NAN], 1.0, "reached"),
        ([NAN, 1, 1, 1], NAN, "undecided"),
        ([0, 0, 0, NAN], NAN, "undecided"),
        ([0, NAN, 0, 0], NAN, "undecided"),
        ([NAN] * 4, NAN, "undecided"),
        ([0, 0, 0, 0], NAN, "never"),
    ],
)
def test_first_reach_keeps_a_missing_snapshot_missing(hits, k_first, state):
    got_k, got_state = first_reach(hits, 1)
    assert np.array_equal(got_k, k_first, equal_nan=True)
    assert got_state == state


def test_first_reach_looks_at_planned_snapshots_only():
    hits = [[0, 0, 0, NAN, NAN], [0, 0, NAN, 0, NAN], [NAN] * 5]
    planned = [[True] * 3 + [False] * 2, [True] * 4 + [False], [False] * 5]
    k_first, state = first_reach(hits, 1, planned=planned)
    assert np.isnan(k_first).all()
    assert state.tolist() == ["never", "undecided", "undecided"]


def test_first_reach_takes_a_target_for_each_curve():
    hits = np.array([[0, 1, 2, 3], [0, 1, 2, NAN]])
    planned = ~np.isnan(hits)
    k_first, state = first_reach(hits, [3, 2], planned=planned)
    assert k_first.tolist() == [3, 2]
    assert (state == "reached").all()
    assert first_reach(np.zeros((2, 3, 4)), 1)[1].shape == (2, 3)


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.integers(0, 3), st.just(None)), min_size=1, max_size=8), st.integers(1, 3)
)
def test_first_reach_against_every_way_to_fill_the_gaps(hits, target):
    curve = np.array([NAN if h is None else h for h in hits])
    earliest = first_reach(np.nan_to_num(curve, nan=np.inf), target)
    latest = first_reach(np.nan_to_num(curve, nan=-np.inf), target)
    k_first, state = first_reach(curve, target)
    same = np.array_equal(earliest[0], latest[0], equal_nan=True)
    assert (state != "undecided") == same
    assert np.array_equal(k_first, earliest[0] if same else NAN, equal_nan=True)


def test_first_reach_refuses():
    with pytest.raises(ValueError, match="at least one dimension"):
        first_reach(1, 1)
    with pytest.raises(ValueError, match="`planned` has shape"):
        first_reach([1, 2], 1, planned=[True])
    with pytest.raises(ValueError, match="`planned` must be boolean"):
        first_reach([1, 2], 1, planned=[1, 0])
    with pytest.raises(ValueError, match="`target` holds NaN"):
        first_reach([1, 2], NAN)
    with pytest.raises(ValueError, match=r"judged at \(1,\)"):
        first_reach([1, 2], 1, planned=[True, False])
    with pytest.raises(ValueError, match="broadcast"):
        first_reach([[1, 2]], [1, 2, 3])
    assert first_reach(np.empty((2, 0)), 1)[1].tolist() == ["undecided"] * 2
