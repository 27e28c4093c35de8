"""The llama.cpp server in this process, spoken to over loopback, one piece of work at a time.

llama.cpp offers tokenizing and templates over HTTP only, and it stops a call whose connection is
closed, which is what makes a call here cancellable. The endpoint answers this process alone: it
asks for a key that is made up at each start, because a stranger's call would push the cached
prefix out.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import secrets
import socket
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from corecurves.errors import CellFailure, PermanentFailure, UsageError

__all__ = ["INSTALL", "Calls", "Forced", "LlamaServer", "RefusedError", "default_threads"]

T = TypeVar("T")

INSTALL = "llama.cpp is not installed; install it with: pip install 'corecurves[lm]'"
_CALL_SECONDS = 600.0
"""A call that has said nothing for so long has failed."""


class RefusedError(CellFailure):
    """A call that llama.cpp refused or could not finish."""


def default_threads() -> int:
    """Threads of a call: one processor is left for others.

    llama.cpp's threads wait for each other by spinning. With as many of them as processors, one
    other busy process made calls 10 to 20 times slower; with one fewer, it did not.

    Examples
    --------
    >>> 1 <= default_threads() <= 8
    True
    """
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    # Beyond four, half of them are usually the second threads of the same cores.
    return max(1, min(processors // 2 if processors > 4 else processors - 1, 8))


class LlamaServer:
    """A llama.cpp server that starts on first use.

    Parameters
    ----------
    path : Path
        The weights.
    context : int
        Tokens of the longest prompt with its reply.
    threads : int or None
        Threads of a call; None for `default_threads`.
    """

    def __init__(self, path: Path, *, context: int, threads: int | None = None) -> None:
        self._path = path
        self._context = context
        self._threads = threads
        self._lock = threading.Lock()
        self._live: _Live | None = None

    async def run(self, work: Callable[[Calls], T]) -> T:
        """Run calls that belong together, without blocking the event loop."""
        calls, future = self._submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            calls.abort()
            raise

    def run_blocking(self, work: Callable[[Calls], T]) -> T:
        """Run calls that belong together, and wait for them."""
        return self._submit(work)[1].result()

    def close(self) -> None:
        """Stop the server; the next call starts another."""
        with self._lock:
            live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _submit(self, work: Callable[[Calls], T]) -> tuple[Calls, Future[T]]:
        with self._lock:
            # A forked child has the object but not the thread.
            if self._live is None or self._live.process != os.getpid():
                self._live = _Live(self._path, self._context, self._threads or default_threads())
                # Also runs at exit: llama.cpp's own threads must not outlive the interpreter.
                weakref.finalize(self, self._live.stop)
            calls = Calls(self._live)
            return calls, self._live.thread.submit(calls.run, work)


@dataclass(frozen=True)
class Forced:
    """What the server was made to say last.

    Parameters
    ----------
    prompt, reply : list of int
        The tokens before it, and its own.
    steps : list of float
        Log-probability of each token of the reply.
    """

    prompt: list[int]
    reply: list[int]
    steps: list[float]


class _Live:
    """One server, and the one thread that speaks to it."""

    def __init__(self, path: Path, context: int, threads: int) -> None:
        self.process = os.getpid()
        self.thread = ThreadPoolExecutor(
            1, thread_name_prefix="corecurves-llama", initializer=self._began
        )
        self._thread = 0
        self.headers: dict[str, str] = {}
        self.keeps: bool | None = None
        self.clean: list[int] = []
        self.forced: Forced | None = None
        self._wanted = (path, context, threads)
        self._server: Any = None
        self._address = ("", 0)

    def connect(self) -> http.client.HTTPConnection:
        if self._server is None:
            key = secrets.token_urlsafe(16)
            self._server = _start_server(*self._wanted, key)
            address = urlsplit(self._server.listening_address)
            self._address = (str(address.hostname), int(address.port or 0))
            self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        return http.client.HTTPConnection(*self._address, timeout=_CALL_SECONDS)

    def stop(self) -> None:
        if self.process == os.getpid():
            # A model may be collected in any thread, this one too, which cannot wait for itself.
            own = threading.get_ident() == self._thread
            self.thread.shutdown(wait=not own, cancel_futures=True)
            self._server = None

    def _began(self) -> None:
        self._thread = threading.get_ident()


class Calls:
    """Calls that belong together; another thread can stop them."""

    def __init__(self, live: _Live) -> None:
        self._live = live
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._aborted = False

    @property
    def keeps(self) -> bool | None:
        """Whether the server can go back to any token that it has read; None before it was seen."""
        return self._live.keeps

    @keeps.setter
    def keeps(self, found: bool) -> None:
        self._live.keeps = found

    @property
    def clean(self) -> list[int]:
        """Tokens that the server holds as reading a prompt leaves them; it may hold more."""
        return self._live.clean

    @clean.setter
    def clean(self, tokens: list[int]) -> None:
        self._live.clean = tokens

    @property
    def forced(self) -> Forced | None:
        """What the server was made to say last, if nothing was asked of it since."""
        return self._live.forced

    @forced.setter
    def forced(self, said: Forced | None) -> None:
        self._live.forced = said

    def run(self, work: Callable[[Calls], T]) -> T:
        """Do the work, and let go of the connection."""
        try:
            return work(self)
        finally:
            if self._connection is not None:
                self._connection.close()

    def abort(self) -> None:
        """Stop the call that is at work, and those to come."""
        self._aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                # Closing alone would not wake the thread that reads.
                self._socket.shutdown(socket.SHUT_RDWR)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Make a call."""
        try:
            if self._connection is None:
                self._connection = self._live.connect()
            self._connection.request("POST", path, _json(body), self._live.headers)
            self._socket = self._connection.sock
            if self._aborted:
                raise CellFailure("call_failed", "the call was cancelled")
            reply = self._connection.getresponse()
            content = json.loads(reply.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            what = "the call was cancelled" if self._aborted else f"no reply: {error!r}"
            raise CellFailure("call_failed", f"llama.cpp: {what}") from error
        if reply.status == http.client.OK:
            return content
        raise RefusedError("call_failed", f"llama.cpp: {_message(content)}")


def _json(body: dict[str, Any]) -> bytes:
    # Lone surrogates are no text to llama.cpp; it would refuse the whole call.
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _message(content: object) -> str:
    error = content.get("error") if isinstance(content, dict) else None
    text = error.get("message") if isinstance(error, dict) else content
    return " ".join(str(text).split())


def _start_server(path: Path, context: int, threads: int, key: str) -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise UsageError(INSTALL) from None
    options = xllamacpp.CommonParams()
    options.model.path = str(path)
    options.api_keys = [key]
    options.n_ctx = context
    # One slot: several are hardly faster, and calls that share a batch move each other's scores.
    options.n_parallel = 1
    options.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # A window that slides would else forget what the next text after the same prompt needs.
    options.swa_full = True
    options.n_gpu_layers = 0
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    # Slots are not kept in memory besides: that would take up to 8 GB.
    options.cache_ram_mib = 0
    options.ui = False
    options.endpoint_slots = False
    options.verbosity = -1
    try:
        return xllamacpp.Server(options)
    except Exception as error:
        raise PermanentFailure(f"llama.cpp cannot load {path}: {error}") from error
