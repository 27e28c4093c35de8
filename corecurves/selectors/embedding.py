"""Selection by vectors: latent semantic analysis of the store's own texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from corecurves.arguments import whole
from corecurves.canonical import JSON, digest
from corecurves.lexical import content_words, unread
from corecurves.selectors.base import Candidate, Fixed, Opinion
from corecurves.specs import Identity

__all__ = ["Lsa"]

Floats = NDArray[np.float64]
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Lsa(Fixed):
    """Cosine of task and lesson in the latent semantic space [1]_ of the store's own texts.

    No model trained elsewhere is behind it: words are near each other where lessons of *this* store
    use them together, and a task whose words stand in no lesson has no vector and scores 0. It is
    what an embedding can do without weights.

    Parameters
    ----------
    dims : int
        Most dimensions of the space; at least 1. A store of n texts has n at the most.
    corpus : mapping of str to str
        Texts of the store by id; without any, those of the candidates.

    References
    ----------
    .. [1] Deerwester, S. et al. (1990). Indexing by latent semantic analysis. Journal of the
       American Society for Information Science 41, 391-407.

    Examples
    --------
    >>> import asyncio
    >>> asked = [Candidate("a", "Rinse the cups."), Candidate("b", "Sharpen the knives.")]
    >>> said = asyncio.run(Lsa().score("Wash the cups.", asked, sample=0, seed=0))
    >>> round(said["a"].score, 2), round(said["b"].score, 2)
    (1.0, 0.0)
    """

    dims: int = 16
    corpus: Mapping[str, str] = field(default_factory=dict, repr=False)
    threshold: ClassVar[float] = 0.2
    unread = staticmethod(unread)

    def __post_init__(self) -> None:
        whole("dims", self.dims)

    @property
    def identity(self) -> Identity:
        """Who selects; the settings hold a digest of the corpus."""
        settings: dict[str, JSON] = {"method": "latent semantic analysis", "dims": self.dims}
        settings["corpus"] = digest(dict(self.corpus))[:12]
        return Identity("embedding", "2", settings)

    def fitted(self, corpus: Mapping[str, str]) -> Lsa:
        """The same over a store's texts."""
        return replace(self, corpus=dict(corpus))

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        """Cosine of each candidate with the task."""
        space = (
            self._space if self.corpus else _Space({c.id: c.text for c in candidates}, self.dims)
        )
        at = space.vector(task)
        return {c.id: Opinion(_cosine(at, space.vector(c.text))) for c in candidates}

    @cached_property
    def _space(self) -> _Space:
        return _Space(self.corpus, self.dims)


class _Space:
    """Weights of words, and the directions in which texts of a corpus differ most."""

    def __init__(self, corpus: Mapping[str, str], dims: int) -> None:
        bags = [content_words(text) for text in corpus.values()]
        self._place = {w: i for i, w in enumerate(sorted({w for bag in bags for w in bag}))}
        inside = np.zeros(len(self._place))
        for bag in bags:
            inside[[self._place[word] for word in set(bag)]] += 1
        self._weight = np.log((1 + len(bags)) / (1 + inside)) + 1
        self._axes: Floats = np.zeros((0, len(self._place)))
        if self._place:
            table = np.stack([self._weighted(bag) for bag in bags])
            found: Any = np.linalg.svd(table, full_matrices=False)
            kept = _ROUNDING * max(float(found.S[0]), 1.0) < found.S
            self._axes = found.Vh[kept][:dims]

    def vector(self, text: str) -> Floats:
        """Place of a text."""
        place: Floats = self._axes @ self._weighted(content_words(text))
        return place

    def _weighted(self, bag: Sequence[str]) -> Floats:
        counts = np.zeros(len(self._place))
        for word in bag:
            if word in self._place:
                counts[self._place[word]] += 1
        weighted: Floats = np.log1p(counts) * self._weight
        length = float(np.linalg.norm(weighted))
        return weighted / length if length else weighted


def _cosine(left: Floats, right: Floats) -> float:
    lengths = float(np.linalg.norm(left) * np.linalg.norm(right))
    if lengths < _ROUNDING:
        return 0.0
    # Rounded, so that the last bits of a decomposition decide no order.
    return round(float(left @ right) / lengths, 9) + 0.0
