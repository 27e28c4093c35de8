"""Figures of the recall evaluation: precision against recall, with what the noise costs."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError, UsageError
from corecurves.plots.style import axes_or_new, draw_legend, label, legible
from corecurves.summaries.recall import summarize_recall
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["describe_recall", "plot_recall"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_NOISE = "#999999"
_LINE = 0.13
"""Inches that a line beneath the axes takes."""


def plot_recall(
    ds: xr.Dataset | Mapping[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    baseline: xr.Dataset | None = None,
    legend: bool = True,
) -> Axes:
    """Precision against recall, micro, with contours of equal noise.

    Parameters
    ----------
    ds : Dataset, or mapping of str to Dataset
        From `run_recall_eval` or `summarize_recall`; several under labels of their own.
    ax : Axes or None
        Where to draw; None for a new figure.
    baseline : Dataset or None
        Another run or summary, from which an arrow leads to each of the others.
    legend : bool
        Whether to draw the legend.

    Returns
    -------
    Axes
        A point a run, with the intervals of the summary as bars; where a threshold was swept, its
        curve. The grey lines join points with equal noise: lessons kept that were of no use, per
        useful lesson. Beneath stand all lessons that were dropped although they mattered.

    Raises
    ------
    DatasetError
        If one is no recall Dataset.
    UsageError
        If the runs face different candidate sets, or there is none.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False, sweep=True)
    >>> cc.plot_recall(ds).get_ylabel()
    'precision'
    """
    runs = _summaries(ds)
    before = None if baseline is None else _summary(baseline)
    everything = [*runs.values(), *([] if before is None else [before])]
    if len({one.attrs["candidates"] for one in everything}) > 1:
        raise UsageError(
            "served and whole-store runs face different candidate sets; draw them in two figures"
        )
    own = ax is None
    ax = axes_or_new(ax)
    _contours(ax)
    if before is not None:
        _point(ax, before, f"baseline: {before.attrs['selector']}", "#444444", "*")
    for i, (name, one) in enumerate(runs.items()):
        colour, marker = _COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)]
        if "curve_recall" in one:
            drawn = one.curve_precision.notnull() & one.curve_recall.notnull()
            ax.plot(
                one.curve_recall.values[drawn], one.curve_precision.values[drawn], color=colour,
                linewidth=1.0, alpha=0.7, drawstyle="default", gid="curve",
            )  # fmt: skip
        _point(ax, one, name, colour, marker)
        if before is not None:
            _arrow(ax, before, one, colour)
    ax.set_xlim(-0.03, 1.05)
    ax.set_ylim(-0.03, 1.05)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    if legend:
        draw_legend(
            ax, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0),
            ncols=min(3, len(everything)), columnspacing=1.0, handletextpad=0.3,
        )  # fmt: skip
    _beneath(ax, runs, grow=own)
    return legible(ax)


def describe_recall(ds: xr.Dataset | Mapping[str, xr.Dataset]) -> str:
    """Alternative text for the figure of recall runs.

    Parameters
    ----------
    ds : Dataset, or mapping of str to Dataset
        As for `plot_recall`.

    Returns
    -------
    str
        Precision, recall and noise tokens of each run, and how many lessons that mattered it drops.

    Raises
    ------
    DatasetError
        If one is no recall Dataset.
    UsageError
        If there is none.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "serve-all", ledger=False, progress=False)
    >>> cc.describe_recall(ds).split(": ")[0]
    'Precision against recall'
    """
    parts = []
    for name, one in _summaries(ds).items():
        at = one.sel(average="micro")
        digits = 0 if one.attrs["few"] == "yes" else 2
        parts.append(
            f"{name} has precision {float(at.precision):.{digits}f} and recall "
            f"{float(at.recall):.{digits}f} at {float(one.noise_tokens):.0f} noise tokens an "
            f"episode, and drops {counted((one.missed > 0).sum(), 'lesson')} that mattered"
            + (f" ({int(one.missed_undecided)} not known)" if int(one.missed_undecided) else "")
        )
    return f"Precision against recall: {'; '.join(parts)}."


def _summaries(ds: xr.Dataset | Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    if isinstance(ds, Mapping) and not hasattr(ds, "attrs"):
        if not ds:
            raise UsageError("there is no run; give a Dataset of run_recall_eval")
        return {str(name): _summary(one) for name, one in ds.items()}
    one = _summary(ds)  # type: ignore[arg-type]
    return {str(one.attrs["selector"]): one}


def _summary(ds: xr.Dataset) -> xr.Dataset:
    if getattr(ds, "attrs", {}).get("question") != "recall":
        raise DatasetError("a Dataset of run_recall_eval or summarize_recall is needed")
    return in_memory(ds) if ds.attrs.get("summary_of") == "recall" else summarize_recall(ds)


def _contours(ax: Axes) -> None:
    """Lines of equal noise: at recall r and precision p it is r (1 - p) / p a useful lesson."""
    recall = np.linspace(0.001, 1, 200)
    for noise in (0.1, 0.25, 0.5, 1.0, 2.0):
        precision = recall / (recall + noise)
        ax.plot(recall, precision, color=_NOISE, linewidth=0.6, linestyle=(0, (4, 3)), zorder=0,
                gid="noise")  # fmt: skip
        ax.annotate(
            f"{noise:g}", (1.0, float(precision[-1])), xytext=(2, 0), textcoords="offset points",
            fontsize="xx-small", color="#777777", va="center",
        )  # fmt: skip


def _point(ax: Axes, one: xr.Dataset, name: str, colour: str, marker: str) -> None:
    at = one.sel(average="micro")
    x, y = float(at.recall), float(at.precision)
    if np.isnan(x) or np.isnan(y):
        ax.plot([], [], color=colour, marker=marker, linestyle="none",
                label=f"{label(name, key=True)}: no point, nothing is kept")  # fmt: skip
        return
    ends = [np.nan_to_num(b.values, nan=v) for b, v in
            ((at.recall_ci, x), (at.precision_ci, y))]  # fmt: skip
    errors = [
        [[max(0.0, v - float(low))], [max(0.0, float(high) - v)]]
        for v, (low, high) in zip((x, y), ends, strict=True)
    ]
    ax.errorbar(
        x, y, xerr=errors[0], yerr=errors[1], color=colour, marker=marker, markersize=7,
        linestyle="none", elinewidth=0.8, capsize=2, label=label(name, key=True), zorder=3,
    )  # fmt: skip


def _arrow(ax: Axes, before: xr.Dataset, after: xr.Dataset, colour: str) -> None:
    ends = [
        (float(one.recall.sel(average="micro")), float(one.precision.sel(average="micro")))
        for one in (before, after)
    ]
    if np.isnan(ends).any():
        return
    ax.annotate(
        "", ends[1], xytext=ends[0], zorder=2,
        arrowprops={"arrowstyle": "->", "color": colour, "shrinkA": 6, "shrinkB": 6},
    )  # fmt: skip


def _beneath(ax: Axes, runs: Mapping[str, xr.Dataset], *, grow: bool) -> None:
    """What the figure is over, and every lesson dropped that mattered."""
    first = next(iter(runs.values()))
    few = "; a direction, not a decimal place" if first.attrs["few"] == "yes" else ""
    simulated = any(one.attrs.get("simulated") == "yes" for one in runs.values())
    lines = [
        f"{'SIMULATED; ' if simulated else ''}{first.attrs['store']}, "
        f"{first.attrs['candidates']} candidates, {counted(first.episodes_scored, 'episode')}, "
        f"micro{few}; bars: {round(100 * float(first.attrs['ci_prob']))} % intervals; grey: noise "
        "lessons a useful one"
    ]
    for name, one in runs.items():
        at = np.argwhere(one.missed.values > 0).tolist()
        where = [f"{one.lesson.values[j]} in {one.episode.values[i]}" for i, j in at]
        shown = "; ".join(where) if where else "none"
        open_ = int(one.missed_undecided)
        more = f"; not known of {counted(open_, 'lesson')}" if open_ else ""
        lines.append(f"{name} drops what mattered, {len(where)}: {shown}{more}")
    inches = ax.get_window_extent().width / ax.figure.dpi
    wide = max(30, int(inches * 19))
    wrapped = (textwrap.wrap(label(each, None), wide, break_on_hyphens=False) for each in lines)
    text = "\n".join(line for each in wrapped for line in each)
    if grow and (figure := ax.get_figure(root=True)) is not None:
        figure.set_figheight(figure.get_figheight() + _LINE * text.count("\n"))
    ax.annotate(
        text, (0, 0), xycoords="axes fraction", xytext=(0, -38), textcoords="offset points",
        fontsize="x-small", color="#555555", va="top", gid="beneath",
    )  # fmt: skip
