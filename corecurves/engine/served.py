"""The other side of `elsewhere`: what runs in the second interpreter."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any

from corecurves.engine import loop
from corecurves.engine.elsewhere import IDLE
from corecurves.engine.sink import Sink, StoppedError
from corecurves.errors import UsageError

__all__ = ["serve"]

_lock = threading.Lock()


def serve() -> None:
    """Work in the other interpreter until the pipe closes."""
    pipe, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a system prints must not reach the pipe.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    del sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # the first run has warned of the same
    server = _Server(answers)
    threading.Thread(target=server.watch, args=(os.getppid(),), daemon=True).start()
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            server.take(*pickle.load(pipe))
    os._exit(0)


class _Server:
    def __init__(self, answers: Any) -> None:
        self._answers = answers
        self._pool = ThreadPoolExecutor(256)
        self._lock = threading.Lock()
        self._sinks: dict[int, Sink] = {}
        self._blocks: dict[bytes, bool] = {}
        self._used = time.monotonic()

    def take(self, what: str, number: int, *more: bytes) -> None:
        self._used = time.monotonic()
        if what == "run":
            folder, variables = pickle.loads(more[-1])
            os.chdir(folder)
            os.environ.update(variables)
            for gone in os.environ.keys() - variables.keys() - {"PYTHONHASHSEED"}:
                del os.environ[gone]
            self._sinks[number] = Sink(lambda *records: self._say(number, records))
            self._pool.submit(self._work, number, *more[:-1])
        elif number in self._sinks:
            self._sinks[number].stop()

    def _work(self, number: int, actor: bytes, job: bytes) -> None:
        error: BaseException | None = None
        try:
            work, field, cells = pickle.loads(job)
            with _lock:
                work = replace(work, **{field: _thawed(actor)})
                if actor not in self._blocks:
                    self._blocks[actor] = work.prepare()
            batch = work.run(cells, self._sinks[number])
            asyncio.run(batch) if self._blocks[actor] else loop.wait(batch)
        except (StoppedError, asyncio.CancelledError):
            pass
        except BaseException as failed:
            error = failed
        del self._sinks[number]
        self._say(number, None, error)

    def _say(self, number: int, records: Any, error: BaseException | None = None) -> None:
        try:
            raw = pickle.dumps((number, records, error))
        except Exception:
            raw = pickle.dumps((number, None, UsageError(f"a replay failed: {error!r}")))
        with self._lock, contextlib.suppress(OSError):
            self._answers.write(raw)
            self._answers.flush()
            self._used = time.monotonic()

    def watch(self, parent: int) -> None:
        """End with the process that started this one, and after a while without work."""
        while os.getppid() == parent and (self._sinks or time.monotonic() - self._used < IDLE):
            time.sleep(1)
        os._exit(0)


@lru_cache(maxsize=4)
def _thawed(actor: bytes) -> Any:
    try:
        return pickle.loads(actor)
    except Exception as error:
        raise UsageError(
            "the other interpreter, in which replays are run, cannot import the system "
            f"({type(error).__name__}: {error}); put it into a module, or set `travels = False` on "
            "it to keep its replays in this process"
        ) from error
