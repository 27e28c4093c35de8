"""What lexical retrieval rests on: the words of a text, and BM25 over them."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from corecurves.errors import UsageError
from corecurves.scripts import ALPHABETIC, grams
from corecurves.text import counted, words

__all__ = ["bm25_index", "bm25s", "content_words", "unread"]

_ALPHABETIC = re.compile(f"[{ALPHABETIC}]")


def bm25s() -> ModuleType:
    """The library that scores, loaded when it is first needed."""
    first = "bm25s" not in sys.modules
    try:
        library = import_module("bm25s")
    except ImportError:
        raise UsageError(
            "lexical retrieval needs bm25s; install it with: pip install 'corecurves[recall]'"
        ) from None
    if first:
        # Its import turns its own debug messages on, two a turn; the user's level decides again.
        logging.getLogger("bm25s").setLevel(logging.NOTSET)
    return library


def content_words(text: str) -> list[str]:
    """Words of a text, without bm25s's English stop words; see also `corecurves.scripts.grams`.

    Examples
    --------
    >>> content_words("Rinse the cups with hot water.")
    ['rinse', 'cups', 'hot', 'water']
    """
    stop = _stop_words()
    return [part for word in words(text) if word not in stop for part in grams(word)]


def unread(texts: Iterable[str]) -> str:
    """What lexical retrieval cannot read in texts.

    Examples
    --------
    >>> unread(["Rinse the cups.", "\U0001f44d"])
    'it finds no word to compare in 1 text'
    """
    found = list(texts)
    blank = sum(not content_words(text) for text in found)
    said = []
    if any(_ALPHABETIC.search(text) for text in found):
        said.append(
            "it knows no words of Thai, Lao, Khmer or Burmese and compares groups of letters"
        )
    if blank:
        said.append(f"it finds no word to compare in {counted(blank, 'text')}")
    return "; ".join(said)


def bm25_index(bags: Sequence[list[str]], *, k1: float, b: float) -> Any:
    """Index of texts, each given by its words."""
    if not any(bags):
        return None
    index = bm25s().BM25(k1=k1, b=b)
    index.index(list(bags), show_progress=False)
    return index


@lru_cache(maxsize=1)
def _stop_words() -> frozenset[str]:
    return frozenset(bm25s().stopwords.STOPWORDS_EN)
