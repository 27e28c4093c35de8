"""The controls of the recall explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets

from corecurves.explore.html import paragraphs
from corecurves.explore.layout import columns, distinct
from corecurves.explore.recall_moved import Limits, limits_of, moved, steps_of
from corecurves.explore.recall_view import (
    cautions_on,
    changes,
    changes_html,
    curve_summary,
    point_html,
    point_table,
)
from corecurves.explore.shell import Explorer
from corecurves.specs import SIMULATED
from corecurves.summaries.recall import summarize_recall

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RecallExplorer"]


class RecallExplorer(Explorer):
    """The explorer that `explore_recall` makes.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval`.
    baseline : Dataset or None
        Another run.
    title : str
        What it explores.
    """

    def __init__(self, ds: xr.Dataset, baseline: xr.Dataset | None, *, title: str) -> None:
        super().__init__(title)
        self._ds, self._baseline = ds, baseline
        self._other = summarize_recall(ds if baseline is None else baseline)
        self._curves: dict[int | None, dict[str, xr.DataArray]] = {}
        self._thresholds, self._budgets = steps_of(ds)
        own = limits_of(ds)
        wide = {"width": "auto", "max_width": "540px"}
        self.threshold = ipywidgets.SelectionSlider(
            options=distinct([f"{value:.3g}" for value in self._thresholds]),
            value=self._thresholds.index(own.threshold), description="Threshold",
            tooltip="A score must exceed it to be served", layout=wide,
        )  # fmt: skip
        self.budget = ipywidgets.SelectionSlider(
            options=distinct(["no limit" if b is None else f"{b} tokens" for b in self._budgets]),
            value=self._budgets.index(own.budget), description="Budget",
            tooltip="Most tokens of all lessons that are served together", layout=wide,
        )  # fmt: skip
        self.figure, self.figures = ipywidgets.HTML(), ipywidgets.HTML()
        self.lessons = ipywidgets.HTML()
        self.fill(
            ipywidgets.VBox([self.threshold, self.budget]),
            columns([self.figure], [self.lessons]),
            self.figures,
        )
        self.watch(self.threshold, lambda _: self._draw())
        self.watch(self.budget, lambda _: self._draw())
        self.guarded(self._draw)

    @property
    def limits(self) -> Limits:
        """Where the point is."""
        return Limits(self._thresholds[self.threshold.value], self._budgets[self.budget.value])

    def twin(self) -> str:
        """Figure and tables as they are now."""
        simulated = self._ds.attrs.get("simulated") == "yes"
        said = paragraphs(SIMULATED if simulated else "")
        return f"{said}{self.figure.value}{self.figures.value}{self.lessons.value}"

    def _draw(self) -> None:
        limits, baseline = self.limits, self._baseline
        here = moved(self._ds, limits)
        summary = summarize_recall(here)
        if limits.budget not in self._curves:
            curve = curve_summary(self._ds, self._thresholds, limits.budget)
            self._curves[limits.budget] = curve
        cautions = [] if baseline is None else cautions_on(here, baseline)
        found = changes(here, self._ds if baseline is None else baseline)
        against = "the run as it was" if baseline is None else "the baseline"
        self.lessons.value = changes_html(found, cautions, against)
        name = "as it was" if baseline is None else "baseline"
        self.figures.value = point_table(summary, self._other, name)
        self.figure.value = point_html(
            summary, self._curves[limits.budget], None if baseline is None else self._other
        )
