"""Compression by leaving out clauses: those that the train episodes miss least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from corecurves.arguments import whole
from corecurves.compress.base import Draft, TrainEpisode, TrainView
from corecurves.compress.claims import claims_of, telling
from corecurves.compress.cuts import by_clause
from corecurves.compress.units import Note
from corecurves.protocol.framings import SCREENING
from corecurves.specs import Identity
from corecurves.text import count_tokens

__all__ = ["Extractive", "groups"]


def groups(note: Note, most: int) -> list[tuple[int, ...]]:
    """Units that are dropped together: each alone, or joined with its neighbour.

    Examples
    --------
    >>> note = Note("Use 7 jobs, because links are big. Compile freely.", by_clause)
    >>> [[note.units[i].text for i in group] for group in groups(note, 2)]
    [['Use 7 jobs,', 'because links are big.'], ['Compile freely.']]
    """
    found: list[tuple[int, ...]] = [(number,) for number in note.free]
    units, blocks = note.units, note.blocks
    places = {
        n: (blocks[unit.block].under, unit.block, unit.sentence) for n, unit in enumerate(units)
    }

    def cost(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[bool, bool, int]:
        one, two = places[a[0]], places[b[-1]]
        inside = places[a[-1]] == places[b[0]] == one == two and one[2] >= 0
        return not inside, one[0] != two[0], sum(len(units[i].text) for i in (*a, *b))

    while len(found) > most:
        at = min(range(len(found) - 1), key=lambda i: (cost(found[i], found[i + 1]), i))
        found[at : at + 2] = [found[at] + found[at + 1]]
    return found


@dataclass(frozen=True)
class Extractive:
    """Sentences and clauses dropped greedily, by how little the train episodes lose.

    What an episode has is the margin of the known-good outcome over the trap in nats a token, or,
    without a trap, the log-probability a token of the known-good one, under one screening framing.
    Each round drops the clause with the least mean loss for each token saved, until the text fits;
    with it go the subordinate clauses after it. Clauses with a span that is to be kept go last, and
    before them those without which an episode would come to prefer the trap, and those that share
    words with a hint.

    Parameters
    ----------
    model : Model
        Who scores.
    wordings : int
        Wordings of an outcome that are scored, at most.
    units : int
        Most units, of which the first round scores the text without each: clauses of sentences,
        items of lists, rows of tables, code blocks; where there are more, neighbours go together.
    again : int
        Clauses that are scored anew in each later round: those that looked cheapest before.
    """

    model: Any
    wordings: int = 1
    units: int = 12
    again: int = 4

    def __post_init__(self) -> None:
        for name in ("wordings", "units", "again"):
            whole(name, getattr(self, name))

    @property
    def identity(self) -> Identity:
        """Name, version, settings and the model."""
        settings = {"wordings": self.wordings, "units": self.units, "again": self.again}
        return Identity("extractive", "2", {**settings, "model": self.model.identity.content()})

    async def compress(self, view: TrainView) -> Draft:
        """Drop clauses until the text fits; see `Compressor.compress`."""
        note = Note(view.before, by_clause)
        parts = groups(note, self.units)
        kept = note.free
        keys: dict[int, tuple[int, bool, float]] = {}
        has = await self._values(view, view.before)
        while count_tokens(note.text(kept)) > view.budget:
            there = [i for i, part in enumerate(parts) if not set(part).isdisjoint(kept)]
            ask = sorted(there, key=lambda i: (keys.get(i, (0, False, float("-inf"))), i))
            fresh: list[tuple[tuple[int, bool, float], int, list[float]]] = []
            for i in ask[: self.again] if keys else ask:
                left = note.without(kept, parts[i])
                if left:
                    values = await self._values(view, note.text(left))
                    keys[i] = _key(view, note, kept, left, has, values)
                    fresh.append((keys[i], i, values))
            if not fresh:
                break
            _, best, has = min(fresh)
            kept = note.without(kept, parts[best])
        return Draft(note.text(kept), claims_of(note.gone(kept), view.holder))

    async def _values(self, view: TrainView, lesson: str) -> list[float]:
        """What each train episode has, in nats a token."""
        return [await self._value(episode, lesson) for episode in view.episodes]

    async def _value(self, episode: TrainEpisode, lesson: str) -> float:
        messages = SCREENING[0].messages(episode.task, lesson)
        good = episode.outcome.good[: self.wordings]
        trap = episode.outcome.trap[: self.wordings]
        sums = [0.0, 0.0]
        for pair in zip_longest(good, trap):
            for side, text in enumerate(pair):
                if text is not None:
                    sums[side] += (await self.model.logprob(messages, text)).per_token
        return sums[0] / max(1, len(good)) - sums[1] / max(1, len(trap))


def _key(
    view: TrainView,
    note: Note,
    kept: Sequence[int],
    left: Sequence[int],
    has: Sequence[float],
    values: Sequence[float],
) -> tuple[int, bool, float]:
    """Order of dropping: spans to be kept, whether it is needed, and what is lost for a token."""
    gone = " ".join(" ".join(note.units[i].text for i in kept if i not in set(left)).split())
    spans = sum(
        " ".join(span.split()) in gone
        for span in (*view.load_bearing, *view.preserve)
        if span.strip()
    )
    hinted = frozenset[str]().union(*map(telling, view.preserve))
    breaks = any(
        episode.outcome.trap and before > 0 >= now
        for episode, before, now in zip(view.episodes, has, values, strict=True)
    )
    lost = sum(before - now for before, now in zip(has, values, strict=True)) / len(has)
    saved = count_tokens(note.text(kept)) - count_tokens(note.text(left))
    return spans, breaks or bool(telling(gone) & hinted), lost / max(1, saved)
