"""One persistent event loop in a thread of its own.

The plain form of a run works in a script and inside a running notebook loop alike, because it never
touches the caller's loop; and an async client made in one run still works in the next, because the
loop that it belongs to is never closed.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

from corecurves.engine.sink import StoppedError

__all__ = ["awaited", "start", "wait"]

T = TypeVar("T")

_lock = threading.Lock()
_current: tuple[int, threading.Thread, asyncio.AbstractEventLoop] | None = None
_AWAKE = 0.25
"""Seconds between two looks for an interrupt."""
_GRACE = 1.0
"""Seconds that a cancelled run has to put its things in order."""


def start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the background loop."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and wait for it."""
    finished = threading.Event()
    future = start(_watched(work, finished))
    try:
        while True:
            try:
                # A bounded wait lets an interrupt through on every platform.
                return future.result(timeout=_AWAKE)
            except FutureTimeoutError:
                if future.done():
                    return future.result()
    except BaseException:
        if not future.done():
            future.cancel()
            finished.wait(_GRACE)
        raise


async def awaited(work: Coroutine[Any, Any, T]) -> T:
    """Awaitable twin of `wait`: it leaves the caller's loop free."""
    finished = threading.Event()
    future = start(_watched(work, finished))
    ended = asyncio.wrap_future(future)
    try:
        # A notebook's kernel hands an interrupt on only when its loop wakes up.
        while not ended.done():
            await asyncio.wait([ended], timeout=_AWAKE)
        return ended.result()
    except asyncio.CancelledError:
        future.cancel()
        await asyncio.to_thread(finished.wait, _GRACE)
        raise


async def _watched(work: Coroutine[Any, Any, T], finished: threading.Event) -> T:
    try:
        return await work
    except StoppedError:
        # Nobody waits for what was stopped, and an error that nobody fetches would be printed.
        raise asyncio.CancelledError from None
    finally:
        finished.set()


def _loop() -> asyncio.AbstractEventLoop:
    global _current
    with _lock:
        # A forked child has the object but not the thread; a SystemExit ends the thread.
        if _current is None or _current[0] != os.getpid() or not _current[1].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="corecurves-loop", daemon=True)
            thread.start()
            _current = (os.getpid(), thread, loop)
        return _current[2]
