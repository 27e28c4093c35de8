"""What the rose explorer shows: the curve with the chosen point, its case, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from corecurves.canonical import JSON
from corecurves.explore.html import (
    boxed,
    facts,
    folded,
    frame_table,
    heading,
    image,
    paragraphs,
    struck,
    table,
)
from corecurves.explore.rose_cases import Cases, Place
from corecurves.plots.rose import plot_rose
from corecurves.plots.style import draw_legend, label, legible
from corecurves.summaries.tables_rose import table_rose
from corecurves.summaries.verdict import verdict

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = [
    "RoseState",
    "case_html",
    "curve_html",
    "draw_curve",
    "passed_html",
    "transfer_table",
    "verdict_html",
]

_LESSON, _CHOSEN = "#E69F00", "#D55E00"
_OTHER = {
    "placebo": "text of another family, cut or joined to the level's length",
    "scrambled": "the level's own words in random order",
    "truncation": "the first words of L0, to the level's length",
}


@dataclass(frozen=True)
class RoseState:
    """What is chosen.

    Parameters
    ----------
    lesson, arm : str
        Whose curve.
    level : str
        Which point of it.
    episode, sample : int
        Which case.
    view : {"everything", "grader"}
        Everything that is known, or what the blind grader sees.
    against : {"L0", "before"}
        With which level a text is compared.
    margin : float
        Loss that still counts as holding.
    """

    lesson: str
    arm: str
    level: str
    episode: int = 0
    sample: int = 0
    view: Literal["everything", "grader"] = "everything"
    against: Literal["L0", "before"] = "L0"
    margin: float = 0.1

    def place(self, cases: Cases) -> Place:
        """The chosen point, or the first where the lesson has no such level."""
        places = cases.places(self.lesson, self.arm)
        return next((place for place in places if place.level == self.level), places[0])


def curve_html(summary: xr.Dataset, about: str, cases: Cases, state: RoseState) -> str:
    """The curve of all lessons, and on it that of the chosen one with the chosen point."""
    points = ", ".join(place.label for place in cases.places(state.lesson, state.arm))
    alt = (
        f"{about} The lesson {state.lesson}, {state.arm}: {points}. Marked: "
        f"{state.place(cases).name}. Margin: {state.margin:.2f}."
    )
    return image(draw_curve(summary, cases, state), alt)


def draw_curve(summary: xr.Dataset, cases: Cases, state: RoseState) -> Figure:
    """The figure of `curve_html`."""
    from matplotlib.figure import Figure

    # Fixed margins: a layout that is computed draws everything several times.
    figure = Figure(figsize=(5.6, 4.4))
    ax = plot_rose(summary, figure.add_axes((0.1, 0.21, 0.86, 0.6)), margin=state.margin)
    chosen = state.place(cases)
    known = [p for p in cases.places(state.lesson, state.arm) if not np.isnan(p.transfer)]
    curve = [p for p in known if p.level != "none"]
    alone = [p for p in known if p.level == "none"]
    for points, name, line in ((curve, "this lesson", "-"), (alone, None, "none")):
        ax.plot(
            [cases.tokens(state.lesson, p) for p in points], [p.transfer for p in points],
            color=_LESSON, linewidth=1.2, linestyle=line, marker="d", markersize=6, zorder=4,
            label=name, gid="lesson",
        )  # fmt: skip
    if chosen in known:
        ax.plot(
            cases.tokens(state.lesson, chosen), chosen.transfer, "o", markersize=15,
            markerfacecolor="none", markeredgecolor=_CHOSEN, markeredgewidth=2, zorder=5,
            gid="chosen",
        )  # fmt: skip
    draw_legend(
        ax, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4,
        columnspacing=1.0, handletextpad=0.3, title=label(state.lesson), title_fontsize="small",
    )  # fmt: skip
    legible(ax)
    return figure


def verdict_html(summary: xr.Dataset, margin: float) -> str:
    """The verdict under a margin, in sentences."""
    found = verdict(summary, margin=margin)
    first, *rest = str(found).splitlines()
    about = (" ".join(line.split()) for line in rest)
    rows = [[one.level, one.verdict] for one in found.levels]
    shorter = {*map(str, summary.level.values)} - {"none", "L0"}
    without = "No shorter level can be set against L0." if shorter else "There is no shorter level."
    levels = table(["level", "verdict"], rows) if rows else paragraphs(without)
    title = heading(f"Verdict at a margin of {margin:.2f}")
    return title + paragraphs(first) + levels + folded("Why", paragraphs(*about))


def case_html(cases: Cases, state: RoseState) -> str:
    """The case behind the chosen point."""
    place = state.place(cases)
    case = cases.case(state.lesson, place, state.episode, state.sample)
    parts = [heading("Task") + boxed(case.task or "not recorded"), _outcome_html(case.outcome),
             heading("Candidate") + boxed(case.candidate)]  # fmt: skip
    if state.view == "grader":
        return "".join([paragraphs("What the blind grader sees, and nothing else:"), *parts])
    about = {"verdict": case.verdict, "reason": case.reason or "none", **case.about}
    return "".join([_lesson_html(cases, state, place), *parts, heading("Grade"), facts(about)])


def passed_html(rows: Sequence[Sequence[str]]) -> str:
    """Cases that the control passed, apart from the others."""
    title = heading("Cases that pass without a lesson: they measure the model, not the lesson")
    if not rows:
        return title + paragraphs("None: no case passes without a lesson in half of its samples.")
    return title + table(["lesson", "episode", "samples passed", "task"], rows)


def transfer_table(summary: xr.Dataset) -> str:
    """Transfer of all arms and levels, the control first."""
    return frame_table(table_rose(summary).reset_index(), "Transfer, all lessons")


def _lesson_html(cases: Cases, state: RoseState, place: Place) -> str:
    if place.level == "none":
        return heading("Lesson") + paragraphs("No lesson was served: this is the control.")
    served = cases.served(state.lesson, place)
    if served is None:
        return heading("Lesson") + paragraphs(
            f"{_OTHER.get(place.arm, place.arm)}; the text is not in this Dataset."
        )
    if place.arm not in ("ceiling", "treatment"):
        said = f"Served in the arm {place.arm}: {_OTHER.get(place.arm, 'another text')}"
        return heading(said) + boxed(served)
    other = cases.longer(state.lesson, place.level, state.against)
    if other == place.level:
        return heading(f"Lesson at {place.level}") + boxed(served)
    text = struck(cases.level_text(state.lesson, other), served)
    claims = cases.text("dropped", concept=state.lesson, level=place.level)
    planted = cases.text("planted", concept=state.lesson, level=place.level)
    return (
        heading(f"Lesson at {place.level}; struck through: what {other} said besides")
        + f'<div class="cc-text" tabindex="0">{text}</div>'
        + paragraphs(f"Dropped, as recorded: {claims}" if claims else "",
                     f"Planted by hand: {planted}" if planted else "")
    )  # fmt: skip


def _outcome_html(outcome: Mapping[str, JSON] | None) -> str:
    title = heading("Known-good outcome")
    if outcome is None:
        return title + paragraphs("Not recorded in this Dataset.")
    names = {"good": "good", "trap": "trap", "must": "must hold", "must_not": "must not hold"}
    found: dict[str, object] = {}
    for key, name in names.items():
        texts = outcome.get(key)
        if isinstance(texts, list) and texts:
            found[name] = "\n".join(map(str, texts))
    return title + facts(found)
