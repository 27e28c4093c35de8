"""Coverage of every interval of a rose summary, and errors of the verdict, nominal 95 %.

    python tests/benchmarks/coverage.py [--quick]

Stores with known truth: 4 to 80 lessons of 2 to 6 episodes by 3 samples, lessons and episodes that
differ, L0 at the ceiling (0.995, samples of an episode nearly agree), near it (0.95) and far from
it (0.7), losses of 0, 0.03, 0.1 (the margin) and 0.25, no cell or one in ten missing. A loss is
either *spread* over the lessons or falls *wholly* on a few, which lose everything, as a lesson does
whose one detail is dropped. 1000 runs a setting took 167 s on two busy cores.

What it printed, and what follows from it, is in ``docs/statistics.md``.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from coverage_draws import (
    LESSONS,
    MARGIN,
    PRIOR,
    Setting,
    Table,
    around,
    bootstraps,
    change_intervals,
    covered,
    draw,
    lesson_means,
    rate_intervals,
    retained_intervals,
    settings,
    t_half,
    thesis,
)

from corecurves.stats import no_spread_half_width, units_to_decide
from corecurves.stats.change import change_bounds


def intervals(rng, runs):
    """Coverage of every interval of the summary."""
    change, rate, lift, retained, shift = Table(), Table(), Table(), Table(), Table()
    for s in settings():
        full, short, prior = draw(rng, s, runs)
        changes = lesson_means(short - full)
        for name, bounds in change_intervals(rng, changes).items():
            holds, refuted = bounds[0] > -MARGIN, bounds[1] < -MARGIN
            change.add(name, s, covered(bounds, -s.loss), np.mean(holds), np.mean(refuted))
        for values, truth in ((full, s.ceiling), (short, s.ceiling - s.loss), (prior, PRIOR)):
            episodes = (~np.isnan(values)).sum(axis=(1, 2))
            for name, bounds in rate_intervals(lesson_means(values), episodes).items():
                rate.add(name, s, covered(bounds, truth))
        known = ~np.isnan(full + short + prior)
        bottom = lesson_means(np.where(known, full - prior, np.nan))
        top = lesson_means(np.where(known, short - prior, np.nan))
        mean, half = bottom.mean(axis=1), t_half(bottom)
        floored = np.maximum(half, no_spread_half_width(s.lessons))
        for name, reach in (("t", half), ("t, floor", floored)):
            lift.add(name, s, covered(around(mean, reach), s.ceiling - PRIOR))
        defined, found = retained_intervals(rng, top, bottom)
        truth = 1 - s.loss / (s.ceiling - PRIOR)
        for name, bounds in found.items():
            retained.add(name, s, covered(bounds, truth, defined))
        # Shifts in nats a token: skewed lessons (exponential), episodes and framings normal.
        noise = rng.normal(0, 0.3, changes.shape)
        shifts = rng.exponential(0.5, changes.shape) + noise
        found = {"t": around(shifts.mean(1), t_half(shifts)), **bootstraps(rng, shifts)}
        for name, bounds in found.items():
            shift.add(name, s, covered(bounds, 0.5))
    change.coverage("change, losses spread over the lessons", lambda s: not s.wholly)
    change.coverage("change, losses wholly on a few", lambda s: s.wholly)
    at = "largest share of one level"
    change.largest(f"{at} that holds, at the margin: spread", 2,
                   lambda s: s.loss == MARGIN and not s.wholly)  # fmt: skip
    change.largest(f"{at} that holds, at the margin: wholly", 2,
                   lambda s: s.loss == MARGIN and s.wholly)  # fmt: skip
    change.largest(f"{at} refuted, loss within the margin", 3, lambda s: s.loss <= MARGIN)
    rate.coverage("transfer")
    lift.coverage("lift, advantage")
    retained.coverage("retained, spread", lambda s: not s.wholly)
    retained.coverage("retained, wholly", lambda s: s.wholly)
    shift.coverage("shift")


def verdicts(rng, runs):
    """What the thesis comes to with three levels, by the rule of `verdict`."""
    cases = {"none lose": (0.0, 0.0, 0.0), "all lose 0.03": (0.03,) * 3,
             "L3 at the margin": (0.0, 0.03, 0.1), "all at the margin": (0.1,) * 3,
             "L3 loses 0.25": (0.0, 0.03, 0.25), "all lose 0.25": (0.25,) * 3}  # fmt: skip
    print("\nthesis over three levels, percent: holds (or degrades within margin) / refuted / "
          "inconclusive / untestable")  # fmt: skip
    print(f"{'':32}" + "".join(f"{n:>20}" for n in LESSONS))
    for name, losses in cases.items():
        for wholly in (False, True):
            for ceiling in (0.95, 0.7):
                if wholly and not any(losses):
                    continue
                cells = []
                for n in LESSONS:
                    s = Setting(n, ceiling, 0.0, wholly, 0.1)
                    shares = 100 * np.array(thesis(draw(rng, s, runs, losses)))
                    cells.append(" / ".join(f"{share:.0f}" for share in shares))
                label = f"{name}, {'wholly' if wholly else 'spread'}, {ceiling}"
                print(f"{label:32}" + "".join(f"{cell:>20}" for cell in cells))


def decisions(rng, runs, pilots):
    """Whether stores of the size that `units_to_decide` names are decided four times in five."""
    print("\nlessons that would decide: median of the pilots; stores of that size decided, percent")
    for pilot in (8, 40):
        for loss, wholly in ((0.0, False), (0.03, False), (0.03, True), (0.25, True)):
            s = Setting(pilot, 0.95, loss, wholly, 0.1)
            full, short, _ = draw(rng, s, pilots)
            sizes = [
                units_to_decide(row, margin=MARGIN).units for row in lesson_means(short - full)
            ]
            known = [size for size in sizes if size]
            if not known:
                continue
            n = int(np.median(known))
            full, short, _ = draw(rng, s._replace(lessons=n), max(50, runs // 5))
            lower, upper = change_bounds(lesson_means(short - full))
            decided = 100 * np.mean((lower > -MARGIN) | (upper < -MARGIN))
            kind = "wholly" if wholly else "spread"
            none = pilots - len(known)
            print(f"pilot {pilot}, loss {loss}, {kind}: {n} lessons, {decided:.0f} % decided; "
                  f"{none} of {pilots} pilots named none")  # fmt: skip


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description="coverage of every interval of a rose summary")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    quick = parser.parse_args().quick
    runs = 50 if quick else 1000
    started = time.perf_counter()
    rng = np.random.default_rng(3)
    intervals(rng, runs)
    verdicts(rng, runs)
    decisions(rng, runs, 5 if quick else 40)
    print(f"\n{runs} runs a setting, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
