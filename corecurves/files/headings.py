"""Headings of a Markdown text."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["headings"]

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<title>.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_CODE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")


def headings(text: str) -> Iterator[str]:
    r"""Headings of a Markdown text, those in code left out.

    Parameters
    ----------
    text : str
        The text.

    Yields
    ------
    str
        Its heading, without the marks.

    Examples
    --------
    >>> list(headings("# One #\n\nText.\n\nTwo\n---\n"))
    ['One', 'Two']
    """
    fence, before = "", ""
    for line in text.split("\n"):
        code = _CODE.match(line)
        if fence or code:
            if not fence and code:
                fence = code["fence"]
            elif code and code["fence"].startswith(fence) and line.strip() == code["fence"]:
                fence = ""
            before = ""
            continue
        heading = _HEADING.fullmatch(line)
        if heading and heading["title"].strip():
            yield heading["title"].strip()
        elif before and _UNDERLINE.fullmatch(line):
            yield before
        before = line.strip()
