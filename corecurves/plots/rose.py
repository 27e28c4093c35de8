"""Figures of the rose evaluation; each draws what `summarize_rose` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError, UsageError, unknown
from corecurves.plots.labels import Point, place_labels
from corecurves.plots.style import arm_style, axes_or_new, draw_legend, label, legible, note
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.rose_leaks import leaks_line
from corecurves.summaries.tables_rose import planted_line, silent_places, without_result
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["plot_arms", "plot_lessons", "plot_rose"]

_DODGE = {"placebo": -1.0, "scrambled": 1.0, "truncation": 2.0, "inverted": -2.0, "deletion": 3.0}
"""Arms of one level have one length: they are drawn side by side, in steps of their own."""
_STEP = 0.025
"""Such a step: a share of the width, and less where another level is near."""


def plot_rose(
    ds: xr.Dataset,
    ax: Axes | None = None,
    *,
    kinds: str | list[str] = "all",
    margin: float = 0.1,
    legend: bool = True,
) -> Axes:
    """Transfer against tokens, a point a level.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` or `summarize_rose`.
    ax : Axes or None
        Where to draw; None for a new figure.
    kinds : str or list of str
        Kind of lesson to draw: ``"all"`` or one of the bench's.
    margin : float
        Loss of transfer that still counts as holding; drawn below the ceiling.
    legend : bool
        Whether to draw the legend.

    Returns
    -------
    Axes
        The levels joined in order, from the ceiling L0 on; the control at 0 tokens; the other arms
        beside their level. Bars are the intervals of the summary; the small figures are lessons.

    Raises
    ------
    DatasetError
        If `ds` is no rose Dataset.
    UsageError
        If there are no lessons of this kind.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.plot_rose(ds).get_ylabel()
    'transfer'
    """
    summary = _summary(ds)
    kind = _kind(summary, kinds)
    ax = axes_or_new(ax)
    one = summary.sel(kind=kind)
    arms = [str(arm) for arm in one.arm.values]
    ceiling = "ceiling" in arms and "L0" in one.level.values
    drawn = one.sel(level=one.drawn.values | (one.level.values == "L0"))
    curve: list[tuple[str, float, float]] = []
    if "treatment" in arms:
        line = drawn.transfer.sel(arm="treatment").values.copy()
        tokens = drawn.tokens.sel(arm="treatment").values.copy()
        if ceiling:
            line[0] = drawn.transfer.sel(arm="ceiling", level="L0")
            tokens[0] = drawn.tokens.sel(arm="ceiling", level="L0")
        points = zip(map(str, drawn.level.values), tokens.tolist(), line.tolist(), strict=True)
        curve = [point for point in points if not np.isnan(point[1:]).any()]
        style = arm_style("treatment")
        ax.plot(tokens, line, color=style.colour, linestyle=style.dash, linewidth=1.4, zorder=2)
    main = ("treatment", "ceiling", "control")
    bars: list[tuple[float, float, float]] = []
    named: list[Point] = []
    seen: set[str] = set()
    for arm in arms:
        style, over = arm_style(arm), 3 if arm in main else 4
        here = one.sel(arm=arm)
        for level in _levels_of(arm, one):
            point = here.sel(level=level)
            y, x = float(point.transfer), float(point.tokens)
            if np.isnan(y) or np.isnan(x):
                continue
            low, high = point.transfer_ci.values
            x += _DODGE.get(arm, 0.0) * _step(one, level)
            # Hollow and above: where an arm passes what the treatment passes, both are seen.
            ax.errorbar(
                x, y, yerr=[[max(0.0, y - low)], [max(0.0, high - y)]], color=style.colour,
                marker=style.marker, markersize=6 if arm in ("treatment", "ceiling") else 5,
                markerfacecolor=style.colour if arm in main else "white", zorder=over,
                linestyle="none", elinewidth=0.9, capsize=2,
                label=None if arm in seen else label(arm, key=True),
            )  # fmt: skip
            seen.add(arm)
            bars.append((x, min(low, y), max(high, y)))
            if arm in main:
                name = label(level if level != "none" else "no lesson")
                text = f"{name}, n={int(point.transfer_n)}"
                named.append(Point(text, level, x, y, style.colour))
    if ceiling and legend:
        top = float(one.transfer.sel(arm="ceiling", level="L0"))
        ax.axhline(top - margin, color="#888888", linewidth=0.8, linestyle=(0, (6, 3)))
        middle = np.nan_to_num(float(one.tokens.max())) / 2
        said = f"ceiling − margin {margin:g}"
        named.append(Point(said, "", middle, top - margin, "#666666"))
    ax.margins(x=0.1)
    ax.set_ylim(-0.05, 1.08)
    place_labels(ax, named, bars, curve)
    ax.set_xlabel("tokens served (o200k)")
    ax.set_ylabel("transfer")
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if kind != "all":
        ax.set_title(label(kind))
    if legend:
        draw_legend(ax, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0),
                    ncols=len(arms), columnspacing=1.0, handletextpad=0.3)  # fmt: skip
        note(ax, _what(summary))
    return legible(ax)


def plot_arms(ds: xr.Dataset, ax: Axes | None = None, *, kinds: str | list[str] = "all") -> Axes:
    """Transfer of every arm and level, one below the other, the control first.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` or `summarize_rose`.
    ax : Axes or None
        Where to draw; None for a new figure.
    kinds : str or list of str
        Kind of lesson to draw.

    Returns
    -------
    Axes
        A dot and an interval a row.

    Raises
    ------
    DatasetError
        If `ds` is no rose Dataset.
    UsageError
        If there are no lessons of this kind.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.plot_arms(ds).get_yticklabels()[0].get_text()
    'no lesson: control'
    """
    summary = _summary(ds)
    one = summary.sel(kind=_kind(summary, kinds))
    rows = []
    for level in one.level.values:
        for arm in one.arm.values:
            point = one.sel(level=level, arm=arm)
            if not np.isnan(float(point.transfer)):
                rows.append((str(level), str(arm), point))
    rows.sort(key=lambda row: (row[0] != "none", row[0]))
    ax = axes_or_new(ax, height=max(4.4, 1.2 + 0.2 * len(rows)))
    for y, (_, arm, point) in enumerate(rows):
        style = arm_style(arm)
        x = float(point.transfer)
        low, high = point.transfer_ci.values
        ax.errorbar(
            x, y, xerr=[[max(0.0, x - low)], [max(0.0, high - x)]], color=style.colour,
            marker=style.marker, linestyle="none", capsize=2,
        )  # fmt: skip
    ax.set_yticks(
        range(len(rows)),
        [
            f"{'no lesson' if level == 'none' else label(level, 16)}: {label(arm, 16)}"
            for level, arm, _ in rows
        ],
        fontsize="small",
    )
    ax.invert_yaxis()
    ax.set_xlim(-0.03, 1.03)
    ax.set_xlabel("transfer")
    ax.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    note(ax, _what(summary))
    return legible(ax)


def plot_lessons(ds: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Heat map of transfer, a row a lesson, a column a level.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval` or `summarize_rose`.
    ax : Axes or None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes
        The control first, then the ceiling and each level. Empty cells were not judged; a dot marks
        a level whose loss was planted by hand.

    Raises
    ------
    DatasetError
        If `ds` is no rose Dataset.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> [tick.get_text() for tick in cc.plot_lessons(ds).get_xticklabels()][:2]
    ['no lesson', 'L0']
    """
    import matplotlib.pyplot as plt

    summary = _summary(ds)
    columns = [
        (str(level), arm)
        for level in summary.level.values
        for arm in ("control", "ceiling", "treatment")
        if arm in summary.arm.values and level in _levels_of(arm, summary)
    ]
    lessons = [str(name) for name in summary.concept.values]
    grid = np.stack(
        [summary.lesson_transfer.sel(level=level, arm=arm).values for level, arm in columns], axis=1
    )
    order = np.argsort(np.nan_to_num(grid[:, 1:].mean(axis=1)))
    if ax is None:
        height = 1.4 + 0.2 * len(lessons)
        ax = plt.subplots(figsize=(5.4, height), layout="constrained")[1]
    image = ax.imshow(grid[order], aspect="auto", cmap="cividis", vmin=0, vmax=1)
    names = ["no lesson" if level == "none" else label(level, 12) for level, _ in columns]
    ax.set_xticks(range(len(columns)), names)
    ax.set_yticks(range(len(lessons)), [label(lessons[i]) for i in order], fontsize="x-small")
    if "planted" in summary:
        for y, i in enumerate(order):
            for x, (level, _) in enumerate(columns):
                if str(summary.planted.sel(level=level).values[i]):
                    ax.plot(x, y, ".", color="#D55E00", markersize=5)
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(image, ax=ax, label="transfer", shrink=0.6)
    return legible(ax)


