"""A session under way: what is said in it, and its trace."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from corecurves.canonical import digest
from corecurves.engine.failures import failure
from corecurves.engine.sink import Sink
from corecurves.errors import a_type
from corecurves.systems.base import Turn

__all__ = ["Talk"]


class Talk:
    """A session under way, sync or async, that may be stopped before each turn.

    Parameters
    ----------
    session : Session
        The session.
    sink : Sink or None
        Tells when the run was stopped.
    said : list
        What was said and answered so far.
    """

    def __init__(
        self, session: Any, sink: Sink | None = None, said: Sequence[list[str]] = ()
    ) -> None:
        self.session = session
        self._sink = sink
        self._said = list(said)

    async def say(self, text: str) -> Turn:
        """Take a turn; where the system gives no trace hash, it is that of the transcript."""
        if self._sink is not None:
            self._sink.check()
        turn = await _maybe(self.session.turn(text))
        if not isinstance(turn, Turn):
            raise TypeError(f"`turn` returned {a_type(turn)}; it must return a Turn")
        for name in ("surface", "walk_surface", "trace_hash", "review"):
            if not isinstance(getattr(turn, name), str):
                raise TypeError(f"`{name}` of the turn is {getattr(turn, name)!r}; it must be text")
        found = turn.vault_hits
        if found is not None and (isinstance(found, bool) or not isinstance(found, Integral)):
            raise TypeError(f"`vault_hits` of the turn is {found!r}; it must be an int or None")
        self._said.append([text, turn.surface, turn.walk_surface])
        return turn

    def trace(self, turn: Turn) -> str:
        """Trace hash of the session up to a turn."""
        return turn.trace_hash or digest(self._said)

    async def fork(self) -> Talk:
        """An independent session in the same state."""
        return Talk(await _maybe(self.session.fork()), self._sink, self._said)

    async def close(self) -> None:
        """Close the session; one that cannot be closed is warned of, for its answers stand."""
        close = getattr(self.session, "close", None)
        if close is None:
            return
        try:
            await _maybe(close())
        except Exception as error:
            warnings.warn(f"a session could not be closed: {failure(error)[1]}", stacklevel=2)


async def _maybe(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
