"""What is said in a cell, and what becomes of it."""

from __future__ import annotations

import inspect
import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from corecurves.canonical import JSON
from corecurves.engine.failures import STOPPING, failure
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Cell
from corecurves.specs import Curriculum
from corecurves.systems.base import Turn
from corecurves.systems.resolve import Adapter
from corecurves.text import hits

__all__ = ["LaneWork", "Script"]


@dataclass(frozen=True)
class Script:
    """What is said in one arm of one concept.

    Parameters
    ----------
    opening : str
        The first turn.
    corrections : tuple of str
        What is taught, in order.
    probe : str
        The question after each.
    tokens : tuple of tuple of str
        Per expected token its accepted forms.
    """

    opening: str
    corrections: tuple[str, ...]
    probe: str
    tokens: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LaneWork:
    """What the lane does with cells; it can travel to another process where its system can.

    Parameters
    ----------
    system : Adapter
        What is taught.
    curricula : tuple of Curriculum
        The concepts, in the plan's order.
    scripts : tuple of tuple of Script
        By concept and arm.
    seeds : tuple of tuple of int
        By concept and sample.
    mode : str
        ``fresh`` or ``prefix``.
    """

    system: Adapter
    curricula: tuple[Curriculum, ...]
    scripts: tuple[tuple[Script, ...], ...]
    seeds: tuple[tuple[int, ...], ...]
    mode: str

    def prepare(self) -> bool:
        """Look at one session: whether turns block, and whether it can fork."""
        session = self.system.start(0)
        if self.mode == "prefix" and not hasattr(session, "fork"):
            name = self.system.identity.name
            warnings.warn(
                f"{name} cannot fork, so mode='prefix' runs every snapshot fresh", stacklevel=2
            )
        close = getattr(session, "close", None)
        if close is not None and not inspect.iscoroutinefunction(close):
            close()
        declared = getattr(session, "asynchronous", None)
        asynchronous = inspect.iscoroutinefunction(session.turn) if declared is None else declared
        return not asynchronous

    async def run(self, cells: Sequence[Cell], emit: Callable[[Record], None]) -> None:
        """Work on cells, handing each record over as soon as it is known."""
        for _, group in itertools.groupby(cells, self._shares):
            together = list(group)
            if self.mode == "prefix" and together[0].index[4] == 0:
                await self._run_prefix(together, emit)
            else:
                for cell in together:
                    await self._run_fresh(cell, emit)

    def _shares(self, cell: Cell) -> tuple[int, ...]:
        concept, _, arm, sample, replay = cell.index
        return concept, arm, sample, replay

    async def _run_fresh(self, cell: Cell, emit: Callable[[Record], None]) -> None:
        concept, k, arm, sample, _ = cell.index
        script = self.scripts[concept][arm]
        started = time.perf_counter()
        session = None
        try:
            session = self.system.start(self.seeds[concept][sample])
            last = await _turn(session, script.opening)
            for text in script.corrections[:k]:
                last = await _turn(session, text)
            answer = await _turn(session, script.probe)
            record = _record(cell, script, answer, last if k else None, started)
        except STOPPING:
            raise
        except Exception as error:
            record = _failure(cell, error, started)
        finally:
            await _close(session)
        emit(record)

    async def _run_prefix(self, cells: list[Cell], emit: Callable[[Record], None]) -> None:
        concept, _, arm, sample, _ = cells[0].index
        script = self.scripts[concept][arm]
        wanted = {cell.index[1]: cell for cell in cells}
        started = time.perf_counter()
        trunk, k = None, 0
        try:
            trunk = self.system.start(self.seeds[concept][sample])
            if not hasattr(trunk, "fork"):
                for cell in cells:
                    await self._run_fresh(cell, emit)
                return
            last = await _turn(trunk, script.opening)
            for k in range(max(wanted) + 1):
                if k:
                    last = await _turn(trunk, script.corrections[k - 1])
                if k not in wanted:
                    continue
                branch = None
                try:
                    branch = await _maybe(trunk.fork())
                    answer = await _turn(branch, script.probe)
                    record = _record(wanted[k], script, answer, last if k else None, started)
                except STOPPING:
                    raise
                except Exception as error:
                    record = _failure(wanted[k], error, started)
                finally:
                    await _close(branch)
                emit(record)
                started = time.perf_counter()
        except STOPPING:
            raise
        except Exception as error:
            for cell in cells:
                if cell.index[1] >= k:
                    emit(_failure(cell, error, started))
        finally:
            await _close(trunk)


async def _turn(session: Any, text: str) -> Turn:
    turn = await _maybe(session.turn(text))
    if not isinstance(turn, Turn):
        raise TypeError(f"`turn` returned a {type(turn).__name__}; it must return a Turn")
    return turn


async def _maybe(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _close(session: Any) -> None:
    close = getattr(session, "close", None)
    if close is not None:
        await _maybe(close())


def _record(
    cell: Cell, script: Script, answer: Turn, correction: Turn | None, started: float
) -> Record:
    found = hits(script.tokens, answer.surface, answer.walk_surface)
    values: dict[str, JSON] = {
        "status": "ok",
        "replay_status": "ok",
        "hits": sum(found),
        "token_hits": [int(hit) for hit in found],
        "vault_hits": answer.vault_hits,
        "surface": answer.surface,
        "walk_surface": answer.walk_surface,
        "trace_hash": answer.trace_hash,
        "seconds": time.perf_counter() - started,
    }
    if correction is not None and correction.accepted is not None:
        values |= {"accepted": int(correction.accepted), "review": correction.review}
    return Record(cell.key, "ok", values)


def _failure(cell: Cell, error: Exception, started: float) -> Record:
    status, reason = failure(error)
    values: dict[str, JSON] = {
        "status": status,
        "replay_status": status,
        "reason": reason,
        "seconds": time.perf_counter() - started,
    }
    return Record(cell.key, status, values)
