"""Compression by leaving out words: those that the model could have guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from corecurves.compress.base import Draft, TrainView
from corecurves.compress.claims import NEGATIONS, claims_of, telling
from corecurves.models.base import Message
from corecurves.specs import Identity
from corecurves.text import count_tokens

__all__ = ["Prune"]


@dataclass(frozen=True)
class Prune:
    """Words with the lowest self-information dropped, until the text fits.

    The self-information of a word is −log p(word | the words before it), in nats: the difference
    between the log-probabilities of two beginnings of the text, which any model that scores gives.
    Words of a span that is to be kept go last, and before them those that a hint holds, and
    negations.

    Parameters
    ----------
    model : Model
        Who scores: one call a word of the level before, once for all tries.
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
        return Identity("prune", "1", settings)

    async def compress(self, view: TrainView) -> Draft:
        """Drop words until the text fits; see `Compressor.compress`.

        Parameters
        ----------
        view : TrainView
            What may be known.

        Returns
        -------
        Draft
            What is left, and a claim for each run of words that is gone.
        """
        words = view.before.split()
        told = await self._information(view.title, view.before, words)
        guard = _guards(words, view, NEGATIONS if self.negations else frozenset())
        order = sorted(range(len(words)), key=lambda i: (guard[i], told[i], i))
        low, high = 0, len(words) - 1
        while low < high:
            # The fewest words that have to go: fewer words are never more tokens by much.
            middle = (low + high) // 2
            if count_tokens(_kept(words, order[:middle])) > view.budget:
                low = middle + 1
            else:
                high = middle
        while low < len(words) - 1 and count_tokens(_kept(words, order[:low])) > view.budget:
            low += 1
        return Draft(
            _kept(words, order[:low]), claims_of(_runs(words, set(order[:low])), view.holder)
        )

    async def _information(self, title: str, text: str, words: list[str]) -> list[float]:
        if (title, text) not in self._known:
            messages: list[Message] = [{"role": "user", "content": f"Write a note: {title}"}]
            found, before = [], 0.0
            for end in range(1, len(words) + 1):
                total = (await self.model.logprob(messages, " ".join(words[:end]))).total
                found.append(before - total)
                before = total
            self._known[title, text] = found
        return self._known[title, text]


def _kept(words: list[str], gone: list[int]) -> str:
    left = set(range(len(words))) - set(gone)
    return " ".join(words[i] for i in sorted(left))


def _runs(words: list[str], gone: set[int]) -> list[str]:
    runs: list[list[str]] = [[]]
    for i, word in enumerate(words):
        if i in gone:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return [" ".join(run) for run in runs if run]


def _guards(words: list[str], view: TrainView, more: frozenset[str]) -> list[int]:
    """Per word 2 in a span that is to be kept, 1 in a hint or in `more`, else 0."""
    hinted = more.union(*map(telling, view.preserve))
    found = [1 if telling(word) & hinted else 0 for word in words]
    for span in (*view.load_bearing, *view.preserve):
        inner = span.split()
        for at in range(len(words) - len(inner) + 1) if inner else ():
            # The text's own commas and stops do not belong to a span.
            ends = [word.strip(".,;:") for word in words[at : at + len(inner)]]
            if ends == [word.strip(".,;:") for word in inner]:
                found[at : at + len(inner)] = [2] * len(inner)
    return found
