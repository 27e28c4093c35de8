"""Parameters that a notebook declares, read from its text without running it."""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corecurves.errors import UsageError
from corecurves.reports.kinds import Expression, Kind, kind_of_annotation, kind_of_default
from corecurves.reports.notebook import Notebook, as_notebook, is_tagged

__all__ = ["REQUIRED", "Parameter", "declared_parameters", "parameters_source", "read_parameters"]

REQUIRED = Expression("(required)")
"""Default of a parameter that is only annotated: it must be given."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook.

    Parameters
    ----------
    name : str
        Its name.
    default : object
        The literal assigned to it; an `Expression` where it is none, `REQUIRED` where none is.
    annotation : str
        Python text of its annotation, or empty.
    help : str
        The comment behind it.
    line : int
        Line in the cell, counted from 1.
    """

    name: str
    default: object
    annotation: str = ""
    help: str = ""
    line: int = 0

    @property
    def kind(self) -> Kind:
        """What it takes: as the annotation says, else as the default shows."""
        if self.annotation:
            return kind_of_annotation(self.annotation)
        return kind_of_default(self.default)

    def __str__(self) -> str:
        written = self.annotation or str(self.kind)
        default = (
            self.default.source if isinstance(self.default, Expression) else repr(self.default)
        )
        behind = f"  # {self.help}" if self.help else ""
        return f"{self.name}: {written} = {default}{behind}"


def declared_parameters(notebook: Notebook | str | Path) -> dict[str, Parameter]:
    """Parameters in the cell that is tagged ``parameters``.

    Examples
    --------
    >>> cell = {
    ...     "cell_type": "code",
    ...     "metadata": {"tags": ["parameters"]},
    ...     "source": "samples: int = 3  # repeats of each cell",
    ... }
    >>> book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    >>> declared_parameters(book)["samples"].help
    'repeats of each cell'
    """
    source = parameters_source(as_notebook(notebook))
    return {} if source is None else {found.name: found for found in read_parameters(source)}


def parameters_source(notebook: Notebook) -> str | None:
    """Source of the cell tagged ``parameters``; None where there is no such cell."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_tagged(cell, "parameters"):
            return str(cell.source)
    return None


def read_parameters(source: str) -> Iterator[Parameter]:
    """Parameters that the source of such a cell assigns, in its order."""
    # Magics and shell lines are no Python; a comment in their place keeps the line numbers.
    source = re.sub(r"^[ \t]*[%!].*$", "pass", source, flags=re.MULTILINE)
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise UsageError(
            f"the cell tagged `parameters` is no Python: line {error.lineno}: {error.msg}"
        ) from error
    comments = _comments(source)
    for node in body:
        for target, value, annotation in _assigned(node):
            last = node.end_lineno or node.lineno
            yield Parameter(
                name=target.id,
                default=REQUIRED if value is None else _default(value),
                annotation="" if annotation is None else _unquoted(annotation),
                help=comments.get(last) or comments.get(node.lineno, ""),
                line=node.lineno,
            )


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.Name, ast.expr | None, ast.expr | None]]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        if not node.target.id.startswith("_"):
            yield node.target, node.value, node.annotation
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            for name, value in _pairs(target, node.value):
                if not name.id.startswith("_"):
                    yield name, value, None


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        if len(values) == len(target.elts):
            for one, its in zip(target.elts, values, strict=True):
                yield from _pairs(one, its)


def _default(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        pass
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            try:
                return float(text)
            except ValueError:
                pass
        case ast.Attribute(value=ast.Name(id="math" | "np" | "numpy"), attr="nan" | "inf" as name):
            return {"nan": math.nan, "inf": math.inf}[name]
    return Expression(ast.unparse(node))


def _unquoted(annotation: ast.expr) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value
    return ast.unparse(annotation)


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("#: ").strip()
        for token in tokens
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    }
