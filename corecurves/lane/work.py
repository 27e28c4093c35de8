"""What is said in a cell, and what becomes of it."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from corecurves.canonical import JSON
from corecurves.engine.elsewhere import Elsewhere
from corecurves.engine.failures import failure, reraise_if_stopping
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Cell
from corecurves.engine.sink import Sink
from corecurves.errors import CellFailure
from corecurves.lane.talk import Talk
from corecurves.reply import judged
from corecurves.specs import Curriculum
from corecurves.systems.base import Turn
from corecurves.systems.resolve import Adapter
from corecurves.text import hits

__all__ = ["LaneWork", "Script"]

_LAST_WORD = re.compile(r"\S+\Z")


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
    pack : str
        The curriculum's own vocabulary, for a system that takes one.
    """

    opening: str
    corrections: tuple[str, ...]
    probe: str
    tokens: tuple[tuple[str, ...], ...]
    pack: str = ""


@dataclass(frozen=True)
class LaneWork:
    """What the lane does with cells; it can travel to another process where its system can.

    Parameters
    ----------
    system : Adapter
        What is taught.
    curricula : tuple of Curriculum
        The concepts, in the plan's order.
    scripts : sequence or mapping of tuple of Script
        By concept and arm.
    seeds : sequence or mapping of tuple of int
        By concept and sample.
    mode : str
        ``fresh`` or ``prefix``.
    elsewhere : Elsewhere or None
        Where replays are run; None for this process.
    """

    actor: ClassVar[str] = "system"

    system: Adapter
    curricula: tuple[Curriculum, ...]
    scripts: Sequence[tuple[Script, ...]] | Mapping[int, tuple[Script, ...]]
    seeds: Sequence[tuple[int, ...]] | Mapping[int, tuple[int, ...]]
    mode: str
    elsewhere: Elsewhere | None = None

    def __enter__(self) -> LaneWork:
        return self

    def __exit__(self, *_: object) -> None:
        if self.elsewhere is not None:
            self.elsewhere.end()

    def part(self, cells: Sequence[Cell]) -> LaneWork:
        """The same for some cells alone: the scripts and seeds of their concepts."""
        concepts = {cell.index[0] for cell in cells}
        return replace(
            self,
            curricula=(),
            scripts={c: self.scripts[c] for c in concepts},
            seeds={c: self.seeds[c] for c in concepts},
        )

    def prepare(self) -> bool:
        """Look at one session: whether turns block, and whether it can fork."""
        if self.elsewhere is not None:
            self.elsewhere.start()  # it imports while the first cells run
        try:
            session = self.system.start(0)
        except Exception:
            # The cells say why: one that cannot start has failed like any other.
            return True
        if self.mode == "prefix" and not hasattr(session, "fork"):
            name = self.system.identity.name
            warnings.warn(
                f"{name} cannot fork, so mode='prefix' runs every snapshot fresh", stacklevel=2
            )
        asyncio.run(Talk(session).close())
        declared = getattr(session, "asynchronous", None)
        asynchronous = inspect.iscoroutinefunction(session.turn) if declared is None else declared
        return not asynchronous

    async def run(self, cells: Sequence[Cell], sink: Sink) -> None:
        """Work on cells, handing each record over as soon as it is known."""
        for shared, group in itertools.groupby(cells, self._shares):
            together = list(group)
            if self.elsewhere is not None and shared[0] < 0:
                away = replace(self.part(together), elsewhere=None)
                await self.elsewhere.run(away, self.actor, together, sink)
            elif self.mode == "prefix" and together[0].index[4] == 0:
                await self._run_prefix(together, sink)
            else:
                for cell in together:
                    await self._run_fresh(cell, sink)

    def _shares(self, cell: Cell) -> tuple[int, ...]:
        concept, _, arm, sample, replay = cell.index
        return (-1,) if replay and self.elsewhere else (concept, arm, sample, replay)

    async def _run_fresh(self, cell: Cell, sink: Sink) -> None:
        concept, k, arm, sample, _ = cell.index
        script = self.scripts[concept][arm]
        started = time.perf_counter()
        talk = None
        try:
            talk = Talk(self.system.start(self.seeds[concept][sample], script.pack), sink)
            last = await talk.say(script.opening)
            for text in script.corrections[:k]:
                last = await talk.say(text)
            record = await _record(cell, script, talk, last if k else None, started)
        except BaseException as error:
            reraise_if_stopping(error)
            record = _failure(cell, error, started)
        finally:
            if talk is not None:
                await talk.close()
        sink(record)

    async def _run_prefix(self, cells: list[Cell], sink: Sink) -> None:
        concept, _, arm, sample, _ = cells[0].index
        script = self.scripts[concept][arm]
        wanted = {cell.index[1]: cell for cell in cells}
        started = time.perf_counter()
        trunk, k = None, 0
        try:
            trunk = Talk(self.system.start(self.seeds[concept][sample], script.pack), sink)
            if not hasattr(trunk.session, "fork"):
                for cell in cells:
                    await self._run_fresh(cell, sink)
                return
            last = await trunk.say(script.opening)
            for k in range(max(wanted) + 1):
                if k:
                    last = await trunk.say(script.corrections[k - 1])
                if k in wanted:
                    sink(await self._probe(trunk, wanted[k], last if k else None, started))
                    started = time.perf_counter()
        except BaseException as error:
            reraise_if_stopping(error)
            for cell in cells:
                if cell.index[1] >= k:
                    sink(_failure(cell, error, started))
        finally:
            if trunk is not None:
                await trunk.close()

    async def _probe(self, trunk: Talk, cell: Cell, last: Turn | None, started: float) -> Record:
        """Record of a probe on a fork of the trunk."""
        script = self.scripts[cell.index[0]][cell.index[2]]
        branch = None
        try:
            branch = await trunk.fork()
            return await _record(cell, script, branch, last, started)
        except BaseException as error:
            reraise_if_stopping(error)
            return _failure(cell, error, started)
        finally:
            if branch is not None:
                await branch.close()


