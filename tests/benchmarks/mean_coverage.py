"""Coverage of intervals for the mean loss of paired lessons, nominal 95 %.

    python tests/benchmarks/mean_coverage.py [--quick]

Lessons of 5 episodes by 3 samples in each of two arms. The loss is either spread over the lessons
(exponential) or falls wholly on a few that fail altogether. Candidates: *t* over lesson means; the
same with the floor that `corecurves.stats.difference_interval` has; the same with twice that floor.

What it printed is in ``docs/statistics.md``.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import stdtrit

from corecurves.stats import no_spread_half_width

RATES = (0.98, 0.9, 0.6)
LOSSES = (0.0, 0.03, 0.08, 0.13)
LESSONS = (4, 8, 20, 80)
NAMES = ("t", "t, floor", "t, twice the floor")


def coverage(
    rng: np.random.Generator, *, rate: float, loss: float, lessons: int, wholly: bool, runs: int
) -> list[float]:
    """Share of runs whose interval contains the true mean loss, per candidate."""
    shape = (runs, lessons, 1)
    if wholly:
        before = np.full(shape, rate)
        after = np.where(rng.random(shape) < loss / rate, 0.0, rate)
        truth = -loss
    else:
        before = np.clip(rate + rng.normal(0, 0.02 if rate > 0.95 else 0.1, shape), 0, 1)
        after = np.clip(before - loss * rng.exponential(size=shape), 0, 1)
        truth = float((after - before).mean())
    episodes = (runs, lessons, 5)
    full = rng.binomial(3, np.broadcast_to(before, episodes)) / 3
    short = rng.binomial(3, np.broadcast_to(after, episodes)) / 3
    lesson = (short - full).mean(axis=2)
    half = stdtrit(lessons - 1, 0.975) * lesson.std(axis=1, ddof=1) / np.sqrt(lessons)
    floor = no_spread_half_width(lessons)
    error = np.abs(lesson.mean(axis=1) - truth) - 1e-12
    return [float(np.mean(error <= np.maximum(half, f))) for f in (0.0, floor, 2 * floor)]


def main() -> None:
    """Print smallest and mean coverage per kind of loss."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    runs = 400 if parser.parse_args().quick else 4000
    rng = np.random.default_rng(2)
    print(f"{'loss':8}" + "".join(f"{name:>22}" for name in NAMES))
    for wholly in (False, True):
        settings = [
            (rate, loss, lessons)
            for rate in RATES
            for loss in LOSSES
            for lessons in LESSONS
            if loss or not wholly
        ]
        table = 100 * np.array(
            [
                coverage(rng, rate=rate, loss=loss, lessons=n, wholly=wholly, runs=runs)
                for rate, loss, n in settings
            ]
        )
        cells = [
            f"{low:.1f} / {mean:.1f}" for low, mean in zip(table.min(0), table.mean(0), strict=True)
        ]
        print(f"{'wholly' if wholly else 'spread':8}" + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
