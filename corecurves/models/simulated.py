"""A labelled simulation of a model: for teaching, tests and power analysis, and for nothing else.

It understands nothing. Its *facts* are the sentences of the prompt that ask nothing; of each it
forgets a seeded share, the *slips*. It answers with the facts that it has not forgotten, in their
order, and it finds a text the likelier, the more of the text's content words those facts hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corecurves.canonical import stable_seed
from corecurves.errors import UsageError
from corecurves.models.base import Completion, CutOff, LogProb, Message
from corecurves.scripts import grams
from corecurves.specs import Identity
from corecurves.text import count_tokens, words

__all__ = ["SimulatedModel"]

_NOTHING = "I was told nothing about it."
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*|\s*\n\s*")
_KNOWN, _NEW = -1.0, -3.0
"""Log-probability of a content word that the facts hold, and of one that they do not, in nats."""
_SCALE = 2**31
_FUNCTION_WORDS = frozenset(
    words(
        """
        a about after again all also an and any are as at be been before but by can do does first
        for from had has have how i if in into is it its last me my next no nor not of on or our
        out she he so some than that the their them then there these they this those to up us was
        we were what when where which while who why will with without you your
        """
    )
)


class SimulatedModel:
    r"""A model whose answer holds exactly the facts that it was given, but for its slips.

    Parameters
    ----------
    slip : float
        Share of facts that it forgets, in [0, 1].
    seed : int
        Seed of the forgetting.

    Raises
    ------
    UsageError
        If `slip` is out of range.

    Examples
    --------
    >>> import asyncio
    >>> model = SimulatedModel()
    >>> ask = [{"role": "user", "content": "The port is 6112.\nWhich port do we use?"}]
    >>> asyncio.run(model.generate(ask, seed=0)).text
    'The port is 6112.'
    >>> right = asyncio.run(model.logprob(ask, "Port 6112.")).per_token
    >>> wrong = asyncio.run(model.logprob(ask, "Port 5672.")).per_token
    >>> right, wrong
    (-1.0, -2.0)
    """

    concurrency = None
    simulated = True

    def __init__(self, slip: float = 0.0, seed: int = 0) -> None:
        if not 0 <= slip <= 1:
            raise UsageError(f"`slip` is {slip}; give a share in [0, 1]")
        self._slip = slip
        self._seed = seed

    def __repr__(self) -> str:
        return f"{type(self).__name__}(slip={self._slip}, seed={self._seed})"

    @property
    def identity(self) -> Identity:
        """Who answers."""
        return Identity("simulated", "2", {"slip": self._slip, "seed": self._seed})

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        seed: int,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """Answer with the facts of the prompt."""
        text = " ".join(self._kept(messages, seed)) or _NOTHING
        size = count_tokens(text)
        whole = size <= max_tokens
        completion = Completion(
            text if whole else text[:max_tokens],
            "stop" if whole else "length",
            _prompt_tokens(messages),
            min(size, max_tokens),
            0,
        )
        if not whole:
            raise CutOff(f"the reply was cut off at {max_tokens} tokens", completion)
        return completion

    async def logprob(self, messages: Sequence[Message], text: str) -> LogProb:
        """Log-probability of a text as the reply to messages."""
        if not text:
            raise UsageError("`text` is empty; an empty text has no log-probability a token")
        held = {word for fact in self._kept(messages, 0) for word in _content(fact)}
        content = _content(text) or [text]
        total = sum(_KNOWN if word in held else _NEW for word in content)
        return LogProb(total, len(content), _prompt_tokens(messages), 0)

    def count_tokens(self, text: str) -> int:
        """Number of o200k tokens of a text."""
        return count_tokens(text)

    def _kept(self, messages: Sequence[Message], seed: int) -> list[str]:
        prompt = [[message["role"], message["content"]] for message in messages]
        told = [
            sentence
            for role, content in prompt
            if role != "assistant"
            for sentence in _SENTENCE.split(content)
            if words(sentence) and not sentence.rstrip().endswith(("?", "\uff1f"))
        ]
        return [
            fact
            for i, fact in enumerate(told)
            if stable_seed(self._seed, seed, prompt, i) >= self._slip * _SCALE
        ]


def _content(text: str) -> list[str]:
    return [part for w in words(text) if w not in _FUNCTION_WORDS for part in grams(w)]


def _prompt_tokens(messages: Sequence[Message]) -> int:
    return sum(count_tokens(message["content"]) for message in messages)
