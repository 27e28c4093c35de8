"""The runner: it takes the cells that are missing, has them worked on, and keeps every record.

It knows no system and no model. What is done with a batch of cells is the evaluation's `Work`.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from corecurves.engine import loop
from corecurves.engine.ledger import Ledger, Record, default_path
from corecurves.engine.plan import Cell, Plan
from corecurves.engine.progress import Progress
from corecurves.errors import UsageError

__all__ = ["LedgerChoice", "Work", "arun", "open_ledger", "run"]

LedgerChoice = str | Path | None | bool
Emit = Callable[[Record], None]
_BATCH = 20
"""Cells a batch at the most: at 0.3 ms a cell, batches of 20 keep two processes busy."""


class Work(Protocol):
    """What an evaluation does with a batch of cells."""

    async def run(self, cells: Sequence[Cell], emit: Emit) -> None:
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
    """Ledger for a plan.

    Parameters
    ----------
    plan : Plan
        The plan.
    choice : str, Path, None or False
        A file; None for a file named by the plan's hash in the user's cache folder; False for
        memory.

    Returns
    -------
    Ledger
        Open.

    Raises
    ------
    UsageError
        If a file is asked for and the plan has a part without an identity.
    LedgerError
        If the file is damaged or belongs to another plan.
    """
    if choice is False or (choice is None and plan.volatile):
        return Ledger(None, plan)
    if choice is None:
        return Ledger(default_path(plan), plan)
    if choice is True:
        raise UsageError("`ledger` is True; give a file, None for the default one, or False")
    if plan.volatile:
        raise UsageError(
            "a ledger file needs a system that it can recognise in another process; "
            "give the system an `identity`, or run with ledger=False"
        )
    return Ledger(Path(choice), plan)


def run(
    plan: Plan,
    work: Work,
    ledger: Ledger,
    *,
    executor: Executor | None = None,
    max_concurrency: int = 8,
    progress: bool = True,
) -> None:
    """Run what is missing of a plan, and wait for it.

    Parameters
    ----------
    plan : Plan
        The plan.
    work : Work
        What to do with cells.
    ledger : Ledger
        Where records go, and what is already done.
    executor : Executor or None
        Where batches are run; None for this process.
    max_concurrency : int
        Batches at work at once.
    progress : bool
        Whether to show progress.

    Raises
    ------
    UsageError
        If `max_concurrency` is below 1, or the work cannot travel to the executor.
    KeyboardInterrupt
        If interrupted: pending cells are cancelled, what is done is in the ledger.
    """
    options = {"executor": executor, "max_concurrency": max_concurrency, "progress": progress}
    try:
        loop.wait(arun(plan, work, ledger, **options))  # type: ignore[arg-type]
    except KeyboardInterrupt:
        if ledger.path is not None:
            print(
                f"interrupted; what is done is in {ledger.path}: the same call resumes there",
                file=sys.stderr,
            )
        raise


async def arun(
    plan: Plan,
    work: Work,
    ledger: Ledger,
    *,
    executor: Executor | None = None,
    max_concurrency: int = 8,
    progress: bool = True,
) -> None:
    """Run what is missing of a plan, on the running event loop.

    Parameters
    ----------
    plan, work, ledger, executor, max_concurrency, progress
        See `run`.

    Raises
    ------
    UsageError
        If `max_concurrency` is below 1, or the work cannot travel to the executor.
    """
    if max_concurrency < 1:
        raise UsageError(f"`max_concurrency` is {max_concurrency}; give 1 or more")
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        _check_travels(work)
    done = ledger.done()
    missing = [key not in done for key in plan.keys]
    count = sum(missing)
    if not count:
        return
    size = max(1, min(_BATCH, count // (4 * max_concurrency)))
    batches = plan.batches(missing, size)
    started = len(plan) - count
    with Progress(len(plan), plan.question, show=progress, done=started) as bar:
        lock = threading.Lock()

        def emit(record: Record) -> None:
            ledger.write(record)
            with lock:
                bar.step()

        await _run_batches(batches, work, emit, executor, max_concurrency)


async def _run_batches(
    batches: Iterator[list[Cell]],
    work: Work,
    emit: Emit,
    executor: Executor | None,
    max_concurrency: int,
) -> None:
    running = asyncio.get_running_loop()
    blocks = await asyncio.to_thread(work.prepare) and executor is None
    threads = (
        ThreadPoolExecutor(max_concurrency, thread_name_prefix="corecurves") if blocks else None
    )
    stopped = threading.Event()

    def unless_stopped(record: Record) -> None:
        if stopped.is_set():
            raise _StoppedError
        emit(record)

    async def worker() -> None:
        for batch in batches:
            if executor is not None:
                future = executor.submit(_collect, work, batch)
                for record in await asyncio.wrap_future(future):
                    emit(record)
            elif threads is not None:
                await running.run_in_executor(threads, _in_thread, work, batch, unless_stopped)
            else:
                await work.run(batch, emit)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max_concurrency):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    finally:
        # Blocking turns cannot be cancelled; their threads stop at the next record.
        stopped.set()
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


class _StoppedError(Exception):
    """The run was stopped while a thread was at work."""


def _in_thread(work: Work, cells: Sequence[Cell], emit: Emit) -> None:
    try:
        asyncio.run(work.run(cells, emit))
    except _StoppedError:
        return


def _collect(work: Work, cells: Sequence[Cell]) -> list[Record]:
    found: list[Record] = []
    asyncio.run(work.run(cells, found.append))
    return found


def _check_travels(work: Work) -> None:
    try:
        pickle.dumps(work)
    except Exception as error:
        raise UsageError(
            "the executor gets copies, and this system cannot be copied "
            f"({error}); name it by a spec string, or run without an executor"
        ) from error
