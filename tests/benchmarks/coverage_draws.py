"""Stores with known truth, and the intervals that were compared, for `coverage.py`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from corecurves.stats import mean_known, no_spread_half_width, wilson_rate
from corecurves.stats.change import change_bounds

LESSONS = (4, 8, 20, 40, 80)
CEILINGS = (0.995, 0.95, 0.7)
LOSSES = (0.0, 0.03, 0.1, 0.25)
PRIOR = 0.15
SAMPLES = 3
MARGIN = 0.1
EXACT = 1e-9
Z = 1.959963984540054


class Setting(NamedTuple):
    """What is true in a store; `wholly`: the share that a lesson loses if any, 0 where all lose."""

    lessons: int
    ceiling: float
    loss: float
    wholly: float
    missing: float


def settings(lessons=LESSONS, ceilings=CEILINGS, losses=LOSSES, missing=(0.0, 0.1)):
    """All combinations; without a loss there is nothing to fall wholly on a few."""
    return [
        Setting(n, ceiling, loss, wholly, gone)
        for n in lessons for ceiling in ceilings for loss in losses
        for wholly in (False, True) for gone in missing if loss or not wholly
    ]  # fmt: skip


def beta(rng, mean, size, shape):
    mean = np.clip(np.broadcast_to(mean, shape), 1e-3, 1 - 1e-3)
    return rng.beta(mean * size, (1 - mean) * size)


def draw(rng, s, runs, losses=None, samples=SAMPLES):
    """Episode means (runs, lessons, 6) of L0, of each loss, and without a lesson; NaN where none.

    Lessons differ (beta, size 10), episodes of a lesson differ (beta, size 5; at the ceiling 1, so
    that samples of an episode agree, as those of a scored model do), and a lesson has 2 to 6.
    """
    shape = (runs, s.lessons, 6)
    lesson = beta(rng, s.ceiling, 10, (*shape[:2], 1))
    episode = beta(rng, lesson, 1 if s.ceiling > 0.99 else 5, shape)
    rates = [episode]
    for loss in (s.loss,) if losses is None else losses:
        part = loss / s.ceiling
        if s.wholly:
            lost = s.wholly * (rng.random((*shape[:2], 1)) < part / s.wholly)
        else:
            lost = beta(rng, part, 6, (*shape[:2], 1)) if loss else 0.0
        rates.append(episode * (1 - lost))
    rates.append(np.broadcast_to(beta(rng, PRIOR, 5, (*shape[:2], 1)), shape))
    real = np.arange(6) < rng.integers(2, 7, (*shape[:2], 1))
    found = []
    for rate in rates:
        judged = rng.binomial(samples, 1 - s.missing, shape)
        passed = rng.binomial(judged, rate)
        share = np.divide(passed, judged, out=np.full(shape, np.nan), where=judged > 0)
        found.append(np.where(real, share, np.nan))
    return found


def lesson_means(values):
    """Means over episodes; the few lessons without any get their store's mean."""
    means = mean_known(values)
    return np.where(np.isnan(means), mean_known(means)[:, None], means)


def t_half(values):
    n = values.shape[1]
    return stdtrit(n - 1, 0.975) * values.std(axis=1, ddof=1) / n**0.5


def around(mean, half):
    return mean - half, mean + half


def resampled(rng, values, draws=300):
    """Weights of a bootstrap over lessons, of shape (lessons, draws)."""
    n = values.shape[1]
    return rng.multinomial(n, np.full(n, 1 / n), size=draws).T / n


def bootstraps(rng, values):
    weights = resampled(rng, values)
    means = values @ weights
    mean, spread = values.mean(axis=1), values.std(axis=1)
    variance = (values**2) @ weights - means**2
    some = variance > 1e-12
    t = np.where(some, (means - mean[:, None]) / np.sqrt(np.where(some, variance, 1.0)), 0.0)
    low, high = np.percentile(t, [2.5, 97.5], axis=1)
    return {
        "bootstrap": tuple(np.percentile(means, [2.5, 97.5], axis=1)),
        "bootstrap-t": (mean - high * spread, mean - low * spread),
    }


def change_intervals(rng, values):
    """Candidates for the mean change; the last is the library's."""
    n = values.shape[1]
    mean, half, floor = values.mean(axis=1), t_half(values), no_spread_half_width(n)
    more = np.concatenate([values, np.full((len(values), 1), -1.0)], axis=1)
    return {
        "t": around(mean, half),
        "t, floor": around(mean, np.maximum(half, floor)),
        "t, twice the floor": around(mean, np.maximum(half, 2 * floor)),
        "t, one more lost": (
            np.minimum(more.mean(axis=1) - t_half(more), mean - np.maximum(half, floor)),
            mean + np.maximum(half, floor),
        ),
        **bootstraps(rng, values),
        "change_interval": change_bounds(values),
    }


