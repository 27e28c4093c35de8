"""The runner: it takes the cells that are missing, has them worked on, and keeps every record.

It knows no system and no model. What is done with a batch of cells is the evaluation's `Work`.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from corecurves.engine import loop
from corecurves.engine.executors import Remote, as_executor, calls_at_once, explain
from corecurves.engine.failures import FirstCells
from corecurves.engine.ledger import Ledger, Record, default_path
from corecurves.engine.plan import Cell, Plan
from corecurves.engine.progress import Progress
from corecurves.engine.sink import Sink, StoppedError
from corecurves.errors import CorecurvesError, Interrupted, LedgerError, UsageError

__all__ = ["LedgerChoice", "Work", "arun", "arun_apart", "open_ledger", "run"]

LedgerChoice = str | Path | None | bool
_BATCH = 20
"""Cells a batch at the most: at 0.3 ms a cell, batches of 20 keep two processes busy."""


class Work(Protocol):
    """What an evaluation does with a batch of cells.

    A dataclass may say how little of it travels to an executor: ``actor`` names the field that
    holds who answers, and ``part(cells)`` is the same work for some cells alone.
    """

    async def run(self, cells: Sequence[Cell], emit: Sink) -> None:
        """Work on cells, handing each record over as soon as it is known."""
        ...

    def prepare(self) -> bool:
        """Look at what is to be run, once, before anything is.

        Returns
        -------
        bool
            Whether a cell occupies its thread, so that it must not run on the event loop.
        """
        ...


def open_ledger(plan: Plan, choice: LedgerChoice = None) -> Ledger:
    """Ledger for a plan."""
    if choice is False or (choice is None and plan.volatile):
        return Ledger(None, plan)
    if choice is None:
        return Ledger(default_path(plan), plan)
    if choice is True or not isinstance(choice, str | Path) or not str(choice):
        raise UsageError(f"`ledger` is {choice!r}; give a file, None for the default one, or False")
    if plan.volatile:
        raise UsageError(
            f"{plan.volatile} has no `identity`, so another process cannot recognise it, which a "
            "ledger file needs; give an object that has one, or run with ledger=False"
        )
    return Ledger(Path(choice), plan)


def run(
    plan: Plan,
    work: Work,
    ledger: Ledger,
    *,
    executor: object = None,
    max_concurrency: int = 8,
    progress: bool = True,
) -> None:
    """Run what is missing of a plan, and wait for it."""
    options = {"executor": executor, "max_concurrency": max_concurrency, "progress": progress}
    try:
        loop.wait(arun(plan, work, ledger, **options))  # type: ignore[arg-type]
    except KeyboardInterrupt:
        raise Interrupted(_kept(plan, ledger), resumes=ledger.path is not None) from None


async def arun_apart(
    plan: Plan,
    work: Work,
    ledger: Ledger,
    *,
    executor: object = None,
    max_concurrency: int = 8,
    progress: bool = True,
) -> None:
    """Awaitable twin of `run`: on the background loop, for an async client belongs to one loop."""
    options = {"executor": executor, "max_concurrency": max_concurrency, "progress": progress}
    try:
        await loop.awaited(arun(plan, work, ledger, **options))  # type: ignore[arg-type]
    except asyncio.CancelledError:
        print(f"interrupted: {_kept(plan, ledger)}", file=sys.stderr)
        raise


def _kept(plan: Plan, ledger: Ledger) -> str:
    if ledger.path is None:
        return "nothing is kept without a ledger file: the same call starts anew"
    done = ledger.done()
    count = sum(key in done for key in plan.keys)
    return (
        f"{count} of {len(plan)} cells are done and kept in {ledger.path}: "
        "the same call resumes there"
    )


async def arun(
    plan: Plan,
    work: Work,
    ledger: Ledger,
    *,
    executor: object = None,
    max_concurrency: int = 8,
    progress: bool = True,
) -> None:
    """Run what is missing of a plan, on the running event loop."""
    max_concurrency = calls_at_once(work, executor, max_concurrency)
    pool = as_executor(executor)
    done = ledger.done()
    missing = [key not in done for key in plan.keys]
    del done
    first = FirstCells(plan, missing, ledger)
    count = sum(missing)
    if not count:
        return
    blocks = await asyncio.to_thread(work.prepare)
    remote = Remote(work, pool, blocks) if pool else None
    # Calls that are awaited here gain nothing by standing in line behind each other.
    share = count // (4 * max_concurrency) if blocks or remote else 1
    batches = plan.batches(missing, max(1, min(_BATCH, share)))
    seen: set[str] = set()
    lock = threading.Lock()
    with Progress(len(plan), plan.question, show=progress, done=len(plan) - count) as bar:

        def write(*records: Record) -> None:
            try:
                ledger.write(*records)
            except LedgerError:
                if ledger.closed:
                    # Who called was interrupted, and did not wait for this cell.
                    raise StoppedError from None
                raise
            with lock:
                seen.update(record.key for record in records)
                bar.step(len(records))
                first.look(records)

        await _run_batches(batches, work, Sink(write), remote or blocks, max_concurrency)
    lost = count - len(seen)
    if lost:
        raise CorecurvesError(
            f"{lost} of {len(plan)} cells ended without a word: a call cancelled its own task; "
            "what is done is in the ledger, and the same call runs the rest"
        )


async def _run_batches(
    batches: Iterator[list[Cell]],
    work: Work,
    sink: Sink,
    where: Remote | bool,
    max_concurrency: int,
) -> None:
    """Run batches on an executor, in threads where `where` is true, or on the running loop."""
    running = asyncio.get_running_loop()
    threads = (
        ThreadPoolExecutor(max_concurrency, thread_name_prefix="corecurves")
        if where is True
        else None
    )

    async def worker() -> None:
        for batch in batches:
            if isinstance(where, Remote):
                records, error = await asyncio.wrap_future(where.submit(batch))
                sink(*records)
                if error is not None:
                    raise error
            elif threads is not None:
                await running.run_in_executor(threads, _in_thread, work, batch, sink)
            else:
                await work.run(batch, sink)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max_concurrency):
                group.create_task(worker())
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        told = explain(first)
        raise told from (None if told is first else first)
    finally:
        # Blocking turns cannot be cancelled; their threads stop before the next one.
        sink.stop()
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


def _in_thread(work: Work, cells: Sequence[Cell], sink: Sink) -> None:
    try:
        asyncio.run(work.run(cells, sink))
    except StoppedError:
        return
