"""The figure of a descent run: what each way back to detail rescues, against what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError
from corecurves.plots.style import ArmStyle, axes_or_new, draw_legend, label, legible, note
from corecurves.summaries.descent import summarize_descent
from corecurves.summaries.tables_descent import judge_line
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["describe_descent", "plot_descent"]

_STYLES = {
    "delta-patch": ArmStyle("#0072B2", "-", "o"),
    "delta-jump": ArmStyle("#D55E00", (0, (4, 2)), "s"),
    "stepwise": ArmStyle("#009E73", (0, (3, 1, 1, 1)), "^"),
}
_FULL = "#000000"


def plot_descent(ds: xr.Dataset, ax: Axes | None = None, *, legend: bool = True) -> Axes:
    """Share of failures rescued against tokens spent, one step function a strategy.

    Parameters
    ----------
    ds : Dataset
        From `run_descent_eval` or `summarize_descent`.
    ax : Axes or None
        Where to draw; None for a new figure.
    legend : bool
        Whether to draw the legend.

    Returns
    -------
    Axes
        A marker stands at each strategy's last rescue. A dotted line marks what L0 costs by itself,
        on average, and a triangle what it rescues. A strategy none of whose failures was judged has
        no line, and says so in the legend.

    Raises
    ------
    DatasetError
        If it is no descent Dataset.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> cc.plot_descent(ds).get_ylabel()
    'share of failures rescued'
    """
    summary = _summary(ds)
    ax = axes_or_new(ax)
    spent = summary.spent.values
    full = float(summary.full_tokens)
    end = 1.06 * float(np.nanmax([spent.max(), full, 1.0]))
    for strategy in map(str, summary.strategy.values):
        _line(ax, summary.sel(strategy=strategy), strategy, spent, end)
    if not np.isnan(full):
        ax.axvline(full, color=_FULL, linewidth=1.0, linestyle=(0, (1, 2)), gid="L0", zorder=1)
        ax.plot(
            full, float(summary.full_rate), color=_FULL, marker="v", markersize=7, zorder=4,
            linestyle="none", gid="L0 share", label=f"L0 by itself, {full:.0f} tokens",
        )  # fmt: skip
    ax.set_xlim(0, end)
    ax.set_ylim(-0.03, 1.05)
    ax.set_xlabel("tokens served, failed tries included (o200k)")
    ax.set_ylabel("share of failures rescued")
    if legend:
        draw_legend(
            ax, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0),
            ncols=2, columnspacing=1.0,
        )  # fmt: skip
    note(ax, "; ".join(_caption(summary)))
    return legible(ax)


def describe_descent(ds: xr.Dataset) -> str:
    """Alternative text for the figure of a descent run.

    Parameters
    ----------
    ds : Dataset
        As for `plot_descent`.

    Returns
    -------
    str
        What each strategy rescues, with the tokens to a rescue, its knowledge gaps, and what L0
        costs by itself.

    Raises
    ------
    DatasetError
        If it is no descent Dataset.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> cc.describe_descent(ds).split(": ")[0]
    'Share of failures rescued against tokens served'
    """
    summary = _summary(ds)
    parts = []
    for strategy in map(str, summary.strategy.values):
        at = summary.sel(strategy=strategy)
        judged = int(at.failures_judged)
        if not judged:
            parts.append(f"{strategy} has no failure that was judged")
            continue
        tokens = float(at.tokens_to_rescue)
        cost = "" if np.isnan(tokens) else f", on average after {tokens:.0f} tokens"
        parts.append(
            f"{strategy} rescues {int(at.failures_rescued)} of {judged} failures{cost}, "
            f"and {int(at.failures_gaps)} are knowledge gaps"
        )
    full = float(summary.full_tokens)
    if not np.isnan(full):
        parts.append(f"L0 by itself costs {full:.0f} tokens")
    return f"Share of failures rescued against tokens served: {'; '.join(parts)}."


def _summary(ds: xr.Dataset) -> xr.Dataset:
    if getattr(ds, "attrs", {}).get("question") != "descent":
        raise DatasetError("a Dataset of run_descent_eval or summarize_descent is needed")
    return in_memory(ds) if ds.attrs.get("summary_of") == "descent" else summarize_descent(ds)


def _line(ax: Axes, at: xr.Dataset, strategy: str, spent: Any, end: float) -> None:
    style = _STYLES[strategy]
    share, n = at.curve.values, int(at.failures_judged)
    if np.isnan(share).all():
        ax.plot([], [], color=style.colour, linestyle=style.dash,
                label=f"{label(strategy, key=True)}: none judged")  # fmt: skip
        return
    ax.plot(
        [*spent, end], [*share, share[-1]], color=style.colour, linestyle=style.dash,
        linewidth=1.6, drawstyle="steps-post", gid=strategy,
        label=f"{label(strategy, key=True)} (n = {n})",
        zorder=3,
    )  # fmt: skip
    last = int(np.argmax(share))
    ax.plot(spent[last], share[last], color=style.colour, marker=style.marker, markersize=6,
            linestyle="none", zorder=4)  # fmt: skip


def _caption(summary: xr.Dataset) -> list[str]:
    """What the figure is over, and what must not be overlooked."""
    attrs = summary.attrs
    gaps = ", ".join(
        f"{name} {int(summary.failures_gaps.sel(strategy=name))}"
        for name in map(str, summary.strategy.values)
    )
    found = ["SIMULATED"] if attrs.get("simulated") == "yes" else []
    found += [
        f"{attrs['store']}, {attrs['model']}: {counted(summary.failures, 'failure')} at the "
        f"shortest form, {counted(summary.episodes, 'episode')}, "
        f"{counted(summary.lessons, 'lesson')}",
        f"knowledge gaps (L0 fails too): {gaps}",
        judge_line(attrs),
    ]
    if any(name != "stepwise" for name in summary.strategy.values):
        found.append(f"rescue rates: {attrs['statistics']}")
    if attrs["few"] == "yes":
        found.append(f"{counted(summary.episodes, 'episode')}: a direction, not a decimal place")
    lost = int(summary.failures_failed.max())
    if lost:
        found.append(f"not judged and not in: up to {counted(lost, 'failure')} a strategy")
    return found
