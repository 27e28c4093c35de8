"""Labels of points, each where it crosses no error bar, no curve and no other label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Point", "place_labels"]

_FONT = 8.3
"""Size of the labels in points: x-small of the usual font."""
_FAR = 24
"""Points beyond which a line leads from a label to its point."""


@dataclass(frozen=True)
class Point:
    """A point to be labelled.

    Parameters
    ----------
    text : str
        Its label.
    level : str
        Its level; empty for a line across the axes.
    x, y : float
        Where it stands, in data.
    colour : str
        Colour of the label.
    """

    text: str
    level: str
    x: float
    y: float
    colour: str


def place_labels(
    ax: Axes,
    points: Sequence[Point],
    bars: Sequence[tuple[float, float, float]],
    curve: Sequence[tuple[str, float, float]],
) -> None:
    """Write the labels; the limits of the axes must be set."""
    scale = 72 / ax.figure.dpi

    def in_points(x: Any, y: Any) -> NDArray[np.float64]:
        placed = ax.transData.transform(np.column_stack([np.atleast_1d(x), np.atleast_1d(y)]))
        return np.asarray(placed * scale, dtype=np.float64)

    taken = [
        np.array([*(in_points(x, low)[0] - (3, 2)), *(in_points(x, high)[0] + (3, 2))])
        for x, low, high in bars
    ]
    if len(curve) > 1:
        x, y = np.array([at[1:] for at in curve]).T
        along = np.linspace(0, len(x) - 1, 40 * (len(x) - 1) + 1)
        steps = in_points(*(np.interp(along, np.arange(len(x)), axis) for axis in (x, y)))
        taken += [np.array([*(at - 1.5), *(at + 1.5)]) for at in steps]
    frame = np.asarray(ax.get_window_extent().extents) * scale
    for p in points:
        at = in_points(p.x, p.y)[0]
        across = np.array([frame[0], at[1] - 1, frame[2], at[1] + 1])
        taken.append(np.array([*(at - 4), *(at + 4)]) if p.level else across)
    heights = {level: y for level, _, y in curve}
    for point in points:
        at = in_points(point.x, point.y)[0]
        size = np.array([0.55 * _FONT * len(point.text), 1.15 * _FONT])
        tried = []
        for offset, ha, va in _choices(point.level, heights):
            left = at[0] + offset[0] - {"left": 0, "center": 0.5, "right": 1}[ha] * size[0]
            low = at[1] + offset[1] - {"bottom": 0, "center": 0.5, "top": 1}[va] * size[1]
            box = np.array([left, low, left + size[0], low + size[1]])
            outside = np.maximum(0, frame[:2] - box[:2]).sum()
            outside += np.maximum(0, box[2:] - frame[2:]).sum()
            tried.append((_shared(box, taken) + 100 * outside, offset, ha, va, box))
        # Of those that are equally free the first, which is the nearest.
        _, offset, ha, va, box = min(tried, key=lambda one: round(one[0], 3))
        taken.append(box)
        away = point.level and max(map(abs, offset)) > _FAR
        ax.annotate(
            point.text, (point.x, point.y), xytext=offset, ha=ha, va=va,
            textcoords="offset points", fontsize="x-small", color=point.colour, zorder=6,
            arrowprops={"arrowstyle": "-", "color": point.colour, "linewidth": 0.5, "shrinkB": 4}
            if away else None,
        )  # fmt: skip


def _shared(box: NDArray[np.float64], taken: Sequence[NDArray[np.float64]]) -> float:
    """Area that a label would share with what stands there."""
    every = np.array(taken)
    wide = np.minimum(box[2], every[:, 2]) - np.maximum(box[0], every[:, 0])
    high = np.minimum(box[3], every[:, 3]) - np.maximum(box[1], every[:, 1])
    return float((np.maximum(wide, 0) * np.maximum(high, 0)).sum())


def _choices(level: str, curve: Mapping[str, float]) -> list[tuple[tuple[int, int], str, str]]:
    """Places of a label: first beside its bar, on the side that the curve is not."""
    if not level:
        aside = [dx for away in range(0, 260, 20) for dx in (away, -away)]
        sides = ((-3, "top"), (3, "bottom"))
        return [((dx, up), "center", va) for up, va in sides for dx in aside]
    found = [_beside(level, curve)]
    for away in (6, 12, 20, 30, 42, 56, 72, 90):
        for side, ha in ((away, "left"), (-away, "right")):
            found += [((side, up), ha, va) for up, va in ((6, "bottom"), (-4, "top"))]
            found += [((side, up), ha, va) for up, va in ((away, "bottom"), (-away, "top"))]
        found += [((0, away), "center", "bottom"), ((0, -away), "center", "top")]
    return found


def _beside(level: str, curve: Mapping[str, float]) -> tuple[tuple[int, int], str, str]:
    if level == "none":
        return (6, 6), "left", "bottom"
    names = list(curve)
    at = names.index(level) if level in curve else 0
    if level == "L0":
        # It stands at the right edge, and the curve comes from the left.
        above = not (len(names) > 1 and curve[names[1]] > curve["L0"])
        return (-6, 6 if above else -4), "right", "bottom" if above else "top"
    above = at > 0 and curve[level] > curve[names[at - 1]]
    return (6, 6 if above else -4), "left", "bottom" if above else "top"
