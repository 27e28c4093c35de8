"""Batches in another interpreter, under another hash seed: where a replay proves most.

A replay in the process of the first run shares its string hashes, its module state and whatever the
system keeps there. The second interpreter is started once a run, takes batches through a pipe, and
ends with the process that started it, or after a minute without work. It knows no system: what is
run is a pickle of the evaluation's work.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import os
import pickle
import pickletools
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from corecurves.engine.plan import Cell
from corecurves.engine.sink import Sink
from corecurves.errors import UsageError

__all__ = ["IDLE", "Elsewhere", "frozen"]

_LARGEST = 1_000_000
"""Bytes of a system that is still copied: larger ones hold weights, and a second copy is dear."""
IDLE = 60.0
"""Seconds without work after which the interpreter ends by itself."""
_AWAKE = 0.1
"""Seconds between two looks whether the run was stopped."""
_START = (
    "import sys; sys.path[:] = sys.argv[1:]; from corecurves.engine.served import serve; serve()"
)

_lock = threading.Lock()
_workers: dict[tuple[int, str], _Worker] = {}


def frozen(thing: object) -> bytes | None:
    """A system as bytes that another interpreter can read.

    Examples
    --------
    >>> frozen(lambda text: text) is None, frozen(str.upper) is None
    (True, False)
    """
    try:
        # In this protocol every name that is imported stands by itself.
        raw = pickle.dumps(thing, protocol=2, fix_imports=False)
    except Exception:
        return None
    if len(raw) > _LARGEST or not sys.executable:
        return None
    named = {str(arg).partition(" ")[0] for code, arg, _ in pickletools.genops(raw)
             if code.name == "GLOBAL"}  # fmt: skip
    there = all(getattr(sys.modules.get(name), "__spec__", None) for name in named)
    return raw if there and "__main__" not in named else None


@dataclass(frozen=True)
class Elsewhere:
    """The other interpreter of a run, as it may be named in every process.

    Parameters
    ----------
    actor : bytes
        From `frozen`: who answers.
    run_id : str
        Names the run that has the interpreter to itself; empty for one that stays for later runs,
        which is for code that does not change between them.
    """

    actor: bytes
    run_id: str = ""

    async def run(self, work: Any, field: str, cells: Sequence[Cell], sink: Sink) -> None:
        """Have cells run there, handing each record over as soon as it is known."""
        worker = self.start()
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        job = pickle.dumps((replace(work, **{field: None}), field, list(cells)))
        number = worker.take(self.actor, job, asyncio.get_running_loop(), inbox)
        try:
            while True:
                try:
                    records, error = await asyncio.wait_for(inbox.get(), _AWAKE)
                except TimeoutError:
                    sink.check()
                    continue
                if records is None:
                    number = -1
                    if error is not None:
                        raise error
                    return
                sink(*records)
        finally:
            if number >= 0:
                worker.stop(number)

    def start(self) -> _Worker:
        """The interpreter, started where there is none."""
        with _lock:
            key = (os.getpid(), self.run_id)
            worker = _workers.get(key)
            if worker is None or not worker.alive():
                worker = _workers[key] = _Worker()
            return worker

    def end(self) -> None:
        """End the interpreter of this run, unless it stays for later ones."""
        with _lock:
            worker = _workers.pop((os.getpid(), self.run_id), None) if self.run_id else None
        if worker is not None:
            worker.end()


@atexit.register
def _end_all() -> None:
    for (process, _), worker in _workers.items():
        if process == os.getpid():
            worker.end()


class _Worker:
    """One interpreter, and the jobs that it has."""

    def __init__(self) -> None:
        here = os.environ.get("PYTHONHASHSEED", "")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *sys.path],
            env={**os.environ, "PYTHONHASHSEED": "2" if here == "1" else "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt is for the process that waits
        )  # fmt: skip
        self._numbers = itertools.count()
        self._jobs: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Queue[Any]]] = {}
        self._lock = threading.Lock()
        self._used = time.monotonic()
        self._open = True
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._reader = threading.Thread(target=self._read, name="corecurves-elsewhere", daemon=True)
        self._reader.start()

    def alive(self) -> bool:
        """Whether it can be given work: one that may end for idleness just now is not."""
        idle = not self._jobs and time.monotonic() - self._used > IDLE / 2
        return self._open and not idle

    def take(
        self,
        actor: bytes,
        job: bytes,
        running: asyncio.AbstractEventLoop,
        inbox: asyncio.Queue[Any],
    ) -> int:
        """Number of a job that was handed over; its messages arrive in the inbox."""
        with self._lock:
            number = next(self._numbers)
            self._jobs[number] = running, inbox
            # An interpreter that stayed was started in the folder and environment of its time.
            variables = {k: v for k, v in os.environ.items() if k != "PYTHONHASHSEED"}
            here = pickle.dumps((Path.cwd(), variables))
            self._send(("run", number, actor, job, here))
        if not self._open:
            self._hand_over(number, None, UsageError(_DIED))
        return number

    def stop(self, number: int) -> None:
        """Let a job stop at its next turn."""
        with self._lock:
            self._jobs.pop(number, None)
            self._send(("stop", number))

    def end(self) -> None:
        """End it, and wait until its pipes are closed."""
        self._process.kill()
        self._reader.join()

    def _send(self, message: tuple[Any, ...]) -> None:
        self._used = time.monotonic()
        # Where the pipe is broken, the reader tells every job so.
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(pickle.dumps(message))
            self._stdin.flush()

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self._hand_over(*pickle.load(self._stdout))
        self._process.kill()
        with self._lock, contextlib.suppress(OSError), self._process:
            waiting, self._open = list(self._jobs), False
        for number in waiting:
            self._hand_over(number, None, UsageError(_DIED))

    def _hand_over(self, number: int, records: Any, error: BaseException | None) -> None:
        with self._lock:
            job = self._jobs.pop(number, None) if records is None else self._jobs.get(number)
            self._used = time.monotonic()
        if job is not None:
            running, inbox = job
            with contextlib.suppress(RuntimeError):  # its loop has closed: nobody waits any more
                running.call_soon_threadsafe(inbox.put_nowait, (records, error))


_DIED = (
    "the other interpreter, in which replays are run, died; `travels = False` on the system keeps "
    "them in this process. What is done is in the ledger, and the same call runs the rest"
)
