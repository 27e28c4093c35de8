"""What a page shows of an executed cell: the best form of each output, always a static one."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from corecurves.markup import FIGURES
from corecurves.reports.notebook import Notebook

__all__ = ["FIGURES", "PROVENANCE", "Shown", "figures_of", "provenance_of", "shown_outputs"]

PROVENANCE = "application/vnd.corecurves.provenance+json"
"""Mime type of an output that is shown in the box at the end: a dict of label to text."""

_WIDGET = "application/vnd.jupyter.widget-view+json"
_IMAGES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")

Shown = dict[str, str]
"""``kind`` (``html``, ``image``, ``text``, ``messages``, ``error`` or ``note``) and ``html``."""


def provenance_of(notebook: Notebook) -> dict[str, str]:
    """Labels and texts of all provenance outputs; of equal labels the last.

    Examples
    --------
    >>> output = {"output_type": "display_data", "data": {PROVENANCE: {"seed": 0}}}
    >>> provenance_of({"cells": [{"cell_type": "code", "outputs": [output]}]})
    {'seed': '0'}
    """
    return _collected(notebook, PROVENANCE)


def figures_of(notebook: Notebook) -> dict[str, str]:
    """Key figures that a notebook offers, for the index of a sweep; of equal labels the last.

    Examples
    --------
    >>> output = {"output_type": "display_data", "data": {FIGURES: {"thesis": "holds"}}}
    >>> figures_of({"cells": [{"cell_type": "code", "outputs": [output]}]})
    {'thesis': 'holds'}
    """
    return _collected(notebook, FIGURES)


def _collected(notebook: Notebook, mime: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            box = output.get("data", {}).get(mime)
            if isinstance(box, str):
                box = json.loads(box)
            if isinstance(box, Mapping):
                found.update({str(label): _as_text(value) for label, value in box.items()})
    return found


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown_outputs(
    cell: Notebook,
    heading: str,
    *,
    clean: Callable[[str], str],
    ansi: Callable[[str], str],
    markdown: Callable[[str], str],
) -> list[Shown]:
    """Outputs of a cell as HTML.

    Examples
    --------
    >>> cell = {"outputs": [{"output_type": "stream", "name": "stdout", "text": "a < b"}]}
    >>> shown_outputs(cell, "", clean=str, ansi=html.escape, markdown=str)
    [{'kind': 'text', 'html': 'a &lt; b'}]
    """
    shown: list[Shown] = []
    for output in cell["outputs"]:
        kind = output["output_type"]
        if kind == "stream":
            text = _joined(output["text"])
            if text.strip():
                form = "text" if output["name"] == "stdout" else "messages"
                shown.append({"kind": form, "html": ansi(text.rstrip("\n"))})
        elif kind == "error":
            trace = "\n".join(output.get("traceback", []))
            line = f"{output['ename']}: {output['evalue']}"
            shown.append({"kind": "error", "html": ansi(trace), "line": ansi(line)})
        else:
            one = _shown_data(output, heading, clean, ansi, markdown)
            if one:
                shown.append(one)
    return shown


def _shown_data(
    output: Notebook,
    heading: str,
    clean: Callable[[str], str],
    ansi: Callable[[str], str],
    markdown: Callable[[str], str],
) -> Shown | None:
    data = output.get("data", {})
    if PROVENANCE in data:
        return None
    if _joined(data.get("text/html", "")).strip():
        return {"kind": "html", "html": clean(_joined(data["text/html"]))}
    for mime in _IMAGES:
        if data.get(mime):
            return {"kind": "image", "html": _image(output, mime, heading)}
    if data.get("text/markdown"):
        return {"kind": "html", "html": clean(markdown(_joined(data["text/markdown"])))}
    if _WIDGET in data:
        return {
            "kind": "note",
            "html": "An interactive control stands here in the notebook; "
            "it has no form that a page can show.",
        }
    for mime in ("text/plain", "text/latex"):
        if _joined(data.get(mime, "")).strip():
            return {"kind": "text", "html": ansi(_joined(data[mime]))}
    for mime, value in data.items():
        if mime.endswith("json"):
            return {"kind": "text", "html": html.escape(json.dumps(value, indent=1))}
    return None


def _image(output: Notebook, mime: str, heading: str) -> str:
    about: Any = output.get("metadata", {})
    own = about.get(mime) if isinstance(about.get(mime), Mapping) else {}
    alt = own.get("alt") or about.get("alt")
    if not alt:
        alt = f"Figure in the section “{heading}”" if heading else "Figure without a description"
    body = _joined(output["data"][mime])
    if mime == "image/svg+xml":
        body = base64.b64encode(body.encode("utf-8", "replace")).decode("ascii")
    body = re.sub(r"\s", "", body)
    size = "".join(
        f' {side}="{int(own[side])}"'
        for side in ("width", "height")
        if isinstance(own.get(side), int | float)
    )
    return f'<img src="data:{mime};base64,{body}" alt="{html.escape(str(alt))}"{size}>'


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)
