"""Small multiples of any axes-level plot."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any

from corecurves.engine.dataset import in_memory
from corecurves.errors import UsageError, unknown
from corecurves.plots.style import NAME, draw_legend, legible
from corecurves.plots.style import label as written

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["facet"]

_PLURAL = {"concept": "concepts", "arm": "arms", "kind": "kinds"}
_SHARE = 0.8
"""Of a panel's width, what its title may fill: the ticks need the rest."""


def facet(
    plot: Callable[..., Axes],
    ds: xr.Dataset,
    *,
    col: str = "concept",
    wrap: int = 5,
    size: tuple[float, float] = (2.0, 1.9),
    share: bool = True,
) -> Figure:
    """Figure with one panel a label, with the same colours and order in all.

    Parameters
    ----------
    plot : callable
        An axes-level plot such as `plot_lane`, with a keyword for the labels to draw and `legend`.
    ds : Dataset
        What it draws.
    col : {"concept", "arm", "kind"}
        The dimension that is spread over panels.
    wrap : int
        Panels a row.
    size : tuple of float
        Width and height of a panel in inches; fewer than three are larger.
    share : bool
        Whether all panels have the same axes; otherwise each has those of its own data.

    Returns
    -------
    Figure
        With one legend for all panels.

    Raises
    ------
    UsageError
        If `col` is no dimension to spread over.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_lane("dev", ledger=False, progress=False)
    >>> len(cc.facet(cc.plot_lane, ds, col="concept").axes)
    3
    """
    import matplotlib.pyplot as plt

    if col not in _PLURAL or col not in ds.dims:
        raise UsageError(unknown("col", col, [dim for dim in _PLURAL if dim in ds.dims]))
    ds = in_memory(ds)
    labels = [str(label) for label in ds[col].values]
    columns = min(wrap, len(labels))
    rows = ceil(len(labels) / columns)
    # One or two panels would be too small to read.
    grow = max(1.0, 4.6 / (size[0] * columns))
    size = (grow * size[0], min(grow, 2.1) * size[1])
    figure, grid = plt.subplots(
        rows, columns, sharex=share, sharey=share, squeeze=False, layout="constrained",
        figsize=(size[0] * columns, size[1] * rows + 0.5),
    )  # fmt: skip
    panels = grid.ravel()
    limits = []
    for panel, label in zip(panels, labels, strict=False):
        arguments: dict[str, Any] = {_PLURAL[col]: [label], "legend": False}
        plot(ds, panel, **arguments)
        limits.append((panel.get_xlim(), panel.get_ylim()))
        title = panel.set_title(written(label), fontsize="small")
        legible(panel)  # its width is that of the font that has its characters
        whole, most = title.get_text().replace(r"\$", "$"), NAME
        while most > 3 and title.get_window_extent().width > _SHARE * size[0] * figure.dpi:
            most -= 1
            title.set_text(written(whole, most))
        panel.tick_params(labelsize="x-small")
    for panel in panels[len(labels) :]:
        figure.delaxes(panel)
    figure.supxlabel(panels[0].get_xlabel(), fontsize="small")
    figure.supylabel(panels[0].get_ylabel(), fontsize="small")
    for panel in figure.axes:
        panel.set(xlabel="", ylabel="")
    if share:
        # Each plot set limits of its own: the widest are for all.
        limits = [
            tuple(max(pair, key=lambda limit: limit[1]) for pair in zip(*limits, strict=True))
        ]
    for panel, (x, y) in zip(panels, limits, strict=False):
        panel.set(xlim=x, ylim=y)
    handles, names = panels[0].get_legend_handles_labels()
    draw_legend(
        figure, handles, names, loc="outside upper right", ncols=len(names), fontsize="small"
    )
    for panel in figure.axes:
        legible(panel)
    return figure
