"""Coverage of every interval of a rose summary, and errors of the verdict, nominal 95 %.

    python tests/benchmarks/coverage.py [--quick]

Stores with known truth: 4 to 80 lessons of 2 to 6 episodes by 3 samples, lessons and episodes that
differ, L0 at the ceiling (0.995, samples of an episode nearly agree), near it (0.95) and far from
it (0.7), losses of 0, 0.03, 0.1 (the margin) and 0.25, no cell or one in ten missing. A loss is
either *spread* over the lessons or falls *wholly* on a few, which lose everything, as a lesson does
whose one detail is dropped.

What won. Change: `change_interval`. A *t* interval misses lumped losses (20.5 % coverage in the
worst setting) and lets too many levels hold; its floor does not cure that (67.4 %, and 12 % false
*holds* with 20 lessons); with twice the floor, or one more lesson imagined as lost, a level that
loses 0.03 spread rarely holds with 40 lessons (16 % and 23 % near the ceiling, against 74 %);
bootstraps are worse than *t*. Transfer: Wilson on the effective size with the factor (z / t)².
Retained: Fieller with a floor, its lower end at least as low as the change's. Lift and advantage:
*t* with a floor. Shift: *t*. At most 4.4 % of levels hold at the margin and 3.2 % are refuted
within it; with three levels, 3 % of theses each.

What is not cured. Means are above 97 % up to 20 lessons: the floors are the price of what was not
seen. Least coverage is 90.4 % (change: 80 lessons, 3 % of them lost wholly) and 85.1 % (transfer at
the ceiling, where a rare lesson fails and many stores hold none). What a pilot of 8 lessons says
would decide is too little (its luck is in it): a third to two thirds of stores of that size are
decided, not four fifths; a pilot of 40 is about right.

Smallest / mean coverage in percent, over all settings and by lessons; shares in percent by lessons.
1000 runs a setting, 167 s on two busy cores.

Change, losses spread over the lessons.

                                 all           4           8          20          40          80
    t                      58.8/93.6   58.8/91.1   71.3/92.9   85.8/94.4   87.5/94.7   92.4/95.1
    t, floor               92.6/97.8   98.3/99.6   97.1/99.1   93.9/97.7   92.6/96.7   94.1/96.0
    t, twice the floor     95.0/99.5    99.9/100    99.9/100   99.6/99.9   97.3/99.5   95.0/97.9
    t, one more lost       96.6/99.0   99.3/99.8   97.9/99.5   97.5/98.9   96.6/98.5   96.6/98.1
    bootstrap              55.3/89.0   55.3/79.9   69.5/87.1   84.3/91.5   87.3/93.0   90.4/93.6
    bootstrap-t            37.4/90.3   37.4/82.5   51.5/89.7   82.8/92.8   90.0/93.4   83.9/93.2
    change_interval        94.2/98.4   99.3/99.8   97.9/99.5   95.7/98.5   94.4/97.5   94.2/96.6

Change, losses wholly on a few.

                                 all           4           8          20          40          80
    t                      20.5/82.9   20.5/68.5   31.3/76.8   48.7/85.6   70.6/89.9   89.7/93.6
    t, floor               67.4/94.3   67.4/93.4   88.4/96.1   87.8/93.7   92.1/94.5   89.9/93.7
    t, twice the floor     91.4/98.0   99.1/99.8   98.4/99.6   94.3/98.1   93.3/96.8   91.4/95.5
    t, one more lost       95.3/98.6   98.3/99.7   98.3/99.6   95.8/98.6   96.1/98.0   95.3/97.2
    bootstrap              16.4/79.3   16.4/58.3   30.2/72.2   48.4/84.3   70.6/88.9   89.1/93.0
    bootstrap-t            13.1/79.9   13.1/60.6   24.3/71.6   46.7/84.2   58.2/89.1   86.7/94.2
    change_interval        90.4/97.5   98.0/99.6   94.6/98.7   95.5/97.6   94.4/96.6   90.4/95.1

Largest share of one level that holds, at the margin: spread.

                                   4           8          20          40          80
    t                           14.9         9.9         8.1         6.0         4.1
    t, floor                     0.5         1.2         2.3         3.6         4.1
    t, twice the floor           0.0         0.0         0.0         0.7         3.0
    t, one more lost             0.0         0.0         0.0         0.2         0.7
    bootstrap                   22.2        13.8         8.6         6.7         4.6
    bootstrap-t                 34.9        10.0         4.5         3.8         3.2
    change_interval              0.0         0.1         1.3         1.9         2.9

Largest share of one level that holds, at the margin: wholly.

                                   4           8          20          40          80
    t                           65.8        45.1        12.1         7.4         7.4
    t, floor                     1.6         5.0        12.0         7.4         7.4
    t, twice the floor           0.0         0.1         0.8         4.0         7.4
    t, one more lost             0.0         0.0         0.4         1.5         3.1
    bootstrap                   66.7        45.3        12.1         7.1         5.8
    bootstrap-t                 67.8        45.6        27.2         7.7         2.7
    change_interval              0.0         0.3         3.4         4.4         2.9

Largest share of one level refuted, loss within the margin.

                                   4           8          20          40          80
    t                            1.9         2.2         2.5         3.2         2.1
    t, floor                     0.3         0.7         2.3         3.2         2.1
    t, twice the floor           0.1         0.4         0.9         1.1         1.9
    t, one more lost             0.3         0.7         2.3         3.2         2.1
    bootstrap                   10.8         5.7         3.6         4.4         3.0
    bootstrap-t                  4.7         3.3         3.3         3.9         3.4
    change_interval              0.3         0.8         2.3         3.2         2.6

Transfer.

                                 all           4           8          20          40          80
    t                      10.1/84.6   10.1/74.8   20.8/79.5   44.9/86.0   66.9/90.1   78.7/92.4
    Wilson, all cells       7.8/74.1    7.8/76.5   29.6/74.6   30.0/73.6   40.4/73.4   42.1/72.5
    Wilson, episodes       47.0/93.1   47.0/93.7   65.0/93.3   62.6/93.1   63.2/92.6   65.0/92.7
    Wilson, lessons        87.6/99.4   87.6/99.1   95.5/99.4   92.5/99.5   95.4/99.6   94.2/99.6
    Wilson, effective      84.4/96.0   84.6/96.5   88.8/96.1   87.6/96.0   84.4/95.8   87.7/95.7
    the same, (z/t)²       85.1/96.9   90.2/98.7   90.5/97.4   88.7/96.5   85.1/96.0   88.0/95.9

Lift, advantage.

                                 all           4           8          20          40          80
    t                      88.2/93.1   88.2/91.2   88.9/92.0   91.9/93.7   92.7/94.2   93.0/94.7
    t, floor               92.8/96.5   95.8/99.0   94.8/98.3   94.0/96.2   92.8/94.3   93.0/94.7

Retained, spread.

                                 all           4           8          20          40          80
    delta                  58.8/93.9   58.8/91.1   72.3/93.5   85.7/94.6   87.3/94.8   92.5/95.3
    bootstrap              55.0/89.0   55.0/79.8   68.5/87.0   84.1/91.6   87.3/93.0   91.4/93.8
    Fieller                59.0/93.6   59.0/91.0   72.4/93.0   85.6/94.3   87.6/94.7   92.5/95.0
    Fieller, floor         93.3/97.8   99.1/99.7   96.9/99.1   94.0/97.6   93.3/96.7   93.8/96.0
    and change             93.6/98.4   99.4/99.8   98.5/99.5   95.9/98.5   93.6/97.5   94.4/96.7

Retained, wholly.

                                 all           4           8          20          40          80
    delta                  20.5/83.2   20.5/68.8   32.4/77.5   48.8/86.0   70.6/90.0   89.8/93.6
    bootstrap              16.3/79.2   16.3/58.2   30.0/72.2   48.7/84.0   70.5/88.8   88.9/92.9
    Fieller                20.0/82.8   20.0/68.2   32.1/76.9   48.7/85.6   70.6/89.9   89.8/93.6
    Fieller, floor         78.8/94.6   78.8/94.6   88.4/96.3   87.8/93.9   91.9/94.5   89.9/93.7
    and change             92.0/97.7   97.3/99.6   93.3/98.2   95.6/97.8   94.7/97.2   92.0/95.9

Shift.

                                 all           4           8          20          40          80
    t                      91.9/94.0   91.9/93.5   92.0/93.5   92.9/93.8   92.7/94.3   92.6/94.8
    bootstrap              73.6/88.2   73.6/77.7   83.7/86.4   89.3/91.0   90.5/92.5   91.5/93.6
    bootstrap-t            90.2/93.6   90.2/93.1   91.5/93.2   92.0/93.3   91.6/93.8   93.1/94.3

Thesis over three levels, percent: holds (or degrades within margin) / refuted / inconclusive
/ untestable.

                                              4            8           20           40           80
    none lose, spread, 0.95           0/0/88/12    0/0/100/0    13/0/87/0     99/0/1/0    100/0/0/0
    none lose, spread, 0.7            0/0/48/52    0/0/81/19    17/0/83/0    73/0/27/0     99/0/1/0
    all lose 0.03, spread, 0.95       0/0/89/11    0/0/100/0    0/0/100/0    50/0/50/0     98/0/2/0
    all lose 0.03, spread, 0.7        0/0/41/59    0/0/80/20     3/0/96/0    27/0/73/0    66/0/34/0
    all lose 0.03, wholly, 0.95        0/0/91/9    0/0/100/0     2/0/98/0     5/0/95/0    34/0/66/0
    all lose 0.03, wholly, 0.7        0/0/45/55    0/0/80/20     2/0/98/1    11/0/89/0    37/0/63/0
    L3 at the margin, spread, 0.95     0/0/91/9    0/0/100/0    0/0/100/0     1/0/98/0     2/0/97/0
    L3 at the margin, spread, 0.7     0/0/41/58    0/0/80/20     0/0/99/0     2/0/97/0     2/0/98/0
    L3 at the margin, wholly, 0.95    0/0/89/11    0/0/100/0     1/0/99/0    0/0/100/0     2/0/98/0
    L3 at the margin, wholly, 0.7     0/0/42/58    0/0/81/19     1/0/98/0     2/0/98/0     3/0/97/0
    all at the margin, spread, 0.95    0/0/88/12    0/0/100/0    0/0/100/0     0/1/99/0     0/2/98/0
    all at the margin, spread, 0.7    0/0/43/57    0/0/82/18     0/2/98/0     0/2/98/0     0/3/97/0
    all at the margin, wholly, 0.95    0/0/90/10    0/0/100/0     0/1/99/0     0/0/99/0     0/1/99/0
    all at the margin, wholly, 0.7    0/0/42/58    0/0/80/20     0/1/99/0     0/1/99/0     0/2/98/0
    L3 loses 0.25, spread, 0.95       0/2/87/11    0/10/90/0    0/65/35/0     0/97/3/0    0/100/0/0
    L3 loses 0.25, spread, 0.7        0/1/40/59   0/12/71/17    0/52/48/0    0/88/12/0    0/100/0/0
    L3 loses 0.25, wholly, 0.95       0/0/89/11     0/2/97/0    0/14/86/0    0/45/55/0    0/87/13/0
    L3 loses 0.25, wholly, 0.7        0/1/43/56    0/4/76/19    0/16/84/0    0/49/51/0    0/89/11/0
    all lose 0.25, spread, 0.95       0/4/86/10    0/26/73/0     0/93/7/0    0/100/0/0    0/100/0/0
    all lose 0.25, spread, 0.7        0/5/39/56   0/26/56/19    0/81/19/0     0/99/1/0    0/100/0/0
    all lose 0.25, wholly, 0.95        0/2/89/9     0/8/92/0    0/37/63/0    0/83/17/0    0/100/0/0
    all lose 0.25, wholly, 0.7        0/3/43/55    0/9/74/18    0/42/58/0    0/81/19/0     0/99/1/0

Lessons that would decide: median of the pilots; stores of that size decided, percent.

    pilot 8, loss 0.0, spread: 22 lessons, 51 % decided; 1 of 40 pilots named none
    pilot 8, loss 0.03, spread: 28 lessons, 32 % decided; 0 of 40 pilots named none
    pilot 8, loss 0.03, wholly: 32 lessons, 33 % decided; 6 of 40 pilots named none
    pilot 8, loss 0.25, wholly: 41 lessons, 69 % decided; 3 of 40 pilots named none
    pilot 40, loss 0.0, spread: 41 lessons, 100 % decided; 0 of 40 pilots named none
    pilot 40, loss 0.03, spread: 41 lessons, 77 % decided; 0 of 40 pilots named none
    pilot 40, loss 0.03, wholly: 86 lessons, 70 % decided; 0 of 40 pilots named none
    pilot 40, loss 0.25, wholly: 68 lessons, 91 % decided; 1 of 40 pilots named none
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
