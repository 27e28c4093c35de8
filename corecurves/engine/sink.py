"""Where finished records go, and where work learns that the run was stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace

from corecurves.canonical import JSON
from corecurves.engine.ledger import Record

__all__ = ["Sink", "StoppedError", "remark"]

_remarks: ContextVar[set[str] | None] = ContextVar("remarks", default=None)
"""What was said of the calls since the last record; each worker of a run has its own."""


class StoppedError(Exception):
    """The run was stopped while a thread was at work."""


def remark(text: str) -> None:
    """Have a remark on a call kept with the record of the cell that it is made for."""
    if (found := _remarks.get()) is not None:
        found.add(text)


class Sink:
    """Takes records as soon as they are known.

    Parameters
    ----------
    write : callable
        Called with the records, as they come.
    """

    def __init__(self, write: Callable[..., object]) -> None:
        self._write = write
        self._stopped = threading.Event()

    def __call__(self, *records: Record) -> None:
        """Hand over records."""
        self.check()
        if said := _remarks.get():
            noted: dict[str, JSON] = {"remarks": [*sorted(said)]}
            records = tuple(replace(one, values={**one.values, **noted}) for one in records)
            said.clear()
        self._write(*records)

    def stop(self) -> None:
        """Let whoever is at work stop at its next step."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `StoppedError` if the run was stopped; called before each step that costs."""
        if self._stopped.is_set():
            raise StoppedError
        if _remarks.get() is None:
            _remarks.set(set())
