"""Datasets as tidy tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corecurves.errors import DatasetError, a_type, unknown

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["to_frame"]

_ENDS = ("lower", "upper")


def to_frame(ds: xr.Dataset, variables: str | Sequence[str] | None = None) -> pd.DataFrame:
    """Tidy table of a Dataset: one row a cell.

    Parameters
    ----------
    ds : Dataset
        A Dataset of a run or a summary, of any question.
    variables : str or sequence of str, optional
        Which variables; a row then is a place along their dimensions. Default, for a run: all that
        say something about a cell. A summary holds variables of several shapes, so some must be
        named.

    Returns
    -------
    DataFrame
        A column a dimension, a coordinate of these dimensions, and a variable; those of fewer
        dimensions are repeated. An interval's ends stand in two columns, ``…_lower`` and
        ``…_upper``. Rows without a planned cell are left out, and so are rows of which all
        variables named are missing. Where variables have different dimensions, each combination
        is a row.

    Raises
    ------
    DatasetError
        If there is no such variable, or none is named for a summary; the message lists what there
        is.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_lane("dev", ledger=False, progress=False)
    >>> cc.to_frame(ds).query("concept == 'wisdom' and arm == 'taught' and k == 2").hits.item()
    2.0
    >>> list(cc.to_frame(cc.summarize_lane(ds), "saturation_rate_ci").columns)
    ['arm', 'saturation_rate_ci_lower', 'saturation_rate_ci_upper']
    """
    import pandas as pd
    import xarray as xr

    if not isinstance(ds, xr.Dataset):
        raise DatasetError(f"a Dataset of a run or a summary is needed, not {a_type(ds)}")
    names = [str(name) for name in ds.data_vars]
    if variables is not None:
        wanted = [variables] if isinstance(variables, str) else list(variables)
        for name in wanted:
            if name not in names:
                raise DatasetError(unknown("variables", name, names))
    elif "status" in names:
        # The cells of a run are the places of its status.
        wanted = [name for name in names if set(ds[name].dims) <= set(ds["status"].dims)]
    else:
        shapes: dict[str, list[str]] = {}
        for name in names:
            shapes.setdefault(" × ".join(map(str, ds[name].dims)) or "no dimension", []).append(
                name
            )
        listed = "; ".join(f"{dims}: {', '.join(group)}" for dims, group in shapes.items())
        raise DatasetError(f"name `variables` of this Dataset to tabulate; it has {listed}")
    flat = ds[wanted]
    if "ci_bound" in flat.dims:
        for name in [name for name in wanted if "ci_bound" in ds[name].dims]:
            ends = {f"{name}_{end}": flat[name].sel(ci_bound=end, drop=True) for end in _ENDS}
            flat = flat.drop_vars(name).assign(ends)
        flat = flat.drop_dims("ci_bound")
    if not flat.dims:
        return pd.DataFrame([{str(name): value.item() for name, value in flat.items()}])
    frame = flat.to_dataframe().reset_index()
    if "status" in wanted:
        kept = frame["status"] != ""
    else:
        kept = frame[list(flat.data_vars)].replace("", None).notna().any(axis=1)
    return frame[kept].reset_index(drop=True)
