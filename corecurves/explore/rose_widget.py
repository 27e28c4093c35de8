"""The controls of the rose explorer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ipywidgets

from corecurves.explore.html import paragraphs
from corecurves.explore.layout import columns, distinct, row
from corecurves.explore.rose_cases import Cases
from corecurves.explore.rose_view import (
    RoseState,
    case_html,
    curve_html,
    passed_html,
    transfer_table,
    verdict_html,
)
from corecurves.explore.shell import Explorer
from corecurves.plots.alt import describe_rose
from corecurves.specs import SIMULATED
from corecurves.summaries.rose import summarize_rose

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RoseExplorer"]


class RoseExplorer(Explorer):
    """The explorer that `explore_rose` makes.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval`.
    margin : float
        The margin at first.
    title : str
        What it explores.
    """

    def __init__(self, ds: xr.Dataset, *, margin: float, title: str) -> None:
        super().__init__(title)
        self._cases = Cases(ds)
        self._summary = summarize_rose(ds)
        self._about = describe_rose(self._summary)
        lesson, arm = self._cases.lessons[0], self._cases.arms[0]
        first = self._cases.places(lesson, arm)
        self.state = RoseState(lesson, arm, first[-1].level, margin=margin)
        self._make(ds)
        self._fit()
        self.guarded(lambda: self._draw(curve=True, verdict=True))

    def twin(self) -> str:
        """Figure, verdict, transfer and the chosen case, as they are now."""
        said = paragraphs(SIMULATED if self._summary.attrs.get("simulated") == "yes" else "")
        return "".join(
            [said, self.figure.value, self.judged.value, transfer_table(self._summary),
             paragraphs(f"Chosen: {self.state.lesson}, {self.point.label}"), self.case.value,
             self.apart.value]
        )  # fmt: skip

    def _make(self, ds: xr.Dataset) -> None:
        cases, state = self._cases, self.state
        self.lesson = ipywidgets.Dropdown(
            options=list(cases.lessons), value=state.lesson, description="Lesson",
            tooltip="Whose curve and cases",
        )  # fmt: skip
        self.arm = ipywidgets.Dropdown(
            options=list(cases.arms), value=state.arm, description="Arm",
            tooltip="Whose points stand at the shorter levels",
        )  # fmt: skip
        self.view = ipywidgets.Dropdown(
            options=[("everything", "everything"), ("as the blind grader", "grader")],
            description="View", tooltip="Everything that is known, or what the blind grader sees",
        )  # fmt: skip
        self.point = ipywidgets.ToggleButtons(
            description="Point", tooltips=[], style={"button_width": "auto"},
            tooltip="The point of the curve whose cases are shown",
        )  # fmt: skip
        self.margin = ipywidgets.FloatSlider(
            value=state.margin, min=0.01, max=0.49, step=0.01, description="Margin",
            tooltip="Loss of transfer that still counts as holding",
            layout={"width": "auto", "max_width": "540px"},
        )  # fmt: skip
        self.episode = ipywidgets.Dropdown(
            description="Episode", tooltip="Which case", layout={"width": "auto"}
        )
        self.sample = ipywidgets.IntSlider(
            min=0, max=max(1, ds.sizes["sample"] - 1), description="Sample",
            tooltip="Which repeat of the case",
        )  # fmt: skip
        self.against = ipywidgets.Dropdown(
            options=[("L0", "L0"), ("the level before", "before")], description="Against",
            tooltip="What the text is compared with",
        )  # fmt: skip
        if ds.sizes["sample"] == 1:
            self.sample.layout.display = "none"
        self.figure, self.judged = ipywidgets.HTML(), ipywidgets.HTML()
        self.case = ipywidgets.HTML()
        self.apart = ipywidgets.HTML(passed_html(cases.passed_without()))
        self.fill(
            row(self.lesson, self.arm, self.view),
            columns(
                [self.figure, self.point, self.margin, self.judged],
                [self.episode, row(self.sample, self.against), self.case],
            ),
            self.apart,
        )
        self.watch(self.lesson, lambda lesson: self._set(lesson=lesson, episode=0, sample=0))
        self.watch(self.arm, lambda arm: self._set(arm=arm))
        self.watch(self.point, lambda level: self._set(level=level))
        self.watch(self.view, lambda view: self._set(view=view))
        self.watch(self.against, lambda against: self._set(against=against))
        self.watch(self.episode, lambda episode: self._set(episode=episode))
        self.watch(self.sample, lambda sample: self._set(sample=sample))
        self.watch(self.margin, lambda margin: self._set(margin=margin))

    def _set(self, **changed: Any) -> None:
        before, self.state = self.state, replace(self.state, **changed)
        if changed.keys() & {"lesson", "arm"}:
            self._fit()
        after = self.state
        curve = any(
            getattr(before, name) != getattr(after, name)
            for name in ("lesson", "arm", "level", "margin")
        )
        self._draw(curve=curve, verdict=before.margin != after.margin)

    def _fit(self) -> None:
        """Give the controls what the chosen lesson and arm have."""
        cases, state = self._cases, self.state
        places = cases.places(state.lesson, state.arm)
        episodes = cases.episodes(state.lesson)
        level = state.place(cases).level
        episode = state.episode if state.episode in episodes else min(episodes)
        self.state = replace(state, level=level, episode=episode)
        with self.quietly():
            self.point.options = [(place.label, place.level) for place in places]
            self.point.tooltips = [
                f"{place.name}, {place.arm}: {place.judged} of {place.planned} cells judged"
                for place in places
            ]
            self.point.value = level
            numbers, names = list(episodes), list(episodes.values())
            self.episode.options = [(name, numbers[i]) for name, i in distinct(names)]
            self.episode.value = episode
            self.sample.value = self.state.sample

    def _draw(self, *, curve: bool, verdict: bool) -> None:
        if curve:
            self.figure.value = curve_html(self._summary, self._about, self._cases, self.state)
        if verdict:
            self.judged.value = verdict_html(self._summary, self.state.margin)
        self.case.value = case_html(self._cases, self.state)
