"""Notebooks read as they are, with one-line errors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from corecurves.errors import UsageError

__all__ = [
    "Notebook",
    "as_notebook",
    "headings_in",
    "is_tagged",
    "nbformat_package",
    "quiet",
    "title_of",
]

Notebook: TypeAlias = Any
"""A ``nbformat.NotebookNode``: nested dicts whose keys are attributes too."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence of the notebook packages' warnings and log lines.

    Examples
    --------
    >>> with quiet():
    ...     warnings.warn("not for the user", stacklevel=1)
    """
    import logging

    loggers = [logging.getLogger(name) for name in ("papermill", "nbconvert", "traitlets")]
    handler = logging.NullHandler()  # else warnings go to stderr by logging's last resort
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def as_notebook(source: Notebook | str | Path) -> Notebook:
    """Notebook of the current format.

    Examples
    --------
    >>> as_notebook({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}).nbformat
    4
    """
    import copy

    nbformat = nbformat_package()
    with quiet():
        if isinstance(source, str | Path):
            try:
                book = nbformat.reads(Path(source).read_text(encoding="utf-8"), as_version=4)
            except OSError as error:
                raise UsageError(f"cannot read {source}: {error.strerror}") from error
            except Exception as error:  # nbformat raises many kinds
                first = str(error).strip().partition("\n")[0]
                raise UsageError(f"{source} holds no notebook: {first}") from error
        else:
            book = nbformat.from_dict(copy.deepcopy(source))
        upgraded = nbformat.v4.upgrade(book)
        book = book if upgraded is None else upgraded
        _, book = nbformat.validator.normalize(book)
        return book


def nbformat_package() -> Any:
    """The package `nbformat`, loaded when it is needed; its functions carry no types."""
    import nbformat

    return nbformat


def title_of(notebook: Notebook) -> str:
    """Text of the first heading.

    Examples
    --------
    >>> title_of({"cells": [{"cell_type": "markdown", "source": "# How *fast*?"}]})
    'How fast?'
    """
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and not is_tagged(cell, "report-failed"):
            headings = headings_in(cell["source"])
            if headings:
                return headings[0]
    return ""


def headings_in(source: str) -> list[str]:
    """Texts of the headings in a markdown text, without those inside fences."""
    found, fence = [], ""
    for line in source.splitlines():
        mark = re.match(r" {0,3}(```+|~~~+)", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = re.match(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$", line)
        if heading and not fence:
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            found.append(re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)|`|<[^>]+>", "", text).strip())
    return found


def is_tagged(cell: Notebook, tag: str) -> bool:
    """Whether a cell has a tag."""
    return tag in cell.get("metadata", {}).get("tags", [])
