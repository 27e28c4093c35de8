"""What is done with a cell: a selector scores all candidates of a prompt at once."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from corecurves.canonical import JSON
from corecurves.engine.failures import failure, reraise_if_stopping
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Cell
from corecurves.engine.sink import Sink
from corecurves.errors import CellFailure
from corecurves.schema import STATUSES
from corecurves.selectors.base import Candidate, Opinion

__all__ = ["Ask", "SelectorWork"]


@dataclass(frozen=True)
class Ask:
    """What a cell puts to the selector.

    Parameters
    ----------
    task : str
        The prompt.
    candidates : tuple of Candidate
        All candidates of the prompt.
    id : str
        The cell's own.
    sample, seed : int
        Number and seed of the repeat.
    """

    task: str
    candidates: tuple[Candidate, ...]
    id: str
    sample: int
    seed: int


@dataclass(frozen=True)
class SelectorWork:
    """Scores for the candidates of each prompt.

    Parameters
    ----------
    selector : Selector
        Who selects.
    asks : mapping of str to Ask
        By key of the cell.
    """

    actor: ClassVar[str] = "selector"

    selector: Any
    asks: Mapping[str, Ask] = field(repr=False)

    def part(self, cells: Sequence[Cell]) -> SelectorWork:
        """The same for some cells alone."""
        return replace(self, asks={cell.key: self.asks[cell.key] for cell in cells})

    def prepare(self) -> bool:
        """Selectors are awaited; none blocks the loop. What one cannot read is said once."""
        asks = self.asks.values()
        texts = {c.text for ask in asks for c in ask.candidates} | {ask.task for ask in asks}
        unread = getattr(self.selector, "unread", None)
        if unread is not None and (said := unread(texts)):
            warnings.warn(f"{self.selector.identity.name}: {said}", stacklevel=2)
        return False

    async def run(self, cells: Sequence[Cell], emit: Sink) -> None:
        """Score the candidates of each prompt, once for all of its cells."""
        for _, group in itertools.groupby(cells, lambda cell: (cell.index[0], cell.index[2])):
            together = list(group)
            emit.check()
            ask = self.asks[together[0].key]
            started = time.perf_counter()
            try:
                opinions = await self.selector.score(
                    ask.task, ask.candidates, sample=ask.sample, seed=ask.seed
                )
                _refuse_others(opinions, ask)
                found = [_values(opinions, self.asks[cell.key].id) for cell in together]
            except BaseException as error:
                reraise_if_stopping(error)
                status, reason = failure(error)
                found = [(status, {"reason": reason}) for _ in together]
            # The time of one call, shared by the cells that it answers.
            seconds = (time.perf_counter() - started) / len(together)
            # Together, so that no run that is killed leaves half of a pack behind.
            emit(
                *(
                    Record(cell.key, status, {**values, "seconds": seconds})
                    for cell, (status, values) in zip(together, found, strict=True)
                )
            )


def _refuse_others(opinions: Mapping[str, Opinion], ask: Ask) -> None:
    if not isinstance(opinions, Mapping):
        raise CellFailure("unparsable", f"the selector returned {opinions!r}; it must be a mapping")
    others = set(opinions) - {candidate.id for candidate in ask.candidates}
    if others:
        raise CellFailure(
            "unparsable", f"the selector names {min(map(repr, others))}, no candidate of this task"
        )


def _values(opinions: Mapping[str, Opinion], name: str) -> tuple[str, dict[str, JSON]]:
    """Status and values of one candidate; silence is a result, a failed call is none."""
    said = opinions.get(name, Opinion(None))
    if not isinstance(said, Opinion) or said.status not in STATUSES:
        raise CellFailure(
            "unparsable", f"the selector says {said!r} of {name}, which is no Opinion"
        )
    costs: dict[str, JSON] = {
        "tokens_in": said.tokens_in,
        "tokens_out": said.tokens_out,
        "tokens_cached": said.tokens_cached,
    }
    if said.answer is not None:
        costs["answer"] = said.answer
    if said.reason:
        costs["reason"] = said.reason
    if said.status != "ok":
        return said.status, costs
    if said.score is not None and not math.isfinite(said.score):
        raise CellFailure("unparsable", f"the selector scores {name} {said.score!r}, no number")
    if said.score is not None:
        costs["score"] = float(said.score)
    return "ok", {**costs, "silent": int(said.score is None)}
