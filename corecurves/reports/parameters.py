"""The strict check of the parameters that are given to a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from corecurves.errors import UsageError, unknown
from corecurves.redact import Redactor, is_key_like
from corecurves.reports.commandline import read_value
from corecurves.reports.declared import (
    REQUIRED,
    Parameter,
    declared_parameters,
    parameters_source,
    read_parameters,
)
from corecurves.reports.kinds import Expression, MisfitError, fit
from corecurves.reports.notebook import Notebook, as_notebook
from corecurves.reports.values import plain

__all__ = [
    "REQUIRED",
    "Parameter",
    "check_parameters",
    "declared_parameters",
    "parse_assignments",
]


def check_parameters(
    notebook: Notebook | str | Path, given: Mapping[str, object] | None
) -> dict[str, object]:
    """Parameters as they are injected; nothing is executed.

    Examples
    --------
    >>> cell = {
    ...     "cell_type": "code",
    ...     "metadata": {"tags": ["parameters"]},
    ...     "source": "k_max = 4",
    ... }
    >>> book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    >>> check_parameters(book, {"kmax": 16})
    Traceback (most recent call last):
    corecurves.errors.UsageError: `parameter` has no 'kmax'; it has k_max: did you mean 'k_max'?
    """
    given = dict(given or {})
    for name, value in given.items():
        _refuse_keys(str(name), value)
    source = parameters_source(as_notebook(notebook))
    if source is None:
        if given:
            raise UsageError(
                f"the notebook takes no parameters, received {', '.join(map(str, given))}; "
                "tag the cell that assigns them `parameters`"
            )
        return {}
    declared = {found.name: found for found in read_parameters(source)}
    checked = {}
    for name, value in given.items():
        if name not in declared:
            raise UsageError(unknown("parameter", name, declared))
        try:
            checked[name] = fit(declared[name].kind, plain(value, name))
        except MisfitError as error:
            raise UsageError(_takes(declared[name], value)) from error
    missing = [name for name, it in declared.items() if it.default is REQUIRED]
    missing = [name for name in missing if name not in checked]
    if missing:
        raise UsageError(f"the notebook needs a value for {', '.join(missing)}")
    return checked


def parse_assignments(
    assignments: Iterable[str], declared: Mapping[str, Parameter]
) -> dict[str, object]:
    """Parameters from command-line text.

    Examples
    --------
    >>> declared = {"split": Parameter("split", "public"), "samples": Parameter("samples", 3)}
    >>> parse_assignments(["split=010", "samples=5"], declared)
    {'split': '010', 'samples': 5}
    """
    parsed: dict[str, object] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            shown = "a text" if is_key_like(name) else repr(Redactor().text(assignment))
            raise UsageError(f"a parameter is given as name=value, received {shown}")
        _refuse_keys(name, text)
        if name not in declared:
            raise UsageError(unknown("parameter", name, declared))
        if name in parsed:
            raise UsageError(f"parameter `{name}` is given twice")
        try:
            parsed[name] = read_value(declared[name].kind, text)
        except MisfitError as error:
            raise UsageError(_takes(declared[name], text)) from error
    return parsed


def _takes(parameter: Parameter, received: object) -> str:
    shown = Redactor().text(repr(received))
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    has = "" if parameter.default is REQUIRED else f" (default {_shown(parameter.default)})"
    return f"parameter `{parameter.name}` takes {parameter.kind}{has}, received {shown}"


def _shown(default: object) -> str:
    return default.source if isinstance(default, Expression) else repr(default)


def _refuse_keys(name: str, value: object) -> None:
    for path in _names(name, value):
        if is_key_like(path[-1]):
            raise UsageError(
                f"parameter `{'.'.join(path)}` looks like a secret, and parameters are written "
                "into the report; set it as an environment variable, or rename the parameter"
            )


def _names(name: str, value: object) -> Iterator[tuple[str, ...]]:
    yield (name,)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from ((name, *path) for path in _names(str(key), item))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from (path for path in _names(name, item) if len(path) > 1)
