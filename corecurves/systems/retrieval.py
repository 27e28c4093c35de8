"""Lexical retrieval over the corrections taught: a memory without a model."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from corecurves.errors import UsageError
from corecurves.lexical import bm25_index, bm25s, content_words
from corecurves.specs import Identity
from corecurves.systems.told import ToldSession

__all__ = ["RetrievalSettings", "RetrievalSystem"]

_NO_MATCH = "I was told nothing that fits."


@dataclass(frozen=True)
class RetrievalSettings:
    """What changes the curve of the retrieval system; a UsageError if a value is out of range.

    Parameters
    ----------
    top : int
        Most corrections in an answer; at least 1.
    k1 : float
        How slowly repeats of a word in a correction stop counting; at least 0.
    b : float
        How much the length of a correction counts against it, in [0, 1].
    """

    top: int = 3
    k1: float = 1.5
    b: float = 0.75

    def __post_init__(self) -> None:
        if type(self.top) is not int or self.top < 1:
            raise UsageError(f"`top` must be a whole number of at least 1, not {self.top!r}")
        limits = {
            "k1": ("a finite number of at least 0", sys.float_info.max),
            "b": ("in [0, 1]", 1.0),
        }
        for name, (span, highest) in limits.items():
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 <= value <= highest:
                raise UsageError(f"`{name}` must be {span}, not {value!r}")
            object.__setattr__(self, name, float(value))


class RetrievalSystem:
    """A system that answers with the corrections that share words with the question.

    They are ranked by BM25 (bm25s, its default weights) over all corrections taught so far; the
    best ``top`` are said as they were taught, the best first, the later one first where two score
    the same. Words are those of `corecurves.text`, without bm25s's English stop words; a
    correction taught twice counts once.

    Its curve is what finding without understanding scores. Where every correction names the concept
    it rises with k up to ``top`` and stays there; in a chain, where only the first one does, it
    stays near 1, because no word leads from the question to the later ones. ``vault_hits`` are the
    corrections in the answer: those of the best ``top`` that score above 0.

    Parameters
    ----------
    settings : RetrievalSettings or None
        What changes its curve; None for the defaults.

    References
    ----------
    Lù (2024). BM25S: Orders of magnitude faster lexical search via eager sparse scoring.
    arXiv:2407.03618.

    Examples
    --------
    >>> session = RetrievalSystem(RetrievalSettings(top=1)).start()
    >>> for text in ("Tell me of rain.", "No, rain is water.", "Snow is not rain.", "Ice is cold."):
    ...     _ = session.turn(text)
    >>> session.turn("Is snow cold rain?").surface
    'Snow is not rain.'
    >>> session.turn("What is fire?").surface
    'I was told nothing that fits.'
    """

    def __init__(self, settings: RetrievalSettings | None = None) -> None:
        self.settings = settings or RetrievalSettings()

    @cached_property
    def identity(self) -> Identity:
        """Who answers; the settings hold the version of bm25s."""
        library = {"bm25s": str(bm25s().__version__), "untaught": _NO_MATCH}
        return Identity("retrieval", "2", asdict(self.settings) | library)

    def start(self) -> ToldSession:
        """Session that was taught nothing."""
        return ToldSession(self.identity, self._answer)

    def _answer(self, told: tuple[str, ...], text: str) -> tuple[str, int]:
        found = self._best(list(dict.fromkeys(told)), text)
        return " ".join(found) or _NO_MATCH, len(found)

    def _best(self, told: list[str], text: str) -> list[str]:
        asked = content_words(text)
        # A new index each turn: inverse document frequencies change with every correction.
        index = bm25_index(
            [content_words(correction) for correction in told],
            k1=self.settings.k1, b=self.settings.b,
        )  # fmt: skip
        # Neither an empty question nor an index without a word has a score in bm25s.
        if not asked or index is None:
            return []
        scores = np.asarray(index.get_scores(asked), dtype=float)
        # bm25s's own selection leaves the order of equal scores open.
        order = np.lexsort((-np.arange(scores.size), -scores))[: self.settings.top]
        return [told[i] for i in order if scores[i] > 0]
