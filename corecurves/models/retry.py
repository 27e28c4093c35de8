"""A second try for what may succeed later, bounded in attempts and in time."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from corecurves.models.base import TemporaryFailure

__all__ = ["Patience", "with_patience"]

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How long a temporary failure is put up with.

    Parameters
    ----------
    attempts : int
        Calls at the most; 1 tries once.
    seconds : float
        Time that all of them may take together, waits included.
    first_wait : float
        Seconds of the first wait; each later one doubles it. A wait is drawn between half of that
        and all of it, so that many callers do not come back at once.
    longest_wait : float
        Seconds of the longest wait, where the other side asks for none. One that it asks for is
        kept, however long; where it does not fit in `seconds`, there is no further attempt.
    """

    attempts: int = 4
    seconds: float = 180.0
    first_wait: float = 1.0
    longest_wait: float = 30.0


async def with_patience(
    call: Callable[[], Awaitable[T]], patience: Patience, draw: Callable[[], float] = random.random
) -> T:
    """Result of a call that is tried again after a temporary failure."""
    end = time.monotonic() + patience.seconds
    for attempt in range(1, patience.attempts + 1):
        try:
            async with asyncio.timeout(max(0.0, end - time.monotonic())):
                return await call()
        except TimeoutError:
            raise TemporaryFailure(f"no reply within {patience.seconds:g} s") from None
        except TemporaryFailure as failure:
            wait = _wait(failure.retry_after, attempt, patience, draw)
            late = time.monotonic() + wait >= end
            if late and wait == failure.retry_after:
                said = f"{failure}; it asks for a wait of {wait:.0f} s, and the patience is"
                raise TemporaryFailure(f"{said} {patience.seconds:g} s", wait) from None
            if late or attempt == patience.attempts:
                raise
        await asyncio.sleep(wait)
    raise AssertionError("an attempt returns or raises")


def _wait(
    stated: float | None, attempt: int, patience: Patience, draw: Callable[[], float]
) -> float:
    longest: float = min(patience.first_wait * 2 ** (attempt - 1), patience.longest_wait)
    own = longest * (0.5 + draw() / 2)
    return own if stated is None else max(stated, own)
