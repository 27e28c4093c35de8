"""What a selector is: something that scores the lessons that may be served for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from corecurves.specs import Identity

__all__ = ["Candidate", "Opinion", "Selector"]


@dataclass(frozen=True)
class Candidate:
    """A lesson that may be served.

    Parameters
    ----------
    id : str
        Its label.
    text : str
        What would be served.
    """

    id: str
    text: str


@dataclass(frozen=True)
class Opinion:
    """What a selector says of a candidate.

    Parameters
    ----------
    score : float or None
        The higher, the more it bears on the task; None where the selector is silent.
    status : str
        How it ended, see `corecurves.schema.STATUSES`; one that is not ``ok`` says nothing.
    reason : str
        Why it did not end well, or what the selector says of its score.
    answer : str or None
        What a model said, where one was asked.
    tokens_in, tokens_out, tokens_cached : int or None
        What it took, in a model's own tokens; None where a model did not say.
    """

    score: float | None = None
    status: str = "ok"
    reason: str = ""
    answer: str | None = None
    tokens_in: int | None = 0
    tokens_out: int | None = 0
    tokens_cached: int | None = 0


class Selector(Protocol):
    """Something that scores candidates for a task.

    Optional are ``fitted(corpus) -> Selector``, for one that needs the texts of the whole store
    first; ``unread(texts) -> str``, for what one cannot read in them; ``volatile``, for one that
    another process would not recognise; and ``seeded``, False for one whose scores have nothing to
    do with the seed, so that it is no part of their plan.
    """

    @property
    def identity(self) -> Identity:
        """Who selects: name, version, and everything that can change a score."""
        ...

    @property
    def threshold(self) -> float:
        """Score that a candidate must exceed to be kept, unless a run says otherwise."""
        ...

    @property
    def most_samples(self) -> int | None:
        """Repeats that can differ; None for any number."""
        ...

    @property
    def concurrency(self) -> int | None:
        """Calls that it takes at once; None for any number."""
        ...

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        """Opinions on the candidates.

        Parameters
        ----------
        task : str
            The prompt.
        candidates : sequence of Candidate
            Lessons that may be served.
        sample : int
            Number of the repeat.
        seed : int
            Seed of the repeat.

        Returns
        -------
        mapping of str to Opinion
            By id. A candidate that is not in it is one on which the selector is silent.
        """
        ...


@dataclass(frozen=True)
class Fixed:
    """Base of selectors that give the same scores each time, without a call."""

    seeded: ClassVar[bool] = False

    @property
    def most_samples(self) -> int | None:
        """One: repeats would be equal."""
        return 1

    @property
    def concurrency(self) -> int | None:
        """Any number."""
        return None

    def fitted(self, corpus: Mapping[str, str]) -> Any:
        """The same selector: it needs no corpus."""
        return self