def rate_intervals(values, episodes):
    """Candidates for a rate; the last is the library's."""
    n = values.shape[1]
    rate, variance = values.mean(axis=1), values.var(axis=1, ddof=1) / n
    some = variance > 1e-12
    spread = np.where(some, rate * (1 - rate) / np.where(some, variance, 1.0), n)
    few = (Z / stdtrit(n - 1, 0.975)) ** 2
    sizes = {
        "Wilson, all cells": SAMPLES * episodes,
        "Wilson, episodes": episodes,
        "Wilson, lessons": np.full(len(rate), n),
        "Wilson, effective": np.minimum(spread, episodes),
        "the same, (z/t)²": np.where(some, np.minimum(spread * few, episodes), n),
    }
    return {"t": around(rate, t_half(values))} | {
        name: wilson_rate(rate, np.maximum(size, 1)) for name, size in sizes.items()
    }


def retained_intervals(rng, top, bottom):
    """Candidates for the share of the lift that is left, and where they are defined."""
    n = top.shape[1]
    a, b = top.mean(axis=1), bottom.mean(axis=1)
    floor, ratio = no_spread_half_width(n), top.mean(axis=1) / bottom.mean(axis=1)
    defined = b - np.maximum(t_half(bottom), floor) > 0
    square = stdtrit(n - 1, 0.975) ** 2 / n
    saa, sbb = square * top.var(axis=1, ddof=1), square * bottom.var(axis=1, ddof=1)
    sab = square * ((top - a[:, None]) * (bottom - b[:, None])).sum(axis=1) / (n - 1)
    p, q, r = b * b - sbb, a * b - sab, a * a - saa
    root = np.sqrt(np.maximum(q * q - p * r, 0))
    fieller = np.array([(q - root) / p, (q + root) / p])
    over, under, plain = a / (b - floor), (a + floor) / (b + floor), (a + floor) / b
    high = np.maximum(fieller[1], np.where(over >= 1, over, np.where(plain >= 0, plain, under)))
    below, within, above = (a - floor) / (b - floor), (a - floor) / b, a / (b + floor)
    low = np.where(below <= 0, below, np.where(within <= 1, within, above))
    low = np.minimum(fieller[0], low)
    weights = resampled(rng, top)
    tops, bottoms = top @ weights, bottom @ weights
    residual = t_half(top - ratio[:, None] * bottom) / np.abs(b)
    return defined, {
        "delta": around(ratio, residual),
        "bootstrap": tuple(np.percentile(tops / np.maximum(bottoms, 1e-9), [2.5, 97.5], axis=1)),
        "Fieller": tuple(fieller),
        "Fieller, floor": (low, high),
        "and change": (np.minimum(low, 1 + change_bounds(top - bottom)[0] / b), high),
    }


class Table:
    """Shares by method and setting."""

    def __init__(self):
        self.rows = {}

    def add(self, method, setting, *shares):
        self.rows.setdefault(method, []).append((setting, *shares))

    def coverage(self, title, by=lambda s: True):
        """Smallest and mean coverage in percent, over all and by lessons."""
        print(f"\n{title}")
        print(f"{'':22}{'all':>13}" + "".join(f"{n:>13}" for n in LESSONS))
        for method, rows in self.rows.items():
            kept = [(s.lessons, share) for s, share, *_ in rows if by(s)]
            groups = [[share for _, share in kept]]
            groups += [[share for n, share in kept if n == size] for size in LESSONS]
            cells = [f"{100 * np.nanmin(g):.1f} / {100 * np.nanmean(g):.1f}" for g in groups]
            print(f"{method:22}" + "".join(f"{cell:>13}" for cell in cells))

    def largest(self, title, column, by=lambda s: True):
        """Largest share in percent by lessons."""
        print(f"\n{title}")
        print(f"{'':22}" + "".join(f"{n:>13}" for n in LESSONS))
        for method, rows in self.rows.items():
            cells = [
                max((row[column] for row in rows if row[0].lessons == n and by(row[0])), default=0)
                for n in LESSONS
            ]
            print(f"{method:22}" + "".join(f"{100 * cell:>13.1f}" for cell in cells))


def covered(bounds, truth, where=slice(None)):
    inside = (bounds[0] <= truth + EXACT) & (bounds[1] >= truth - EXACT)
    return float(np.mean(inside[where])) if inside[where].size > 20 else np.nan


def thesis(drawn):
    """Shares of the four verdicts; Holm refutes one level where its first step does."""
    full, *levels, prior = drawn
    changes = [lesson_means(level - full) for level in levels]
    lift = lesson_means(full - prior)
    floor = no_spread_half_width(lift.shape[1])
    testable = lift.mean(axis=1) - np.maximum(t_half(lift), floor) >= 2 * MARGIN
    holds = np.all([change_bounds(c)[0] > -MARGIN for c in changes], axis=0)
    strict = 1 - 0.05 / len(levels)
    refuted = np.any([change_bounds(c, confidence=strict)[1] < -MARGIN for c in changes], axis=0)
    kinds = (testable & holds, testable & refuted, testable & ~holds & ~refuted, ~testable)
    return [float(np.mean(kind)) for kind in kinds]
