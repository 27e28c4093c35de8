"""What a system is: something that takes turns and keeps memory."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from corecurves.specs import Identity

__all__ = ["Session", "System", "Turn"]


@dataclass(frozen=True)
class Turn:
    """What a system said in one turn.

    Parameters
    ----------
    surface : str
        What it uttered.
    walk_surface : str
        The path that it took through what it was taught, where it has one.
    vault_hits : int or None
        Memory entries directly retrieved for this turn; None without a memory of that kind.
    trace_hash : str
        Hash of the whole session so far; empty where the system gives none.
    accepted : bool or None
        Whether a correction was accepted; None for a turn that was not one, or without a review.
    review : str
        The reason of the review.
    """

    surface: str
    walk_surface: str = ""
    vault_hits: int | None = None
    trace_hash: str = ""
    accepted: bool | None = None
    review: str = ""


@runtime_checkable
class Session(Protocol):
    """A conversation with a system; nothing is shared between two of them.

    ``fork() -> Session`` (the same state, independent from here on) and ``close()`` are optional.
    """

    def turn(self, text: str) -> Turn | Awaitable[Turn]:
        """Take one turn.

        Parameters
        ----------
        text : str
            What is said to the system.

        Returns
        -------
        Turn
            Or an awaitable of one.
        """
        ...


@runtime_checkable
class System(Protocol):
    """Something teachable.

    ``start`` may take a keyword ``seed``: it then gets one that depends on the run's seed, the
    concept and the sample, and is the same for every k, arm and replay.
    """

    @property
    def identity(self) -> Identity:
        """Who answers."""
        ...

    def start(self) -> Session:
        """Start a session that remembers nothing."""
        ...
