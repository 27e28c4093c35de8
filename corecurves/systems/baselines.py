"""The two baselines that every curve must beat: `ParrotSystem` and `BlankSystem`."""

from __future__ import annotations

from corecurves.specs import Identity
from corecurves.systems.told import ToldSession

__all__ = ["BASELINES", "BlankSystem", "ParrotSystem"]

BASELINES = {
    "parrot": "which repeats the last correction",
    "blank": "which always says the same",
}
"""By the name in their identity what they do: they are never said to have learned."""

_NOTHING = "I have nothing to say."


class ParrotSystem:
    """A system that repeats the last correction, and keeps nothing else.

    Its curve is what a memory of one utterance scores. After each correction the one token that it
    adds is in the answer, in a chain the one before it too, and all others are gone: it rises at
    k = 1 and stays between one token and two. It passes the first hit at once and never saturates,
    so a system that only echoes cannot be told from it by the first hit alone.

    Examples
    --------
    >>> session = ParrotSystem().start()
    >>> for text in ("Tell me about wisdom.", "No, wisdom is judgment."):
    ...     _ = session.turn(text)
    >>> session.turn("What is wisdom?").surface
    'No, wisdom is judgment.'
    """

    identity = Identity("parrot", "1", {"untaught": _NOTHING})

    def start(self) -> ToldSession:
        """Session that was told nothing."""
        return ToldSession(self.identity, _repeat)


class BlankSystem:
    """A system that never learns: it answers every turn with the same neutral sentence.

    Its curve is the floor of the measure: 0 at every k, in every arm. Hits above 0 would mean that
    the sentence, or the way in which answers are read, gives tokens away.

    Examples
    --------
    >>> BlankSystem().start().turn("What is wisdom?").surface
    'I have nothing to say.'
    """

    identity = Identity("blank", "1", {"sentence": _NOTHING})

    def start(self) -> ToldSession:
        """Session that was told nothing."""
        return ToldSession(self.identity, _say_nothing)


def _repeat(told: tuple[str, ...], text: str) -> tuple[str, None]:
    return told[-1] if told else _NOTHING, None


def _say_nothing(told: tuple[str, ...], text: str) -> tuple[str, None]:
    return _NOTHING, None
