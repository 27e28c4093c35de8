"""Coverage of intervals for ratios over episodes, such as precision and recall; nominal 95 %.

    python tests/benchmarks/ratio_coverage.py [--quick]

Stores of 6 to 80 episodes, each with 1 to 4 candidates. A share of the candidates bears on the
work, and episodes differ in how well they are retrieved: *even* (all alike), *mixed* (a beta
distribution), or *wholly* (a few episodes lose everything, the others nothing). In half of the
settings episodes with more candidates are worse, so that the size of an episode goes with its rate.
The truth of a pooled share is the ratio of expectations; that of the mean over episodes is the
expectation of an episode's own share.

Candidates, pooled: Wilson on counts, on episodes, on the effective size of the linearised variance
without and with the factor (z/t)²; *t* on the linearised ratio, without and with a floor; Fieller
with a floor; a bootstrap over episodes. Mean over episodes: *t*, *t* with a floor, Wilson on the
effective size (`nested_rate`). Differences of two runs on the same episodes: *t* on the linearised
difference, without and with a floor.

It prints smallest and mean coverage, and the mean width, per number of episodes.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np
from scipy.special import ndtri, stdtrit

from corecurves.stats import no_spread_half_width, wilson_rate
from corecurves.stats.nested import nested_rate
from corecurves.stats.ratio import ratio_interval
from corecurves.stats.shares import pooled_difference, pooled_rate

EPISODES = (6, 12, 36, 80)
RATES = (0.6, 0.85, 0.95)
KINDS = ("even", "mixed", "wholly")
POOLED = ("wilson, counts", "wilson, episodes", "wilson, effective", "pooled_rate", "t",
          "t, floor", "fieller, floor", "bootstrap")  # fmt: skip
MEANS = ("t, means", "t, floor, means", "nested_rate")
CHANGES = ("t, change", "pooled_difference")
_POPULATION = 200_000


def draw(
    rng: np.random.Generator, n: int, rate: float, kind: str, uneven: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Parts and wholes of n episodes."""
    whole = rng.integers(1, 5, n)
    mean = np.full(n, rate)
    if uneven:
        mean = np.clip(rate + 0.08 * (2.5 - whole), 0.02, 1.0)
    if kind == "mixed":
        mean = rng.beta(3 * mean, 3 * (1 - mean) + 1e-6)
    if kind == "wholly":
        mean = (rng.random(n) < mean).astype(float)
    return rng.binomial(whole, mean).astype(float), whole.astype(float)


def pooled(part: np.ndarray, whole: np.ndarray, rng: np.random.Generator) -> list[tuple]:
    """Bounds by each method for a pooled share."""
    n, total = part.size, whole.sum()
    rate = part.sum() / total
    variance = n / (n - 1) * ((part - rate * whole) ** 2).sum() / total**2
    size = min(rate * (1 - rate) / variance, total) if variance > 1e-12 else n
    half = float(stdtrit(n - 1, 0.975)) * variance**0.5
    floor = no_spread_half_width(n)
    picks = rng.integers(0, n, (300, n))
    drawn = part[picks].sum(1) / whole[picks].sum(1)
    fieller = ratio_interval(part, whole, floor=floor)[1:3]
    return [
        wilson_rate(rate, total),
        wilson_rate(rate, n),
        wilson_rate(rate, max(size, 1.0)),
        pooled_rate(part, whole)[1:3],
        (rate - half, rate + half),
        (rate - max(half, floor), rate + max(half, floor)),
        fieller,
        tuple(np.quantile(drawn, [0.025, 0.975])),
    ]


def means(part: np.ndarray, whole: np.ndarray) -> list[tuple]:
    """Bounds by each method for the mean over episodes."""
    own = part / whole
    n, mean = own.size, own.mean()
    half = float(stdtrit(n - 1, 0.975)) * own.std(ddof=1) / n**0.5
    floor = max(half, no_spread_half_width(n))
    return [(mean - half, mean + half), (mean - floor, mean + floor),
            nested_rate(own, whole)[1:3]]  # fmt: skip


def changes(part: np.ndarray, whole: np.ndarray, rng: np.random.Generator) -> list[tuple]:
    """Bounds by each method for what a run loses that drops a tenth of the useful lessons."""
    after = rng.binomial(part.astype(int), 0.9).astype(float)
    mean, low, high, n = pooled_difference(after, whole, part, whole)
    total = whole.sum()
    own = (after - part) / total - mean * whole / total
    half = float(stdtrit(n - 1, 0.975)) * (n / (n - 1) * (own**2).sum()) ** 0.5
    return [(mean - half, mean + half), (low, high)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs")
    runs = 100 if parser.parse_args().quick else 500
    assert abs(ndtri(0.975) - 1.96) < 0.001
    names = (*POOLED, *MEANS, *CHANGES)
    table: dict[tuple[int, str], list[tuple[float, float]]] = {}
    rng = np.random.default_rng(5)
    for rate, kind, uneven in itertools.product(RATES, KINDS, (False, True)):
        part, whole = draw(rng, _POPULATION, rate, kind, uneven)
        share = part.sum() / whole.sum()
        truths = [share] * len(POOLED) + [(part / whole).mean()] * len(MEANS)
        truths += [-0.1 * share] * len(CHANGES)
        for n in EPISODES:
            inside, width = np.zeros(len(names)), np.zeros(len(names))
            for _ in range(runs):
                part, whole = draw(rng, n, rate, kind, uneven)
                found = [*pooled(part, whole, rng), *means(part, whole), *changes(part, whole, rng)]
                for i, ((low, high), truth) in enumerate(zip(found, truths, strict=True)):
                    # Without bounds, nothing is claimed: it neither covers nor misses.
                    inside[i] += np.isnan(low) or low - 1e-9 <= truth <= high + 1e-9
                    width[i] += 0 if np.isnan(low) else min(high, 1) - max(low, -1)
            for i, name in enumerate(names):
                table.setdefault((n, name), []).append((inside[i] / runs, width[i] / runs))
    print(f"{'':20}" + "".join(f"{n:>20}" for n in EPISODES))
    for name in names:
        cells = []
        for n in EPISODES:
            rows = np.array(table[n, name])
            cells.append(f"{100 * rows[:, 0].min():.1f}/{100 * rows[:, 0].mean():.1f}"
                         f" ({rows[:, 1].mean():.2f})")  # fmt: skip
        print(f"{name:20}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
