import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.loop import wait
from corecurves.engine.plan import Plan
from corecurves.engine.run import arun, open_ledger, run
from corecurves.errors import PermanentFailure, UsageError

N = 60


def plan(n=N, group=1, **more):
    index = np.arange(n, dtype=np.int32)[:, None]
    keys = tuple(f"k{i:04}" for i in range(n))
    groups = np.arange(n) // group
    return Plan("lane", {"cell": list(range(n))}, index, keys, groups, {"n": n}, **more)


class Echo:
    """Answers each cell with its index, later cells sooner."""

    def __init__(self, blocking, fails=(), stops=None):
        self.blocking, self.fails, self.stops = blocking, fails, stops
        self.seen = []

    def prepare(self):
        return self.blocking

    async def run(self, cells, emit):
        for cell in cells:
            (i,) = cell.index
            self.seen.append(i)
            if i == self.stops:
                raise PermanentFailure("the quota is used up")
            delay = (N - i) * 0.0002
            if self.blocking:
                time.sleep(delay)
            else:
                await asyncio.sleep(delay)
            status = "call_failed" if i in self.fails else "ok"
            emit(Record(cell.key, status, {"value": i}))


def values(ledger):
    return {record.key: record.values["value"] for record in ledger.records()}


RIGHT = {f"k{i:04}": i for i in range(N)}


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_results_belong_to_their_cells_in_any_order(blocking, concurrency):
    with Ledger(None, plan()) as ledger:
        run(plan(), Echo(blocking), ledger, max_concurrency=concurrency, progress=False)
        assert values(ledger) == RIGHT


def test_resume_runs_what_is_missing_or_failed_once(tmp_path):
    path = tmp_path / "run.sqlite"
    with Ledger(path, plan()) as ledger:
        run(plan(), Echo(True, fails=(3, 9)), ledger, progress=False)
    second = Echo(False)
    with Ledger(path, plan()) as ledger:
        run(plan(), second, ledger, progress=False)
        assert values(ledger) == RIGHT
    assert sorted(second.seen) == [3, 9]
    third = Echo(False)
    with Ledger(path, plan()) as ledger:
        run(plan(), third, ledger, progress=False)
    assert third.seen == []


@pytest.mark.parametrize("blocking", [True, False])
def test_a_permanent_failure_stops_the_run_and_keeps_what_is_done(blocking):
    work = Echo(blocking, stops=20)
    with Ledger(None, plan()) as ledger:
        with pytest.raises(PermanentFailure, match="quota"):
            run(plan(), work, ledger, max_concurrency=1, progress=False)
        assert 0 < len(values(ledger)) <= 20
        assert max(work.seen) <= 40


def test_groups_are_never_split():
    grouped = plan(group=7)
    batches = list(grouped.batches([True] * N, 4))
    assert [cell.index[0] for batch in batches for cell in batch] == list(range(N))
    for group in set(grouped.groups.tolist()):
        holding = [b for b in batches if any(c.index[0] // 7 == group for c in b)]
        assert len(holding) == 1


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same(pool):
    with pool(2) as executor, Ledger(None, plan()) as ledger:
        run(plan(), Echo(True), ledger, executor=executor, max_concurrency=2, progress=False)
        assert values(ledger) == RIGHT


def test_work_that_cannot_travel_says_so_in_one_line():
    work = Echo(True)
    work.lock = threading.Lock()
    with ProcessPoolExecutor(1) as executor, Ledger(None, plan()) as ledger:
        with pytest.raises(UsageError, match="cannot be copied") as caught:
            run(plan(), work, ledger, executor=executor, progress=False)
        assert "\n" not in str(caught.value)


def test_it_runs_inside_a_running_loop_and_twice():
    async def notebook():
        for _ in range(2):
            with Ledger(None, plan()) as ledger:
                run(plan(), Echo(False), ledger, progress=False)
                assert values(ledger) == RIGHT
        with Ledger(None, plan()) as ledger:
            await arun(plan(), Echo(False), ledger, progress=False)
            return values(ledger)

    assert asyncio.run(notebook()) == RIGHT


def test_ledger_choices(tmp_path):
    for choice in (None, False, tmp_path / "a.sqlite", str(tmp_path / "b.sqlite")):
        with open_ledger(plan(), choice) as ledger:
            assert (ledger.path is None) == (choice is False)
    with open_ledger(plan(volatile="the grader 'mine'"), None) as ledger:
        assert ledger.path is None
    with pytest.raises(UsageError, match="the grader 'mine' has no `identity`"):
        open_ledger(plan(volatile="the grader 'mine'"), tmp_path / "c.sqlite")
    with pytest.raises(UsageError, match="`ledger` is True"):
        open_ledger(plan(), True)


def test_too_little_concurrency_is_refused():
    with Ledger(None, plan()) as ledger, pytest.raises(UsageError, match="`max_concurrency` is 0"):
        run(plan(), Echo(False), ledger, max_concurrency=0)


def test_waiting_hands_on_what_the_coroutine_raises():
    async def late():
        raise TimeoutError("from inside")

    with pytest.raises(TimeoutError, match="from inside"):
        wait(late())


INTERRUPTED = """
import asyncio, signal, sys, time
from pathlib import Path
# A shell's background job is started with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[2])
from test_run import Echo, plan
from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.run import run
class Slow(Echo):
    async def run(self, cells, emit):
        for cell in cells:
            emit(Record(cell.key, "ok", {"value": cell.index[0]}))
            print("done", flush=True)
            if self.blocking: time.sleep(0.2)
            else: await asyncio.sleep(0.2)
with Ledger(Path(sys.argv[1]), plan()) as ledger:
    run(plan(), Slow(sys.argv[3] == "blocking"), ledger, max_concurrency=2, progress=False)
"""


@pytest.mark.parametrize("kind", ["blocking", "async"])
def test_an_interrupt_stops_soon_and_loses_nothing(tmp_path, kind):
    path = tmp_path / "run.sqlite"
    here = os.path.dirname(__file__)  # noqa: PTH120
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path), here, kind],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        for _ in range(4):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = process.communicate(timeout=30)
        took = time.monotonic() - begun
    assert "the same call resumes there" in err
    assert took < 15
    later = out.count("done")
    with Ledger(path, plan()) as ledger:
        kept = len(ledger.done())
    assert 4 <= kept <= 4 + later + 1
    assert kept < N


def test_a_killed_run_keeps_every_finished_cell(tmp_path):
    path = tmp_path / "run.sqlite"
    here = os.path.dirname(__file__)  # noqa: PTH120
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path), here, "async"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        for _ in range(6):
            process.stdout.readline()
        process.kill()
        process.wait(timeout=30)
    with Ledger(path, plan()) as ledger:
        assert len(ledger.done()) >= 6
        run(plan(), Echo(False), ledger, progress=False)
        assert values(ledger) == RIGHT


def test_a_cell_that_ends_after_the_interrupt_says_nothing(tmp_path):
    """The caller has closed the ledger; a thread's record comes too late."""
    ledger = Ledger(tmp_path / "run.sqlite", plan())

    class Late(Echo):
        async def run(self, cells, emit):
            ledger.close()
            await super().run(cells, emit)

    with pytest.raises(CancelledError):
        run(plan(), Late(False), ledger, progress=False)
