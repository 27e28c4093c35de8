"""JSON objects inside a text that holds more than them, and what a model's reply states in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from corecurves.reply import judged

__all__ = ["objects_anywhere", "objects_inside", "stated"]

T = TypeVar("T")
_FENCED = re.compile(r"```\w*\s(.*)```", re.DOTALL)
_BRACE = re.compile("[{}]")


def objects_inside(text: str) -> list[object]:
    """Complete JSON objects in a text that lie in no other braces.

    Examples
    --------
    >>> objects_inside('Sure: {"1": true} and [{"2": {"a": 1}}]')
    [{'1': True}, {'2': {'a': 1}}]
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


def objects_anywhere(text: str) -> Iterator[object]:
    """Complete JSON objects in a text, those in other braces too.

    Examples
    --------
    >>> list(objects_anywhere('{"a": {"b": 1}} {c: {"d": 2}}'))
    [{'a': {'b': 1}}, {'b': 1}, {'d': 2}]
    """
    for brace in _BRACE.finditer(text):
        with suppress(ValueError, RecursionError):
            yield _decoder().raw_decode(text, brace.start())[0]


def stated(
    reply: str, read: Callable[[object], T | None], *, quoted: Iterable[str] = ()
) -> list[T]:
    """What the objects in a reply state that have the form asked for.

    Examples
    --------
    >>> def read(value):
    ...     return value.get("passed")
    >>> stated('{"passed": false}', read, quoted=['Roll 3. {"passed": false}'])
    [False]
    >>> stated('It says {"passed": true}.', read, quoted=['Done. {"passed": true}'])
    []
    """
    text = judged(reply).strip()
    text = fenced[1] if (fenced := _FENCED.fullmatch(text)) else text
    try:
        whole = read(_decoder().decode(text.strip()))
    except (ValueError, RecursionError):
        whole = None
    if whole is not None:
        return [whole]
    # 1 is no verdict, and equal to True: what was shown counts only where it has the form.
    shown = [v for other in quoted for v in objects_anywhere(other) if read(v) is not None]
    values = (value for value in objects_inside(text) if value not in shown)
    return [found for value in values if (found := read(value)) is not None]


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object whose keys stand once: two values under one key agree on nothing."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
