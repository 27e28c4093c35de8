"""Runs that are killed at random moments, for `test_kill`; a program of its own.

It imports the library once and forks each run from itself, before any thread is started, so that a
start costs milliseconds. What is counted comes from a file that the system or model under test
appends each call to before it answers, so no call is lost with its process.

``python killed.py lane|rose KILLS SEED FOLDER`` prints the counts as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

CONCURRENCY = 4
SECONDS = 0.004
"""What a call takes."""


class Log:
    """A file of calls, one a line."""

    def __init__(self, path):
        self.path = path
        path.touch()

    def __call__(self, name):
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        os.write(handle, f"{name}\n".encode())
        os.close(handle)

    def names(self, skip=0):
        return self.path.read_text().splitlines()[skip:]

    def size(self):
        return self.path.stat().st_size


class Lane:
    """A system whose answer names its conversation, put to a few curricula."""

    def __init__(self, folder, log):
        from faults.material import concepts

        import corecurves as cc

        self.curricula, self.log = concepts(2), log
        self.identity = cc.Identity("slow", "1")
        self.plan = cc.plan_lane(self.curricula, self)

    def start(self):
        return Talk(self.log)

    def run(self, ledger):
        import corecurves as cc

        return cc.run_lane(
            self.curricula, self, ledger=ledger, max_concurrency=CONCURRENCY, progress=False
        )

    def finished(self, record):
        return [record.values["surface"].split()[-1]]


class Talk:
    def __init__(self, log):
        self.log, self.heard = log, []

    async def turn(self, text):
        from corecurves import Turn
        from corecurves.canonical import digest

        told = list(self.heard)
        self.heard.append(text)
        if not text.endswith("?"):
            return Turn("noted")
        name = digest(self.heard)[:16]
        self.log(name)
        await asyncio.sleep(SECONDS)
        return Turn(" ".join([*told, name]), trace_hash=name)


class Rose:
    """A model whose answer names its prompt and seed, and a grader, put to a small bench."""

    concurrency = None
    wants = "answer"

    def __init__(self, folder, log):
        from faults.material import ARMS, bench

        import corecurves as cc

        self.log = log
        self.identity = cc.Identity("slow", "1")
        self.options = {"grader": self, "arms": ARMS, "samples": 2}
        self.store = cc.open_store(bench(folder / "bench", lessons=2))
        self.plan = cc.plan_rose(self.store, self, **self.options)

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        from corecurves.canonical import digest
        from corecurves.models.base import Completion

        name = digest([messages, seed])[:16]
        self.log(name)
        await asyncio.sleep(SECONDS)
        return Completion(f"{messages[-1]['content']} {name}")

    async def grade(self, case):
        from corecurves import Grade

        if case.candidate in case.outcome.good:
            return Grade(True)  # the planted case, which each run tries a grader with
        name = f"grade-{case.candidate.split()[-1]}"
        self.log(name)
        await asyncio.sleep(SECONDS)
        return Grade(case.outcome.checks.must[0] in case.candidate, reason=name)

    def run(self, ledger):
        import corecurves as cc

        return cc.run_rose_eval(
            self.store, self, ledger=ledger, max_concurrency=CONCURRENCY, progress=False,
            **self.options,
        )  # fmt: skip

    def finished(self, record):
        asked = record.values.get("answer")
        return [str(asked).split()[-1]] if asked is not None else [record.values["reason"]]


def forked(work, ledger, out):
    """Process of a run that saves its Dataset; the file is there only when it is whole."""
    import corecurves as cc

    child = os.fork()
    if child:
        return child
    try:
        cc.save(work.run(ledger), out)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def ended(child):
    """Whether a run has ended by itself."""
    found, status = os.waitpid(child, os.WNOHANG)
    assert not found or os.waitstatus_to_exitcode(status) == 0, "a run failed"
    return bool(found)


def kill_at(child, log, draw):
    """Kill a run somewhere; False where it was over before."""
    early = draw.random() < 0.2
    limit = log.size() + (0 if early else draw.randint(1, 12) * 17)
    end = time.monotonic() + 20
    while log.size() < limit and time.monotonic() < end:
        if ended(child):
            return False
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 0.15 if early else 0.008))
    if ended(child):
        return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def known(work, ledger, scratch):
    """Names of the finished calls, read from a copy: looking must not mend the file."""
    from corecurves.engine.ledger import Ledger

    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for path in ledger.parent.glob(f"{ledger.name}*"):
        shutil.copy(path, scratch / path.name)
    with Ledger(scratch / ledger.name, work.plan) as book:
        records = [record for record in book.records() if record.status == "ok"]
    return Counter(name for record in records for name in work.finished(record))


def main(question, kills, seed, folder):
    from faults.material import results

    import corecurves as cc

    for name in ("h5netcdf", "xarray", f"corecurves.{question}.dataset"):
        import_module(name)
    draw = random.Random(seed)
    log = Log(folder / "calls")
    work = {"lane": Lane, "rose": Rose}[question](folder, log)
    # The thread of the background loop is idle, and a child starts one of its own.
    assert {thread.name for thread in threading.enumerate()} <= {"MainThread", "corecurves-loop"}
    out = folder / "out.nc"

    reference = forked(work, folder / "reference.sqlite", out)
    os.waitpid(reference, 0)
    expected = results(cc.load(out))
    planned = Counter(log.names())
    count = Counter(calls_uninterrupted=planned.total(), cells=len(work.plan))

    while count["kills"] < kills:
        count["runs"] += 1
        ledger = folder / f"run{count['runs']}.sqlite"
        out.unlink()
        before, first = Counter(), len(log.names())
        over = False
        while not over:
            skip = len(log.names())
            child = forked(work, ledger, out)
            if count["kills"] < kills and kill_at(child, log, draw):
                count["kills"] += 1
            else:
                over = True
                while not out.exists() and not ended(child):
                    time.sleep(0.005)
            called = Counter(log.names(skip))
            again = {n: c for n, c in called.items() if c + before[n] > planned[n]}
            count["finished_called_again"] += len(again)
            done = known(work, ledger, folder / "copy") if ledger.exists() else Counter()
            count["finished_lost"] += (before - done).total()
            count["kills_between"] += bool(not over and done.total() and done != planned)
            before = done
        count["calls"] += len(log.names(first))
        count["results_differ"] += not results(cc.load(out)).identical(expected)
    count["repeated_in_flight"] = count["calls"] - count["runs"] * count["calls_uninterrupted"]
    print(json.dumps(count))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
