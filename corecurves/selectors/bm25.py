"""Lexical selection: BM25 over the words that a task and a lesson share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from corecurves.canonical import JSON, digest
from corecurves.errors import UsageError
from corecurves.lexical import bm25_index, bm25s, content_words, unread
from corecurves.selectors.base import Candidate, Fixed, Opinion
from corecurves.specs import Identity

__all__ = ["Bm25"]


@dataclass(frozen=True)
class Bm25(Fixed):
    """Score of BM25 [1]_ over the texts of the whole store; above 0 where a word is shared.

    A word's weight comes from the whole store, not from the few lessons that were served together.
    Words are those of `corecurves.text`, without bm25s's English stop words, and as they stand:
    plurals do not match singulars. Of a script that does not write words apart they are the pairs
    of characters, see `corecurves.scripts.grams`.

    Parameters
    ----------
    k1 : float
        How slowly repeats of a word stop counting; at least 0.
    b : float
        How much the length of a lesson counts against it, in [0, 1].
    corpus : mapping of str to str
        Texts of the store by id; without any, those of the candidates.

    References
    ----------
    .. [1] Robertson, S. and Zaragoza, H. (2009). The probabilistic relevance framework: BM25 and
       beyond. Foundations and Trends in Information Retrieval 3, 333-389.

    Examples
    --------
    >>> import asyncio
    >>> asked = [Candidate("a", "Rinse the cups."), Candidate("b", "Sharpen the knives.")]
    >>> said = asyncio.run(Bm25().score("Wash the cups.", asked, sample=0, seed=0))
    >>> said["a"].score > 0, said["b"].score, said["a"].reason
    (True, 0.0, 'shares cups')
    """

    k1: float = 1.5
    b: float = 0.75
    corpus: Mapping[str, str] = field(default_factory=dict, repr=False)
    threshold: ClassVar[float] = 0.0
    unread = staticmethod(unread)

    def __post_init__(self) -> None:
        if not 0 <= self.k1 < float("inf"):
            raise UsageError(f"`k1` is {self.k1}; give a finite number from 0")
        if not 0 <= self.b <= 1:
            raise UsageError(f"`b` is {self.b}; give a number in [0, 1]")

    @property
    def identity(self) -> Identity:
        """Who selects; the settings hold the version of bm25s and a digest of the corpus."""
        settings: dict[str, JSON] = {"k1": self.k1, "b": self.b, "bm25s": str(bm25s().__version__)}
        settings["corpus"] = digest(dict(self.corpus))[:12]
        return Identity("bm25", "2", settings)

    def fitted(self, corpus: Mapping[str, str]) -> Bm25:
        """The same over a store's texts."""
        return replace(self, corpus=dict(corpus))

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        """Score of each candidate, with the words that it shares."""
        asked = content_words(task)
        scores = self._scores(asked, {c.id: c.text for c in candidates})
        found = {}
        for candidate in candidates:
            shared = sorted(set(asked) & set(content_words(candidate.text)))
            said = f"shares {', '.join(shared)}" if shared else "shares no word"
            found[candidate.id] = Opinion(scores[candidate.id], reason=said)
        return found

    def scores(self, task: str, names: Sequence[str]) -> dict[str, float]:
        """Scores of texts of the corpus."""
        return self._scores(content_words(task), {name: self.corpus[name] for name in names})

    def _scores(self, asked: list[str], texts: Mapping[str, str]) -> dict[str, float]:
        # A lesson of the store stands in the index already; another one is added for itself.
        extra = {key: text for key, text in texts.items() if self.corpus.get(key) != text}
        order, index = self._index if not extra else self._make({**self.corpus, **extra})
        # Neither an empty question nor an index without a word has a score in bm25s.
        if not asked or index is None:
            return dict.fromkeys(texts, 0.0)
        scores = np.asarray(index.get_scores(asked), dtype=float)
        return {key: float(scores[order[key]]) for key in texts}

    @cached_property
    def _index(self) -> tuple[dict[str, int], Any]:
        return self._make(self.corpus)

    def _make(self, texts: Mapping[str, str]) -> tuple[dict[str, int], Any]:
        order = {key: i for i, key in enumerate(texts)}
        bags = [content_words(text) for text in texts.values()]
        return order, bm25_index(bags, k1=self.k1, b=self.b)
