"""Plain values of parameters: how they are taken, injected as Python, and recorded as JSON."""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Mapping
from datetime import date, time

from corecurves.canonical import JSON
from corecurves.errors import UsageError

__all__ = ["literal", "plain", "recorded"]


def plain(value: object, where: str) -> object:
    """Value in plain Python types.

    Examples
    --------
    >>> from datetime import date
    >>> plain({"since": date(2026, 1, 31)}, "cut")
    {'since': '2026-01-31'}
    """
    if isinstance(value, enum.Enum):
        return plain(value.value, where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return "".join(value)  # a subclass, such as NumPy's, becomes a plain text
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        return _plain_mapping(value, where)
    if isinstance(value, list | tuple):
        items = [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) else items
    return _plain_array(value, where)


def _plain_mapping(value: Mapping[object, object], where: str) -> dict[str, object]:
    items: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise UsageError(
                f"parameter `{where}` has the key {key!r}; keys must be text, such as '{key}'"
            )
        items["".join(key)] = plain(item, f"{where}[{key!r}]")
    return items


def _plain_array(value: object, where: str) -> object:
    dtype, ndim = getattr(value, "dtype", None), getattr(value, "ndim", None)
    if dtype is not None and getattr(dtype, "kind", "") in "biufUM":
        if dtype.kind == "M" and ndim == 0:
            return str(value)
        tolist = getattr(value, "tolist", None)
        if callable(tolist):
            return plain(tolist(), where)
    kind = type(value).__name__
    raise UsageError(
        f"parameter `{where}` is of type {kind}; a parameter is a number, truth, text, date, path, "
        "None, or a list, tuple or dict of those"
    )


def literal(value: object) -> str:
    """Python text of a plain value.

    Examples
    --------
    >>> literal({"cut": float("inf"), "arms": ("taught",)})
    "{'cut': float('inf'), 'arms': ('taught',)}"
    """
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {literal(item)}' for key, item in value.items())}}}"
    return repr(value)


def recorded(value: object) -> JSON:
    """Strict JSON of a value, for a notebook's metadata.

    Examples
    --------
    >>> recorded({"threshold": float("nan"), "arms": ("taught",)})
    {'threshold': 'nan', 'arms': ['taught']}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): recorded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [recorded(item) for item in value]
    if value is None or isinstance(value, int | str):
        return value
    return str(value)
