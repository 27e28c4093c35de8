"""What a grader sees, and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from corecurves.canonical import JSON
from corecurves.errors import CellFailure
from corecurves.reply import judged
from corecurves.schema import STATUSES
from corecurves.specs import Identity, Outcome

__all__ = ["BlindCase", "Grade", "Grader", "Preference", "checked_grade"]


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
        The model's text, of which no more is kept than what is judged (see
        `corecurves.reply.judged`); or, where the model was scored instead of asked, its preference.

    Raises
    ------
    CellFailure
        If the text is reasoning without an answer.
    """

    task: str
    outcome: Outcome
    candidate: str | Preference

    def __post_init__(self) -> None:
        if isinstance(self.candidate, str):
            object.__setattr__(self, "candidate", judged(self.candidate))

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


def checked_grade(grade: object) -> Grade:
    """Grade that says what it seems to say: one that did not end well neither passes nor fails.

    Parameters
    ----------
    grade : object
        What a grader gave.

    Returns
    -------
    Grade
        The same, in Python's own types.

    Raises
    ------
    CellFailure
        If it is no grade, it says nothing, or it says more than it may: *unparsable*.

    Examples
    --------
    >>> checked_grade(Grade(np.True_, 0.5)).passed
    True
    >>> checked_grade(Grade("false"))
    Traceback (most recent call last):
    corecurves.errors.CellFailure: `passed` of the grade is 'false'; it must be True, False or None
    """
    if not isinstance(grade, Grade):
        raise CellFailure(
            "unparsable",
            f"the grader returned {grade!r}; it must return a Grade, or, as a function, a bool",
        )
    if grade.status not in STATUSES:
        raise CellFailure("unparsable", f"the grade has no status {grade.status!r}")
    if not isinstance(grade.reason, str):
        raise CellFailure("unparsable", f"`reason` of the grade is {grade.reason!r}, not text")
    passed, score = grade.passed, grade.score
    if passed is not None and not isinstance(passed, bool | np.bool_):
        raise CellFailure(
            "unparsable", f"`passed` of the grade is {passed!r}; it must be True, False or None"
        )
    if score is not None and not (isinstance(score, Real) and math.isfinite(score)):
        raise CellFailure("unparsable", f"`score` of the grade is {score!r}; it must be a number")
    if grade.status != "ok" and passed is not None:
        raise CellFailure(grade.status, f"a grade that is {grade.status} has no verdict")
    if grade.status == "ok" and passed is None and score is None:
        raise CellFailure("unparsable", "the grade says nothing")
    return replace(
        grade,
        passed=None if passed is None else bool(passed),
        score=None if score is None else float(score),
    )
