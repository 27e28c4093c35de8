"""Names from data as a reader can tell them apart: nothing invisible, and what differs is said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

__all__ = ["alike", "listed", "look", "stem_of", "taken", "told_apart", "visible"]

# Control characters but line breaks and tabs, lone surrogates, and all that has no width or turns
# the direction of writing. Joiners inside a word belong to it where the script needs them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
    "|(?<![^\x00-\xff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\xff])"
)


def visible(text: str) -> str:
    r"""A text with escapes where it has characters that nobody sees.

    Examples
    --------
    >>> visible("pay\u200bment \u202egpj.exe")
    'pay\\u200bment \\u202egpj.exe'
    """
    if text.isprintable() and text.isascii():
        return text
    return _INVISIBLE.sub(lambda m: m[0].encode("unicode_escape").decode("ascii"), text)


def look(text: str) -> str:
    r"""What the eye sees of a name: composed, without characters that nobody sees.

    Examples
    --------
    >>> look("fja\u0308ll\u200b") == look("fj\xe4ll")
    True
    """
    bare = re.sub("[\u200c\u200d]", "", _INVISIBLE.sub("", text))
    return " ".join(unicodedata.normalize("NFC", bare).split())


def told_apart(one: str, other: str) -> str:
    """What differs between two names that look the same.

    Examples
    --------
    >>> told_apart("fjäll", unicodedata.normalize("NFD", "fjäll"))
    'the same to the eye: one is composed (NFC), the other decomposed'
    >>> told_apart("retry", "retri")
    ''
    """
    if one == other:
        return ""
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return "the same to the eye: one is composed (NFC), the other decomposed"
    if look(one) == look(other):
        odd = sorted(set(one) ^ set(other)) or [c for c in one if _INVISIBLE.fullmatch(c)]
        names = ", ".join(_called(char) for char in odd)
        return f"the same to the eye: they differ in {names or 'the place of a space'}"
    pairs = [(a, b) for a, b in zip(look(one), look(other), strict=False) if a != b]
    if len(look(one)) == len(look(other)) and all(_script(a) != _script(b) for a, b in pairs):
        return f"much the same to the eye: {_called(pairs[0][0])} against {_called(pairs[0][1])}"
    return ""


def alike(names: Iterable[str]) -> str:
    """Difference of the first two names that look the same.

    Examples
    --------
    >>> alike(["retry", "retry\u200b"])
    ' (the same to the eye: they differ in U+200B (ZERO WIDTH SPACE))'
    """
    first: dict[str, str] = {}
    for name in names:
        if why := told_apart(first.setdefault(look(name), name), name):
            return f" ({why})"
    return ""


def stem_of(path: Path) -> str:
    r"""Name of a file without its ending, composed: some systems hand out decomposed names.

    Examples
    --------
    >>> stem_of(Path("fja\u0308ll.md")) == "fj\xe4ll"
    True
    """
    return unicodedata.normalize("NFC", path.stem)


def taken(first: dict[str, tuple[str, str]], own: str, place: str) -> str:
    """Message for an id that stands in another place too, or looks like one that does.

    Examples
    --------
    >>> first = {}
    >>> taken(first, "a", "also stands at x.yaml:1")
    ''
    >>> taken(first, "a", "also stands at x.yaml:7")
    "the id 'a' also stands at x.yaml:1; rename one"
    """
    other, there = first.setdefault(look(own), (own, place))
    if there == place or not own:
        return ""
    return f"the id '{own}' {there}{alike([own, other])}; rename one"


def listed(names: Iterable[str], most: int = 40) -> str:
    """Names in one line, a long list cut, with the number of those left out.

    Examples
    --------
    >>> listed(["L0", "L1", "L2"], most=2)
    'L0, L1 and 1 more'
    """
    every = [visible(str(name)) for name in names]
    rest = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest or "none"


def _script(char: str) -> str:
    """Script of a letter, as its name begins; empty for anything else."""
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


def _called(char: str) -> str:
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'no name')})"
