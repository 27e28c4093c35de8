"""Progress that does not flood a rendered notebook: a bar on a terminal, rare lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Never, Self

if TYPE_CHECKING:
    from tqdm import tqdm

__all__ = ["Progress"]

_EVERY = 20.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Count of what is done, usable as a context manager.

    Parameters
    ----------
    total : int
        How much there is to do.
    what : str
        What is being done, for the reader.
    show : bool
        Whether to show anything.
    done : int
        How much was done before.
    """

    def __init__(self, total: int, what: str, *, show: bool = True, done: int = 0) -> None:
        self.total = total
        self.what = what
        self.count = done
        self._show = show
        self._bar: tqdm[Never] | None = None
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        if self._show and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=self.total, initial=self.count, desc=self.what, unit="cell", leave=False
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def step(self, by: int = 1) -> None:
        """Count something as done."""
        self.count += by
        if self._bar is not None:
            self._bar.update(by)
        elif self._show and time.monotonic() - self._last > _EVERY:
            self._last = time.monotonic()
            print(f"{self.what}: {self.count} of {self.total}", file=sys.stderr, flush=True)
