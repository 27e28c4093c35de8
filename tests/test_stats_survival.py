"""Kaplan-Meier: hand-computed curves and variances, scipy's curve, and what must always hold."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from corecurves.stats import kaplan_meier, wilson, wilson_rate
from corecurves.stats.survival import count_table, effective_size, product_limit

NAN = float("nan")
tokens = st.lists(
    st.tuples(st.integers(-4, 6), st.booleans(), st.integers(0, 5)), min_size=1, max_size=40
)


def columns(rows):
    delay, event, cluster = zip(*rows, strict=True)
    return list(delay), list(event), list(cluster)


def same(one, other):
    return all(
        np.allclose(getattr(one, f.name), getattr(other, f.name), atol=1e-9, equal_nan=True)
        for f in dataclasses.fields(one)
    )


def test_curve_by_hand():
    # At risk 6, 5, 3, 1: 5/6, then 4/5, 2/3 and 0 of that. A censoring that ties with an event was
    # at risk there.
    delay = [-1, 0, 0, 1, 1, 2]
    event = [True, False, True, True, False, True]
    curve = kaplan_meier(delay, event, list("aabbcc"))
    assert curve.time.tolist() == [-2, -1, 0, 1, 2]
    assert curve.at_risk.tolist() == [6, 6, 5, 3, 1]
    assert curve.events.tolist() == [0, 1, 1, 1, 1]
    assert curve.censored.tolist() == [0, 0, 1, 1, 0]
    assert curve.clusters.tolist() == [3, 3, 3, 2, 1]
    assert np.allclose(curve.survival, [1, 5 / 6, 2 / 3, 4 / 9, 0])
    assert curve.median == 1


def test_events_come_before_censorings_at_ties():
    curve = kaplan_meier([1, 1], [True, False], [0, 1])
    assert curve.survival.tolist() == [1, 0.5]


def test_median():
    assert kaplan_meier([0, 1, 2, 3], [True] * 4, range(4)).median == 1
    assert np.isnan(kaplan_meier([0, 1, 2, 3], [True, False, False, False], range(4)).median)
    # 8/10 of 6/8 of 5/6 is one half, but comes out a hair above it.
    delay, event = [0, 0, 1, 1, 2, 2, 2, 2, 2, 2], [True] * 5 + [False] * 5
    curve = kaplan_meier(delay, event, range(10))
    assert curve.survival[-1] > 0.5
    assert curve.median == 2


@settings(deadline=None)
@given(tokens)
def test_point_estimate_agrees_with_scipy(rows):
    delay, event, cluster = columns(rows)
    times, happened = np.array(delay, dtype=float), np.array(event)
    expected = scipy_stats.ecdf(
        scipy_stats.CensoredData(uncensored=times[happened], right=times[~happened])
    ).sf
    curve = kaplan_meier(delay, event, cluster)
    assert np.array_equal(curve.time[1:], expected.quantiles)
    assert np.allclose(curve.survival[1:], expected.probabilities, atol=1e-12)


@settings(deadline=None)
@given(tokens)
def test_band_holds_its_promises(rows):
    curve = kaplan_meier(*columns(rows))
    assert curve.survival[0] == 1
    assert (np.diff(curve.survival) <= 0).all()
    assert (np.diff(curve.time) > 0).all()
    if curve.clusters[0] < 2:
        assert np.isnan([curve.lower, curve.upper]).all()
        return
    assert (curve.lower >= 0).all()
    assert (curve.upper <= 1).all()
    assert (curve.lower <= curve.survival).all()
    assert (curve.upper >= curve.survival).all()
    assert (curve.upper - curve.lower > 1e-3).all()


@settings(deadline=None)
@given(tokens, st.randoms(use_true_random=False))
def test_order_and_labels_do_not_matter(rows, random):
    curve = kaplan_meier(*columns(rows))
    shuffled = list(rows)
    random.shuffle(shuffled)
    delay, event, cluster = columns(shuffled)
    assert same(curve, kaplan_meier(delay, event, [f"concept {9 - c}" for c in cluster]))


@settings(deadline=None)
@given(tokens)
def test_time_shifts_and_duplicates(rows):
    delay, event, cluster = columns(rows)
    curve = kaplan_meier(delay, event, cluster)
    later = kaplan_meier([d + 3 for d in delay], event, cluster)
    assert np.allclose(later.time, curve.time + 3)
    assert np.allclose(later.lower, curve.lower, equal_nan=True)
    # Every token twice within its cluster: more tokens, no more evidence.
    twice = kaplan_meier(delay * 2, event * 2, cluster * 2)
    assert np.allclose(twice.survival, curve.survival)
    width, doubled = curve.upper - curve.lower, twice.upper - twice.lower
    edge = (curve.survival == 0) | (curve.survival == 1)
    assert np.allclose(doubled[edge], width[edge], equal_nan=True)
    # Every cluster twice: more evidence, never a wider band.
    if curve.clusters[0] > 1:
        more = kaplan_meier(delay * 2, event * 2, cluster + [c + 10 for c in cluster])
        assert np.allclose(more.survival, curve.survival)
        assert (more.upper - more.lower <= width + 1e-9).all()


def test_influence_is_the_derivative_by_cluster_weights():
    rng = np.random.default_rng(0)
    delay, event = rng.integers(-2, 5, 30).astype(float), rng.random(30) < 0.6
    cluster = np.repeat(np.arange(6), 5)
    _, events, _, at_risk = count_table(delay, event, cluster)
    survival, influence, greenwood = product_limit(events, at_risk)
    h = 1e-6
    for c in range(6):
        weight = np.ones((6, 1))
        weight[c] += h
        nudged = np.cumprod(1 - (weight * events).sum(0) / (weight * at_risk).sum(0))
        assert np.allclose((nudged - survival) / h, influence[c], atol=1e-5)
    assert np.allclose(influence.sum(axis=0), 0, atol=1e-12)
    # A token its own cluster: Greenwood's variance is the sum of squared influences.
    _, events, _, at_risk = count_table(delay, event, np.arange(30))
    _, single, same_greenwood = product_limit(events, at_risk)
    assert np.allclose((single**2).sum(axis=0), same_greenwood, atol=1e-12)
    assert np.allclose(same_greenwood, greenwood)


def test_uncensored_variance_is_that_of_a_binomial():
    _, events, _, at_risk = count_table(
        np.arange(8.0), np.ones(8, dtype=bool), np.arange(8, dtype=np.intp)
    )
    survival, _, greenwood = product_limit(events, at_risk)
    assert np.allclose(greenwood, survival * (1 - survival) / 8)


def test_wholly_dependent_clusters_count_as_one_token_each():
    # 6 concepts of 5 tokens, all of a concept at once: worth about 6 tokens, not 30.
    delay = np.repeat([0, 1, 2, 3, 4, 5], 5)
    curve = kaplan_meier(delay, np.ones(30, dtype=bool), np.repeat(np.arange(6), 5))
    lower, upper = wilson(3, 6)
    middle = int(np.flatnonzero(curve.time == 2)[0])
    assert curve.survival[middle] == pytest.approx(0.5)
    assert curve.upper[middle] - curve.lower[middle] >= upper - lower
    assert curve.upper[middle] - curve.lower[middle] < 1.1 * (upper - lower)


def test_alike_clusters_count_as_one_each():
    # Every concept has delays 0 and 1: nothing known about how concepts differ.
    cluster = np.repeat(np.arange(7), 2)
    curve = kaplan_meier([0, 1] * 7, [True] * 14, cluster)
    lower, upper = wilson_rate(0.5, 7)
    assert curve.lower[1] == pytest.approx(lower)
    assert curve.upper[1] == pytest.approx(upper)


def test_edges_count_clusters_at_risk():
    # Nothing ever reached: survival 1, known from 4, then 3 clusters.
    curve = kaplan_meier([1, 1, 2, 2, 2], [False] * 5, [0, 0, 1, 2, 3])
    assert (curve.survival == 1).all()
    assert np.allclose(curve.lower, [4 / (4 + 3.8414588), 4 / (4 + 3.8414588), 3 / (3 + 3.8414588)])
    assert (curve.upper == 1).all()
    # Everything at once: survival 0.
    curve = kaplan_meier([0] * 8, [True] * 8, np.repeat(np.arange(4), 2))
    assert curve.survival[-1] == curve.lower[-1] == 0
    assert curve.upper[-1] == pytest.approx(wilson(0, 4)[1])


@pytest.mark.parametrize("clusters", [2, 3, 4, 8, 16, 40])
@pytest.mark.parametrize("each", [1, 5, 8])
def test_one_slip_never_narrows_a_band(clusters, each):
    cluster = np.repeat(np.arange(clusters), each)
    delay = np.zeros(cluster.size)
    event = np.zeros(cluster.size, dtype=bool)
    calm = kaplan_meier(delay, event, cluster)
    event[0] = True
    slip = kaplan_meier(delay, event, cluster)
    assert slip.lower[1] <= calm.lower[1]


def test_one_cluster_has_no_band():
    curve = kaplan_meier([0, 1, 2], [True, True, False], ["a"] * 3)
    assert np.isnan([curve.lower, curve.upper]).all()
    assert np.allclose(curve.survival, [1, 2 / 3, 1 / 3, 1 / 3])


def test_no_tokens_at_all():
    curve = kaplan_meier([], [], [])
    assert all(getattr(curve, f.name).shape == (0,) for f in dataclasses.fields(curve))
    assert np.isnan(curve.median)


def test_confidence_widens():
    rows = [0, 1, 2, 3, 1, 2], [True] * 6, [0, 0, 1, 1, 2, 2]
    narrow, wide = kaplan_meier(*rows, confidence=0.8), kaplan_meier(*rows, confidence=0.99)
    assert (wide.upper - wide.lower > narrow.upper - narrow.lower).all()


def test_curve_is_read_only():
    curve = kaplan_meier([0, 1], [True, True], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        curve.survival[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        curve.survival = curve.lower


def test_arguments_are_left_alone():
    delay, event, cluster = np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array(["a", "b"])
    curve = kaplan_meier(delay, event, cluster)
    assert curve.events.tolist() == [0, 0, 1]
    delay[0] = 5
    event[0] = 0
    assert delay.flags.writeable
    assert curve.time.tolist() == [-1, 0, 1]


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (([0, 1], [True], [0, 1]), r"shapes are \(2,\), \(1,\) and \(2,\)"),
        (([[0]], [[True]], [[0]]), "one-dimensional"),
        (([0, NAN], [True, True], [0, 1]), "`delay` must be finite; at 1 it is nan"),
        (([0, 1], [True, NAN], [0, 1]), "`event` must be true or false; at 1"),
        (([0, 1], [True, 2], [0, 1]), "`event`"),
        (([0, 1], [True, None], [0, 1]), "`event`"),
        (([0, 1], [True, True], [0, NAN]), "`cluster` has no label at 1"),
        (
            ([0, 1], [True, True], np.array(["a", None], dtype=object)),
            "`cluster` has no label at 1",
        ),
    ],
)
def test_refuses(rows, match):
    with pytest.raises(ValueError, match=match):
        kaplan_meier(*rows)


def test_effective_size_by_hand():
    # Four clusters of 2 tokens, one event in two of them: worth 8 by Greenwood. Robust variance
    # 4/3 × 4 × 0.0625² is below Greenwood's, so the observed deff is 1; the dependent one is 2.
    # m = 4 and m1 = 12/7, so the mean is (16/7 × 1 + 2) / (23/7) = 30/23.
    g = 0.0625 * np.array([[-1], [-1], [1], [1]])
    size = effective_size(np.array([0.75]), g, np.array([0.75 * 0.25 / 8]), np.array([4]))
    assert size == pytest.approx(8 * 23 / 30)
    # Two events in two of them: robust variance 4/3 × 4 × 0.125², Greenwood's 1/32, deff 8/3.
    size = effective_size(np.array([0.5]), 2 * g, np.array([1 / 32]), np.array([4]))
    assert size == pytest.approx(8 * (23 / 7) / (16 / 7 * 8 / 3 + 2))
