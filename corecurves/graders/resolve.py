"""From whatever names a grader to one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from corecurves.errors import CellFailure, UsageError, unknown
from corecurves.graders.base import BlindCase, Grade
from corecurves.graders.judge import Judge
from corecurves.graders.plain import Checklist, Contrast, Gain
from corecurves.models.resolve import as_model
from corecurves.specs import Identity, Outcome

__all__ = ["as_grader"]

_NAMES = ("auto", "contrast", "checklist", "gain", "judge", "judge:MODEL")


def as_grader(grader: object, model: Any, outcomes: Sequence[Outcome]) -> Any:
    """Grader that a name, object or callable stands for.

    Parameters
    ----------
    grader : str, Grader or callable
        ``auto`` takes ``contrast`` where every case has a trap and the model can be scored, else
        ``judge`` where the model answers in JSON, else ``gain``. ``judge:MODEL`` names who judges.
        A callable takes a `BlindCase` and returns a bool, a `Grade`, or an awaitable of one.
    model : Model
        The model that is evaluated.
    outcomes : sequence of Outcome
        The outcomes of the cases.

    Returns
    -------
    Grader
        With ``wants``.

    Raises
    ------
    UsageError
        If there is no such grader, or it does not fit the model or the cases.
    """
    if not isinstance(grader, str):
        return _object(grader)
    # An adapter has the method of every model; it says whether its own model has it.
    scored = getattr(model, "scores", hasattr(model, "logprob"))
    traps = all(outcome.trap for outcome in outcomes)
    name, _, argument = grader.partition(":")
    if name == "auto":
        if scored and traps:
            name = "contrast"
        else:
            name = "judge" if getattr(model, "answers_json", not scored) else "gain"
    if name in ("contrast", "gain") and not scored:
        raise UsageError(
            f"the grader {name} needs a model that can be scored, and {model.identity.name} "
            "cannot; take 'judge' or 'checklist'"
        )
    if name == "contrast" and not traps:
        raise UsageError("the grader contrast needs a trap in every case; take 'gain' or 'judge'")
    if name == "judge":
        return Judge(as_model(argument) if argument else model)
    plain = {"contrast": Contrast, "checklist": Checklist, "gain": Gain}
    if name not in plain or argument:
        raise UsageError(unknown("grader", grader, _NAMES))
    return plain[name]()


def _object(grader: Any) -> Any:
    if hasattr(grader, "grade"):
        if not isinstance(getattr(grader, "identity", None), Identity):
            raise UsageError("the grader has no `identity`; give it a corecurves.Identity")
        return grader
    if callable(grader):
        return _Callable(grader)
    raise UsageError(f"`grader` is a {type(grader).__name__}; give one of {', '.join(_NAMES)}")


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

    async def grade(self, case: BlindCase) -> Grade:
        found = self.function(case)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(found, Grade):
            return found
        # NaN, None and 1 are no verdicts: only a bool is.
        if isinstance(found, bool):
            return Grade(found)
        raise CellFailure("unparsable", f"the grader returned {found!r}; it must return a bool")
