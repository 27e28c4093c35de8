"""Where finished records go, and where work learns that the run was stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable

from corecurves.engine.ledger import Record

__all__ = ["Sink", "StoppedError"]


class StoppedError(Exception):
    """The run was stopped while a thread was at work."""


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
        self._write(*records)

    def stop(self) -> None:
        """Let whoever is at work stop at its next step."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `StoppedError` if the run was stopped; called before each step that costs."""
        if self._stopped.is_set():
            raise StoppedError
