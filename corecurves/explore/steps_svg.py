"""A small drawing of curves over k, quick enough to be drawn anew with each edit.

A figure of matplotlib takes 100 to 200 ms, most of it for ticks and texts; this takes one.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass

from corecurves.explore.html import shown

__all__ = ["Line", "svg_image", "svg_of"]

_WIDTH, _HEIGHT = 560, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 14, 44, 46
_MOST_TICKS = 9
_INK, _GRID = "#222222", "#dddddd"


@dataclass(frozen=True)
class Line:
    """One curve.

    Parameters
    ----------
    name : str
        For the legend.
    values : tuple of float
        From k = 0 on; NaN where there is no result.
    colour : str
        Of line and marker.
    dashed : bool
        Whether the line is dashed and its markers are hollow squares, larger than the others, so
        that both are seen where curves coincide.
    """

    name: str
    values: tuple[float, ...]
    colour: str
    dashed: bool = False


def svg_of(lines: Sequence[Line], *, title: str, x: str, y: str, top: float, mark: int) -> str:
    """Drawing of curves over k."""
    last = max(1, *(len(line.values) - 1 for line in lines))
    across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at(k: float, value: float) -> tuple[float, float]:
        return (
            round(_LEFT + across * (k + 0.3) / (last + 0.6), 1),
            round(_HEIGHT - _BOTTOM - down * (value + 0.3) / (max(1.0, top) + 0.6), 1),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="DejaVu Sans, Arial, sans-serif" '
        f'font-size="12" fill="{_INK}">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 17, title, "start", "bold"),
    ]
    x0, y0, x1, y1 = _LEFT, _HEIGHT - _BOTTOM, _WIDTH - _RIGHT, _TOP
    marked = at(mark, 0)[0]
    parts.append(f'<rect x="{marked - 7}" y="{y1}" width="14" height="{down}" fill="#e6e6e6"/>')
    for k in _ticks(last):
        here = at(k, 0)[0]
        parts += [_rule(here, y0, here, y1, _GRID), _text(here, y0 + 16, str(k), "middle")]
    for value in _ticks(int(top)):
        here = at(0, value)[1]
        parts += [_rule(x0, here, x1, here, _GRID), _text(x0 - 8, here + 4, str(value), "end")]
    parts += [
        _rule(x0, y0, x1, y0, _INK),
        _rule(x0, y0, x0, y1, _INK),
        _text((x0 + x1) / 2, _HEIGHT - 10, x, "middle"),
        f'<g transform="translate(14 {(y0 + y1) / 2}) rotate(-90)">{_text(0, 0, y, "middle")}</g>',
    ]
    for line in lines:
        parts.append(_curve(line, at, y0))
    right = _WIDTH - _RIGHT
    for line in lines:
        width = 34 + 7 * len(line.name)
        right -= width
        parts.append(_key(line, right))
    return "".join([*parts, "</svg>"])


def svg_image(svg: str, alt: str) -> str:
    """A drawing as a picture, in which nothing can run."""
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return f'<img class="cc" alt="{shown(alt)}" src="data:image/svg+xml;base64,{data}">'


def _curve(line: Line, at: object, floor: float) -> str:
    assert callable(at)
    places = [None if math.isnan(v) else at(k, v) for k, v in enumerate(line.values)]
    path, pen = [], False
    for place in places:
        if place is not None:
            path.append(f"{'L' if pen else 'M'}{place[0]} {place[1]}")
        pen = place is not None
    dash = ' stroke-dasharray="7 5"' if line.dashed else ""
    parts = [
        f'<path d="{" ".join(path)}" fill="none" stroke="{line.colour}" stroke-width="2"{dash}/>'
    ]
    for k, place in enumerate(places):
        if place is None:
            parts.append(_text(at(k, 0)[0], floor - 6, "no result", "middle", size=9))
        else:
            parts.append(_marker(line, *place))
    return "".join(parts)


def _marker(line: Line, x: float, y: float) -> str:
    if line.dashed:
        return (
            f'<rect x="{x - 6}" y="{y - 6}" width="12" height="12" fill="#ffffff" '
            f'stroke="{line.colour}" stroke-width="1.5"/>'
        )
    return f'<circle cx="{x}" cy="{y}" r="4" fill="{line.colour}"/>'


def _key(line: Line, x: float) -> str:
    dash = ' stroke-dasharray="7 5"' if line.dashed else ""
    return (
        f'<path d="M{x} 31h22" stroke="{line.colour}" stroke-width="2"{dash}/>'
        f"{_marker(line, x + 11, 31)}{_text(x + 27, 35, line.name, 'start')}"
    )


def _rule(x0: float, y0: float, x1: float, y1: float, colour: str) -> str:
    return f'<path d="M{x0} {y0}L{x1} {y1}" stroke="{colour}" stroke-width="1"/>'


def _text(
    x: float, y: float, text: str, anchor: str, weight: str = "normal", size: int = 12
) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" '
        f'font-size="{size}">{shown(text)}</text>'
    )


def _ticks(last: int) -> range:
    return range(0, last + 1, max(1, math.ceil((last + 1) / _MOST_TICKS)))
