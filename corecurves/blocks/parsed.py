"""What a Markdown parser says of a text, and the lines and pairs that it knows nothing of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["code_of", "headings", "lines_of", "pair_of", "parsed"]

_MARKER = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?"
_PAIR = re.compile(
    rf"{_MARKER}(?P<key>(?:\*\*|__|`)?[^\s:：=`*|#>,;][^:：=`*|,;，；]{{0,40}}?(?:\*\*|__|`)?)"
    r"(?::(?:\*\*|__)?[ \t]+|：(?:\*\*|__)?[ \t]*|[ \t]+=[ \t]+)(?P<value>\S.*)"
)
_LONGEST_KEY = 4
"""Words of a key, at most: more words before a colon are the beginning of a sentence."""


def lines_of(text: str) -> list[str]:
    r"""Lines of a text; CRLF and CR end a line as LF does.

    Examples
    --------
    >>> lines_of("a\r\nb")
    ['a', 'b']
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def headings(text: str) -> Iterator[str]:
    """Headings of a text that are not nested in something else.

    Examples
    --------
    >>> list(headings("# One ##"))
    ['One']
    """
    tokens = parsed("\n".join(lines_of(text)))
    for before, token in pairwise(tokens):
        if before.type == "heading_open" and before.level == 0 and token.content.strip():
            yield " ".join(token.content.split())


def code_of(text: str) -> tuple[list[str], bool]:
    r"""Lines of code in a text, and whether every fence that begins also ends.

    Examples
    --------
    >>> code_of("```\n a\n```"), code_of("- x\n\n~~~\nb")
    ((['a'], True), (['b'], False))
    """
    lines = lines_of(text)
    code: list[str] = []
    whole = True
    for token in parsed("\n".join(lines)):
        if token.type in ("fence", "code_block") and token.map is not None:
            code += [line.strip() for line in token.content.split("\n") if line.strip()]
            if token.type == "fence":
                start, end = token.map
                last = lines[end - 1].strip(" \t>")
                whole &= (
                    end - start > 1
                    and last.startswith(token.markup)
                    and (not last.strip(token.markup[0]))
                )
    return code, whole


def pair_of(line: str) -> tuple[str, str] | None:
    """Key and value of a line that has the form ``key: value`` or ``key = value``.

    Examples
    --------
    >>> pair_of("- **Orange**: #d97757"), pair_of("Keep one thing in mind always: wait.")
    (('Orange', '#d97757'), None)
    """
    match = _PAIR.fullmatch(line.rstrip())
    if match is None or len(match["key"].split()) > _LONGEST_KEY:
        return None
    return match["key"].strip("*_`"), match["value"].strip()


@lru_cache(maxsize=64)
def parsed(text: str) -> list[Token]:
    """Tokens of a Markdown text, with the rows of a table's head told from its others."""
    tokens = _parser().parse(text)
    head = False
    for token in tokens:
        head = token.type == "thead_open" or (head and token.type != "thead_close")
        if head and token.type == "tr_open":
            token.type = "head_row_open"
    return tokens


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
