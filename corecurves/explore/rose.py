"""Exploring a rose run: from the curve to the case behind a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corecurves.arguments import finite
from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError

if TYPE_CHECKING:
    import xarray as xr

    from corecurves.explore.shell import Explorer

__all__ = ["explore_rose"]

_TITLE = "Does the lesson still work when it is shorter?"


def explore_rose(ds: xr.Dataset, *, margin: float = 0.1) -> Explorer:
    """Controls that lead from the transfer curve to the cases behind its points.

    Parameters
    ----------
    ds : Dataset
        From `run_rose_eval`.
    margin : float
        Loss of transfer that still counts as holding, at first; from 0.01 to 0.49.

    Returns
    -------
    Explorer
        A widget: as the last line of a cell it shows itself, and in an exported page its figure and
        tables. Where no cell has a result it says so.

    Raises
    ------
    DatasetError
        If `ds` is no Dataset of `run_rose_eval`.
    UsageError
        If `margin` is outside its span.

    See Also
    --------
    verdict : What the margin decides.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.explore_rose(ds)
    <explorer: Does the lesson still work when it is shorter?>
    """
    attrs = getattr(ds, "attrs", {})
    if attrs.get("question") != "rose" or "summary_of" in attrs:
        raise DatasetError("a Dataset of run_rose_eval is needed")
    ds = in_memory(ds)
    margin = finite("margin", margin, least=0.01, most=0.49)
    from corecurves.explore.shell import nothing_to_show

    if not bool((ds.passed.notnull() | ds.score.notnull()).any()):
        statuses = [str(status) for status in ds.status.values.ravel() if status]
        counts = ", ".join(f"{name} {statuses.count(name)}" for name in sorted(set(statuses)))
        why = f"no cell has a result ({counts})" if counts else "the Dataset has no cell"
        return nothing_to_show(_TITLE, why)
    from corecurves.explore.rose_widget import RoseExplorer

    return RoseExplorer(ds, margin=margin, title=_TITLE)
