"""What a model is: something stateless that completes messages, and may score texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, runtime_checkable

from corecurves.errors import CellFailure
from corecurves.specs import Identity

__all__ = [
    "Completion",
    "CutOff",
    "LogProb",
    "Message",
    "Model",
    "ScoringModel",
    "TemporaryFailure",
    "known_sum",
]


class Message(TypedDict):
    """One message of a prompt.

    Parameters
    ----------
    role : str
        ``system``, ``user`` or ``assistant``.
    content : str
        The text.
    """

    role: str
    content: str


@dataclass(frozen=True)
class Completion:
    """What a model replied.

    Parameters
    ----------
    text : str
        The reply; empty where the model ended at once, which is an answer too.
    finish : str
        Why it ended: ``stop`` or ``length``.
    tokens_in, tokens_out : int or None
        Tokens of the prompt and of the reply, in the model's own tokens; None where not known.
    tokens_cached : int or None
        Those tokens of the prompt that did not have to be read again.
    """

    text: str
    finish: str = "stop"
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None


@dataclass(frozen=True)
class LogProb:
    """How likely a model finds a text after a prompt.

    Parameters
    ----------
    total : float
        Log-probability of the text, in nats.
    tokens : int
        Tokens of the text, in the model's own tokens.
    tokens_in : int or None
        Tokens of the prompt; None where not known.
    tokens_cached : int or None
        Those tokens of the prompt that did not have to be read again.

    Examples
    --------
    >>> LogProb(-6.0, 3).per_token
    -2.0
    """

    total: float
    tokens: int
    tokens_in: int | None = None
    tokens_cached: int | None = None

    @property
    def per_token(self) -> float:
        """Log-probability in nats a token."""
        return self.total / self.tokens


def known_sum(*counts: int | None) -> int | None:
    """Sum of numbers of tokens, None where one of them is not known.

    Parameters
    ----------
    *counts : int or None
        The numbers.

    Returns
    -------
    int or None
        What is not known is not 0.

    Examples
    --------
    >>> known_sum(3, 4), known_sum(3, None)
    (7, None)
    """
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


class TemporaryFailure(CellFailure):
    """A call that failed and may succeed later.

    Parameters
    ----------
    reason : str
        Why.
    retry_after : float or None
        Seconds to wait, where the other side stated them.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__("call_failed", reason)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.retry_after)


class CutOff(CellFailure):
    """A reply that was stopped by its length: neither a pass nor a fail.

    Parameters
    ----------
    reason : str
        Why.
    completion : Completion
        What there was of the reply, and what it cost.
    """

    def __init__(self, reason: str, completion: Completion) -> None:
        self.completion = completion
        super().__init__("cut_off", reason, completion.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.completion)


@runtime_checkable
class Model(Protocol):
    """Something that completes messages and keeps nothing.

    ``logprob`` (see `ScoringModel`), ``count_tokens(text) -> int``, ``close() -> None`` and the
    number ``context``, the tokens that a prompt and its reply may take together, are optional.
    """

    @property
    def identity(self) -> Identity:
        """Who answers: name, weights digest or endpoint, settings, backend version."""
        ...

    @property
    def concurrency(self) -> int | None:
        """Calls that it takes at once; 1 for a model in this process, None for any number."""
        ...

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Complete messages.

        Parameters
        ----------
        messages : sequence of Message
            The prompt.
        seed : int
            Seed of the sampling.
        temperature : float
            0 takes the likeliest token each time.
        max_tokens : int
            Longest reply, in the model's own tokens.

        Returns
        -------
        Completion
            The reply.

        Raises
        ------
        CutOff
            If the reply was stopped by its length.
        CellFailure
            If there is no reply; `TemporaryFailure` where a later call may succeed.
        PermanentFailure
            If no later call can succeed either.
        """
        ...


@runtime_checkable
class ScoringModel(Model, Protocol):
    """A model that can also say how likely it finds a text."""

    async def logprob(self, messages: Sequence[Message], text: str) -> LogProb:
        """Log-probability of a text as the reply to messages.

        Parameters
        ----------
        messages : sequence of Message
            The prompt.
        text : str
            The whole reply, or its beginning.

        Returns
        -------
        LogProb
            Teacher-forced: the same for a text whatever was scored before.

        Raises
        ------
        CellFailure
            If there is no score.
        """
        ...
