"""False *holds*, false *refuted* and coverage of the change at every number of lessons, 4 to 100.

    python tests/benchmarks/coverage_sizes.py [--quick]

Three floors towards loss are compared: the share of lessons that may have lost everything unseen
with probability 2 (1 - c), 1 - c and (1 - c) / 2, where c is the confidence. The loss stands at the
margin of 0.05, 0.1 or 0.2, and *holds* is false there. First exactly: every lesson changes by one
of two amounts, and the binomial distribution is summed. Then by simulation: the stores of
`coverage.py`, besides losses of a half on twice as many lessons, and lessons of a single run. A
store of n lessons is the first n of one of 100, so that one draw serves every size. 4000 stores a
setting took some twenty minutes on one core.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from coverage_draws import EXACT, Setting, covered, draw, lesson_means
from scipy.stats import binom

from corecurves.stats import change, change_bounds

SIZES = range(4, 101)
MARGINS = (0.05, 0.1, 0.2)
SHOWN = (8, 14, 20, 24, 29, 36, 45, 59, 72, 100)
CHUNK = 2000


def floor(times, units, confidence=0.95):
    """Share of units that loses everything and is seen in none with probability times (1 - c)."""
    return 1 - (times * (1 - confidence)) ** (1 / units)


FLOORS = {"2 (1 - c)": 2, "1 - c": 1, "(1 - c) / 2": 0.5}


def bounds(values):
    """Lower end with each floor, and the upper end; from those with the smallest."""
    own, units = change.unseen_loss, values.shape[-1]
    change.unseen_loss = lambda n, *, confidence: floor(2, n, confidence)
    try:
        lower, upper = change_bounds(values)
    finally:
        change.unseen_loss = own
    mean = values.mean(axis=-1)
    return [
        np.minimum(lower, mean - floor(times, units) * (1 + np.maximum(mean, 0)))
        for times in FLOORS.values()
    ], upper


class Worst:
    """Largest false holds and refuted, and smallest coverage, by margin and number of lessons."""

    def __init__(self):
        self.holds = np.zeros((len(MARGINS), len(FLOORS), len(SIZES)))
        self.covered = np.ones_like(self.holds)
        self.refuted = np.zeros((len(MARGINS), len(SIZES)))

    def show(self, title):
        print(f"\n{title}\n{'margin':8}{'floor':14}{'worst at':>14}"
              + "".join(f"{n:>7}" for n in SHOWN) + f"{'coverage at':>16}")  # fmt: skip
        for m, margin in enumerate(MARGINS):
            for f, name in enumerate(FLOORS):
                holds, inside = 100 * self.holds[m, f], 100 * self.covered[m, f]
                print(f"{margin:<8}{name:14}{holds.max():>9.2f}{SIZES[holds.argmax()]:>5}"
                      + "".join(f"{holds[SIZES.index(n)]:>7.2f}" for n in SHOWN)
                      + f"{inside.min():>11.2f}{SIZES[inside.argmin()]:>5}")  # fmt: skip
            refuted = 100 * self.refuted[m]
            print(f"{'':8}{'refuted':14}{refuted.max():>9.2f}{SIZES[refuted.argmax()]:>5}")


def exactly(shapes):
    """Lessons that gain `gain` or lose `part`, in such shares that the loss is the margin."""
    worst = Worst()
    for m, margin in enumerate(MARGINS):
        for gain, part in shapes:
            share = (margin + gain) / (part + gain)
            for i, n in enumerate(SIZES):
                lost = np.arange(n + 1)
                values = np.where(np.arange(n) < lost[:, None], -part, gain)
                lowers, upper = bounds(values)
                chance = binom.pmf(lost, n, share)
                above = chance[upper < -margin - EXACT].sum()
                worst.refuted[m, i] = max(worst.refuted[m, i], above)
                for f, lower in enumerate(lowers):
                    below = chance[lower > -margin + EXACT].sum()
                    worst.holds[m, f, i] = max(worst.holds[m, f, i], below)
                    worst.covered[m, f, i] = min(worst.covered[m, f, i], 1 - above - below)
    return worst


def stores(rng, setting, runs, single):
    """Changes (runs, 100) of stores of the benchmark; `single`: one episode of one run a lesson."""
    for start in range(0, runs, CHUNK):
        count = min(CHUNK, runs - start)
        full, short, _ = draw(rng, setting, count, samples=1 if single else 3)
        yield lesson_means((short - full)[:, :, :1] if single else short - full)


def simulated(rng, runs):
    """False holds at the margin, and how often a level that loses less holds."""
    worst, power = Worst(), {}
    kinds = [(c, 0.0, False) for c in (0.995, 0.95, 0.7)]
    kinds += [(0.95, 0.1, False), (0.95, 0.0, True), (0.7, 0.0, True)]
    for loss in (0.0, 0.03, *MARGINS):
        for wholly in (0, 0.5, 1) if loss else (0,):
            for ceiling, missing, single in kinds:
                setting = Setting(SIZES[-1], ceiling, loss, wholly, missing)
                holds, inside = np.zeros((2, len(MARGINS), len(FLOORS), len(SIZES)))
                refuted = np.zeros((len(MARGINS), len(SIZES)))
                for values in stores(rng, setting, runs, single):
                    part = len(values) / runs
                    for i, n in enumerate(SIZES):
                        lowers, upper = bounds(values[:, :n])
                        for m, margin in enumerate(MARGINS):
                            refuted[m, i] += part * np.mean(upper < -margin)
                            for f, lower in enumerate(lowers):
                                holds[m, f, i] += part * np.mean(lower > -margin)
                                inside[m, f, i] += part * covered((lower, upper), -loss)
                worst.covered = np.minimum(worst.covered, inside)
                for m, margin in enumerate(MARGINS):
                    if loss <= margin:
                        worst.refuted[m] = np.maximum(worst.refuted[m], refuted[m])
                    if loss == margin:
                        worst.holds[m] = np.maximum(worst.holds[m], holds[m])
                    elif loss <= 0.3 * margin and not single and not missing:
                        kind = {0: "spread", 0.5: "a half", 1: "wholly"}[wholly]
                        power[margin, ceiling, loss, kind] = holds[m]
    return worst, power


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description="the change interval at every number of lessons")
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    runs = 200 if parser.parse_args().quick else 4000
    started = time.perf_counter()
    exactly([(0, 1)]).show("exact: lessons keep all or lose all")
    exactly([(0, part) for part in (0.75, 0.5, 1 / 3, 0.2)]).show("exact: some lose a part")
    mixed = [(gain, part) for gain in (0.05, 0.1, 0.2, 0.3) for part in (1, 0.75, 0.5)]
    exactly(mixed).show("exact: some lose, all others gain")
    worst, power = simulated(np.random.default_rng(5), runs)
    worst.show(f"simulated, {runs} stores a setting")
    print(f"\nholds where it is true, percent\n{'':44}" + "".join(f"{n:>7}" for n in SHOWN))
    for (margin, ceiling, loss, kind), found in sorted(power.items()):
        for f, name in enumerate(FLOORS):
            where = f"margin {margin}, L0 {ceiling}, loss {loss} {kind}" if not f else ""
            print(f"{where:44}{name:12}"
                  + "".join(f"{100 * found[f, SIZES.index(n)]:>7.1f}" for n in SHOWN))  # fmt: skip
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
