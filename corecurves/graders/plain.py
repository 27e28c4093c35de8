"""Graders that ask no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from corecurves.errors import CellFailure
from corecurves.graders.base import BlindCase, Grade, Preference
from corecurves.specs import Identity
from corecurves.text import contains

__all__ = ["Checklist", "Contrast", "Gain"]


@dataclass(frozen=True)
class Contrast:
    """Passes where the model prefers the known-good outcome to the trap; a tie is no pass.

    Nobody rates: the grade is the sign of a margin, so *blind* does not apply.

    Examples
    --------
    >>> import asyncio
    >>> from corecurves.specs import Outcome
    >>> case = BlindCase("Which port?", Outcome(("6112",), ("5672",)), Preference(0.3))
    >>> asyncio.run(Contrast().grade(case)).passed
    True
    """

    wants: ClassVar[str] = "preference"

    @property
    def identity(self) -> Identity:
        """Name and version."""
        return Identity("contrast", "1")

    async def grade(self, case: BlindCase) -> Grade:
        """Grade a preference."""
        if not isinstance(case.candidate, Preference):
            raise CellFailure("unparsable", "contrast grades a preference, not a text")
        margin = case.candidate.margin
        return Grade(margin > 0, margin, reason=f"{margin:+.3f} nats a token")


@dataclass(frozen=True)
class Gain:
    """No pass or fail: how much likelier the known-good outcome became than with no lesson."""

    wants: ClassVar[str] = "gain"

    @property
    def identity(self) -> Identity:
        """Name and version."""
        return Identity("gain", "1")

    async def grade(self, case: BlindCase) -> Grade:
        """Grade nothing: the score is taken against the control by the evaluation."""
        return Grade(None)


@dataclass(frozen=True)
class Checklist:
    """Passes where the answer holds every `must` and no `must_not`, as whole words.

    Examples
    --------
    >>> import asyncio
    >>> from corecurves.specs import Checks, Outcome
    >>> outcome = Outcome(("BROKER_PORT=6112",), checks=Checks(("6112",), ("5672",)))
    >>> asyncio.run(Checklist().grade(BlindCase("Which?", outcome, "Port 6112."))).passed
    True
    """

    wants: ClassVar[str] = "answer"

    @property
    def identity(self) -> Identity:
        """Name and version."""
        return Identity("checklist", "2")

    async def grade(self, case: BlindCase) -> Grade:
        """Grade an answer."""
        if not isinstance(case.candidate, str):
            raise CellFailure("unparsable", "checklist grades a text, not a preference")
        checks = case.outcome.checks
        if not checks.must and not checks.must_not:
            return Grade(None, status="skipped", reason="the case has no checklist")
        missing = [word for word in checks.must if not contains(case.candidate, word)]
        wrong = [word for word in checks.must_not if contains(case.candidate, word)]
        said = [f"lacks '{word}'" for word in missing] + [f"holds '{word}'" for word in wrong]
        return Grade(not said, reason="; ".join(said) or "holds all that it must")
