"""A run that goes on while its explorer stays usable, that counts, and that can be cancelled."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError

from corecurves.engine import loop
from corecurves.engine.ledger import Ledger
from corecurves.engine.plan import Plan
from corecurves.engine.run import Work, arun, open_ledger

__all__ = ["Job"]


class Job:
    """Plans at work one after the other, in memory, on the background loop.

    Parameters
    ----------
    parts : sequence of (Plan, Work)
        What to run.
    max_concurrency : int
        Batches at work at once.
    """

    def __init__(self, parts: Sequence[tuple[Plan, Work]], *, max_concurrency: int = 8) -> None:
        self.books: tuple[Ledger, ...] = tuple(open_ledger(plan, False) for plan, _ in parts)
        for book in self.books:  # whoever has the job reads them; nobody else closes them
            weakref.finalize(self, book.close)
        self.total = sum(len(plan) for plan, _ in parts)
        self._future = loop.start(self._run(parts, max_concurrency))

    async def _run(self, parts: Sequence[tuple[Plan, Work]], max_concurrency: int) -> None:
        for (plan, work), book in zip(parts, self.books, strict=True):
            await arun(plan, work, book, max_concurrency=max_concurrency, progress=False)

    @property
    def done(self) -> int:
        """Cells that have a result."""
        return sum(len(book.done()) for book in self.books)

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled before its end."""
        return self._future.cancelled()

    def wait(self, seconds: float | None) -> bool:
        """Wait until it ends, however it ends."""
        try:
            self._future.exception(timeout=seconds)
        except FutureTimeoutError:
            return self._future.done()
        except CancelledError:
            pass
        return True

    def check(self) -> None:
        """Raise what it raised."""
        if not self.cancelled:
            self._future.result()

    def cancel(self) -> None:
        """Stop it: no call is begun from here on."""
        self._future.cancel()
