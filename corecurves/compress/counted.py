"""Models whose calls are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from corecurves.models.base import Completion, LogProb, Message
from corecurves.models.resolve import ModelAdapter, as_model

__all__ = ["CountedModel", "counted"]


@dataclass(frozen=True)
class CountedModel(ModelAdapter):
    """A model that counts its calls, those that fail too.

    Parameters
    ----------
    source : object
        As in `ModelAdapter`.
    calls : list of int
        The count, as its only item; several models may share one.
    """

    calls: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages; see `Model.generate`."""
        self.calls[0] += 1
        return await super().generate(
            messages, seed=seed, temperature=temperature, max_tokens=max_tokens
        )

    async def logprob(self, messages: Sequence[Message], text: str) -> LogProb:
        """Log-probability of a text; see `ScoringModel.logprob`."""
        self.calls[0] += 1
        return await super().logprob(messages, text)


def counted(model: object, beside: CountedModel | None = None) -> CountedModel:
    """Model whose calls are counted."""
    source = as_model(model)
    calls = beside.calls if beside is not None else [0]
    # What the adapter has already made is handed on, for weights are loaded once.
    return CountedModel(source.model, calls)
