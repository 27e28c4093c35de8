"""Values of parameters from command-line text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from corecurves.reports.kinds import ANY, Kind, MisfitError, fit

__all__ = ["read_value"]

_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_BRACKETS = {"[": "]", "(": ")", "{": "}"}


def read_value(kind: Kind, text: str) -> object:
    """Value that a text stands for, where a value of this kind is expected.

    Examples
    --------
    >>> read_value(Kind("str"), "010")
    '010'
    >>> read_value(Kind("tuple", (Kind("float"),)), "[0.9,1]")
    (0.9, 1.0)
    """
    if kind.name in ("list", "tuple"):
        return _items(kind, text)
    if kind.name == "union":
        return _union(kind.parts, text)
    if kind.name == "choice":
        for choice in kind.choices:
            if text == str(choice):
                return choice
        raise MisfitError(text)
    return _READERS[kind.name](text)


def _int(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text.strip()):
        raise MisfitError(text)
    return int(text)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise MisfitError(text) from error


def _bool(text: str) -> bool:
    try:
        return _TRUTH[text.strip().lower()]
    except KeyError as error:
        raise MisfitError(text) from error


def _none(text: str) -> None:
    if text.strip() not in ("None", "none", "null"):
        raise MisfitError(text)


def _dict(text: str) -> object:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise MisfitError(text) from error
    return fit(Kind("dict", (ANY,)), value)


def _guess(text: str) -> object:
    """Value of a text of which nothing is known: only what can mean one thing is taken as it."""
    stripped = text.strip()
    if stripped in ("true", "True", "false", "False"):
        return stripped in ("true", "True")
    if stripped in ("None", "null"):
        return None
    if re.fullmatch(r"-?(0|[1-9][0-9]*)", stripped):
        return int(stripped)
    if re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][+-]?[0-9]+)?", stripped):
        return float(stripped)
    if stripped[:1] == "[" and stripped[-1:] == "]":
        return _items(Kind("list", (ANY,)), stripped)
    if stripped[:1] == "{" and stripped[-1:] == "}":
        return _dict(stripped)
    return text


_READERS: dict[str, Callable[[str], object]] = {
    "any": _guess,
    "bool": _bool,
    "dict": _dict,
    "float": _float,
    "int": _int,
    "None": _none,
    "str": str,
}


def _union(kinds: Sequence[Kind], text: str) -> object:
    # Text fits everything, so it comes last, and a list must look like one beside it.
    names = {kind.name for kind in kinds}
    for kind in sorted(kinds, key=lambda kind: kind.name == "str"):
        if "str" in names and kind.name in ("list", "tuple") and text.strip()[:1] not in ("[", "("):
            continue
        if "str" in names and kind.name == "None" and text != "None":
            continue
        try:
            return read_value(kind, text)
        except MisfitError:
            continue
    raise MisfitError(text)


def _items(kind: Kind, text: str) -> object:
    pieces = _split(text)
    parts = kind.parts if kind.fixed else (kind.parts or (ANY,)) * len(pieces)
    if len(parts) != len(pieces):
        raise MisfitError(text)
    items = []
    for part, piece in zip(parts, pieces, strict=True):
        quoted = re.fullmatch(r"""(["'])(.*)\1""", piece, re.DOTALL)
        if quoted and _takes_text(part):
            items.append(quoted[2])
        elif not piece:
            raise MisfitError(text)
        else:
            items.append(read_value(part, piece))
    return tuple(items) if kind.name == "tuple" else items


def _takes_text(kind: Kind) -> bool:
    return kind.name in ("str", "any", "choice") or any(map(_takes_text, kind.parts))


def _split(text: str) -> list[str]:
    """Pieces between commas that stand outside quotes and brackets."""
    text = text.strip()
    if text[:1] in ("[", "("):
        if text[-1:] != _BRACKETS[text[0]]:
            raise MisfitError(text)
        text = text[1:-1].strip()
    if not text:
        return []
    pieces, start, closing, quote = [], 0, [], ""
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and not text[start:place].strip():
            quote = sign
        elif sign in _BRACKETS:
            closing.append(_BRACKETS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        elif sign == "," and not closing:
            pieces.append(text[start:place].strip())
            start = place + 1
    if quote or closing:
        raise MisfitError(text)
    last = text[start:].strip()
    return [*pieces, last] if last or not pieces else pieces
