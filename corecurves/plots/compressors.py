"""Figure of several compressors side by side, each beside scissors at equal tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corecurves.errors import DatasetError, UsageError, unknown
from corecurves.plots.style import axes_or_new, draw_legend, label, legible, note
from corecurves.summaries.rose import summarize_rose
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["common_lessons", "describe_compressors", "plot_compressors"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"
_ENOUGH = 0.5
"""Share of the lessons with an L1 that must have a deeper level for it to be drawn by itself."""


def common_lessons(
    runs: Mapping[str, xr.Dataset], levels: Sequence[str] | None = None
) -> tuple[list[str], list[str]]:
    """Levels of several runs, and the lessons that were run at all of them in every run.

    Examples
    --------
    >>> import corecurves as cc
    >>> from corecurves.plots.compressors import common_lessons
    >>> store = cc.open_store("rose_bench").demo()
    >>> arms = ("control", "ceiling", "treatment")
    >>> ds = cc.run_rose_eval(store, "simulated", arms=arms, samples=1, ledger=False,
    ...                       progress=False)
    >>> common_lessons({"by hand": ds}, ["L1"])[0]
    ['L1']
    """
    if not runs:
        raise DatasetError("no run is given; give Datasets of run_rose_eval by name")
    for name, ds in runs.items():
        if getattr(ds, "attrs", {}).get("question") != "rose" or "passed" not in ds:
            raise DatasetError(f"{name}: a Dataset of run_rose_eval is needed")
        if "treatment" not in ds.arm.values:
            raise DatasetError(f"{name}: the arm treatment is missing")
    there = [
        {str(level): _having(ds, str(level)) for level in ds.level.values if level not in _OTHERS}
        for ds in runs.values()
    ]
    for name in levels or ():
        for one in there:
            if name not in one:
                raise UsageError(unknown("level", name, one))
    known = sorted(set.intersection(*map(set, there)), key=lambda name: int(name[1:]))
    drawn: list[str] = []
    common: set[str] = set()
    first: set[str] = set()
    for name in known if levels is None else levels:
        having = set.intersection(*(one[name] for one in there))
        left = having & common if drawn else having
        if levels is None and drawn and len(left) < _ENOUGH * len(first):
            break
        common, drawn = left, [*drawn, name]
        first = first or left
    if not common:
        raise DatasetError("no lesson was run at these levels in every run; give fewer `levels`")
    order = [str(c) for ds in runs.values() for c in ds.concept.values]
    return drawn, [c for c in dict.fromkeys(order) if c in common]


_OTHERS = ("none", "L0")


def _having(ds: xr.Dataset, level: str) -> set[str]:
    planned = (ds.status.sel(level=level, arm="treatment") != "").any(["episode", "sample"])
    return {str(c) for c in ds.concept.values[planned.values]}


def plot_compressors(
    runs: Mapping[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    levels: Sequence[str] | None = None,
) -> Axes:
    """Transfer against tokens of several compressors, over the same lessons.

    Parameters
    ----------
    runs : mapping of str to Dataset
        From `run_rose_eval` on the test half, by the name of the compressor.
    ax : Axes or None
        Where to draw; None for a new figure.
    levels : sequence of str or None
        See `common_lessons`.

    Returns
    -------
    Axes
        A solid line a compressor, from the full lesson on, with intervals. The truncation arm, the
        first words of L0 cut to the same tokens, is dashed and hollow in the same colour. The grey
        lines are the full lesson and no lesson. The note says how many lessons are drawn.

    Raises
    ------
    DatasetError
        If one is no rose Dataset, or no lesson is common to all.
    UsageError
        If a run has no such level.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> arms = ("control", "ceiling", "treatment")
    >>> ds = cc.run_rose_eval(store, "simulated", arms=arms, samples=1, ledger=False,
    ...                       progress=False)
    >>> cc.plot_compressors({"by hand": ds}, levels=["L1"]).get_ylabel()
    'transfer on unseen episodes'
    """
    summaries, lessons = _summaries(runs, levels)
    ax = axes_or_new(ax)
    for i, (name, summary) in enumerate(summaries.items()):
        colour, marker = _COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)]
        one = summary.sel(kind="all")
        drawn = [str(x) for x in one.level.values[one.drawn.values]]
        if i == 0:
            _references(ax, one)
        for arm, dash, face in (("treatment", "-", colour), ("truncation", (0, (4, 2)), "white")):
            if arm not in one.arm.values:
                continue
            points = [one.sel(level=level, arm=arm) for level in drawn]
            x = [float(point.tokens) for point in points]
            y = [float(point.transfer) for point in points]
            if np.isnan(y).all():
                continue
            low, high = np.array([point.transfer_ci.values for point in points]).T
            ax.vlines(x, low, high, color=colour, linewidth=1, alpha=0.5)
            if arm == "treatment" and "ceiling" in one.arm.values and "L0" in one.level.values:
                full = one.sel(level="L0", arm="ceiling")
                x, y = [float(full.tokens), *x], [float(full.transfer), *y]
            ax.plot(
                x, y, color=colour, marker=marker, markersize=6 if arm == "treatment" else 5,
                linestyle=dash, linewidth=1.5, markerfacecolor=face,
                label=(
                    "" if arm == "treatment" else "scissors, as long as "
                ) + label(name, key=arm == "treatment"),
            )  # fmt: skip
    ax.margins(x=0.1)
    ax.set_ylim(-0.05, 1.08)
    ax.set_xlabel("tokens served (o200k)")
    ax.set_ylabel("transfer on unseen episodes")
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    draw_legend(ax, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    note(ax, _what(runs, summaries, lessons))
    return legible(ax)


def describe_compressors(
    runs: Mapping[str, xr.Dataset], *, levels: Sequence[str] | None = None
) -> str:
    """Alternative text for the curves of several compressors.

    Parameters
    ----------
    runs : mapping of str to Dataset
        From `run_rose_eval`, by the name of the compressor.
    levels : sequence of str or None
        See `common_lessons`.

    Returns
    -------
    str
        Transfer and tokens of each compressor at each level, beside scissors.

    Raises
    ------
    DatasetError
        If one is no rose Dataset, or no lesson is common to all.
    UsageError
        If a run has no such level.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> arms = ("control", "ceiling", "treatment")
    >>> ds = cc.run_rose_eval(store, "simulated", arms=arms, samples=1, ledger=False,
    ...                       progress=False)
    >>> cc.describe_compressors({"by hand": ds}, levels=["L1"]).split(": ")[0]
    'Transfer on unseen episodes against tokens served'
    """
    summaries, lessons = _summaries(runs, levels)
    parts = []
    for name, summary in summaries.items():
        one = summary.sel(kind="all")
        for level in one.level.values[one.drawn.values]:
            at = one.sel(level=level)
            text = f"{name} {level} {float(at.transfer.sel(arm='treatment')):.2f}"
            if "truncation" in one.arm.values:
                text += f" (scissors {float(at.transfer.sel(arm='truncation')):.2f})"
            parts.append(f"{text} at {float(at.tokens.sel(arm='treatment')):.0f} tokens")
    count = f"{len(lessons)} lesson{'s' * (len(lessons) != 1)}"
    return f"Transfer on unseen episodes against tokens served: {count}; {'; '.join(parts)}."


def _summaries(
    runs: Mapping[str, xr.Dataset], levels: Sequence[str] | None
) -> tuple[dict[str, xr.Dataset], list[str]]:
    drawn, lessons = common_lessons(runs, levels)
    chosen = {name: ds.sel(concept=lessons) for name, ds in runs.items()}
    return {name: summarize_rose(ds, levels=drawn) for name, ds in chosen.items()}, lessons


def _references(ax: Axes, one: xr.Dataset) -> None:
    for arm, level, dash, what in (
        ("ceiling", "L0", (0, (1, 1)), "the full lesson"),
        ("control", "none", (0, (6, 3)), "no lesson"),
    ):
        if arm in one.arm.values and level in one.level.values:
            at = float(one.transfer.sel(arm=arm, level=level))
            ax.axhline(at, color="#888888", linewidth=0.9, linestyle=dash, label=what, zorder=1)


def _what(
    runs: Mapping[str, xr.Dataset], summaries: Mapping[str, xr.Dataset], lessons: list[str]
) -> str:
    first = next(iter(runs.values()))
    who = str(first.attrs.get("model", ""))
    if any(ds.attrs.get("simulated") == "yes" for ds in runs.values()):
        who = f"{who}, SIMULATED"
    there = len({str(c) for ds in runs.values() for c in ds.concept.values})
    judged = {int(s.lessons_common.sel(kind="all")) for s in summaries.values()}
    percent = round(100 * float(next(iter(summaries.values())).attrs["ci_prob"]))
    parts = [
        who,
        f"the same {len(lessons)} of {counted(there, 'lesson')} in every line: those that every "
        "compressor made at every level drawn",
    ]
    if judged != {len(lessons)}:
        parts.append(f"judged: {', '.join(map(str, sorted(judged)))}")
    return "; ".join([*parts, f"bars: {percent} % intervals"])
