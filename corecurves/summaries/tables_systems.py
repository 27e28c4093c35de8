"""The table of compared systems, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.errors import DatasetError

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
            share = one.share.sel(arm=arm).values
            row[arm] = f"{share[0]:.2f} to {share[-1]:.2f}" if share[0] == share[0] else "–"
        lower, upper = one.learned_ci.isel(k=-1).values
        learned = float(one.learned.isel(k=-1))
        row["learned"] = (
            f"{learned:+.2f} [{lower:+.2f}, {upper:+.2f}]" if learned == learned else "–"
        )
        planned, judged = float(one.cells_planned.sum()), float(one.cells_judged.sum())
        row["judged"] = f"{judged:.0f} of {planned:.0f}"
        replay = float(one.replay_determinism)
        row["reproduced"] = f"{replay:.2f}" if replay == replay else "not compared"
        rows[system] = row
    return pd.DataFrame.from_dict(rows, orient="index")
