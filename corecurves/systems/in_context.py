"""A language model that keeps its corrections in the conversation, and nowhere else."""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from functools import cached_property

from corecurves.canonical import digest
from corecurves.errors import CellFailure, UsageError
from corecurves.models.base import Message
from corecurves.models.resolve import as_model
from corecurves.specs import Identity
from corecurves.systems.base import Turn
from corecurves.systems.told import asks

__all__ = ["InContextSession", "InContextSettings", "InContextSystem"]

INSTRUCTION = (
    "You are being corrected. Believe what you are told here. "
    "When you are asked, say what you were told, in a few lines at most, and stop."
)
ACKNOWLEDGEMENT = "Understood."


@dataclass(frozen=True)
class InContextSettings:
    """What changes the curve, besides the model; a UsageError if a value is out of range.

    Parameters
    ----------
    acknowledge : {"fixed", "generated"}
        What stands in the conversation as the reply to the opening and to each correction:
        ``fixed`` is the same word each time and costs no call, so a snapshot costs one;
        ``generated`` is the model's own reply, one call a turn.
    temperature : float
        0 takes the likeliest token each time, and all samples are the same.
    max_tokens : int
        Longest reply, in the model's own tokens. A reply stopped there is ``cut_off``.
    """

    acknowledge: str = "fixed"
    temperature: float = 0.0
    max_tokens: int = 256

    def __post_init__(self) -> None:
        if self.acknowledge not in ("fixed", "generated"):
            raise UsageError(f"`acknowledge` must be fixed or generated, not {self.acknowledge!r}")
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
    conversation; the probe is its last message, and the model's reply is the answer.

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
    With ``acknowledge="fixed"`` a turn is acknowledged where it is the first one, or where it does
    not ask: it neither ends with a question mark nor begins with a word such as ``tell`` or
    ``what``. A probe in other words, such as an imperative in another language, needs
    ``acknowledge="generated"``.

    Examples
    --------
    >>> import asyncio
    >>> system = InContextSystem(lambda messages: f"You told me: {messages[-3]['content']}")
    >>> session = system.start(seed=0)
    >>> async def lesson():
    ...     for text in ("Tell me about wisdom.", "No, wisdom is judgment.", "What is wisdom?"):
    ...         print((await session.turn(text)).surface)
    >>> asyncio.run(lesson())
    Understood.
    Understood.
    You told me: No, wisdom is judgment.
    """

    def __init__(self, model: object, settings: InContextSettings | None = None) -> None:
        self.model = as_model(model)
        self.settings = settings or InContextSettings()

    @property
    def volatile(self) -> bool:
        """Whether another process could not recognise the model."""
        return self.model.volatile

    @property
    def simulated(self) -> bool:
        """Whether the model is a labelled simulation."""
        return self.model.simulated

    @cached_property
    def identity(self) -> Identity:
        """Who answers; the settings hold the model's identity and every fixed text."""
        texts = {"instruction": INSTRUCTION, "acknowledgement": ACKNOWLEDGEMENT}
        model = {"model": self.model.identity.content()}
        return Identity("in-context", "1", asdict(self.settings) | texts | model)

    def start(self, *, seed: int = 0) -> InContextSession:
        """Session that was told nothing.

        Parameters
        ----------
        seed : int
            Seed of the model's sampling.

        Returns
        -------
        InContextSession
            Independent of all others; they share the model, which keeps nothing.
        """
        return InContextSession(self, seed)


class InContextSession:
    """A conversation with a model; see `InContextSystem.start`."""

    def __init__(self, system: InContextSystem, seed: int) -> None:
        self._model, self._settings = system.model, system.settings
        self._identity = system.identity.content()
        self._seed = seed
        self._messages: tuple[Message, ...] = ({"role": "system", "content": INSTRUCTION},)

    async def turn(self, text: str) -> Turn:
        """One turn: what asks is answered by the model, anything else acknowledged.

        Parameters
        ----------
        text : str
            What is said.

        Returns
        -------
        Turn
            ``trace_hash`` is over the identity, the seed and the whole conversation.

        Raises
        ------
        CellFailure
            If the model has no reply; ``cut_off`` where the reply was stopped by its length.
        """
        told: tuple[Message, ...] = (*self._messages, {"role": "user", "content": text})
        fixed = self._settings.acknowledge == "fixed"
        if fixed and (len(self._messages) == 1 or not asks(text)):
            reply = ACKNOWLEDGEMENT
        else:
            reply = await self._generate(told)
        # Only a turn that went well is part of the conversation.
        self._messages = (*told, {"role": "assistant", "content": reply})
        trace = digest([self._identity, self._seed, self._messages])
        return Turn(reply, trace_hash=trace)

    async def _generate(self, messages: tuple[Message, ...]) -> str:
        completion = await self._model.generate(
            messages,
            seed=self._seed,
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
        )
        if completion.finish == "length":
            raise CellFailure(
                "cut_off", f"the reply was stopped at {self._settings.max_tokens} tokens"
            )
        return completion.text

    def fork(self) -> InContextSession:
        """Session in the same state, independent from here on: what it holds is never changed."""
        return copy.copy(self)
