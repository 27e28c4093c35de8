"""Figures of the lane; each draws what `summarize_lane` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError, UsageError, unknown
from corecurves.plots.style import arm_style, axes_or_new, note
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
    for arm in wanted:
        style = arm_style(arm)
        for i, concept in enumerate(chosen):
            one = summary.sel(concept=concept, arm=arm)
            inside = one.k.values <= one.curriculum_length.item()
            k = one.k.values[inside]
            hits = one.cumulative_token_hit_count.values[inside]
            match = one.replay_match.values[inside]
            ax.plot(
                k, hits, color=style.colour, linestyle=style.dash, linewidth=1.4,
                alpha=0.5 if many else 1.0, label=arm if i == 0 else None,
                zorder=3 if arm == "taught" else 2,
            )  # fmt: skip
            over = 3 if arm == "taught" else 2
            _markers(ax, k, hits, match, style.colour, style.marker, over)
            if one.sizes["sample"] > 1:
                ax.plot(
                    np.repeat(k, one.sizes["sample"]),
                    one.hits.transpose("k", "sample").values[inside].ravel(),
                    ".", color=style.colour, markersize=3, alpha=0.6, zorder=1,
                )  # fmt: skip
            _mark_missing(ax, one, k, hits)
    longest = int(summary.sel(concept=chosen).curriculum_length.max())
    most = int(summary.expected_recorded_count.sel(concept=chosen).max())
    ax.set_xlim(-0.3, longest + 0.3)
    ax.set_ylim(-0.3, most + 0.3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=8))
    ax.set_xlabel("corrections given (k)")
    ax.set_ylabel("expected tokens hit")
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if not many:
        ax.set_title(written(chosen[0]))
    if legend:
        ax.legend(title="arm", frameon=False)
        note(ax, _what(summary, len(chosen)))
    return ax


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
            delay, share, where="post", color=style.colour, linestyle=style.dash, label=str(arm),
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
    ax.legend(title="arm", frameon=False)
    percent = round(100 * summary.attrs["ci_prob"])
    note(ax, f"band: {percent} % pointwise, clustered by concept; small figures: tokens at risk")
    return ax


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
    over: int,
) -> None:
    kinds = ((match == 1, marker, colour), (np.isnan(match), marker, "white"),
             (match == 0, "x", "none"))  # fmt: skip
    for where, shape, face in kinds:
        if where.any():
            ax.plot(
                k[where], hits[where], linestyle="none", color=colour, markersize=4.5,
                marker=shape, markerfacecolor=face, clip_on=False, zorder=over,
            )  # fmt: skip


def _mark_missing(ax: Axes, one: xr.Dataset, k: np.ndarray, hits: np.ndarray) -> None:
    """Say n at the points that have fewer samples than planned; a gap says "none"."""
    planned = one.sizes["sample"]
    judged = one.samples_judged.values[: k.size]
    for x, y, n in zip(k, hits, judged, strict=True):
        if n < planned:
            ax.annotate(
                f"n={n}", (x, 0 if np.isnan(y) else y), xytext=(0, 5), ha="center",
                textcoords="offset points", fontsize="xx-small",
            )  # fmt: skip


def _what(summary: xr.Dataset, n_concepts: int) -> str:
    samples = summary.sizes["sample"]
    concepts = counted(n_concepts, "concept")
    replay = summary.replay_determinism.item()
    again = "replays not compared" if np.isnan(replay) else f"replay determinism {replay:.2f}"
    each = f"{samples} sample{'s' if samples != 1 else ''} a point"
    who = str(summary.attrs["system"])
    if summary.attrs.get("simulated") == "yes":
        who = f"{who}, SIMULATED"
    return f"{who}: {concepts}, {each}; filled markers: replays agree; {again}"
