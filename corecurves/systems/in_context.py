"""A language model that keeps its corrections in the conversation, and nowhere else."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property

from corecurves.canonical import digest
from corecurves.errors import CellFailure, UsageError
from corecurves.models.base import Message
from corecurves.models.resolve import as_model
from corecurves.reply import judged
from corecurves.specs import Identity
from corecurves.systems.base import Turn
from corecurves.systems.told import asks
from corecurves.text import count_tokens

__all__ = ["InContextSession", "InContextSettings", "InContextSystem"]

INSTRUCTION = (
    "You are being corrected. What you are told here is true. "
    "Answer the question in one or two short sentences, with the words of the user."
)
ACKNOWLEDGEMENT = "Understood."


@dataclass(frozen=True)
class InContextSettings:
    """What changes the curve, besides the model; a UsageError if a value is out of range.

    Parameters
    ----------
    acknowledge : {"none", "fixed", "generated"}
        What stands in the conversation as the reply to the opening and to each correction.
        ``none`` replies nothing: what was told stands before the next question, in the same
        message. ``fixed`` is the same word each time. Both cost no call, so a snapshot costs one.
        ``generated`` is the model's own reply, one call a turn.
    temperature : float
        0 takes the likeliest token each time, and all samples are the same.
    max_tokens : int
        Longest reply, in the model's own tokens. A reply stopped there is ``cut_off``.
    """

    acknowledge: str = "none"
    temperature: float = 0.0
    max_tokens: int = 256

    def __post_init__(self) -> None:
        if self.acknowledge not in ("none", "fixed", "generated"):
            raise UsageError(
                f"`acknowledge` must be none, fixed or generated, not {self.acknowledge!r}"
            )
        if type(self.max_tokens) is not int or self.max_tokens < 1:
            raise UsageError(
                f"`max_tokens` must be a whole number of at least 1, not {self.max_tokens!r}"
            )
        heat = self.temperature
        if type(heat) not in (int, float) or not 0 <= heat < float("inf"):
            raise UsageError(f"`temperature` must be a number of at least 0, not {heat!r}")
        object.__setattr__(self, "temperature", float(heat))


class InContextSystem:
    """A model that is taught within its context window.

    A short fixed instruction, the opening, the corrections and the replies to them are the
    conversation; the probe is its last message, and the model's reply is the answer. The reasoning
    of earlier replies is no part of the conversation that the model is given.

    Its curve is what a model makes of corrections that it can see in full: it is bounded by how
    well the model reads them, not by what it can store. It begins at the model's *prior*, what it
    says of the concept untaught, so it is read against its control arm: only what stands above that
    was learned from the corrections.

    Parameters
    ----------
    model : str, Model or callable
        What answers, see `as_model`.
    settings : InContextSettings or None
        What changes its curve besides; None for the defaults.

    Notes
    -----
    Unless each turn has a generated reply, a turn is no question where it is the first one, or
    where it neither ends with a question mark nor begins with a word such as ``tell`` or ``what``.
    A probe in other words, such as an imperative in another language, needs
    ``acknowledge="generated"``.

    A small model copies a fixed acknowledgement: SmolLM2-135M answered half of all probes with it.

    Examples
    --------
    >>> import asyncio
    >>> system = InContextSystem(lambda messages: f"You said: {messages[-1]['content']}")
    >>> session = system.start(seed=0)
    >>> async def lesson():
    ...     for text in ("Tell me about wisdom.", "No, wisdom is judgment.", "What is wisdom?"):
    ...         print(repr((await session.turn(text)).surface))
    >>> asyncio.run(lesson())
    ''
    ''
    'You said: Tell me about wisdom. No, wisdom is judgment. What is wisdom?'
    """

    def __init__(self, model: object, settings: InContextSettings | None = None) -> None:
        self.model = as_model(model)
        self.settings = settings or InContextSettings()

    @property
    def volatile(self) -> bool:
        """Whether another process could not recognise the model."""
        return self.model.volatile

    @property
    def stochastic(self) -> bool:
        """Whether replies are sampled."""
        return self.settings.temperature > 0

    @property
    def travels(self) -> bool:
        """Whether it may be copied: a second copy of weights in this process is too dear."""
        return self.model.concurrency != 1

    @cached_property
    def identity(self) -> Identity:
        """Who answers; the settings hold the model's identity and every fixed text."""
        texts = {"instruction": INSTRUCTION, "acknowledgement": ACKNOWLEDGEMENT}
        model = {"model": self.model.identity.content()}
        return Identity("in-context", "2", asdict(self.settings) | texts | model)

    def beyond_context(self, conversations: Iterable[Sequence[str]]) -> dict[str, int]:
        """Conversations whose last prompt will not fit the model's context, for a plan's cost."""
        room = self.settings.max_tokens
        each = {"none": 0, "fixed": count_tokens(ACKNOWLEDGEMENT), "generated": room}
        reply, first = each[self.settings.acknowledge], count_tokens(INSTRUCTION)
        count = cache(count_tokens)
        return self.model.beyond_context(
            (first + sum(map(count, said)) + (len(said) - 1) * reply, room)
            for said in conversations
        )

    def start(self, *, seed: int = 0) -> InContextSession:
        """Session that was told nothing."""
        return InContextSession(self, seed)


class InContextSession:
    """A conversation with a model; see `InContextSystem.start`."""

    def __init__(self, system: InContextSystem, seed: int) -> None:
        self._model, self._settings = system.model, system.settings
        self._identity = system.identity.content()
        self._seed = seed
        self._messages: tuple[Message, ...] = ({"role": "system", "content": INSTRUCTION},)
        self._told: tuple[str, ...] = ()  # what no message says yet

    async def turn(self, text: str) -> Turn:
        """One turn: what asks is answered by the model, anything else acknowledged."""
        acknowledge = self._settings.acknowledge
        said = (*self._told, text)
        if acknowledge == "none" and self._is_told(text):
            self._told = said
            reply = ""
        else:
            asked: Message = {"role": "user", "content": " ".join(said)}
            messages = (*self._messages, asked)
            fixed = acknowledge == "fixed" and self._is_told(text)
            reply = ACKNOWLEDGEMENT if fixed else await self._generate(messages)
            # Only a turn that went well is part of the conversation.
            self._messages = (*messages, {"role": "assistant", "content": reply})
            self._told = ()
        trace = digest([self._identity, self._seed, self._messages, self._told])
        return Turn(reply, trace_hash=trace)

    def _is_told(self, text: str) -> bool:
        opening = len(self._messages) == 1 and not self._told
        return opening or not asks(text)

    async def _generate(self, messages: tuple[Message, ...]) -> str:
        text = ""
        try:
            completion = await self._model.generate(
                [
                    {**message, "content": judged(message["content"])}
                    if message["role"] == "assistant"
                    else message
                    for message in messages
                ],
                seed=self._seed,
                temperature=self._settings.temperature,
                max_tokens=self._settings.max_tokens,
            )
            text = completion.text
            judged(text)
        except CellFailure as error:
            if error.status != "cut_off":
                raise
            more = f"{error}; `in-context:MODEL?max_tokens=` gives it more room"
            raise CellFailure("cut_off", more, error.said or text) from error
        return text

    def fork(self) -> InContextSession:
        """Session in the same state, independent from here on: what it holds is never changed."""
        return copy.copy(self)
