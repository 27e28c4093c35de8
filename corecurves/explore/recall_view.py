"""What the recall explorer shows: the point on its curve, and the lessons lost and gained."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corecurves.explore.html import folded, frame_table, heading, image, paragraphs, table
from corecurves.explore.recall_moved import Limits, curve_of, limits_of
from corecurves.plots.recall import describe_recall, plot_recall
from corecurves.summaries.recall import summarize_recall
from corecurves.summaries.recall_compare import compare_recall
from corecurves.summaries.tables_recall import table_recall

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = [
    "Change",
    "cautions_on",
    "changes",
    "changes_html",
    "curve_summary",
    "draw_point",
    "limits_text",
    "point_html",
    "point_table",
]


@dataclass(frozen=True)
class Change:
    """A lesson that is served in one of two runs alone.

    Parameters
    ----------
    episode, lesson : str
        Where.
    what : {"lost", "gained"}
        Against the other run.
    mattered : str
        ``yes``, ``no``, or ``not known``.
    tokens : int
        Its length.
    decision : str
        Why it is served or not.
    """

    episode: str
    lesson: str
    what: str
    mattered: str
    tokens: int
    decision: str


def limits_text(limits: Limits) -> str:
    """Limits in words."""
    budget = "no budget" if limits.budget is None else f"a budget of {limits.budget} tokens"
    return f"threshold {limits.threshold:g}, {budget}"


def curve_summary(
    ds: xr.Dataset, thresholds: tuple[float, ...], budget: int | None
) -> dict[str, xr.DataArray]:
    """Curve of all thresholds under a budget."""
    summary = summarize_recall(curve_of(ds, thresholds, budget))
    return {str(name): summary[name] for name in summary if str(name).startswith("curve_")}


def point_html(
    summary: xr.Dataset, curve: dict[str, xr.DataArray], baseline: xr.Dataset | None
) -> str:
    """The point on its curve."""
    alt = f"{describe_recall(summary)} At {limits_text(limits_of(summary))}."
    return image(draw_point(summary, curve, baseline), alt)


def draw_point(
    summary: xr.Dataset, curve: dict[str, xr.DataArray], baseline: xr.Dataset | None
) -> Figure:
    """The figure of `point_html`."""
    from matplotlib.figure import Figure

    # Fixed margins: a layout that is computed draws everything several times.
    figure = Figure(figsize=(5.6, 4.4))
    ax = figure.add_axes((0.1, 0.12, 0.84, 0.76))
    plot_recall(summary.assign(curve), ax, baseline=baseline)
    # What was dropped stands in a table of its own here.
    for note in [text for text in ax.texts if text.get_gid() == "beneath"]:
        note.remove()
    return figure


def point_table(summary: xr.Dataset, other: xr.Dataset, name: str) -> str:
    """Precision with recall at the point and in another run, and what the noise costs."""
    frame = table_recall({"here": summary, name: other}).reset_index()
    return frame_table(frame, f"here: {limits_text(limits_of(summary))}")


def cautions_on(here: xr.Dataset, baseline: xr.Dataset) -> list[str]:
    """What makes a comparison hard, and what a gain was bought with."""
    with warnings.catch_warnings():
        # The cautions stand in the attributes too.
        warnings.simplefilter("ignore")
        compared = compare_recall(here, baseline)
    # The lessons that a gain was bought with stand in the table.
    bought = str(compared.attrs["bought"]).rpartition(": ")[0]
    return [*json.loads(str(compared.attrs["cautions"])), *([bought] if bought else [])]


def changes(here: xr.Dataset, other: xr.Dataset) -> list[Change]:
    """Lessons that are lost and gained at a point."""
    episodes = [e for e in here.episode.values if e in set(other.episode.values)]
    lessons = sorted({*map(str, here.lesson.values), *map(str, other.lesson.values)})
    shares = [_served(one, episodes, lessons) for one in (here, other)]
    used = here.used.reindex(lesson=lessons).sel(episode=episodes).values
    tokens = here.lesson_tokens.reindex(lesson=lessons).values
    why = here.decision.isel(sample=0)
    found = []
    for e, i in np.argwhere((shares[0] > 0.5) != (shares[1] > 0.5)).tolist():
        if np.isnan(shares[0][e, i]) or np.isnan(shares[1][e, i]):
            continue
        lesson = lessons[i]
        decision = why.sel(episode=episodes[e], lesson=lesson).item()
        found.append(
            Change(
                str(episodes[e]), lesson, "gained" if shares[0][e, i] > 0.5 else "lost",
                {1.0: "yes", 0.0: "no"}.get(used[e, i], "not known"),
                0 if np.isnan(tokens[i]) else int(tokens[i]), str(decision),
            )
        )  # fmt: skip
    found.sort(key=lambda c: (c.mattered != "yes", c.what, c.episode, c.lesson))
    return found


def changes_html(found: list[Change], cautions: list[str], against: str) -> str:
    """Lessons lost and gained as a table."""
    title = heading(f"Lessons lost and gained, against {against}")
    counts = [
        f"{sum(c.what == what and c.mattered == mattered for c in found)} {what} that {name}"
        for mattered, name in (("yes", "mattered"), ("no", "did not"))
        for what in ("lost", "gained")
    ]
    said = paragraphs(*cautions) + paragraphs("; ".join(counts))
    head = ["", "lesson", "episode", "mattered", "tokens", "decision here"]
    rows = [[c.what, c.lesson, c.episode, c.mattered, c.tokens, c.decision] for c in found]
    first = [row for row in rows if row[3] == "yes"]
    rest = [row for row in rows if row[3] != "yes"]
    return "".join(
        [
            title,
            said,
            table(head, first) if first else "",
            folded(f"{len(rest)} that did not matter", table(head, rest)) if rest else "",
        ]
    )


def _served(ds: xr.Dataset, episodes: list[str], lessons: list[str]) -> np.ndarray:
    """Share of samples in which a lesson is served; NaN where it is not known."""
    wide = ds.kept.reset_coords(drop=True).reindex(lesson=lessons).sel(episode=episodes)
    share: np.ndarray = wide.mean("sample").transpose("episode", "lesson").values
    return share