def _summary(ds: xr.Dataset) -> xr.Dataset:
    if getattr(ds, "attrs", {}).get("question") != "rose":
        raise DatasetError("a Dataset of run_rose_eval or summarize_rose is needed")
    if ds.attrs.get("summary_of") == "rose":
        return in_memory(ds)
    return summarize_rose(ds)


def _kind(summary: xr.Dataset, kinds: str | list[str]) -> str:
    kind = kinds if isinstance(kinds, str) else kinds[0]
    there = [str(name) for name in summary.kind.values]
    if kind not in there:
        raise UsageError(unknown("kind", kind, there))
    return kind


def _step(one: xr.Dataset, level: str) -> float:
    """Tokens by which the arms of a level stand apart."""
    at = one.tokens.mean("arm")
    gaps = np.abs(at - at.sel(level=level)).values
    nearest = float(np.nanmin(gaps[gaps > 0], initial=np.inf))
    return min(_STEP * float(one.tokens.max()), 0.2 * nearest)


def _levels_of(arm: str, summary: Any) -> list[str]:
    """Levels at which an arm stands."""
    own = {"control": "none", "ceiling": "L0"}.get(arm)
    levels = [str(level) for level in summary.level.values]
    return [name for name in levels if (name == own if own else name not in ("none", "L0"))]


def _what(summary: xr.Dataset) -> str:
    who = str(summary.attrs.get("model", ""))
    if summary.attrs.get("simulated") == "yes":
        who = f"{who}, SIMULATED"
    percent = round(100 * float(summary.attrs["ci_prob"]))
    n = int(summary.transfer_n.sel(kind="all").max())
    of = counted(n, "lesson")
    if not bool(summary.drawn.any()):
        of += " with no shorter level drawn"
    elif not any(place.startswith("treatment") for place in silent_places(summary)):
        of += " with all levels drawn"
    parts = [who, of, *without_result(summary)]
    parts += [line for line in (planted_line(summary), leaks_line(summary)) if line]
    bars = bool(summary.transfer_ci.notnull().any())
    return "; ".join([*parts, *[f"bars: {percent} % intervals"] * bars])
