"""How controls are laid out, and how their options are named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets

__all__ = ["columns", "distinct", "row"]


def row(*parts: Any, gap: str = "4px 12px") -> Any:
    """Controls side by side, on further lines where they do not fit."""
    layout = {"display": "flex", "flex_flow": "row wrap", "grid_gap": gap, "align_items": "center"}
    return ipywidgets.Box(list(parts), layout=layout)


def columns(*parts: Sequence[Any]) -> Any:
    """Columns side by side, under each other where they do not fit."""
    # The first holds a picture, the second what is written and read.
    boxes = [
        ipywidgets.VBox(list(part), layout={"flex": flex, "min_width": "0"})
        for part, flex in zip(parts, ("1 1 400px", "1.4 1 480px"), strict=True)
    ]
    layout = {"display": "flex", "flex_flow": "row wrap", "grid_gap": "4px 28px"}
    return ipywidgets.Box(boxes, layout=layout)


def distinct(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Options of a control: each label once, with its number as the value.

    Examples
    --------
    >>> distinct(["0.1", "0.1"])
    [('0.1', 0), ('0.1 (2)', 1)]
    """
    seen: set[str] = set()
    found = []
    for number, label in enumerate(labels):
        own = f"{label} ({number + 1})" if label in seen else label
        seen |= {label, own}
        found.append((own, number))
    return found
