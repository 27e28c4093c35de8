"""What all figures share: one colour, one dash and one marker an arm, readable in grey."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corecurves.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["NAME", "ArmStyle", "arm_style", "axes_or_new", "beside_curve", "label", "note"]

NAME = 32
"""Characters of a name that a legend or an axis shows."""


_CHARACTERS = 19
"""Characters of the note's size that fit into an inch."""


@dataclass(frozen=True)
class ArmStyle:
    """How an arm is drawn.

    Parameters
    ----------
    colour : str
        From the palette of Okabe and Ito, which colour-blind readers can tell apart; the arms also
        differ in lightness.
    dash : str or tuple
        Line style of matplotlib.
    marker : str
        Marker of matplotlib.
    """

    colour: str
    dash: str | tuple[int, tuple[int, ...]]
    marker: str


_ARMS = {
    "taught": ArmStyle("#0072B2", "-", "o"),
    "treatment": ArmStyle("#0072B2", "-", "o"),
    "control": ArmStyle("#D55E00", (0, (4, 2)), "s"),
    "ceiling": ArmStyle("#000000", (0, (1, 1)), "^"),
    "placebo": ArmStyle("#CC79A7", (0, (3, 1, 1, 1)), "D"),
    "scrambled": ArmStyle("#56B4E9", (0, (5, 1)), "v"),
    "truncation": ArmStyle("#009E73", (0, (2, 2)), "P"),
}


def arm_style(arm: str) -> ArmStyle:
    """Style of an arm, the same in every figure.

    Parameters
    ----------
    arm : str
        Name of the arm.

    Returns
    -------
    ArmStyle
        Grey for an arm of another name.
    """
    return _ARMS.get(arm, ArmStyle("#666666", "-", "x"))


def label(text: object, most: int | None = None) -> str:
    """Text that a figure shows as it is: no mathematics, no character that cannot be drawn.

    Parameters
    ----------
    text : object
        Any text.
    most : int, optional
        Characters of a name that are kept; longer ones are shortened in the middle.

    Returns
    -------
    str
        With dollar signs escaped, in one line.
    """
    shown = " ".join(str(text).encode("utf-8", "replace").decode("utf-8").split())
    shown = shown.replace("\x00", "?")
    return (shown if most is None else shortened(shown, most)).replace("$", r"\$")


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure.

    Parameters
    ----------
    ax : Axes or None
        Where to draw.

    Returns
    -------
    Axes
        A new figure's axes where none were given.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, 4.4), layout="constrained")[1]


def note(ax: Axes, *texts: str) -> None:
    """Small lines below the axes that say what the figure is over.

    Parameters
    ----------
    ax : Axes
        The axes.
    *texts : str
        The lines; those wider than the axes are wrapped.
    """
    # A line wider than its axes would make the layout shrink them.
    inches = ax.get_window_extent().width / ax.figure.dpi
    width = max(20, int(inches * _CHARACTERS))
    lines = "\n".join(textwrap.fill(label(text), width) for text in texts)
    ax.annotate(
        lines, (0, 0), xycoords="axes fraction", xytext=(0, -38), textcoords="offset points",
        fontsize="x-small", color="#555555", va="top",
    )  # fmt: skip


def beside_curve(
    level: str, curve: Mapping[str, float], *, away: int
) -> tuple[tuple[int, int], str, str]:
    """Where the label of a level stands: beside its bar, on the side that the curve is not.

    Parameters
    ----------
    level : str
        The level; ``none`` for no lesson, ``L0`` for the full one.
    curve : mapping of str to float
        Transfer by level, from L0 to the shortest, which stand from right to left.
    away : int
        Distance from the bar, in points; larger where other bars stand beside it.

    Returns
    -------
    tuple of int, str, str
        Offset in points, horizontal and vertical alignment.

    Examples
    --------
    >>> beside_curve("L1", {"L0": 0.9, "L1": 0.5}, away=6)
    ((6, -4), 'left', 'top')
    """
    if level == "none":
        return (6, 6), "left", "bottom"
    names = list(curve)
    at = names.index(level) if level in curve else 0
    if level == "L0":
        # It stands at the right edge, and the curve comes from the left.
        above = not (len(names) > 1 and curve[names[1]] > curve["L0"])
        return (-6, 6 if above else -4), "right", "bottom" if above else "top"
    above = at > 0 and curve[level] > curve[names[at - 1]]
    return (away, 6 if above else -4), "left", "bottom" if above else "top"
