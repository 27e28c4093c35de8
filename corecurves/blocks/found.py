"""Blocks of a Markdown text: what stands or falls together, by its lines.

A fence, an indented code block, an HTML block with all that it encloses, a table's row, an item of
a list with its nested lines, a block quote, front matter and a line ``key: value`` are one block
each; so is a paragraph, which alone is prose. A block is *under* those without which it means
nothing: its headings, the table's head, and the line with a colon at its end that leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from corecurves.blocks.parsed import lines_of, pair_of, parsed

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["Block", "blocks"]

_FRONT = re.compile(r"(?s)\A(---|\+\+\+)[ \t]*\n[^\n]*[:=].*?\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)")
_LABEL = re.compile(r" {0,3}(\*\*|__)(?:(?!\1).)*[^.!?。！？]\1:?\s*")
_SIGN = re.compile(r"\s*[^\w\s\x00-\x7f“‘„«‹¡¿「『（【《〈—–…−]")
_HARD = re.compile(r"(?: {2,}|\\)\Z")
_ENDS = re.compile(r"[.!?:;。！？：；][\"'”’)*_`]*\s*\Z")
_GOES_ON = re.compile(r"[.!?][\"'”’)*_`]*\s+\S|[。！？]\s*\S")
_LEADS = re.compile(r"[:：][*_\s]*\Z")
_TAG = re.compile(r"<!--.*?-->|<(/?)([A-Za-z][\w-]*)[^>]*?(/?)>", re.DOTALL)
_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    )
)


@dataclass(frozen=True)
class Block:
    """Lines that stand or fall together.

    Parameters
    ----------
    kind : str
        ``prose``, ``heading``, ``head`` (of a table), ``row``, ``item``, ``pair``, ``html``,
        ``rule`` or ``other``.
    start, end : int
        Its lines, the end left out.
    group : int
        Line where the list, table or paragraph that it is of begins.
    under : tuple of int
        Numbers of the blocks without which it means nothing.
    opens : bool
        Whether there are blocks under it, without all of which it says nothing.
    """

    kind: str
    start: int
    end: int
    group: int
    under: tuple[int, ...] = ()
    opens: bool = False


def blocks(text: str) -> list[Block]:
    r"""Blocks of a Markdown text.

    Examples
    --------
    >>> [(block.kind, block.under) for block in blocks("# Ports\n\nThese:\n- dev: 1\n- live: 2")]
    [('heading', ()), ('prose', (0,)), ('item', (0, 1)), ('item', (0, 1))]
    """
    lines = lines_of(text)
    found = [part for block in _enclosed(_top(lines), lines) for part in _parts(block, lines)]
    placed: list[Block] = []
    above: list[tuple[int, int]] = []
    lead = led = head = -1
    for number, block in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        depth = _depth(block, following, lines)
        if depth:
            above = [(d, n) for d, n in above if d < depth]
        if depth or block.group != led:
            lead = -1
        under = {n for _, n in above}
        if lead >= 0:
            under |= {lead, *placed[lead].under}
        if block.kind == "row":
            under.add(head)
        placed.append(replace(block, under=tuple(sorted(under))))
        if depth:
            above.append((depth, number))
        elif block.kind == "head":
            head = number
        elif following is not None and _leads(block, following, lines):
            lead, led = number, following.group
    openers = {number for block in placed for number in block.under}
    return [replace(block, opens=number in openers) for number, block in enumerate(placed)]


def _top(lines: list[str]) -> Iterator[Block]:
    """Blocks on the outermost level; lists and tables are parted, paragraphs are not."""
    text = "\n".join(lines)
    front = _FRONT.match(text)
    done = front[0].count("\n") + (not front[0].endswith("\n")) if front else 0
    if front:
        yield Block("other", 0, done, 0)
        text = "\n" * done + "\n".join(lines[done:])
    group = 0
    for token in parsed(text):
        kind = _kind(token)
        if token.map is None or not kind:
            continue
        start, end = token.map
        if kind == "group":
            group = start
            continue
        end += kind == "head"  # The line of dashes is the head's, too.
        while end > start and not lines[end - 1].strip():
            end -= 1
        yield from _rest(lines, done, start)
        inside = kind in ("item", "row", "head")
        yield Block(kind, start, end, group if inside else start)
        done = end
    yield from _rest(lines, done, len(lines))


def _kind(token: Token) -> str:
    if token.level == 0:
        if token.type in ("bullet_list_open", "ordered_list_open", "table_open"):
            return "group"
        if token.nesting < 0:
            return ""
        named = {"paragraph_open": "prose", "heading_open": "heading", "html_block": "html",
                 "hr": "rule"}  # fmt: skip
        return named.get(token.type, "other")
    if token.level == 1:
        return {"list_item_open": "item", "thead_open": "head"}.get(token.type, "")
    return "row" if (token.level, token.type) == (2, "tr_open") else ""


def _rest(lines: list[str], start: int, end: int) -> Iterator[Block]:
    """Lines that the parser makes nothing of, as definitions of links."""
    for number in range(start, end):
        if lines[number].strip():
            yield Block("other", number, number + 1, start)


def _enclosed(found: Iterator[Block], lines: list[str]) -> Iterator[Block]:
    """The same, with what stands between the tags of an HTML block taken into it."""
    waiting: list[Block] = []
    still = 0
    for block in found:
        if waiting or block.kind == "html":
            waiting.append(block)
            if block.kind == "html":
                still += _opened("\n".join(lines[block.start : block.end]))
            if still <= 0:
                yield replace(waiting[0], end=block.end)
                waiting, still = [], 0
        else:
            yield block
    yield from waiting  # A tag that nothing ends encloses nothing.


def _opened(html: str) -> int:
    found = 0
    for closing, name, alone in _TAG.findall(html):
        if name and not alone and name.lower() not in _VOID:
            found += -1 if closing else 1
    return found


def _parts(block: Block, lines: list[str]) -> Iterator[Block]:
    """A paragraph parted at hard breaks, before signs as ✅, and before lines ``key: value``."""
    if block.kind != "prose":
        yield block
        return
    start = block.start
    for number in range(block.start + 1, block.end + 1):
        before = lines[number - 1]
        if number < block.end and not (
            _HARD.search(before)
            or _SIGN.match(lines[number])
            or _LABEL.fullmatch(before)
            or (pair_of(lines[number]) and (pair_of(before) or _ENDS.search(before)))
        ):
            continue
        text = "\n".join(lines[start:number])
        is_pair = pair_of(text.split("\n")[0]) and not _GOES_ON.search(text)
        kind = "pair" if is_pair or _SIGN.match(text) else "prose"
        yield replace(block, kind=kind, start=start, end=number)
        start = number


def _depth(block: Block, following: Block | None, lines: list[str]) -> int:
    """Depth of a heading, below all others that of a line in bold that stands for one; else 0."""
    if block.kind == "heading":
        line = lines[block.start].strip()
        if line.startswith("#") and block.end - block.start == 1:
            return len(line) - len(line.lstrip("#"))
        return 1 if lines[block.end - 1].strip().startswith("=") else 2
    bold = block.kind in ("prose", "pair") and block.end - block.start == 1
    if bold and following is not None and following.group != block.group:
        line = lines[block.start]
        return 7 if _LABEL.fullmatch(line) and not _LEADS.search(line) else 0
    return 0


def _leads(block: Block, following: Block, lines: list[str]) -> bool:
    """Whether a block says nothing but what comes next."""
    if following.kind == "heading" or block.kind not in ("prose", "pair", "item", "html"):
        return False
    if block.kind == "item" and following.group == block.group:
        return False
    close = following.start == block.end and following.kind not in ("prose", "pair")
    if block.kind == "html":
        return close and lines[block.start].lstrip().startswith("<!--")
    last = lines[block.end - 1]
    label = block.kind == "prose" and (close or _LABEL.fullmatch(last))
    return bool(label or _LEADS.search(last))
