"""The table of compared systems, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.engine.dataset import check_summary
from corecurves.summaries.figures import number, with_interval

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["table_systems"]


def table_systems(summary: xr.Dataset) -> pd.DataFrame:
    """Table of compared systems, one row a system.

    Parameters
    ----------
    summary : Dataset
        From `compare_systems`.

    Returns
    -------
    DataFrame
        The share of tokens in the answer without any correction and after the last one, in the
        control arm and in the taught one; how far it stands above its control, and how much
        farther than each baseline, with intervals; how many snapshots were judged; and the share
        that was reproduced, "not compared" with a single replay.

    Raises
    ------
    DatasetError
        If it is no summary of systems.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("grounded", "blank")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> cc.table_systems(cc.compare_systems(runs))[["control", "taught"]].values.tolist()
    [['0.00 to 0.00', '0.00 to 1.00'], ['0.00 to 0.00', '0.00 to 0.00']]
    """
    import pandas as pd

    summary = check_summary(summary, "systems", "a Dataset of compare_systems")
    baselines = summary.baseline.values.tolist() if "baseline" in summary else []
    rows = {}
    for system in summary.system.values:
        one = summary.sel(system=system)
        row = {}
        for arm in sorted(summary.arm.values):
            share = one.share.sel(arm=arm)
            row[arm] = "–"
            if not share.isnull().all():
                row[arm] = f"{number(share[0], 2)} to {number(share[-1], 2)}"
        last = one.isel(k=-1)
        gaps = {}
        if "above_control" in last:
            gaps["control"] = last.above_control, last.above_control_ci
        for name in baselines:
            one_gap = last.sel(baseline=name)
            gaps[name] = one_gap.above_baseline, one_gap.above_baseline_ci
        for name, (gap, ci) in gaps.items():
            beside = system in baselines and name != "control"
            row[f"above {name}"] = "–" if beside else with_interval(gap, ci, 2, sign=True)
        row["judged"] = f"{int(one.cells_judged.sum())} of {int(one.cells_planned.sum())}"
        unknown = bool(one.replay_determinism.isnull())
        same = " (same process)" if one.replay_process.item() == "same process" else ""
        share = f"{number(one.replay_determinism, 2)}{same}"
        row["reproduced"] = "not compared" if unknown else share
        rows[system] = row
    return pd.DataFrame.from_dict(rows, orient="index")
