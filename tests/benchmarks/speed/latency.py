"""Latency hiding: the whole call with a model that answers after 50 ms, 50 calls at once."""

from __future__ import annotations

import time

import corecurves as cc
from tests.benchmarks.speed.common import Found, InstantGrader, InstantModel, folder

SAMPLES = 4
"""Of 286 cells each: 1144 cells."""
SECONDS = 0.05
AT_ONCE = 50
RUNS = 3
GOAL = 1.2


def measure() -> Found:
    store = cc.open_store("rose_bench").demo()
    with folder() as place:
        # Once before, so that nothing is imported while the clock runs.
        cc.run_rose_eval(
            store, InstantModel(), grader=InstantGrader(), samples=1, ledger=place / "warm.sqlite",
            progress=False,
        )  # fmt: skip
        took = []
        for turn in range(RUNS):
            model = InstantModel(SECONDS)
            started = time.perf_counter()
            ds = cc.run_rose_eval(
                store, model, grader=InstantGrader(), samples=SAMPLES, max_concurrency=AT_ONCE,
                ledger=place / f"{turn}.sqlite", progress=False,
            )  # fmt: skip
            took.append(time.perf_counter() - started)
            cells = int((ds.status == "ok").sum())
            if model.calls != cells:
                raise RuntimeError(f"{model.calls} calls for {cells} cells")
    seconds = min(took)
    ideal = cells * SECONDS / AT_ONCE
    return Found(
        f"{cells} cells of {1000 * SECONDS:.0f} ms, {AT_ONCE} at once: {seconds:.2f} s "
        f"(best of {RUNS}), {seconds / ideal:.2f} times the ideal {ideal:.2f} s",
        f"at most {GOAL} times", seconds <= GOAL * ideal,
    )  # fmt: skip
