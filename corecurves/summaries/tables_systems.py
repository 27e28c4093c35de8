"""The table of compared systems, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.errors import DatasetError
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
        control arm and in the taught one; what was learned with its interval; how many snapshots
        were judged; and the share that was reproduced, "not compared" with a single replay.

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

    if summary.attrs.get("summary_of") != "systems":
        raise DatasetError("a summary of systems is needed: what compare_systems returns")
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
        row["learned"] = with_interval(last.learned, last.learned_ci, 2, sign=True)
        row["judged"] = f"{int(one.cells_judged.sum())} of {int(one.cells_planned.sum())}"
        unknown = bool(one.replay_determinism.isnull())
        row["reproduced"] = "not compared" if unknown else number(one.replay_determinism, 2)
        rows[system] = row
    return pd.DataFrame.from_dict(rows, orient="index")
