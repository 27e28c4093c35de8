"""What a figure shows, in words, for readers who cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corecurves.summaries.figures import decimals, number
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["describe_lane", "describe_rose", "describe_survival", "describe_systems"]


def describe_lane(summary: xr.Dataset) -> str:
    """Alternative text for the curves of a lane.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    str
        A sentence an arm: where the curves begin and end, and how many saturate.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> cc.describe_lane(summary).split(": ")[0]
    'Expected tokens hit against corrections given, 3 concepts'
    """
    parts = []
    tokens = (summary.expected != "").sum("token")
    for arm in summary.arm.values:
        one = summary.sel(arm=arm)
        start = float(one.cumulative_token_hit_count.sel(k=0).mean())
        end = float((one.saturation_score.mean("sample") * tokens).mean())
        whole = int((one.saturation_state == "reached").all("sample").sum())
        if np.isnan(start) or np.isnan(end):
            parts.append(f"{arm} has snapshots without a result")
            continue
        parts.append(
            f"{arm} goes from {start:.1f} to {end:.1f} tokens on average, "
            f"{whole} of {summary.sizes['concept']} curves saturate"
        )
    n = summary.sizes["concept"]
    count = counted(n, "concept")
    return f"Expected tokens hit against corrections given, {count}: {'; '.join(parts)}."


def describe_survival(summary: xr.Dataset) -> str:
    """Alternative text for the delay curve.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    str
        A sentence an arm: how many tokens are heard, and after how long.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> cc.describe_survival(summary).split(": ")[0]
    'Share of expected tokens not yet heard, against the delay since they were taught'
    """
    parts = []
    for arm in summary.arm.values:
        one = summary.sel(arm=arm)
        heard, censored = int(one.tokens_heard), int(one.tokens_censored)
        mean = float(one.mean_delay)
        delay = "" if np.isnan(mean) else f", on average {mean:.1f} corrections after being taught"
        parts.append(f"{arm}: {heard} of {heard + censored} tokens are heard{delay}")
    title = "Share of expected tokens not yet heard, against the delay since they were taught"
    return f"{title}: {'; '.join(parts)}."


def describe_rose(summary: xr.Dataset) -> str:
    """Alternative text for the transfer curve.

    Parameters
    ----------
    summary : Dataset
        From `summarize_rose`.

    Returns
    -------
    str
        Transfer of the control, the ceiling and each level, with the tokens served.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.describe_rose(cc.summarize_rose(ds)).split(": ")[0]
    'Transfer against tokens served'
    """
    one = summary.sel(kind="all")
    parts = []
    for level in one.level.values:
        for arm in one.arm.values:
            at = one.sel(level=level, arm=arm)
            if not np.isnan(float(at.transfer)):
                name = "no lesson" if level == "none" else f"{level} {arm}"
                transfer = number(at.transfer, decimals(int(at.transfer_episodes)))
                parts.append(f"{name} {transfer} at {float(at.tokens):.0f} tokens")
    return f"Transfer against tokens served: {'; '.join(parts)}."


def describe_systems(summary: xr.Dataset) -> str:
    """Alternative text for the curves of several systems.

    Parameters
    ----------
    summary : Dataset
        From `compare_systems`.

    Returns
    -------
    str
        Where the curve of each system and arm begins and ends.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("grounded", "blank")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> cc.describe_systems(cc.compare_systems(runs)).split("; ")[1]
    'grounded control from 0.00 to 0.00'
    """
    parts = []
    for system in summary.system.values:
        for arm in summary.arm.values:
            share = summary.share.sel(system=system, arm=arm).values
            if not np.isnan(share).all():
                parts.append(f"{system} {arm} from {share[0]:.2f} to {share[-1]:.2f}")
    return (
        f"Share of the first {summary.attrs['last']} tokens in the answer against corrections "
        f"given, {counted(summary.used.sum(), 'concept')}: {'; '.join(parts)}."
    )
