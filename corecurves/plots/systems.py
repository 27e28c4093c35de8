"""Figure of several systems on one curriculum set; it draws what `compare_systems` returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import check_summary
from corecurves.names import visible
from corecurves.plots.style import NAME, axes_or_new, draw_legend, label, legible, note
from corecurves.summaries.systems import compare_systems
from corecurves.text import counted, shortened

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["plot_systems"]

_COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9")
_MARKERS = "osD^vPX"


def plot_systems(datasets: Mapping[str, xr.Dataset] | xr.Dataset, ax: Axes | None = None) -> Axes:
    """Learning curves of several systems, over the same concepts and tokens.

    Parameters
    ----------
    datasets : mapping of str to Dataset, or Dataset
        From `run_lane`, by the name that a system is to have; or from `compare_systems`.
    ax : Axes or None
        Where to draw; None for a new figure.

    Returns
    -------
    Axes
        Share of the first tokens in the answer against corrections given, a solid line a system in
        its taught arm, with its interval. The control arm, dashed and hollow, is drawn for the
        systems that hit anything in it: those that have a prior; the note says so of the others.
        The grey line is what was taught by then.

    Raises
    ------
    DatasetError
        If the Datasets cannot be compared, see `compare_systems`.

    Examples
    --------
    >>> import corecurves as cc
    >>> from corecurves.plots.systems import plot_systems
    >>> names = ("grounded", "blank")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> plot_systems(runs).get_ylabel()
    'share of the first 5 tokens in the answer'
    """
    from matplotlib.ticker import MaxNLocator

    summary = _summary(datasets)
    ax = axes_or_new(ax)
    k = summary.k.values
    ax.plot(k, summary.ideal.values, color="#bbbbbb", linewidth=5, zorder=1,
            label="all that was taught", solid_capstyle="round")  # fmt: skip
    without_prior = []
    for i, system in enumerate(summary.system.values):
        colour, marker = _COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)]
        for arm in summary.arm.values:
            one = summary.sel(system=system, arm=arm)
            if one.share.isnull().all():
                continue
            control = arm == "control"
            if control and (one.share == 0).all():
                without_prior.append(shortened(visible(str(system)), NAME))
                continue
            share, (low, high) = one.share.values, one.share_ci.values.T
            # Side by side: several systems often stand at the same share.
            at = k + 0.03 * (i - (summary.sizes["system"] - 1) / 2) + (0.015 if control else 0.0)
            known = ~np.isnan(low)
            ax.vlines(at[known], low[known], high[known], color=colour, linewidth=1, alpha=0.5)
            ax.plot(
                at, share, color=colour, marker=marker, markersize=5, linewidth=1.6,
                linestyle=(0, (4, 2)) if control else "-",
                markerfacecolor="white" if control else colour,
                label=label(system, key=True) + ("" if arm == "taught" else label(f": {arm}")),
            )  # fmt: skip
    ax.set_xlim(-0.25, summary.attrs["last"] + 0.25)
    ax.set_ylim(-0.03, 1.03)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
    ax.set_xlabel("corrections given (k)")
    ax.set_ylabel(f"share of the first {summary.attrs['last']} tokens in the answer")
    ax.grid(visible=True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    draw_legend(ax, fontsize="small", loc="upper left")
    note(ax, *_what(summary, without_prior))
    return legible(ax)


def _summary(datasets: Mapping[str, xr.Dataset] | xr.Dataset) -> xr.Dataset:
    import xarray as xr

    if not isinstance(datasets, xr.Dataset):
        return compare_systems(datasets)
    return check_summary(
        datasets, "systems", "a mapping of lane Datasets, or one of compare_systems,"
    )


def _what(summary: xr.Dataset, without_prior: list[str]) -> list[str]:
    used, there = int(summary.used.sum()), summary.sizes["concept"]
    concepts = counted(used, "concept")
    if used < there:
        concepts += f" of {there} (the others lack a result)"
    if short := summary.attrs["too_short"]:
        concepts += f", {short} shorter left out"
    percent = round(100 * summary.attrs["ci_prob"])
    lines = [f"the same {concepts} at every point; bars: {percent} % t over concepts"]
    if without_prior:
        lines.append(f"control arm 0 throughout: {', '.join(without_prior)}")
    failed = summary.cells_failed.sum("arm")
    if bool(failed.any()):
        pairs = zip(failed.system.values, failed.values, strict=True)
        counts = [f"{shortened(visible(str(name)), NAME)} {n:.0f}" for name, n in pairs if n]
        lines.append(f"snapshots without a result: {', '.join(counts)}")
    if simulated := summary.attrs["simulated"]:
        lines.append(f"simulated, no real model: {simulated}")
    return lines
