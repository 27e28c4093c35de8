"""JSON objects inside a text that holds more than them, such as a model's reply."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["objects_in", "objects_inside"]

_BRACE = re.compile("[{}]")


def objects_in(text: str) -> list[object]:
    """Complete JSON objects in a text that lie in no other braces.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of object
        The whole text alone where it is one JSON value. An object whose keys repeat is none.

    Examples
    --------
    >>> objects_in('Sure: {"1": true} and {"2": {"a": 1}}')
    [{'1': True}, {'2': {'a': 1}}]
    """
    try:
        return [_decoder().decode(text.strip())]
    except (ValueError, RecursionError):
        return objects_inside(text)


def objects_inside(text: str) -> list[object]:
    """Complete JSON objects in a text that lie in no other braces, whatever the whole text is.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of object
        In order. An object whose keys repeat is none.

    Examples
    --------
    >>> objects_in('[{"a": 1}]'), objects_inside('[{"a": 1}]')
    ([[{'a': 1}]], [{'a': 1}])
    """
    decoder = _decoder()
    found: list[object] = []
    unread = at = 0
    while brace := _BRACE.search(text, at):
        at = brace.end()
        if brace[0] == "}":
            unread = max(0, unread - 1)
            continue
        try:
            value, at = decoder.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            # What lies in braces that cannot be read is a part of something, and says nothing.
            unread += 1
            continue
        if not unread:
            found.append(value)
    return found


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object whose keys stand once: two values under one key agree on nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
