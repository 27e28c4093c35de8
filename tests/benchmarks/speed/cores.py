"""Two cores: a CPU-bound lane in this process, against two processes of a pool."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor

import corecurves as cc
from tests.benchmarks.speed.common import Found

SAMPLES = 25
ROUNDS = 3
GOAL = 1.7
FREE = 1.85
"""What two processes that share nothing must gain, for a machine to have two free cores."""


def lane(executor=None):
    started = time.perf_counter()
    ds = cc.run_lane(
        "public", "grounded", samples=SAMPLES, replays=1, ledger=False, progress=False,
        executor=executor,
    )  # fmt: skip
    return time.perf_counter() - started, ds.drop_vars("seconds")


def spin(rounds: int) -> int:
    return sum(i * i for i in range(rounds))


def spinning(pool: ProcessPoolExecutor, at_once: int) -> float:
    """Seconds of two loops that share nothing, one after the other or at once."""
    started = time.perf_counter()
    if at_once == 1:
        for _ in range(2):
            pool.submit(spin, 5_000_000).result()
    else:
        for future in [pool.submit(spin, 5_000_000) for _ in range(2)]:
            future.result()
    return time.perf_counter() - started


def by_cpu_time() -> float:
    """What two free cores would gain at the best: CPU seconds of one process, half those of all."""
    started = os.times()
    lane()
    alone = os.times()
    with ProcessPoolExecutor(2) as pool:
        lane(pool)
    pooled = os.times()
    one = sum(alone[:4]) - sum(started[:4])
    return 2 * one / (sum(pooled[:4]) - sum(alone[:4]))


def measure() -> Found:
    alone: list[float] = []
    pooled: list[float] = []
    loops: dict[int, list[float]] = {1: [], 2: []}
    same = True
    with ProcessPoolExecutor(2) as pool:
        _, first = lane(pool)
        for turn in range(ROUNDS):
            # In alternating order, so that what else the machine does meets both.
            for number in (1, 2) if turn % 2 else (2, 1):
                seconds, ds = lane(pool if number == 2 else None)
                (pooled if number == 2 else alone).append(seconds)
                same &= first.identical(ds)
                loops[number].append(spinning(pool, number))
    gain = min(alone) / min(pooled)
    machine = min(loops[1]) / min(loops[2])
    met = gain >= GOAL and same
    cells = int((first.status == "ok").sum())
    text = (
        f"{cells} cells, {gain:.2f} times faster in two processes than in one "
        f"({min(alone):.2f} s, {min(pooled):.2f} s; best of {ROUNDS} in turns), where two loops "
        f"that share nothing gain {machine:.2f}; by CPU time {by_cpu_time():.2f}; "
        f"results {'identical' if same else 'DIFFER'}"
    )
    goal = f"at least {GOAL} times, identical results"
    if not met and same and machine < FREE:
        return Found(text, f"{goal}; this machine has no two free cores now", None)
    return Found(text, goal, met)
