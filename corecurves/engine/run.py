"""The runner: it takes the cells that are missing, has them worked on, and keeps every record.

It knows no system and no model. What is done with a batch of cells is the evaluation's `Work`.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from corecurves.engine import loop
from corecurves.engine.ledger import Ledger, Record, default_path
from corecurves.engine.plan import Cell, Plan
from corecurves.engine.progress import Progress
from corecurves.engine.sink import Sink, StoppedError
from corecurves.errors import CorecurvesError, UsageError

__all__ = ["LedgerChoice", "Work", "arun", "open_ledger", "run"]

LedgerChoice = str | Path | None | bool
_BATCH = 20
"""Cells a batch at the most: at 0.3 ms a cell, batches of 20 keep two processes busy."""


class Work(Protocol):
    """What an evaluation does with a batch of cells."""

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
    if choice is True or not isinstance(choice, str | Path) or not str(choice):
        raise UsageError(f"`ledger` is {choice!r}; give a file, None for the default one, or False")
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
    if not isinstance(max_concurrency, int) or max_concurrency < 1:
        raise UsageError(f"`max_concurrency` is {max_concurrency!r}; give a whole number from 1")
    if executor is not None and not isinstance(executor, Executor):
        raise UsageError(f"`executor` is {executor!r}; give a concurrent.futures.Executor or None")
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        _check_travels(work)
    done = ledger.done()
    missing = [key not in done for key in plan.keys]
    count = sum(missing)
    if not count:
        return
    size = max(1, min(_BATCH, count // (4 * max_concurrency)))
    batches = plan.batches(missing, size)
    seen: set[str] = set()
    lock = threading.Lock()
    with Progress(len(plan), plan.question, show=progress, done=len(plan) - count) as bar:

        def write(record: Record) -> None:
            ledger.write(record)
            with lock:
                seen.add(record.key)
                bar.step()

        await _run_batches(batches, work, Sink(write), executor, max_concurrency)
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
    executor: Executor | None,
    max_concurrency: int,
) -> None:
    running = asyncio.get_running_loop()
    blocks = await asyncio.to_thread(work.prepare) and executor is None
    threads = (
        ThreadPoolExecutor(max_concurrency, thread_name_prefix="corecurves") if blocks else None
    )

    async def worker() -> None:
        for batch in batches:
            if executor is not None:
                future = executor.submit(_collect, work, batch)
                for record in await asyncio.wrap_future(future):
                    sink(record)
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
        if isinstance(first, BrokenExecutor):
            raise UsageError(
                "a worker of the executor died, or could not import the system: name the system by "
                "a spec string or put it into a module; what is done is in the ledger"
            ) from first
        raise first from None
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


def _collect(work: Work, cells: Sequence[Cell]) -> list[Record]:
    found: list[Record] = []
    asyncio.run(work.run(cells, Sink(found.append)))
    return found


def _check_travels(work: Work) -> None:
    try:
        pickle.dumps(work)
    except Exception as error:
        raise UsageError(
            "the executor gets copies, and this system cannot be copied "
            f"({error}); name it by a spec string, or run without an executor"
        ) from error
