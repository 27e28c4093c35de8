"""Which of several systems learned, and what their comparison does not show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from corecurves.engine.dataset import check_summary
from corecurves.summaries.conclusion import (
    ALONE,
    NEVER,
    ONE_ARM,
    Conclusion,
    above_control_text,
    figure_text,
    gap_text,
    limits,
    share_text,
    simulated_text,
)
from corecurves.summaries.gate import GATE
from corecurves.systems.baselines import BASELINES
from corecurves.text import counted

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["conclude_systems"]


def conclude_systems(summary: xr.Dataset) -> Conclusion:
    """Which of the compared systems learned, and what the comparison does not show.

    Parameters
    ----------
    summary : Dataset
        From `compare_systems`.

    Returns
    -------
    Conclusion
        The controls, then a sentence a system. A system has learned where it stands above its
        control, and farther than each baseline among the systems: parrot, which has to be one of
        them, and blank. A baseline never has. Of a system whose gate failed nothing is concluded.

    Raises
    ------
    DatasetError
        If it is no summary of systems.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("grounded", "parrot")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> cc.conclude_systems(cc.compare_systems(runs)).can[1][-42:]
    ', and above parrot: that grounded learned.'
    """
    summary = check_summary(summary, "systems", "a Dataset of compare_systems")
    n = int(summary.used.sum())
    can: list[str] = []
    cannot = simulated_text(summary)
    figures = {}
    # Where snapshots were not replayed the share is NaN, and the gate was not measured.
    gate = summary.replay_determinism
    failed = [str(name) for name in summary.system.values[(gate < GATE).values]]
    passed = [str(name) for name in summary.system.values if str(name) not in failed]
    cannot += [
        f"Anything from the curves of {name}: too few snapshots can be reproduced (gate: failed)."
        for name in failed
    ]
    if "control" in summary.arm.values and passed:
        shares = summary.share_of.sel(arm="control").isel(k=-1, concept=summary.used.values)
        said = (
            f"{one.system.item()} {share_text(one.values)}"
            for one in shares.sel(system=passed).transpose("system", ...)
        )
        can.append(f"Untaught (control), of the expected tokens say: {', '.join(said)}.")
    baselines = summary.baseline.values.tolist() if "baseline" in summary else []
    baselines = [name for name in baselines if name not in failed]
    names = {str(name): str(json.loads(summary.attrs["identities"])[str(name)]["name"])
             for name in passed}  # fmt: skip
    compared = "above_control" in summary
    for system, name in names.items() if compared else ():
        last = summary.sel(system=system).isel(k=-1)
        gap = (float(last.above_control), *last.above_control_ci.values, n)
        figures[f"{system} above control"] = figure_text(*gap)
        beside = {}
        if system not in baselines:
            for other in baselines:
                one = last.sel(baseline=other)
                beside[other] = (float(one.above_baseline), *one.above_baseline_ci.values, n)
                figures[f"{system} above {other}"] = figure_text(*beside[other])
        text, shown = above_control_text(system, *gap)
        over = [other for other, one in beside.items() if one[1] > 0]
        under = [other for other in beside if other not in over]
        if shown and gap[1] > 0 and "parrot" in map(names.get, over) and not under:
            text = f"{text[:-1]}, and above {' and '.join(over)}: that {system} learned."
        (can if shown else cannot).append(text)
        if name in BASELINES:
            cannot.append(NEVER.format(system, BASELINES[name]))
        elif under:
            cannot.append(_not_above(system, {other: beside[other] for other in under}))
    if not compared:
        cannot.append(ONE_ARM)
    elif "parrot" not in names.values():
        cannot.append(ALONE)
    unused = summary.sizes["concept"] - n
    if unused:
        cannot.append(
            f"Anything about {counted(unused, 'concept')} without a result in every system and arm."
        )
    if bool(summary.replay_determinism.isnull().any()):
        cannot.append("Whether the points can be reproduced: replays were not compared.")
    cannot += limits(n)
    about = f"{counted(summary.sizes['system'], 'system')}, {counted(n, 'concept')}"
    return Conclusion(about, tuple(can), tuple(cannot), figures)


def _not_above(who: str, others: Mapping[str, tuple[float, ...]]) -> str:
    shown = [
        other + gap_text(f"{who} − {other}, each above its control", *gap)
        for other, gap in others.items()
    ]
    n = int(next(iter(others.values()))[-1])
    over = f"over {counted(n, 'concept')}"
    return f"Whether {who} learned: it is not shown to stand above {' and '.join(shown)}, {over}."
