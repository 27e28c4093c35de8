"""Words, hits and tokens of a text, under one normal form.

The normal form is NFKC, casefolded, curly apostrophes straightened, format characters and
variation selectors dropped. A dash of any kind before a digit is a minus. ``\u0130`` and ``\u0131``
are ``i``, for a capital ``I`` may be that of either.

A *word* is a run of letters, combining marks, digits and underscores. It keeps an inner apostrophe
(``can't`` does not hold ``can``) but not a possessive one (``cell's`` is ``cell``); a point or
comma between digits (``10.5``); a sign before a number (``-10``, but not in the range ``5-10``);
and a closing ``#`` or ``++`` (``c#``, ``c++``). Underscores at its edges do not belong to it
(``_cell_`` is ``cell``). Scripts that do not write their words apart (Han, kana, Thai, Lao, Khmer,
Burmese), and Hangul, whose particles stick to its nouns, have runs for words; a run ends where
another script or a number begins.

A token is *hit* when its words stand in a text as a contiguous run of whole words. In a script that
does not write words apart its edges may lie inside a run: anywhere between Han, hiragana, Thai;
where a run of katakana begins or ends; and in Hangul it begins where a run does, with any particle
behind it. Both sides go through the same form; there is no stemming, so other forms are listed as
variants.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from corecurves.scripts import HANGUL, KATAKANA, UNSPACED

if TYPE_CHECKING:
    from bpe_openai import Encoding

__all__ = [
    "RULES",
    "contains",
    "count_tokens",
    "counted",
    "hits",
    "normalise",
    "shortened",
    "words",
]

RULES = 2
"""Version of the rules by which texts and replies are read: part of all keys that rest on them."""
_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2032": "'"})
_MINUS = str.maketrans({"\u2212": "-"})
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_MARK = "\u0001"
"""Stands for a combining mark while words are found: ``re`` has no class for them."""
_GAP = "\u0002"
"""Stands between words, where a token may begin and end."""
_RUN = re.compile(f"[{UNSPACED}]+")
_COUNTER = re.compile(rf"(\d{_GAP}[{UNSPACED}]{{1,3}}){_GAP}(?=[+-]\d)")
"""A unit behind a number, before another one: what joins them is no sign."""
_DASH = re.compile(
    r"[\u02d7\u2010-\u2015\u2796](?=\d)"
    rf"(?<![^\s(\[{{<>=:;/|~\"'\u201c\u2018\u201e\u00ab\u300c{UNSPACED}].)"
)
"""A dash that is a minus. What stands before it is looked at last: it is seldom there."""
_STICKING = [re.compile(f"[{kind}]{{2}}") for kind in (KATAKANA, HANGUL)]
"""Two letters between which no token begins."""
_WORD = re.compile(
    r"""
    (?<![\w.,\x01])[+-]\d+(?:[.,]\d+)*           # a signed number
    | \d+(?:[.,]\d+)+[\w\x01]*                   # a number with a point or comma in it
    | [\w\x01]+(?:'[\w\x01]+)*(?:\#|\+\+)?(?![\w\x01])
    """,
    re.VERBOSE,
)


def normalise(text: str) -> str:
    """Normal form of a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        NFKC and casefolded, apostrophes straight, without format characters.

    Examples
    --------
    >>> normalise("The Cell\u2019s \ufb01nal WALL")
    "the cell's final wall"
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).translate(_MINUS)
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = _VARIATION.sub("", text).casefold().replace("i\u0307", "i").replace("\u0131", "i")
    return _DASH.sub("-", unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=65536)
def words(text: str) -> tuple[str, ...]:
    """Words of a text, in order, in normal form.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    tuple of str
        The words.

    Examples
    --------
    >>> words("The cell's wall isn't 10.5 mm: use C++.")
    ('the', 'cell', 'wall', "isn't", '10.5', 'mm', 'use', 'c++')
    """
    normal = normalise(text)
    flat = normal
    if not normal.isascii():
        normal = _COUNTER.sub(r"\1", _RUN.sub(rf"{_GAP}\g<0>{_GAP}", normal))
        flat = "".join(_MARK if unicodedata.category(c).startswith("M") else c for c in normal)
    found = (normal[match.start() : match.end()] for match in _WORD.finditer(flat))
    bare = (word.removesuffix("'s").strip("_") for word in found)
    return tuple(word for word in bare if word)


def contains(text: str, token: str) -> bool:
    """Whether a token stands in a text as whole words.

    Parameters
    ----------
    text : str
        Where to look.
    token : str
        One or several words.

    Returns
    -------
    bool
        False for a token without any word.

    Examples
    --------
    >>> contains("An onion has cells.", "ion"), contains("the cell's wall", "Cell")
    (False, True)
    """
    needle, hay = words(token), words(text)
    if not needle:
        return False
    if len(needle) == 1 and (needle[0].isascii() or not _RUN.match(needle[0])):
        return needle[0] in hay
    line, sought = f"{_GAP}{_GAP.join(hay)}{_GAP}", _GAP.join(needle)
    at = line.find(sought)
    while at > 0:
        end = at + len(sought)
        if _parts(line[at - 1 : at + 1]) and _parts(line[end - 1 : end + 1], behind=True):
            return True
        at = line.find(sought, at + 1)
    return False


def _parts(pair: str, *, behind: bool = False) -> bool:
    """Whether a token may end, or begin, between two characters."""
    if _GAP in pair:
        return True
    if not _RUN.fullmatch(pair) or unicodedata.category(pair[1]).startswith("M"):
        return False
    katakana, hangul = (kind.fullmatch(pair) for kind in _STICKING)
    return not katakana and (behind or not hangul)


def hits(tokens: Sequence[Iterable[str]], *texts: str) -> tuple[bool, ...]:
    """Which tokens are hit in at least one of the texts.

    Parameters
    ----------
    tokens : sequence of iterable of str
        Per token its accepted forms.
    *texts : str
        Texts searched one by one: no hit spans two of them.

    Returns
    -------
    tuple of bool
        Per token whether any of its forms occurs.

    Examples
    --------
    >>> hits([["judgment", "judgments"], ["ion"]], "Good judgments.", "An onion.")
    (True, False)
    """
    return tuple(any(contains(text, form) for form in forms for text in texts) for forms in tokens)


def counted(count: float, noun: str) -> str:
    """A number of things, in the singular where there is one.

    Parameters
    ----------
    count : int
        How many.
    noun : str
        What, in the singular.

    Returns
    -------
    str
        The number and the noun.

    Examples
    --------
    >>> counted(1, "lesson"), counted(0, "episode")
    ('1 lesson', '0 episodes')
    """
    return f"{int(count)} {noun}{'' if int(count) == 1 else 's'}"


def shortened(text: str, most: int) -> str:
    """A long name, shortened in the middle: names differ at their ends.

    Parameters
    ----------
    text : str
        A name or id.
    most : int
        Characters that are kept, the mark of the cut among them.

    Returns
    -------
    str
        The text itself where it is short enough.

    Examples
    --------
    >>> shortened("retry-after-a-failed-upload", 11)
    'retry…pload'
    """
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"


def count_tokens(text: str) -> int:
    """Number of o200k tokens of a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        Tokens.

    Examples
    --------
    >>> count_tokens("Wisdom is judgment.")
    5
    """
    # Lone surrogates have no encoding; the replacement keeps the count defined.
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return len(_o200k().encode_ordinary(clean))


@lru_cache(maxsize=1)
def _o200k() -> Encoding:
    with warnings.catch_warnings():
        # Its import calls a function of the standard library that is deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        from bpe_openai import get_encoding
    return get_encoding("o200k_base")
