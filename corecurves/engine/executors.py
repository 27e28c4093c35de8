"""Batches on an executor: one of `concurrent.futures`, or a Dask cluster.

A batch travels as little as it can: who answers, as bytes that each process reads once, and of the
work the part that the batch needs. The records come back, and the process that made the call is the
only one that writes to the ledger. A batch that is lost with its worker is run again by the
executor where it does so, as Dask does, and else by the next call.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from corecurves.arguments import whole
from corecurves.engine import loop
from corecurves.engine.plan import Cell
from corecurves.engine.records import Record
from corecurves.engine.sink import Sink
from corecurves.errors import CorecurvesError, UsageError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Remote", "as_executor", "calls_at_once", "explain", "timed"]

_Found = tuple[list[Record], CorecurvesError | None]
_lock = threading.Lock()


def calls_at_once(work: object, executor: object, max_concurrency: int) -> int:
    """Calls that are at work at once, where who is called may take few."""
    most = whole("max_concurrency", max_concurrency)
    if executor is not None and not isinstance(executor, ThreadPoolExecutor):
        return most
    actor: object = getattr(work, getattr(work, "actor", ""), None)
    while actor is not None:
        if own := getattr(actor, "concurrency", None):
            return min(most, int(own))
        actor = getattr(actor, "system", getattr(actor, "model", None))
    return most


def timed(ds: xr.Dataset, work: object, executor: object, max_concurrency: int) -> xr.Dataset:
    """Dataset that says how many calls were at work at once, where it says how long they took."""
    ds["seconds"].attrs["max_concurrency"] = calls_at_once(work, executor, max_concurrency)
    return ds


def as_executor(given: object) -> Executor | None:
    """Executor that a call was given."""
    if given is None or isinstance(given, Executor):
        return given
    # Who has a client has loaded Dask, so there is no need to load it here.
    dask = sys.modules.get("distributed")
    if dask is not None and isinstance(given, dask.Client):
        return given.get_executor()  # type: ignore[no-any-return]
    raise UsageError(
        f"`executor` is {given!r}; give a concurrent.futures.Executor, a dask.distributed.Client "
        "or None"
    )


class Remote:
    """Work whose batches are run on an executor.

    Parameters
    ----------
    work : Work
        What is done with cells.
    executor : Executor
        Where.
    blocks : bool
        Whether a cell occupies its thread.

    Raises
    ------
    UsageError
        If the work cannot travel.
    """

    def __init__(self, work: Any, executor: Executor, blocks: bool) -> None:
        self._executor = executor
        self._blocks = blocks
        self._work = work
        self._actor: str | None = getattr(work, "actor", None)
        self._frozen: bytes | None = None
        if not isinstance(executor, ThreadPoolExecutor):
            self._frozen = _freeze(getattr(work, self._actor) if self._actor else work, executor)

    def submit(self, cells: Sequence[Cell]) -> Future[_Found]:
        """Have a batch run: its records come back, and what stopped it, if anything."""
        return self._sent(_run, *self.parcel(cells), cells, self._blocks)

    def parcel(self, cells: Sequence[Cell]) -> tuple[Any, str | None, bytes | None]:
        """What travels with a batch, besides its cells."""
        if self._frozen is None:
            return self._work, None, None
        if self._actor is None:
            return None, None, self._frozen
        return replace(self._work.part(cells), **{self._actor: None}), self._actor, self._frozen

    def _sent(self, call: Callable[..., _Found], *args: object) -> Future[_Found]:
        try:
            return self._executor.submit(call, *args)
        except RuntimeError as error:
            # A pool that has broken says so by itself.
            if isinstance(error, BrokenExecutor):
                raise
            raise UsageError(
                f"the executor takes no work ({error}); give one that is open. What is done is in "
                "the ledger"
            ) from error


def explain(error: BaseException) -> BaseException:
    """What to raise for an error of the executor's."""
    if isinstance(error, BrokenExecutor) or type(error).__module__.startswith("distributed."):
        return UsageError(
            "a worker of the executor died, or could not import the system "
            f"({type(error).__name__}): name the system by a spec string or put it into a module; "
            "what is done is in the ledger, and the same call runs the rest"
        )
    return error


def _freeze(thing: object, executor: Executor) -> bytes:
    dumps: Callable[[object], bytes] = pickle.dumps
    if type(executor).__module__.startswith("distributed."):
        # As Dask itself does, so that what was made in a notebook can travel.
        dumps = import_module("cloudpickle").dumps
    try:
        return dumps(thing)
    except Exception as error:
        raise UsageError(
            "the executor gets copies, and this system cannot be copied "
            f"({error}); name it by a spec string, or run without an executor"
        ) from error


@lru_cache(maxsize=4)
def _thaw(frozen: bytes) -> Any:
    return pickle.loads(frozen)


def _run(
    work: Any, actor: str | None, frozen: bytes | None, cells: Sequence[Cell], blocks: bool
) -> _Found:
    """Run a batch, in a thread or process of the executor's."""
    if frozen is not None:
        # One copy a process, so that its model is loaded and its client connected once.
        with _lock:
            thing = _thaw(frozen)
        work = replace(work, **{actor: thing}) if actor else thing
    found: list[Record] = []
    batch = work.run(cells, Sink(lambda *records: found.extend(records)))
    try:
        if blocks:
            asyncio.run(batch)
        else:
            # An async client cannot be used again after its loop has closed; this one stays.
            loop.wait(batch)
    except CorecurvesError as error:
        return found, error
    return found, None
