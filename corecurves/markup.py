"""Pieces of HTML for notebooks: small, self-contained, readable on light and on dark.

A text is escaped unless it is `Html`, which only these functions make: what came from data or from
a model cannot become markup. Styles are inline, because a notebook's page has its own style sheet,
and name no colour of text or ground beside a badge's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from corecurves.names import visible
from corecurves.text import shortened

__all__ = [
    "FIGURES",
    "Html",
    "badge",
    "box",
    "escaped",
    "fold",
    "item_list",
    "pairs",
    "paragraph",
    "printable",
    "short",
    "table",
]

FIGURES = "application/vnd.corecurves.figures+json"
"""Mime type of key figures, a dict of label to text, which the index of a sweep shows."""

_LINE = "rgba(128,128,128,.4)"
_QUIET = "opacity:.75"
_COLOURS = {"good": "#23662f", "bad": "#a3262c", "open": "#8a4b08", "plain": "#4a5362"}
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Html(str):
    """Text that is HTML already.

    Examples
    --------
    >>> paragraph("a < b")
    '<p style="margin:.4em 0">a &lt; b</p>'
    """

    __slots__ = ()


def escaped(part: object) -> Html:
    """A part as HTML: as it is where it is `Html`, else escaped.

    Examples
    --------
    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    if isinstance(part, Html):
        return part
    return Html(html.escape(visible(printable(str(part)))))


def printable(text: str) -> str:
    """A text as a page can hold it: without lone surrogates and control characters."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def short(text: object, most: int = 40) -> Html:
    """A long name, shortened in the middle, whole in its tooltip.

    Examples
    --------
    >>> short("retry-after-a-failed-upload", 11)
    '<span title="retry-after-a-failed-upload">retry…pload</span>'
    """
    whole = str(text)
    if len(whole) <= most:
        return escaped(whole)
    return Html(f'<span title="{escaped(whole)}">{escaped(shortened(whole, most))}</span>')


def paragraph(*parts: object, quiet: bool = False) -> Html:
    """A paragraph.

    Examples
    --------
    >>> paragraph("3 lessons")
    '<p style="margin:.4em 0">3 lessons</p>'
    """
    style = f"margin:.4em 0;{_QUIET}" if quiet else "margin:.4em 0"
    return Html(f'<p style="{style}">{"".join(map(escaped, parts))}</p>')


def badge(text: object, colour: str = "plain") -> Html:
    """A word on a ground of its own.

    Examples
    --------
    >>> "holds" in badge("holds", "good")
    True
    """
    style = f"background:{_COLOURS[colour]};color:#fff;border-radius:4px;padding:.1em .5em"
    return Html(
        f'<span style="{style};white-space:nowrap;print-color-adjust:exact">{escaped(text)}</span>'
    )


def item_list(items: Iterable[object]) -> Html:
    """A bulleted list.

    Examples
    --------
    >>> item_list([])
    ''
    """
    rows = "".join(f"<li>{escaped(item)}</li>" for item in items)
    return Html(f'<ul style="margin:.3em 0;padding-left:1.4em">{rows}</ul>' if rows else "")


def table(header: Sequence[object], rows: Iterable[Sequence[object]], *, most: int = 0) -> Html:
    """A table.

    Examples
    --------
    >>> table(["level"], [["L0"], ["L1"], ["L2"]], most=1).count("<tr>")
    3
    """
    cell = f"padding:.25em .7em;text-align:left;vertical-align:top;border-bottom:1px solid {_LINE}"
    every = list(rows)
    shown = every[:most] if most else every
    top = "".join(f'<th scope="col" style="{cell}">{escaped(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row" style="{cell};font-weight:600">{escaped(row[0])}</th>'
        + "".join(f'<td style="{cell}">{_in_lines(part)}</td>' for part in row[1:])
        + "</tr>"
        for row in shown
    )
    if len(shown) < len(every):
        rest = f"and {len(every) - len(shown)} more"
        body += f'<tr><td colspan="{len(header)}" style="{cell};{_QUIET}">{rest}</td></tr>'
    return Html(
        '<table style="border-collapse:collapse;margin:.5em 0">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


def _in_lines(part: object) -> Html:
    """A part whose line breaks are seen, whatever styles a notebook takes out."""
    return part if isinstance(part, Html) else Html(escaped(part).replace("\n", "<br>"))


def pairs(rows: Iterable[tuple[object, object]]) -> Html:
    """A table of labels and values.

    Examples
    --------
    >>> "seed" in pairs([("seed", 0), ("note", "")])
    True
    """
    cell = "padding:.15em .9em .15em 0;text-align:left;vertical-align:top"
    body = "".join(
        f'<tr><th scope="row" style="{cell};font-weight:normal;{_QUIET}">{escaped(name)}</th>'
        f'<td style="{cell};overflow-wrap:anywhere">{_in_lines(value)}</td></tr>'
        for name, value in rows
        if str(value) != ""
    )
    return Html(
        f'<table style="border-collapse:collapse;margin:.4em 0"><tbody>{body}</tbody></table>'
    )


def fold(summary: object, *parts: object) -> Html:
    """Parts behind a line that opens them.

    Examples
    --------
    >>> fold("text", "a & b").endswith("a &amp; b</div></details>")
    True
    """
    inside = "".join(map(escaped, parts))
    style = "white-space:pre-wrap;overflow-wrap:anywhere;margin:.3em 0 .6em 1em"
    return Html(
        f'<details style="margin:.3em 0"><summary style="cursor:pointer">{escaped(summary)}'
        f'</summary><div style="{style}">{inside}</div></details>'
    )


def box(title: object, *parts: object) -> Html:
    """The frame of one object.

    Examples
    --------
    >>> box("Plan").count("<div")
    2
    """
    inside = "".join(map(escaped, parts))
    return Html(
        f'<div class="tex2jax_ignore mathjax_ignore" style="border:1px solid {_LINE};'
        'border-radius:6px;padding:.6em .9em;margin:.4em 0;max-width:60em">'
        f'<div style="font-weight:600">{escaped(title)}</div>{inside}</div>'
    )
