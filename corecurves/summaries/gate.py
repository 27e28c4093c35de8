"""The one structural gate of a lane: whether its snapshots can be reproduced."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.summaries.figures import named

__all__ = ["GATE", "gate_arm", "gate_line", "replay_figures", "seed_spread"]

GATE = 0.95
"""Below this share of reproduced snapshots no curve can be trusted."""


def seed_spread(ds: xr.Dataset, counted: NDArray[np.bool_]) -> xr.DataArray:
    """Mean over snapshots of the standard deviation over samples; NaN with fewer than two."""
    hits = ds.hits[counted]
    known = hits.notnull().sum("sample")
    spread = hits.fillna(0.0).where(hits.notnull()).std("sample", ddof=1).where(known > 1)
    found: xr.DataArray = spread.mean(("concept", "k"))
    return found.assign_attrs(named("standard deviation of hits between seeds", "tokens"))


def gate_arm(ds: xr.Dataset) -> str:
    """The arm whose snapshots the gate looks at."""
    return "taught" if "taught" in ds.arm else str(ds.arm.values[0])


def replay_figures(ds: xr.Dataset, counted: NDArray[np.bool_]) -> dict[str, xr.DataArray]:
    """How many snapshots were reproduced, what became of the others, and the gate."""
    match = ds.replay_match[counted].sel(arm=gate_arm(ds))
    planned, matched = int(match.notnull().sum()), int((match == 1).sum())
    status = ds.replay_status[counted].sel(arm=gate_arm(ds)).where(match.notnull(), "")
    broken = status.where(~status.isin(("ok", "")), "").max("replay").values
    counts = {name: int((broken == name).sum()) for name in np.unique(broken) if name}
    causes = ", ".join(f"{name} {n}" for name, n in counts.items())
    share = matched / planned if planned else np.nan
    gate = "not measured" if not planned else "passed" if share >= GATE else "failed"
    return {
        "replay_determinism": xr.DataArray(
            share, attrs=named("reproduced snapshots / planned snapshots of the taught arm")
        ),
        "replay_planned": xr.DataArray(planned, attrs=named("planned snapshots", "cells")),
        "replay_matched": xr.DataArray(matched, attrs=named("reproduced snapshots", "cells")),
        "replay_failed": xr.DataArray(
            sum(counts.values()), attrs=named("snapshots without a full result", "cells")
        ),
        "replay_causes": xr.DataArray(
            np.array(causes, dtype=object), attrs=named("how those ended")
        ),
        "gate": xr.DataArray(
            np.array(gate, dtype=object), attrs=named(f"replay determinism of at least {GATE}")
        ),
    }


def gate_line(summary: xr.Dataset) -> str:
    """One line on the structural gate.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    str
        The state, and what it rests on. Of a stochastic system it is *seed* reproducibility, and
        the spread between seeds stands beside it.

    Examples
    --------
    >>> import corecurves as cc
    >>> cc.gate_line(cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False)))[:12]
    'gate: passed'
    """
    state = summary.gate.item()
    if state == "not measured":
        return "gate: not measured (replays were not compared; run with replays=2)"
    stochastic = summary.attrs.get("stochastic") == "yes"
    where = summary.attrs.get("replay_process") or "same process"
    line = (
        f"gate: {state} ({'seed reproducibility' if stochastic else 'replay determinism'} "
        f"{summary.replay_determinism.item():.2f}, "
        f"{int(summary.replay_matched)} of {int(summary.replay_planned)} snapshots reproduced; "
        f"at least {GATE}; replays: {where})"
    )
    if failed := int(summary.replay_failed):
        line += f"; {failed} snapshots have no full result ({summary.replay_causes.item()})"
    if stochastic:
        spread = float(summary.seed_spread.sel(arm=gate_arm(summary)))
        n = summary.sizes["sample"]
        line += (
            "; the spread between seeds was not measured: run with samples=2 or more"
            if np.isnan(spread)
            else f"; between seeds hits differ by {spread:.2f} tokens (SD of {n} samples)"
        )
    return line
