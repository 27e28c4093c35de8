"""Pointwise coverage of bands for a clustered Kaplan-Meier curve, nominal 95 %.

    python tests/benchmarks/survival_coverage.py [--quick] [--settings]

Clusters of 5 to 8 tokens; geometric delays on 0, 1, 2, …, tied within a cluster by a Gaussian
copula with latent correlation 0, 0.3 or 0.8; token i of n is censored n - i corrections after it
was introduced, as in a lane (heavy), or six later (light). The band is read at a delay of 3, where
the true survival is 0.03, 0.1, 0.5, 0.9 or 0.97. A band that is not defined (log-log where the
estimate is 0 or 1) counts as a miss. Draws that end before that delay with survival above 0
estimate nothing there and are left out.

Candidates: Wilson on an effective size with the design effect averaged with that of wholly
dependent tokens (averaged: what `kaplan_meier` has), as estimated (plain, with a normal or a t
quantile), or without clustering; log-log with the clustered variance; percentile bootstrap over
clusters. What it printed is in ``docs/statistics.md``.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from corecurves.stats import kaplan_meier, wilson_rate
from corecurves.stats.survival import count_table, product_limit

AT = 3
SURVIVAL = (0.03, 0.1, 0.5, 0.9, 0.97)
CLUSTERS = (2, 4, 8, 16, 40)
CORRELATION = (0.0, 0.3, 0.8)
CENSORING = ("light", "heavy")
Z = float(ndtri(0.975))
Floats = NDArray[np.float64]
Band = tuple[float, float]
NOWHERE: Band = (np.nan, np.nan)


def draws(
    rng: np.random.Generator,
    *,
    survival: float,
    clusters: int,
    correlation: float,
    heavy: bool,
    runs: int,
) -> Iterator[tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]]:
    """Delays, events and clusters of one simulated lane after another."""
    hazard = 1 - survival ** (1 / (AT + 1))
    for _ in range(runs):
        sizes = rng.integers(5, 9, clusters)
        cluster = np.repeat(np.arange(clusters), sizes)
        position = np.concatenate([np.arange(1, size + 1) for size in sizes])
        shared = rng.standard_normal(clusters)[cluster]
        own = rng.standard_normal(cluster.size)
        uniform = ndtr(np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own)
        delay = np.floor(np.log(np.maximum(uniform, 1e-12)) / np.log1p(-hazard))
        end = (np.repeat(sizes, sizes) - position + (0 if heavy else 6)).astype(float)
        yield np.minimum(delay, end), delay <= end, cluster


def wilson_at(rate: float, size: float, quantile: float = Z) -> Band:
    """Wilson's interval with another quantile: it depends on size / quantile² only."""
    lower, upper = wilson_rate(rate, size * (Z / quantile) ** 2)
    return float(lower), float(upper)


def log_log(rate: float, error: float, quantile: float) -> Band:
    """Interval on the scale of log(-log(survival))."""
    if not 0 < rate < 1:
        return NOWHERE
    centre, half = np.log(-np.log(rate)), quantile * error / (rate * -np.log(rate))
    return float(np.exp(-np.exp(centre + half))), float(np.exp(-np.exp(centre - half)))


def bootstrap(
    rng: np.random.Generator, events: NDArray[np.int64], at_risk: NDArray[np.int64], resamples: int
) -> Band:
    """Percentile interval over resampled clusters."""
    count = events.shape[0]
    weights = rng.multinomial(count, np.full(count, 1 / count), resamples)
    risk = weights @ at_risk
    hazard = np.divide(weights @ events, risk, out=np.zeros(risk.shape), where=risk > 0)
    lower, upper = np.quantile(np.prod(1 - hazard, axis=1), [0.025, 0.975])
    return float(lower), float(upper)


def bands(
    rng: np.random.Generator,
    delay: Floats,
    event: NDArray[np.bool_],
    cluster: NDArray[np.intp],
    resamples: int,
) -> dict[str, Band] | None:
    """Every candidate band at the delay AT; None where the draw estimates nothing there."""
    curve = kaplan_meier(delay, event, cluster)
    row = max(int(np.searchsorted(curve.time, AT, side="right")) - 1, 0)
    rate = float(curve.survival[row])
    if curve.time[-1] < AT and rate > 0:
        return None
    _, fails, _, risk = count_table(delay, event, cluster)
    fails, risk = fails[:, : row + 1], risk[:, : row + 1]
    _, influence, greenwood = product_limit(fails, risk)
    count = fails.shape[0]
    t = float(stdtrit(count - 1, 0.975))
    variance = count / (count - 1) * float((influence[:, -1] ** 2).sum())
    naive = float(greenwood[-1])
    if 0 < rate < 1:
        plain = rate * (1 - rate) / max(variance, naive)
        greenwood_size = rate * (1 - rate) / naive
    else:
        plain = greenwood_size = float(curve.clusters[row])
    error = variance**0.5
    mine = (float(curve.lower[row]), float(curve.upper[row]))
    return {
        "averaged": mine,
        "plain z": wilson_at(rate, plain),
        "plain t": wilson_at(rate, plain, t),
        "unclustered": wilson_at(rate, greenwood_size),
        "log-log z": log_log(rate, error, Z),
        "log-log t": log_log(rate, error, t),
        "bootstrap": bootstrap(rng, fails, risk, resamples),
    }


def main() -> None:
    """Run all settings; print coverage and mean width by clusters and correlation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="60 draws a setting instead of 400")
    parser.add_argument("--settings", action="store_true", help="print every setting too")
    arguments = parser.parse_args()
    runs, resamples = (60, 100) if arguments.quick else (400, 200)
    start = time.perf_counter()
    rng = np.random.default_rng(1)
    found: dict[tuple[int, float, float, str], dict[str, tuple[float, float]]] = {}
    for key in itertools.product(CLUSTERS, CORRELATION, SURVIVAL, CENSORING):
        clusters, correlation, survival, censoring = key
        results: dict[str, list[Band]] = {}
        for draw in draws(
            rng,
            survival=survival,
            clusters=clusters,
            correlation=correlation,
            heavy=censoring == "heavy",
            runs=runs,
        ):
            for name, band in (bands(rng, *draw, resamples) or {}).items():
                results.setdefault(name, []).append(band)
        found[key] = {}
        for name, pairs in results.items():
            low, high = np.array(pairs).T
            hit = (low <= survival + 1e-12) & (high >= survival - 1e-12)
            width = (
                float(np.mean((high - low)[np.isfinite(high)]))
                if np.isfinite(high).any()
                else np.nan
            )
            found[key][name] = (100 * float(hit.mean()), width)
        if arguments.settings:
            cells = "".join(f"{c:7.1f}/{w:.2f}" for c, w in found[key].values())
            print(f"{clusters:3} {correlation:4} {survival:5} {censoring:6}{cells}", flush=True)

    names = list(next(iter(found.values())))
    print(f"{'clusters  correlation':22}" + "".join(f"{name:>18}" for name in names))
    groups = [*itertools.product(CLUSTERS, CORRELATION), None]
    for group in groups:
        chosen = [row for key, row in found.items() if group is None or key[:2] == group]
        line: list[str] = []
        for name in names:
            cover = [row[name][0] for row in chosen]
            width = float(np.nanmean([row[name][1] for row in chosen]))
            line.append(f"{min(cover):.1f} {np.mean(cover):.1f} {width:.2f}")
        label = "all" if group is None else f"{group[0]:8}{group[1]:13}"
        print(f"{label:22}" + "".join(f"{cell:>18}" for cell in line))
    print(f"smallest and mean coverage in percent, mean width; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
