"""Plain functions as systems and sessions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from corecurves.errors import a_type
from corecurves.systems.base import Turn

__all__ = ["FunctionSession", "takes_text"]


def takes_text(function: Any) -> bool:
    """Whether a callable takes a text, as one turn does, or nothing, as a start does."""
    try:
        parameters = list(_positional(function))
    except (TypeError, ValueError):
        return not inspect.isclass(function)
    return bool(parameters)


def _positional(function: Any) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) and (
            parameter.default is parameter.empty
        ):
            yield parameter


class FunctionSession:
    """A session around a function."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        # The runner looks here to see whether a turn would block its thread.
        self.asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        )

    def turn(self, text: str) -> Any:
        """What the function answers, as a turn."""
        answer = self._function(text)
        return _turn_later(answer) if inspect.isawaitable(answer) else _turn_of(answer)


async def _turn_later(answer: Any) -> Turn:
    return _turn_of(await answer)


def _turn_of(answer: Any) -> Turn:
    if isinstance(answer, Turn):
        return answer
    if not isinstance(answer, str):
        raise TypeError(f"the system answered {a_type(answer)}; it must answer text")
    return Turn(answer)
