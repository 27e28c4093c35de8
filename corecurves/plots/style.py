"""What all figures share: one colour, one dash and one marker an arm, readable in grey."""

from __future__ import annotations

import textwrap
import unicodedata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from corecurves.names import visible
from corecurves.plots.fonts import fonts_for
from corecurves.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "NAME",
    "ArmStyle",
    "arm_style",
    "axes_or_new",
    "draw_legend",
    "label",
    "legible",
    "note",
]

NAME = 32
"""Characters of a name that a legend or an axis shows."""


_CHARACTERS = 19
"""Characters of the note's size that fit into an inch."""

_SHOWN = "\u200b"
"""Before a label that begins with an underscore."""

_TOLD: WeakKeyDictionary[Figure, set[str]] = WeakKeyDictionary()
"""Characters that a figure's user was told of."""


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
    """Style of an arm, the same in every figure."""
    return _ARMS.get(arm, ArmStyle("#666666", "-", "x"))


def label(text: object, most: int | None = NAME, *, key: bool = False) -> str:
    """Text of data as a figure shows it: no mathematics, and no character that nobody sees."""
    shown = " ".join(visible(str(text)).split())
    shown = (shown if most is None else shortened(shown, most)).replace("$", r"\$")
    return f"{_SHOWN}{shown}" if key and shown.startswith("_") else shown


def draw_legend(owner: Axes | Figure, *given: Any, **options: Any) -> None:
    """Draw a legend in which names that begin with an underscore stand too."""
    for text in owner.legend(*given, frameon=False, **options).get_texts():
        text.set_text(text.get_text().removeprefix(_SHOWN))


def legible(owner: Axes) -> Axes:
    """Axes whose texts can all be drawn: in a font that has the characters, or as numbers."""
    from matplotlib.text import Text

    figure = owner.get_figure(root=True)
    lacking: set[str] = set()
    for axis in (owner.xaxis, owner.yaxis):
        # An axis writes its ticks anew whenever it is drawn.
        ticks = axis.get_ticklabels()
        names = "".join(tick.get_text() for tick in ticks)
        if ticks and (missing := fonts_for(names, ticks[0].get_fontproperties())[1]):
            lacking |= missing
            shown = [tick.get_text().translate(_numbers(missing)) for tick in ticks]
            axis.set_ticks(axis.get_ticklocs(), labels=shown)
    texts = [] if figure is None else [one for one in figure.findobj(Text) if one.get_text()]
    for text in (one for one in texts if not one.get_text().isascii()):
        families, missing = fonts_for(text.get_text(), text.get_fontproperties())
        text.set_fontfamily(families)
        lacking |= missing
        text.set_text(text.get_text().translate(_numbers(missing)))
    told = _TOLD.setdefault(figure, set()) if figure is not None else set()
    scripts = sorted({unicodedata.name(c, "unnamed").split()[0] for c in lacking - told})
    told |= lacking
    if scripts:
        warnings.warn(
            f"no installed font has the characters of {', '.join(scripts)} in the labels; they "
            "are shown by number: install a font that has them, such as one of Noto's",
            stacklevel=3,
        )
    return owner


def _numbers(chars: set[str]) -> dict[int, str]:
    return {ord(char): char.encode("unicode_escape").decode("ascii") for char in chars}


def axes_or_new(ax: Axes | None, *, height: float = 4.4) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.4, height), layout="constrained")[1]


def note(ax: Axes, *texts: str) -> None:
    """Small lines below the axes that say what the figure is over."""
    # A line wider than its axes would make the layout shrink them.
    inches = ax.get_window_extent().width / ax.figure.dpi
    width = max(20, int(inches * _CHARACTERS))
    lines = "\n".join(textwrap.fill(label(text, None), width) for text in texts)
    ax.annotate(
        lines, (0, 0), xycoords="axes fraction", xytext=(0, -38), textcoords="offset points",
        fontsize="x-small", color="#555555", va="top",
    )  # fmt: skip
