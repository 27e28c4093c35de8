"""Change, ratio, Holm, nesting and decisions: answers by hand, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import binom

from corecurves.stats import (
    change_bounds,
    change_interval,
    difference_interval,
    exact_upper,
    holm,
    independent_units,
    mean_known,
    nested_rate,
    no_spread_half_width,
    p_below,
    ratio_interval,
    t_interval,
    units_to_decide,
    units_to_hold,
    unseen_loss,
    wilson,
    wilson_rate,
)
from corecurves.stats.shares import pooled_difference, pooled_rate

NAN = float("nan")
changes = st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, -0.1, 0.0, 0.0, 0.2, 1.0]),
                   min_size=2, max_size=30)  # fmt: skip
rates = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=2, max_size=30)
confidences = st.floats(0.5, 0.999)


# change


def test_no_change_has_the_two_floors():
    mean, lower, upper, units = change_interval([0.0] * 29)
    assert (mean, units) == (0, 29)
    assert lower == pytest.approx(-(1 - 0.05 ** (1 / 29)))
    assert upper == pytest.approx(no_spread_half_width(29))
    # The margin of 0.1 can be kept from 29 lessons on.
    assert lower > -0.1 > change_interval([0.0] * 28).lower


def test_what_was_not_seen_may_be_lost_where_the_others_gained():
    # All gain 0.2; a share q that falls to -1 instead goes unseen with probability 0.05.
    q = 1 - 0.05 ** (1 / 20)
    assert change_interval([0.2] * 20).lower == pytest.approx(0.2 * (1 - q) - q)


@given(st.floats(0.01, 0.45), st.floats(0.6, 0.99))
def test_fewest_units_that_can_hold(margin, confidence):
    least = units_to_hold(margin, confidence=confidence)
    lower = [change_interval([0.0] * n, confidence=confidence).lower for n in (least, least - 1)]
    assert lower[0] > -margin - 1e-12
    assert not lower[1] > -margin + 1e-12


def test_one_lesson_lost_wholly_by_hand():
    # Loss 1/40; Clopper-Pearson on 40 lessons' effective size, (1.959964 / 2.022691)² of it.
    values = [-1.0] + [0.0] * 39
    rate, few = 1 / 40, (1.959963985 / 2.022690901) ** 2
    size = rate * (1 - rate) / (np.var(values, ddof=1) / 40) * few
    lost = rate * size
    below = betaincinv(lost, size - lost + 1, 0.025)
    above = betaincinv(lost + 1, size - lost, 0.975)
    mean, lower, upper, _ = change_interval(values)
    floor = no_spread_half_width(40)
    # No gain was seen: its reach is the floor up, and none down. Gains and losses are uncorrelated.
    assert lower == pytest.approx(mean - (above - rate), abs=1e-7)
    assert upper == pytest.approx(
        mean + min(np.hypot(floor, rate - below), t_interval(values).upper - mean), abs=1e-7
    )


def test_change_reaches_further_down_than_t_where_losses_fall_on_few():
    values = [-1.0] * 2 + [0.0] * 38
    assert change_interval(values).lower < difference_interval(values).lower - 0.02


@given(changes, confidences)
def test_change_contains_the_mean_and_has_width(values, confidence):
    mean, lower, upper, units = change_interval(values, confidence=confidence)
    assert -1 <= lower <= mean <= upper <= 1
    assert upper > lower
    assert units == len(values)


@given(changes, st.randoms())
def test_change_knows_no_order_and_skips_what_is_missing(values, random):
    shuffled = [*values, NAN]
    random.shuffle(shuffled)
    assert change_interval(shuffled) == change_interval(values)


@given(changes)
def test_change_grows_with_confidence(values):
    ends = [change_interval(values, confidence=c) for c in (0.5, 0.8, 0.9, 0.95, 0.99)]
    assert (np.diff([e.upper for e in ends]) >= -1e-12).all()
    assert (np.diff([e.lower for e in ends]) <= 1e-12).all()


@pytest.mark.parametrize("units", [4, 8, 20, 40, 80])
@pytest.mark.parametrize("slip", [-1 / 18, -1 / 3, -1.0])
def test_a_first_slip_never_narrows(units, slip):
    none, one = (change_interval([first] + [0.0] * (units - 1)) for first in (0.0, slip))
    assert one.lower < none.lower
    assert one.upper - one.lower >= none.upper - none.lower - 1e-9


@given(changes)
def test_many_stores_at_once_agree_with_one(values):
    lower, upper = change_bounds(np.sort(np.array([values, values])))
    one = change_interval(values)
    assert lower == pytest.approx([one.lower] * 2, abs=1e-12)
    assert upper == pytest.approx([one.upper] * 2, abs=1e-12)


def test_change_of_nothing_and_of_one():
    assert np.isnan(change_interval([NAN])[:3]).all()
    assert change_interval([NAN, -0.5])[0] == -0.5
    assert np.isnan(change_interval([NAN, -0.5])[1:3]).all()
    with pytest.raises(ValueError, match=r"`values` must lie in \[-1, 1\]; it has -1\.5"):
        change_interval([0, -1.5])
    with pytest.raises(ValueError, match="dimension"):
        change_interval([[0.0]])
    with pytest.raises(ValueError, match="confidence"):
        change_interval([0.0, 0.0], confidence=95)


def test_unseen_loss():
    assert unseen_loss(10) == pytest.approx(1 - 0.05**0.1)
    assert unseen_loss(10, confidence=0.4) == pytest.approx(1 - 0.6**0.1)
    assert np.isnan(unseen_loss(1))
    with pytest.raises(ValueError, match="negative"):
        unseen_loss(-1)


# p-values


@settings(deadline=None, max_examples=40)
@given(changes, st.sampled_from([-0.3, -0.1, -0.05]), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_p_agrees_with_the_interval(values, bound, confidence):
    upper = change_interval(values, confidence=confidence).upper
    p = p_below(values, bound)
    if abs(upper - bound) > 1e-9:
        assert (p < (1 - confidence) / 2) == (upper < bound)


def test_p_is_where_the_interval_ends_at_the_bound():
    values = [-0.3, -0.5, 0.0, -0.6, -0.4, 0.1, -0.5, -0.4]
    p = p_below(values, -0.1)
    assert 0 < p < 0.05
    assert change_interval(values, confidence=1 - 2 * p).upper == pytest.approx(-0.1, abs=1e-9)


def test_p_of_nothing():
    assert np.isnan(p_below([NAN, 0.0], -0.1))
    assert p_below([0.0, -0.1, 0.1], -0.1) == 1


def test_holm_by_hand():
    assert holm([0.02, 0.01, 0.03]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, NAN, 0.9]).tolist()[::2] == [1.0, 1.0]
    assert np.isnan(holm([0.5, NAN])[1])
    assert holm([]).size == 0
    with pytest.raises(ValueError, match=r"`p` must lie in \[0, 1\]; it has 1\.5"):
        holm([0.1, 1.5])
    with pytest.raises(ValueError, match="dimension"):
        holm([[0.1]])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_between_plain_and_bonferroni(p):
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(np.array(p) * len(p), 1) + 1e-12).all()
    order = np.argsort(p)
    assert (np.diff(adjusted[order]) >= 0).all()


# ratio


def test_ratio_by_hand():
    # Means 0.5 and 1, no spread below: Fieller is the t interval of the numerator.
    top, bottom = [0.4, 0.5, 0.6], [1.0, 1.0, 1.0]
    assert ratio_interval(top, bottom)[:3] == pytest.approx(t_interval(top)[:3])


@given(rates, rates, st.sampled_from([0.0, 0.05, 0.2]))
def test_ratio_is_where_the_test_does_not_reject(top, bottom, floor):
    n = min(len(top), len(bottom))
    top, bottom = np.array(top[:n]), np.array(bottom[:n])
    ratio, lower, upper, units = ratio_interval(top, bottom, floor=floor)
    assert units == n
    if np.isnan(ratio):
        return
    assert lower <= ratio <= upper
    for end in (lower, upper):
        # At each end the mean of top - end * bottom is just told from 0.
        values = top - end * bottom
        low, high = t_interval(values)[1:3]
        half = 0 if np.isnan(low) else (high - low) / 2
        half = max(half, floor * max(1, end, 1 - end))
        assert abs(values.mean()) == pytest.approx(half, abs=1e-6 * max(1, abs(end)))


def test_ratio_is_undefined_without_a_lift():
    assert np.isnan(ratio_interval([0.1, 0.2], [0.5, -0.5])[:3]).all()
    assert np.isnan(ratio_interval([0.1], [0.5])[:3]).all()
    assert np.isnan(ratio_interval([0.5, 0.5], [1.0, 1.0])[:3]).all()
    # The same with a floor: defined, and of some width.
    ratio, lower, upper, _ = ratio_interval([0.5, 0.5], [1.0, 1.0], floor=0.1)
    assert (ratio, lower, upper) == pytest.approx((0.5, 0.4, 0.6))
    assert np.isnan(ratio_interval([0.5, 0.5], [1.0, 1.0], floor=1.0)[:3]).all()


def test_ratio_refuses():
    with pytest.raises(ValueError, match="one length"):
        ratio_interval([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="infinite"):
        ratio_interval([1.0, np.inf], [1.0, 2.0])
    with pytest.raises(ValueError, match="floor"):
        ratio_interval([1.0, 1.0], [1.0, 2.0], floor=-1)


# nesting


def test_lessons_are_the_units():
    units = independent_units([[1.0, 0.0, NAN], [1.0, NAN, NAN], [NAN, NAN, NAN]])
    assert units.values.tolist() == [0.5, 1.0]
    assert units.repeats.tolist() == [2, 1]
    assert units[2:] == ("lesson", 2, 3)


def test_episodes_of_the_only_lesson_are_the_units():
    units = independent_units([[1.0, 0.0, NAN], [NAN] * 3], samples=[[3, 2, 0], [0, 0, 0]])
    assert units.values.tolist() == [1.0, 0.0]
    assert units.repeats.tolist() == [3, 2]
    assert units[2:] == ("episode", 1, 2)
    assert independent_units([[NAN]])[2:] == ("", 0, 0)
    with pytest.raises(ValueError, match="shape"):
        independent_units([1.0])


def test_mean_of_what_is_known():
    assert mean_known([[1, NAN], [NAN, NAN]]).tolist()[0] == 1
    assert np.isnan(mean_known([[NAN, NAN]])).all()
    assert mean_known(np.zeros((2, 3, 4)), axis=(1, 2)).shape == (2,)


def test_nested_rate_by_hand():
    # No spread: as many as there are units, whatever the repeats.
    assert nested_rate([1.0] * 5, [9] * 5)[1:3] == pytest.approx(wilson(5, 5))
    # Units that differ as single trials do are worth units - 1, times (z / t)².
    values = [1.0, 1.0, 1.0, 0.0]
    size = 3 * (1.959963985 / 3.182446305) ** 2
    assert nested_rate(values, [9] * 4)[1:3] == pytest.approx(wilson(0.75 * size, size))
    # Never more than the repeats.
    assert nested_rate([0.5, 0.5001] * 10, [2] * 20)[1:3] == pytest.approx(wilson(20, 40), abs=1e-3)
    assert np.isnan(nested_rate([0.5], [2])[1:3]).all()
    assert np.isnan(nested_rate([NAN], [0])[:3]).all()


@given(rates, confidences)
def test_nested_rate_contains_the_rate(values, confidence):
    rate, lower, upper, _ = nested_rate(values, [4] * len(values), confidence=confidence)
    assert 0 <= lower <= rate <= upper <= 1
    assert upper > lower


# decisions


def test_decision_of_lessons_that_do_not_differ_is_the_floor():
    assert units_to_decide([0.0] * 8, margin=0.1) == (29, 1.0)
    assert units_to_decide([0.0] * 30, margin=0.1).units == 31
    # Fewer would do to refute, but then they could not have held.
    assert units_to_decide([-1.0] * 2, margin=0.1).units == 29
    assert units_to_decide([-1.0] * 40, margin=0.1).units == 41
    assert units_to_decide([0.0] * 8, margin=0.001) == (None, 0.0)


def test_decision_at_the_margin_never_comes():
    values = [-0.1, -0.3, 0.1, -0.1, -0.2, 0.0]
    assert units_to_decide(values, margin=0.1, limit=500).units is None


def test_decision_is_the_first_size_with_the_power():
    values = [0.0, -0.2, 0.1, 0.0, -0.1, 0.05]
    found = units_to_decide(values, margin=0.1)
    assert found.power >= 0.8
    more = units_to_decide(values, margin=0.1, power=0.95).units
    assert more > found.units
    rng = np.random.default_rng(5)
    stores = rng.choice(values, size=(4000, found.units))
    lower, upper = change_bounds(stores)
    assert np.mean((lower > -0.1) | (upper < -0.1)) == pytest.approx(0.8, abs=0.04)


def test_decision_refuses_and_does_without():
    assert units_to_decide([0.0], margin=0.1).units is None
    with pytest.raises(ValueError, match="margin"):
        units_to_decide([0.0, 0.1], margin=0)
    with pytest.raises(ValueError, match="confidence"):
        units_to_decide([0.0, 0.1], margin=0.1, power=1.0)


# rounding


@pytest.mark.parametrize(
    "call",
    [
        lambda x: change_interval([-x, 0, 0]),
        lambda x: difference_interval([-x, 0, 0]),
        lambda x: p_below([-x, 0, 0], -0.1),
        lambda x: units_to_decide([-x, 0, 0], margin=0.1),
        lambda x: holm([x, 0.5]),
        lambda x: nested_rate([x, x, 0.5], [2, 2, 2]),
        lambda x: wilson(3 * x, 3),
        lambda x: wilson_rate(x, 4),
        lambda x: wilson_rate(1 - x, 4),
        lambda x: exact_upper(3 * x, 3),
        lambda x: pooled_rate([3 * x, 0], [3, 3]),
        lambda x: pooled_difference([3 * x, 0], [3, 3], [1, 0], [3, 3]),
    ],
)
def test_rounding_is_within_range_and_what_is_wrong_is_not(call):
    bounds = np.asarray(call(1 + 4e-16), dtype=float)
    assert np.array_equal(bounds, np.asarray(call(1.0), dtype=float), equal_nan=True)
    for wrong in (1.001, float("inf")):
        with pytest.raises(ValueError, match=r"must|exceeds"):
            call(wrong)


# errors at every number of lessons


@pytest.mark.parametrize("margin", [0.05, 0.1, 0.2])
@pytest.mark.parametrize(
    ("gain", "part"), [(0, 1), (0, 0.5), (0, 0.2), (0.05, 1), (0.1, 1), (0.2, 0.75), (0.3, 1)]
)
def test_at_most_one_in_twenty_holds_or_is_refuted_at_the_margin(margin, gain, part):
    """Units gain or lose by fixed amounts, a loss of the margin on average: exact, by binomial."""
    share = (margin + gain) / (part + gain)
    for units in range(4, 101):
        lost = np.arange(units + 1)
        lower, upper = change_bounds(np.where(np.arange(units) < lost[:, None], -part, gain))
        chance = binom.pmf(lost, units, share)
        holds = chance[lower > -margin + 1e-12].sum()
        refuted = chance[upper < -margin - 1e-12].sum()
        assert max(holds, refuted) <= 0.05, units
        if part == 1 or not gain:
            assert holds + refuted <= 0.07, units
