"""Figures of the lane; each draws what `summarize_lane` returns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError, UsageError, unknown
from corecurves.plots.style import arm_style, axes_or_new, draw_legend, legible, note
from corecurves.plots.style import label as written
from corecurves.summaries.lane import summarize_lane
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["plot_lane", "plot_survival"]


def plot_lane(
    ds: xr.Dataset,
    ax: Axes | None = None,
    *,
    concepts: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Corrections-to-competence curves, one a concept and arm.

    Parameters
    ----------
    ds : Dataset
        From `run_lane` or `summarize_lane`.
    ax : Axes or None
        Where to draw; None for a new figure.
    concepts, arms : sequence of str or None
        Which to draw; None for all. For small multiples use `facet`.
    legend : bool
        Whether to draw the legend.

    Returns
    -------
    Axes
        Hits against corrections given. A filled marker stands where all replays agree, a hollow one
        where none were compared, a cross where they differ. The line breaks at a snapshot without a
        result. Small dots are the single samples where there are several.

    Raises
    ------
    DatasetError
        If `ds` is no lane Dataset.
    UsageError
        If a concept or arm is not in it.

    Examples
    --------
    >>> import corecurves as cc
    >>> ax = cc.plot_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> ax.get_xlabel()
    'corrections given (k)'
    """
    summary = _summary(ds)
    chosen = _labels(summary, "concept", concepts)
    wanted = _labels(summary, "arm", arms)
    from matplotlib.ticker import MaxNLocator

    ax = axes_or_new(ax)
    many = len(chosen) > 1
    longest = int(summary.sel(concept=chosen).curriculum_length.max())
    size = _marker_size(ax, longest)
    for row, arm in enumerate(wanted):
        style = arm_style(arm)
        for i, concept in enumerate(chosen):
            one = summary.sel(concept=concept, arm=arm)
            inside = one.k.values <= one.curriculum_length.item()
            k = one.k.values[inside]
            hits = one.cumulative_token_hit_count.values[inside]
            match = one.replay_match.values[inside]
            ax.plot(
                k, hits, color=style.colour, linestyle=style.dash, linewidth=1.4,
                alpha=0.5 if many else 1.0, label=written(arm, key=True) if i == 0 else None,
                zorder=3 if arm == "taught" else 2,
            )  # fmt: skip
            over = 3 if arm == "taught" else 2
            _markers(ax, k, hits, match, style.colour, style.marker, size, over)
            if one.sizes["sample"] > 1:
                ax.plot(
                    np.repeat(k, one.sizes["sample"]),
                    one.hits.transpose("k", "sample").values[inside].ravel(),
                    ".", color=style.colour, markersize=3, alpha=0.6, zorder=1,
                )  # fmt: skip
        _mark_missing(ax, summary.sel(concept=chosen, arm=arm), row, style.colour)
    most = int(summary.expected_recorded_count.sel(concept=chosen).max())
    ax.set_xlim(-0.3, longest + 0.3)
    ax.set_ylim(-max(0.3, 0.05 * most), most + max(0.3, 0.03 * most))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    ax.set_xlabel("corrections given (k)")
    ax.set_ylabel("expected tokens hit")
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if not many:
        ax.set_title(written(chosen[0]))
    if legend:
        draw_legend(ax, title="arm")
        note(ax, _what(summary, chosen, wanted))
    return legible(ax)