async def _record(
    cell: Cell, script: Script, talk: Talk, correction: Turn | None, started: float
) -> Record:
    """Record of the answer to the probe."""
    try:
        answer = await talk.say(script.probe)
    except CellFailure as error:
        return _cut_off(cell, script, error, started)
    said: dict[str, JSON] = {"surface": answer.surface, "walk_surface": answer.walk_surface}
    try:
        found = hits(script.tokens, judged(answer.surface), judged(answer.walk_surface))
    except CellFailure as error:
        failed = _failure(cell, error, started)
        return replace(failed, values={**failed.values, **said})
    values: dict[str, JSON] = {
        "replay_status": "ok",
        "hits": sum(found),
        "token_hits": [int(hit) for hit in found],
        "vault_hits": None if answer.vault_hits is None else int(answer.vault_hits),
        **said,
        "trace_hash": talk.trace(answer),
        "seconds": time.perf_counter() - started,
    }
    if correction is not None and correction.accepted is not None:
        values |= {"accepted": int(correction.accepted), "review": correction.review}
    return Record(cell.key, "ok", values)


def _failure(cell: Cell, error: BaseException, started: float) -> Record:
    status, reason = failure(error)
    values: dict[str, JSON] = {
        "replay_status": status,
        "reason": reason,
        "seconds": time.perf_counter() - started,
    }
    return Record(cell.key, status, values)


def _cut_off(cell: Cell, script: Script, error: CellFailure, started: float) -> Record:
    """Record of an answer that did not end: a token said by then is a hit, any other is unknown."""
    record = _failure(cell, error, started)
    if not error.said:
        return record
    try:
        # The last word may have been going on.
        heard = judged(_LAST_WORD.sub("", error.said))
    except CellFailure:
        heard = ""
    found: list[JSON] = [1 if hit else None for hit in hits(script.tokens, heard)]
    return replace(record, values={**record.values, "surface": error.said, "token_hits": found})
