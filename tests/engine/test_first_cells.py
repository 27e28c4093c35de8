"""A run whose first cells all fail alike stops, says why, and runs on when it is asked again."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import corecurves as cc
from corecurves.engine import failures
from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Plan
from corecurves.engine.run import run
from corecurves.errors import PermanentFailure


@pytest.fixture(autouse=True)
def nobody_was_asked(monkeypatch):
    monkeypatch.setattr(failures, "_stopped", [])


def plan(n=40, group=1, name="a"):
    index = np.arange(n, dtype=np.int32)[:, None]
    keys = tuple(f"{name}{i:04}" for i in range(n))
    groups = np.arange(n) // group
    return Plan("lane", {"cell": list(range(n))}, index, keys, groups, {"n": n, "name": name})


class Fails:
    def __init__(self, reason=lambda i: f"the reply to req_{i:03} was cut off", status="cut_off"):
        self.reason, self.status, self.seen = reason, status, []

    def prepare(self):
        return False

    async def run(self, cells, emit):
        for cell in cells:
            self.seen.append(cell.index[0])
            await asyncio.sleep(0)
            reason = self.reason(cell.index[0])
            emit(Record(cell.key, self.status if reason else "ok", {"reason": reason or ""}))


def go(made, work, ledger=None, **more):
    with Ledger(ledger, made) as book:
        run(made, work, book, progress=False, **{"max_concurrency": 1, **more})
        return len(book.failed())


def test_it_stops_at_the_tenth_and_runs_on_when_it_is_called_again(tmp_path):
    work = Fails()
    with pytest.raises(
        PermanentFailure, match=r"first 10 cells have failed alike \(cut_off: the r"
    ):
        go(plan(), work, tmp_path / "a.sqlite")
    assert work.seen == list(range(10))
    with Ledger(tmp_path / "a.sqlite", plan()) as book:
        assert len(book.failed()) == 10
    assert go(plan(), work, tmp_path / "a.sqlite") == 40
    # Without a file it is the process that remembers.
    with pytest.raises(PermanentFailure):
        go(plan(name="b"), Fails())
    assert go(plan(name="b"), Fails()) == 40


def test_a_ledger_remembers_for_another_process(tmp_path):
    with pytest.raises(PermanentFailure):
        go(plan(), Fails(), tmp_path / "a.sqlite")
    failures._stopped.clear()
    assert go(plan(), Fails(), tmp_path / "a.sqlite") == 40


@pytest.mark.parametrize(
    "reason",
    [
        lambda i: "" if i == 9 else "down",
        lambda i: "up" if i == 9 else "down",
        lambda i: "" if i < 10 else "down",
    ],
)
def test_one_that_ends_well_or_otherwise_keeps_it_going(reason):
    go(plan(), Fails(reason))


def test_skipped_cells_are_no_failure_and_small_runs_have_nothing_to_save():
    assert go(plan(), Fails(status="skipped")) == 40
    assert go(plan(10), Fails()) == 10


def test_cells_of_one_call_count_once():
    work = Fails(lambda i: "down")
    with pytest.raises(PermanentFailure, match="the first 50 cells"):
        go(plan(200, group=5), work)
    assert go(plan(50, group=5, name="b"), Fails(lambda i: "down")) == 50


@pytest.mark.parametrize("concurrency", [1, 7, 40])
def test_which_cells_are_first_does_not_depend_on_what_ends_first(concurrency):
    good = Fails(lambda i: "" if i > 9 else "down")
    with pytest.raises(PermanentFailure):
        go(plan(), good, max_concurrency=concurrency)
    with ThreadPoolExecutor(2) as pool, pytest.raises(PermanentFailure):
        go(plan(name="c"), Fails(), executor=pool)


def test_another_function_of_the_same_name_is_stopped_too():
    def broken():
        def system(teachings, question):
            raise ValueError("no answer")

        return system

    first, second = broken(), broken()

    def call(system):
        return cc.run_lane("public", system, ledger=False, replays=1, progress=False)

    with pytest.raises(PermanentFailure, match=r"nothing is kept without a ledger file\."):
        call(first)
    with pytest.raises(PermanentFailure):
        call(second)
    with pytest.warns(UserWarning, match="cells have no result"):
        call(first)
