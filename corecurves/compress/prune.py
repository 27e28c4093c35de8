"""Compression by leaving out words, and blocks: those that the model could have guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from corecurves.compress.base import Draft, TrainView
from corecurves.compress.claims import NEGATIONS, UNSPACED_NEGATIONS, claims_of, telling
from corecurves.compress.cuts import by_word
from corecurves.compress.units import Note
from corecurves.models.base import Message
from corecurves.specs import Identity
from corecurves.text import count_tokens

__all__ = ["Prune"]


@dataclass(frozen=True)
class Prune:
    """Words with the lowest self-information dropped, until the text fits.

    The self-information of a word is −log p(word | the text before it), in nats: the difference
    between the log-probabilities of two beginnings of the text, which any model that scores gives.
    Words of a span that is to be kept go last, and before them those that a hint holds, and
    negations. Code, a link, a number, ``key: value``, an item of a list, a row of a table, a code
    block go whole, by the mean of their words.

    Parameters
    ----------
    model : Model
        Who scores: one call a word or block of the level before, once for all tries.
    negations : bool
        Whether *not*, *no*, *only* and the like are kept longer. A model finds them easy to guess;
        without them a text says the opposite, and a replay need not see it: SmolLM2 made "do rerun
        it before" of "do not rerun it before", and its train episodes still passed.

    References
    ----------
    Li, Dong, Guerin and Lin (2023). Compressing context to enhance inference efficiency of large
    language models (Selective Context). EMNLP 2023. Jiang, Wu, Lin, Yang and Qiu (2023). LLMLingua:
    compressing prompts for accelerated inference of large language models. EMNLP 2023. Both drop
    what is predictable; they score tokens and phrases in one pass, where this scores whole words.
    """

    model: Any
    negations: bool = True
    _known: dict[tuple[str, str], list[float]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def identity(self) -> Identity:
        """Name, version and the model."""
        settings = {"negations": self.negations, "model": self.model.identity.content()}
        return Identity("prune", "2", settings)

    async def compress(self, view: TrainView) -> Draft:
        """Drop words until the text fits; see `Compressor.compress`."""
        note = Note(view.before, by_word)
        told = await self._information(view.title, note)
        guard = _guards(note, view, NEGATIONS if self.negations else frozenset())
        order = sorted(note.free, key=lambda i: (guard[i], told[i], i))

        def fits(gone: int) -> bool:
            return count_tokens(note.text(order[gone:], mend=False)) <= view.budget

        low, high = 0, len(order) - 1
        while low < high:
            # The fewest words that have to go: fewer words are never more tokens by much.
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle + 1, high)
        while low < len(order) - 1 and not fits(low):
            low += 1
        kept = order[low:]
        return Draft(note.text(kept, mend=False), claims_of(note.gone_runs(kept), view.holder))

    async def _information(self, title: str, note: Note) -> list[float]:
        """Per unit, in nats a word."""
        if (title, note.source) not in self._known:
            messages: list[Message] = [{"role": "user", "content": f"Write a note: {title}"}]
            found, before = [], 0.0
            for unit, beginning in zip(note.units, note.beginnings(), strict=True):
                total = (await self.model.logprob(messages, beginning)).total
                found.append((before - total) / max(1, len(unit.text.split())))
                before = total
            self._known[title, note.source] = found
        return self._known[title, note.source]


def _guards(note: Note, view: TrainView, more: frozenset[str]) -> list[int]:
    """Per unit 2 in a span that is to be kept, 1 in a hint, in `more` or as a label, else 0."""
    hinted = more.union(*map(telling, view.preserve))
    labels = {unit.rests for unit in note.units}
    found = [
        int(
            i in labels
            or bool(telling(unit.text) & hinted)
            or bool(more and UNSPACED_NEGATIONS.search(unit.text))
        )
        for i, unit in enumerate(note.units)
    ]
    # Words with the unit of each; the text's own commas and stops do not belong to a span.
    words = [
        (word.strip(".,;:"), i) for i, unit in enumerate(note.units) for word in unit.text.split()
    ]
    for span in (*view.load_bearing, *view.preserve):
        inner = [word.strip(".,;:") for word in span.split()]
        for at in range(len(words) - len(inner) + 1) if inner else ():
            if [word for word, _ in words[at : at + len(inner)]] == inner:
                for _, i in words[at : at + len(inner)]:
                    found[i] = 2
    return found
