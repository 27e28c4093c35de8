"""The executed notebook as it is written: strict JSON, no secrets, no traces of the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from corecurves.redact import Redactor
from corecurves.reports.notebook import Notebook, nbformat_package
from corecurves.reports.values import recorded

__all__ = ["notebook_text", "own_frames", "settled", "tidy"]


def tidy(book: Notebook, values: Mapping[str, object], redactor: Redactor) -> Notebook:
    """Notebook without the traces of this machine and this moment, in strict JSON types.

    Examples
    --------
    >>> from corecurves.reports.notebook import as_notebook
    >>> book = as_notebook({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    >>> tidy(book, {"cut": float("inf")}, Redactor({})).metadata.papermill
    {'parameters': {'cut': 'inf'}}
    """
    version = book.metadata.get("papermill", {}).get("version")
    book.metadata["papermill"] = {"parameters": dict(values)}
    if version:
        book.metadata["papermill"]["version"] = version
    # Other tools prefer saved widget state to the static twin beside it, and show a script for it.
    book.metadata.pop("widgets", None)
    book.metadata.setdefault("kernelspec", {})
    book.metadata["kernelspec"].update(name="python3", language="python")
    book.metadata["kernelspec"].setdefault("display_name", "Python 3")
    for cell in book.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
    return nbformat_package().from_dict(redactor.tree(recorded(book)))


def _merged(outputs: Sequence[Notebook]) -> list[Notebook]:
    """Outputs with neighbouring pieces of one stream as one."""
    merged: list[Notebook] = []
    for output in outputs:
        if output.output_type == "stream":
            last = merged[-1] if merged else None
            if last is not None and last.output_type == "stream" and last.name == output.name:
                last.text += output.text
                continue
        merged.append(output)
    for output in merged:
        if output.output_type == "stream":
            output.text = settled(output.text)
        elif output.output_type == "error":
            output.traceback = own_frames(output.traceback)
    return merged


def own_frames(traceback: Sequence[str]) -> list[str]:
    r"""Traceback without the frames of libraries, which name files of this machine.

    Examples
    --------
    >>> own_frames(["Cell In[1], line 1\n", "File /lib/x.py:3, in f()\n", "ValueError: no"])
    ['Cell In[1], line 1\n', '(1 frame outside the notebook)', 'ValueError: no']
    """
    kept: list[str] = []
    left_out = 0
    for part in traceback:
        outside = re.match(r"File ", re.sub(r"\x1b\[[0-9;]*m", "", part)) is not None
        if not outside and left_out:
            kept.append(f"({left_out} frame{'s' * (left_out > 1)} outside the notebook)")
        left_out = left_out + 1 if outside else 0
        if not outside:
            kept.append(part)
    return kept


def settled(text: str) -> str:
    r"""What a terminal shows in the end of lines that were overwritten, as progress bars are.

    Examples
    --------
    >>> settled("10 %\r100 %\nfine")
    '100 %\nfine'
    """
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def notebook_text(book: Notebook) -> str:
    """Text of a notebook file.

    Examples
    --------
    >>> from nbformat.v4 import new_notebook
    >>> notebook_text(new_notebook()).splitlines()[1]
    ' "cells": [],'
    """
    return f"{nbformat_package().v4.writes(book, allow_nan=False)}\n"
