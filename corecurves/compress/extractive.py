"""Compression by leaving out clauses: those that the train episodes miss least."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Any

from corecurves.arguments import whole
from corecurves.compress.base import Draft, TrainEpisode, TrainView
from corecurves.compress.claims import claims_of, telling
from corecurves.protocol.framings import SCREENING
from corecurves.specs import Identity
from corecurves.text import count_tokens

__all__ = ["Extractive", "clauses", "joined"]

_BLOCK = re.compile(r"\s*\n\s*\n\s*|\s*\n\s*(?=[-*+>#|]|\d+[.)]\s)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(`]?[A-Z0-9])")
_WORDS = "because|so that|unless|except|although|which|when|if"
_CLAUSE = re.compile(rf"(?<=[,;:])\s+|\s+(?=(?:but|{_WORDS})\s)")
_SUBORDINATE = re.compile(rf"(?:{_WORDS})\s")


@dataclass(frozen=True)
class Clause:
    """A unit that is kept or dropped whole.

    Parameters
    ----------
    text : str
        As it stands in the lesson.
    sentence : int
        Number of the sentence that it belongs to.
    """

    text: str
    sentence: int


def clauses(text: str, most: int) -> list[Clause]:
    """Sentences of a text, parted at commas, colons and conjunctions.

    Parameters
    ----------
    text : str
        The text.
    most : int
        Most units; where there are more, the shortest is joined with its neighbour in the sentence.

    Returns
    -------
    list of Clause
        In order.

    Examples
    --------
    >>> [clause.text for clause in clauses("Use 7 jobs, because links are big. Compile freely.", 9)]
    ['Use 7 jobs,', 'because links are big.', 'Compile freely.']
    """
    # A line that merely goes on is one with the next; a blank line and an item of a list are not.
    blocks = [" ".join(block.split()) for block in _BLOCK.split(text.strip())]
    sentences = [part for block in blocks for part in _SENTENCE.split(block) if part]
    found = [
        Clause(part, number)
        for number, sentence in enumerate(sentences)
        for part in _CLAUSE.split(sentence)
        if part.strip()
    ]
    while len(found) > most:
        pairs = [
            (len(a.text) + len(b.text), i)
            for i, (a, b) in enumerate(pairwise(found))
            if a.sentence == b.sentence
        ]
        if not pairs:
            break
        at = min(pairs)[1]
        merged = Clause(f"{found[at].text} {found[at + 1].text}", found[at].sentence)
        found[at : at + 2] = [merged]
    return found


def joined(kept: Sequence[Clause]) -> str:
    """Text of clauses: sentences begin with a capital and end with a stop.

    Parameters
    ----------
    kept : sequence of Clause
        In order.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> joined([Clause("because links are big,", 0), Clause("Compile freely.", 1)])
    'Because links are big. Compile freely.'
    """
    sentences: dict[int, list[str]] = {}
    for clause in kept:
        sentences.setdefault(clause.sentence, []).append(clause.text)
    whole = []
    for parts in sentences.values():
        text = " ".join(parts).rstrip(",;: ")
        # A name keeps its case: only a word in plain letters begins with a capital.
        first = text.split(maxsplit=1)[0] if text else ""
        if first.rstrip(",;:").isalpha() and first.islower():
            text = text[:1].upper() + text[1:]
        whole.append(text if text.endswith((".", "!", "?", '."', '!"')) else f"{text}.")
    return " ".join(whole)


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
        Most clauses; the first round scores the text without each of them.
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
        return Identity("extractive", "1", {**settings, "model": self.model.identity.content()})

    async def compress(self, view: TrainView) -> Draft:
        """Drop clauses until the text fits; see `Compressor.compress`.

        Parameters
        ----------
        view : TrainView
            What may be known.

        Returns
        -------
        Draft
            What is left, and a claim for each clause that is gone.
        """
        parts = clauses(view.before, self.units)
        kept = list(range(len(parts)))
        keys: dict[int, tuple[int, bool, float]] = {}
        has = await self._values(view, view.before)
        while count_tokens(_text(parts, kept)) > view.budget:
            ask = sorted(kept, key=lambda i: (keys.get(i, (0, False, float("-inf"))), i))
            fresh: list[tuple[tuple[int, bool, float], int, list[float]]] = []
            for i in ask[: self.again] if keys else ask:
                left = [k for k in kept if k not in _group(parts, kept, i)]
                if left:
                    values = await self._values(view, _text(parts, left))
                    keys[i] = _key(view, parts, kept, left, has, values)
                    fresh.append((keys[i], i, values))
            if not fresh:
                break
            _, best, has = min(fresh)
            gone = _group(parts, kept, best)
            kept = [k for k in kept if k not in gone]
        dropped = [part.text for i, part in enumerate(parts) if i not in kept]
        return Draft(_text(parts, kept), claims_of(dropped, view.holder))

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


def _text(parts: Sequence[Clause], kept: Sequence[int]) -> str:
    return joined([parts[i] for i in kept])


def _group(parts: Sequence[Clause], kept: Sequence[int], i: int) -> list[int]:
    """A clause with the subordinate ones after it, which mean nothing without it."""
    found = [i]
    for k in kept[list(kept).index(i) + 1 :]:
        if parts[k].sentence != parts[i].sentence or not _SUBORDINATE.match(parts[k].text):
            break
        found.append(k)
    return found


def _key(
    view: TrainView,
    parts: Sequence[Clause],
    kept: Sequence[int],
    left: Sequence[int],
    has: Sequence[float],
    values: Sequence[float],
) -> tuple[int, bool, float]:
    """Order of dropping: spans to be kept, whether it is needed, and what is lost for a token."""
    gone = " ".join(parts[i].text for i in kept if i not in left)
    spans = sum(span in gone for span in (*view.load_bearing, *view.preserve) if span.strip())
    hinted = frozenset[str]().union(*map(telling, view.preserve))
    breaks = any(
        episode.outcome.trap and before > 0 >= now
        for episode, before, now in zip(view.episodes, has, values, strict=True)
    )
    lost = sum(before - now for before, now in zip(has, values, strict=True)) / len(has)
    saved = count_tokens(_text(parts, kept)) - count_tokens(_text(parts, left))
    return spans, breaks or bool(telling(gone) & hinted), lost / max(1, saved)
