"""Moved bytes: what a cell costs on an executor, there and back."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, ThreadPoolExecutor

import corecurves as cc
from tests.benchmarks.speed.common import Found


class Counting(Executor):
    """Runs what was pickled and read back, as another machine would; counts the bytes."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.batches = self.there = self.back = 0

    def submit(self, call, *args):
        sent = pickle.dumps((call, args))
        self.batches += 1
        self.there += len(sent)
        return self.pool.submit(self._run, sent)

    def _run(self, sent: bytes):
        call, args = pickle.loads(sent)
        found = pickle.dumps(call(*args))
        self.back += len(found)
        return pickle.loads(found)


def lane(executor: Executor) -> int:
    ds = cc.run_lane(
        "public", "grounded", samples=4, ledger=False, progress=False, executor=executor
    )
    return int((ds.replay_status == "ok").sum())


def rose(executor: Executor) -> int:
    ds = cc.run_rose_eval(
        cc.open_store("rose_bench").demo(), "simulated", samples=4, ledger=False, progress=False,
        executor=executor,
    )  # fmt: skip
    return int((ds.status == "ok").sum())


def measure() -> Found:
    told = []
    for name, evaluation in {"run_lane of grounded": lane, "run_rose_eval, scored": rose}.items():
        with Counting() as executor:
            cells = evaluation(executor)
        executor.pool.shutdown()
        told.append(
            f"{name}: {cells} cells in {executor.batches} batches, "
            f"{executor.there / cells:.0f} bytes a cell there, {executor.back / cells:.0f} back"
        )
    return Found("; ".join(told), "none", None)
