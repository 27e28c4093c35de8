"""Exploring a recall run: thresholds and budgets without another call of the selector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError

if TYPE_CHECKING:
    import xarray as xr

    from corecurves.explore.shell import Explorer

__all__ = ["explore_recall"]

_TITLE = "Does retrieval serve the right lessons?"


def explore_recall(ds: xr.Dataset, baseline: xr.Dataset | str | None = None) -> Explorer:
    """Controls that move a recall run along its precision-recall curve.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval`. What is served is decided anew from its scores, threshold and budget
        being no part of the scoring.
    baseline : Dataset, str or None
        Another run, or the name of one that `save_baseline` kept: lessons lost and gained are
        against it. None compares with the run as it was.

    Returns
    -------
    Explorer
        A widget: as the last line of a cell it shows itself, and in an exported page its figure and
        tables. Where there is no score or no episode to count, it says so.

    Raises
    ------
    DatasetError
        If one is no recall Dataset, there is no such baseline, or no episode is common.

    See Also
    --------
    compare_recall : The comparison with a baseline, with intervals.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False)
    >>> cc.explore_recall(ds)
    <explorer: Does retrieval serve the right lessons?>
    """
    for one in (ds, *([] if baseline is None or isinstance(baseline, str) else [baseline])):
        attrs = getattr(one, "attrs", {})
        if attrs.get("question") != "recall" or "summary_of" in attrs:
            raise DatasetError("a Dataset of run_recall_eval is needed")
    from corecurves.explore.shell import nothing_to_show

    if not bool((ds.status == "ok").any()):
        return nothing_to_show(_TITLE, "no candidate has a score")
    if not bool(ds.used.notnull().any()):
        return nothing_to_show(_TITLE, "nothing is known of what was used")
    if isinstance(baseline, str):
        from corecurves.files.baselines import load_baseline

        baseline = load_baseline(baseline)
    ds, baseline = in_memory(ds), None if baseline is None else in_memory(baseline)
    from corecurves.explore.recall_widget import RecallExplorer

    return RecallExplorer(ds, baseline, title=_TITLE)
