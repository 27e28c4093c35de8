"""Sessions whose answer depends on nothing but what they were told before.

They make no difference between teaching and asking: *every* turn is answered from what was told
before it, so a probe may have any wording, in any language. The first turn is the opening, which a
correction needs to bind to, and is never remembered; nor is a turn that `asks`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from corecurves.canonical import digest
from corecurves.specs import Identity
from corecurves.systems.base import Turn
from corecurves.text import words

__all__ = ["Answer", "ToldSession", "asks"]

Answer = Callable[[tuple[str, ...], str], tuple[str, int | None]]
"""From what was told, oldest first, and a turn, to the surface and the memory entries retrieved."""

_ASKS = frozenset(words("what what's who how why tell describe explain define"))
_MARKS = ("?", "\uff1f", "\u061f")


def asks(text: str) -> bool:
    """Whether a turn asks for something.

    Examples
    --------
    >>> asks("Tell me about wisdom."), asks("No, wisdom is judgment.")
    (True, False)
    """
    said = words(text)
    return text.rstrip().endswith(_MARKS) or not _ASKS.isdisjoint(said[:1])


class ToldSession:
    """A conversation with a system that answers from what it was told.

    Parameters
    ----------
    identity : Identity
        Who answers; part of the trace hash.
    answer : callable
        See `Answer`; it must depend on its arguments alone.
    """

    def __init__(self, identity: Identity, answer: Answer) -> None:
        self._identity = identity.content()
        self._answer = answer
        self._told: tuple[str, ...] = ()
        self._history: tuple[tuple[str, str], ...] = ()

    def turn(self, text: str) -> Turn:
        """One turn: answered from what was told before it, then remembered."""
        surface, hits = self._answer(self._told, text)
        if self._history and not asks(text):
            self._told = (*self._told, text)
        self._history = (*self._history, (text, surface))
        trace = digest([self._identity, self._history])
        return Turn(surface, vault_hits=hits, trace_hash=trace)

    def fork(self) -> ToldSession:
        """Session in the same state, independent from here on: what it holds is never changed."""
        return copy.copy(self)
