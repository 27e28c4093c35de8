"""One text for one value: canonical JSON, and hashes of it.

Keys, plan hashes and trace hashes are SHA-256 over this form, so they are the same in every
process and on every machine.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import TypeAlias

__all__ = ["JSON", "as_json", "canonical_json", "differences", "digest", "stable_seed"]

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")
)
_PLAIN = frozenset((str, int, bool, type(None)))

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"


def as_json(value: object, where: str = "value") -> JSON:
    """Plain JSON types of a value.

    Examples
    --------
    >>> as_json({"k": (1, 2)})
    {'k': [1, 2]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; JSON has finite numbers only")
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where} has the key {key!r}; keys must be text")
        return {key: as_json(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, f"{where}[{i}]") for i, item in enumerate(value)]
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:
        return as_json(item(), where)
    raise TypeError(f"{where} is a {type(value).__name__}, which JSON does not have")


def canonical_json(value: object) -> str:
    r"""Canonical JSON text of a value: sorted keys, ASCII, no spaces, no NaN.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": "é"})
    '{"a":"\\u00e9","b":1}'
    """
    # What is plain already need not be built anew: keys of cells are made by the million.
    return _ENCODER.encode(value if _is_plain(value) else as_json(value))


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of a value.

    Examples
    --------
    >>> digest(["ab", "c"]) == digest(["a", "bc"])
    False
    """
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def stable_seed(*parts: object) -> int:
    """Seed that depends on its parts alone.

    Examples
    --------
    >>> stable_seed(0, "wisdom") == stable_seed(0, "wisdom")
    True
    """
    return int(digest(list(parts))[:8], 16) >> 1


def differences(left: JSON, right: JSON, where: str = "") -> list[str]:
    """Paths at which two JSON values differ.

    Examples
    --------
    >>> differences({"a": 1, "b": [1]}, {"a": 2, "b": [1]})
    ['a: 1 → 2']
    """
    if isinstance(left, dict) and isinstance(right, dict):
        found = []
        for key in sorted(left.keys() | right.keys()):
            path = f"{where}.{key}" if where else key
            if key not in left:
                found.append(f"{path}: absent → {_brief(right[key])}")
            elif key not in right:
                found.append(f"{path}: {_brief(left[key])} → absent")
            else:
                found += differences(left[key], right[key], path)
        return found
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        found = []
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            found += differences(a, b, f"{where}[{i}]")
        return found
    if canonical_json(left) == canonical_json(right):
        return []
    return [f"{where}: {_brief(left)} → {_brief(right)}"]


def _is_plain(value: object) -> bool:
    """Whether a value has JSON's own types alone, and finite numbers."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))  # type: ignore[call-overload]
    if kind is dict:
        return all(type(key) is str and _is_plain(item) for key, item in value.items())  # type: ignore[attr-defined]
    return kind is float and math.isfinite(value)  # type: ignore[arg-type]


def _brief(value: JSON) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
