"""Relevance asked of a model that is scored: yes against no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from corecurves.canonical import JSON
from corecurves.engine.failures import failure, reraise_if_stopping
from corecurves.errors import UsageError
from corecurves.models.base import LogProb, Message, known_sum
from corecurves.selectors.base import Candidate, Opinion
from corecurves.specs import Identity

__all__ = ["Relevance"]

_WORDINGS = (
    "Task: {task}\n\nNote: {note}\n\nDoes this note help with the task? Answer Yes or No.",
    "Somebody has to do this: {task}\n\nThey have a note at hand: {note}\n\nIs the note about "
    "what they have to do? Answer Yes or No.",
    "{task}\n\nWould the following be useful here? {note}\n\nAnswer Yes or No.",
)
_ANSWERS = ("Yes", "No")
_NO_CONTENT = "N/A"


@dataclass(frozen=True)
class Relevance:
    """Margin of *Yes* over *No*, in nats, when a model is asked whether a lesson helps.

    A small model says yes, or no, to nearly everything. So the margin that it has for the same
    task with a note without content is taken off [1]_, unless `calibrated` is false. The task comes
    before the note: a local model reads it once for all candidates.

    Parameters
    ----------
    model : Model
        Who is asked; one that can be scored.
    calibrated : bool
        Whether the margin of a note without content is taken off.

    Raises
    ------
    UsageError
        If the model cannot be scored.

    References
    ----------
    .. [1] Zhao, Z. et al. (2021). Calibrate before use: improving few-shot performance of language
       models. International Conference on Machine Learning, 12697-12706.
    """

    model: Any
    calibrated: bool = True
    threshold: ClassVar[float] = 0.0
    most_samples: ClassVar[int | None] = len(_WORDINGS)
    seeded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not getattr(self.model, "scores", hasattr(self.model, "logprob")):
            raise UsageError(
                f"the selector model needs a model that can be scored, and "
                f"{self.model.identity.name} cannot; take 'judge:MODEL'"
            )

    @property
    def identity(self) -> Identity:
        """Name, wordings, and the model's identity."""
        settings: dict[str, JSON] = {
            "model": self.model.identity.content(),
            "calibrated": self.calibrated,
            "wordings": list(_WORDINGS),
        }
        return Identity(f"model:{self.model.identity.name}", "1", settings)

    @property
    def concurrency(self) -> int | None:
        """That of the model."""
        return getattr(self.model, "concurrency", None)

    @property
    def volatile(self) -> bool:
        """That of the model."""
        return bool(getattr(self.model, "volatile", False))

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        """Margin of each candidate; one call that fails costs its own candidate alone."""
        wording = _WORDINGS[sample]
        nothing = Opinion(0.0)
        if self.calibrated:
            nothing = await self._margin(wording.format(task=task, note=_NO_CONTENT))
        found: dict[str, Opinion] = {}
        for candidate in candidates:
            own = nothing
            if nothing.status == "ok":
                own = await self._margin(wording.format(task=task, note=candidate.text))
            if own.score is not None and nothing.score is not None:
                own = Opinion(
                    own.score - nothing.score,
                    reason=f"yes over no by {own.score:+.2f} nats, "
                    f"{nothing.score:+.2f} without a note",
                    tokens_in=known_sum(own.tokens_in, 0 if found else nothing.tokens_in),
                    tokens_out=known_sum(own.tokens_out, 0 if found else nothing.tokens_out),
                    tokens_cached=known_sum(
                        own.tokens_cached, 0 if found else nothing.tokens_cached
                    ),
                )
            found[candidate.id] = own
        return found

    async def _margin(self, question: str) -> Opinion:
        messages: list[Message] = [{"role": "user", "content": question}]
        try:
            yes, no = [await self._scored(messages, text) for text in _ANSWERS]
        except BaseException as error:
            reraise_if_stopping(error)
            status, reason = failure(error)
            return Opinion(None, status, reason)
        return Opinion(
            yes.total - no.total,
            tokens_in=known_sum(yes.tokens_in, no.tokens_in),
            tokens_out=yes.tokens + no.tokens,
            tokens_cached=known_sum(yes.tokens_cached, no.tokens_cached),
        )

    async def _scored(self, messages: list[Message], text: str) -> LogProb:
        found: LogProb = await self.model.logprob(messages, text)
        return found
