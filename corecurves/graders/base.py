"""What a grader sees, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from corecurves.canonical import JSON
from corecurves.specs import Identity, Outcome

__all__ = ["BlindCase", "Grade", "Grader", "Preference"]


@dataclass(frozen=True)
class Preference:
    """How much a scored model prefers the known-good outcome to the trap.

    Parameters
    ----------
    margin : float
        Log-probability of known-good minus that of trap, in nats a token, each averaged over its
        wordings.
    """

    margin: float


@dataclass(frozen=True)
class BlindCase:
    """What a grader sees: nothing tells which lesson, level or arm the candidate came from.

    Parameters
    ----------
    task : str
        What was to be done.
    outcome : Outcome
        The known-good texts, traps and checks.
    candidate : str or Preference
        The model's text; or, where the model was scored instead of asked, its preference.
    """

    task: str
    outcome: Outcome
    candidate: str | Preference

    def content(self) -> dict[str, JSON]:
        """The case as JSON, for the key of its grade."""
        candidate: JSON = (
            {"margin": self.candidate.margin}
            if isinstance(self.candidate, Preference)
            else self.candidate
        )
        return {"task": self.task, "outcome": self.outcome.content(), "candidate": candidate}


@dataclass(frozen=True)
class Grade:
    """What a grader says.

    Parameters
    ----------
    passed : bool or None
        None where it cannot be said.
    score : float or None
        A finer figure, where the grader has one.
    status : str
        ``ok``, ``unparsable`` or ``call_failed``.
    reason : str
        Why.
    """

    passed: bool | None
    score: float | None = None
    status: str = "ok"
    reason: str = ""


@runtime_checkable
class Grader(Protocol):
    """Something that grades blind cases.

    ``wants`` says what candidates it takes: ``answer`` (a text), ``preference`` or ``gain``;
    without it, answers.
    """

    wants: ClassVar[str]

    @property
    def identity(self) -> Identity:
        """Name, criteria and version: part of every grade's key."""
        ...

    async def grade(self, case: BlindCase) -> Grade:
        """Grade one case."""
        ...