def plot_survival(ds: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Share of expected tokens not yet heard, against the delay since they were taught.

    Parameters
    ----------
    ds : Dataset
        From `run_lane` or `summarize_lane`.
    ax : Axes or None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes
        Kaplan–Meier steps with a pointwise band, clustered by concept; the tokens at risk stand
        above the axis. Delay 0 means: in the answer as soon as it was taught; below 0: before.

    Raises
    ------
    DatasetError
        If `ds` is no lane Dataset.

    Examples
    --------
    >>> import corecurves as cc
    >>> ax = cc.plot_survival(cc.run_lane("dev", ledger=False, progress=False))
    >>> ax.get_ylabel()
    'share of tokens not yet heard'
    """
    summary = _summary(ds)
    ax = axes_or_new(ax)
    delay = summary.delay_k.values
    for row, arm in enumerate(summary.arm.values):
        style = arm_style(str(arm))
        one = summary.sel(arm=arm)
        share, band = one.survival.values, one.survival_ci.values
        ax.step(
            delay, share, where="post", color=style.colour, linestyle=style.dash,
            label=written(arm, key=True),
        )  # fmt: skip
        ax.plot(delay, share, style.marker, color=style.colour, markersize=4)
        ax.fill_between(
            delay, band[:, 0], band[:, 1], step="post", color=style.colour, alpha=0.15, linewidth=0
        )
        for x, n in zip(delay, one.survival_at_risk.values, strict=True):
            ax.annotate(
                f"{n:.0f}", (x, 0), xycoords=("data", "axes fraction"),
                xytext=(0, 3 + 9 * row), textcoords="offset points", ha="center",
                fontsize="xx-small", color=style.colour,
            )  # fmt: skip
    ax.set_ylim(-0.16, 1.05)
    ax.set_xticks(delay)
    ax.set_xlabel("delay: corrections between being taught and being heard")
    ax.set_ylabel("share of tokens not yet heard")
    draw_legend(ax, title="arm")
    percent = round(100 * summary.attrs["ci_prob"])
    band = f"band: {percent} % pointwise, clustered by concept; "
    drawn = bool(summary.survival_ci.notnull().any())
    note(ax, f"{band * drawn}small figures: tokens at risk")
    return legible(ax)


def _summary(ds: xr.Dataset) -> xr.Dataset:
    if getattr(ds, "attrs", {}).get("question") != "lane":
        raise DatasetError("a Dataset of run_lane or summarize_lane is needed")
    summary = in_memory(ds) if ds.attrs.get("summary_of") == "lane" else summarize_lane(ds)
    return summary.assign(expected_recorded_count=(summary.expected != "").sum("token"))


def _labels(ds: xr.Dataset, dim: str, chosen: Sequence[str] | None) -> list[str]:
    there = [str(label) for label in ds[dim].values]
    if chosen is None:
        return there
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    for name in names:
        if name not in there:
            raise UsageError(unknown(dim, name, there))
    return names


def _markers(
    ax: Axes,
    k: np.ndarray,
    hits: np.ndarray,
    match: np.ndarray,
    colour: str,
    marker: str,
    size: float,
    over: int,
) -> None:
    kinds = ((match == 1, marker, colour), (np.isnan(match), marker, "white"),
             (match == 0, "x", "none"))  # fmt: skip
    for where, shape, face in kinds:
        if where.any():
            ax.plot(
                k[where], hits[where], linestyle="none", color=colour, markersize=size,
                marker=shape, markerfacecolor=face, markeredgewidth=min(1.0, size / 4),
                clip_on=False, zorder=over,
            )  # fmt: skip


def _marker_size(ax: Axes, longest: int) -> float:
    """Points of a marker: with many steps it is small, so that a row of them is no bar."""
    return float(np.clip(0.45 * _step(ax, longest), 1.2, 4.5))


def _step(ax: Axes, longest: int) -> float:
    """Points between two k."""
    return float(72 * ax.get_window_extent().width / ax.figure.dpi / (longest + 1))


def _mark_missing(ax: Axes, summary: xr.Dataset, row: int, colour: str) -> None:
    """Say n where there are fewer samples than planned; where there is none, in a row an arm."""
    planned = summary.sizes["sample"]
    inside = (summary.k <= summary.curriculum_length).transpose("concept", "k").values
    judged = summary.samples_judged.transpose("concept", "k").values
    hits = summary.cumulative_token_hit_count.transpose("concept", "k").values
    some: dict[tuple[int, float], set[int]] = {}
    for c, k in np.argwhere(inside & (judged > 0) & (judged < planned)).tolist():
        some.setdefault((k, float(hits[c, k])), set()).add(int(judged[c, k]))
    for at, counts in some.items():
        ax.annotate(
            f"n={'–'.join(map(str, sorted({min(counts), max(counts)})))}", at, xytext=(0, 5),
            ha="center", textcoords="offset points", fontsize="xx-small",
        )  # fmt: skip
    none = (inside & (judged == 0)).sum(axis=0)
    for middle, text in _gaps(none, len(inside) > 1, _step(ax, len(none) - 1)):
        ax.annotate(
            text, (middle, 0), xycoords=ax.get_xaxis_transform(), xytext=(0, 3 + 9 * row),
            textcoords="offset points", ha="center", fontsize="xx-small", color=colour,
        )  # fmt: skip


def _gaps(none: np.ndarray, many: bool, step: float) -> list[tuple[float, str]]:
    """Where no curve, or how many, has a result: each k, or runs of them where it is crowded."""
    texts = [f"n=0: {count}" if many else "n=0" for count in none]
    places = np.flatnonzero(none).tolist()
    if all(3.5 * len(text) < step for text in texts):
        return [(k, texts[k]) for k in places]
    edges = [0, *(np.flatnonzero(np.diff(none)) + 1).tolist(), len(none)]
    runs = [(a, b - 1) for a, b in pairwise(edges) if none[a]]
    if len(runs) > 4:
        return [((places[0] + places[-1]) / 2, f"n=0 at {len(places)} of {len(none)} k")]
    return [((a + b) / 2, f"k = {a}–{b}, {texts[a]}" if b > a else texts[a]) for a, b in runs]


def _what(summary: xr.Dataset, chosen: list[str], arms: list[str]) -> str:
    samples = summary.sizes["sample"]
    concepts = counted(len(chosen), "concept")
    drawn = summary.sel(concept=chosen, arm=arms)
    gaps = (drawn.samples_judged == 0) & (drawn.k <= drawn.curriculum_length)
    lacking = "; n=0: curves without a result" if len(chosen) > 1 and bool(gaps.any()) else ""
    replay = summary.replay_determinism.item()
    again = "replays not compared" if np.isnan(replay) else f"replay determinism {replay:.2f}"
    each = f"{samples} sample{'s' if samples != 1 else ''} a point"
    who = str(summary.attrs["system"])
    if summary.attrs.get("simulated") == "yes":
        who = f"{who}, SIMULATED"
    return f"{who}: {concepts}, {each}; filled markers: replays agree; {again}{lacking}"
