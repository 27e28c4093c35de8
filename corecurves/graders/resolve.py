"""From whatever names a grader to one."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from corecurves.engine import loop
from corecurves.errors import CellFailure, CorecurvesError, UsageError, a_type, unknown
from corecurves.files.pairs import unlike_note
from corecurves.graders.base import BlindCase, Grade, Preference, checked_grade
from corecurves.graders.judge import Judge
from corecurves.graders.plain import Checklist, Contrast, Gain
from corecurves.models.resolve import as_model
from corecurves.specs import Episode, Identity, ServedCase

__all__ = ["TAKE", "as_grader"]

_NAMES = ("auto", "contrast", "checklist", "judge", "judge:MODEL", "gain")
_OURS = (Contrast, Checklist, Gain, Judge)
TAKE = (
    "take 'contrast' (every case has a trap, and the model can be scored), 'checklist' (the cases "
    "have checks), 'judge', 'judge:MODEL', or a function"
)
"""What to take instead of a grader that does not fit, where there must be a pass or a fail."""


def as_grader(grader: object, model: Any, cases: Sequence[Episode | ServedCase]) -> Any:
    """Grader that a name, object or callable stands for."""
    if not isinstance(grader, str):
        found = _object(grader)
        if cases and not isinstance(found, _OURS):
            loop.wait(_probed(found, cases[0]))
        return found
    # An adapter has the method of every model; it says whether its own model has it.
    scored = getattr(model, "scores", hasattr(model, "logprob"))
    traps = all(case.outcome.trap for case in cases)
    checks = [bool(case.outcome.checks.must or case.outcome.checks.must_not) for case in cases]
    name, _, argument = grader.partition(":")
    apart = unlike_note({case.id: case.outcome for case in cases})
    if apart and scored and traps and name in ("auto", "contrast"):
        warnings.warn(apart, stacklevel=2)
    if name == "auto":
        if scored and traps and not apart:
            name = "contrast"
        elif all(checks) and getattr(model, "answers", True):
            name = "checklist"
        else:
            name = "judge" if getattr(model, "answers_json", not scored) else "gain"
    if name in ("contrast", "gain") and not scored:
        raise UsageError(
            f"the grader {name} needs a model that can be scored, and {model.identity.name} "
            "cannot; take 'checklist' (the cases have checks), 'judge', 'judge:MODEL', or a "
            "function"
        )
    if name == "contrast" and not traps:
        raise UsageError(
            "the grader contrast needs a trap in every case; take 'checklist' (the cases have "
            "checks), 'judge', 'judge:MODEL', 'gain', or a function"
        )
    if name == "checklist" and not any(checks):
        raise UsageError(f"the grader checklist needs checks, and no case has one; {TAKE}")
    if name == "judge":
        return Judge(as_model(argument) if argument else model)
    plain = {"contrast": Contrast, "checklist": Checklist, "gain": Gain}
    if name not in plain or argument:
        raise UsageError(unknown("grader", grader, _NAMES))
    return plain[name]()


async def _probed(grader: Any, case: Episode | ServedCase) -> None:
    """Refuse a grader that gives no grade of a planted case: every cell would be lost to it."""
    wants = getattr(grader, "wants", "answer")
    if wants == "gain":
        return
    candidate = Preference(1.0) if wants == "preference" else case.outcome.good[0]
    why = ""
    try:
        found = await grader.grade(BlindCase(case.task, case.outcome, candidate))
    except CellFailure:
        return  # its own word for a case that cannot be graded
    except CorecurvesError:
        raise
    except Exception as error:
        why = f"the grader raised {type(error).__name__}: {error}"
    else:
        try:
            checked_grade(found)
        except CellFailure as failure:
            why = str(failure)
    if why:
        raise UsageError(
            f"{why}. This was a planted case with the known-good outcome as its candidate; no "
            "model was called yet"
        )


def _object(grader: Any) -> Any:
    if hasattr(grader, "grade"):
        if not isinstance(getattr(grader, "identity", None), Identity):
            raise UsageError("the grader has no `identity`; give it a corecurves.Identity")
        return grader
    if callable(grader):
        return _Callable(grader)
    raise UsageError(f"`grader` is {a_type(grader)}; give one of {', '.join(_NAMES)}")


@dataclass(frozen=True)
class _Callable:
    """A function as grader; another process would not recognise it, so nothing is kept of it."""

    function: Callable[[BlindCase], Any]
    wants: ClassVar[str] = "answer"
    volatile: ClassVar[bool] = True

    @property
    def identity(self) -> Identity:
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return Identity(name, "", {"recognisable": False})

    async def grade(self, case: BlindCase) -> Any:
        found = self.function(case)
        if inspect.isawaitable(found):
            found = await found
        # NaN, None and 1 are no verdicts: only a boolean is, NumPy's too.
        return Grade(bool(found)) if isinstance(found, bool | np.bool_) else found
