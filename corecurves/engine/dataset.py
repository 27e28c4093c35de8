"""The bridge from plan and ledger to a Dataset, by the schema's table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.canonical import JSON
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Plan
from corecurves.errors import DatasetError
from corecurves.schema import Schema, Variable

__all__ = ["build_dataset", "check_dataset"]

_FILL = {"float": np.nan, "text": "", "flag": False}
_DTYPE = {"float": np.float64, "text": object, "flag": np.bool_}


def build_dataset(
    plan: Plan,
    records: Iterable[Record],
    schema: Schema,
    *,
    sizes: Mapping[str, int],
    given: Mapping[str, NDArray[Any]],
    attrs: Mapping[str, JSON],
    texts: bool = True,
) -> xr.Dataset:
    """Dataset of a run.

    Parameters
    ----------
    plan : Plan
        The plan.
    records : iterable of Record
        What is known of its cells; they are placed by key, so their order does not matter.
    schema : Schema
        The variables.
    sizes : mapping of str to int
        Lengths of the dimensions that the plan does not have.
    given : mapping of str to ndarray
        Variables that are not read from records, in the shape of their dimensions.
    attrs : mapping of str to JSON
        Attributes of the Dataset.
    texts : bool
        Whether long texts are taken from the ledger.

    Returns
    -------
    Dataset
        With the schema's variables. Where nothing was recorded: NaN, ``""`` or False.
    """
    lengths = {name: len(labels) for name, labels in plan.coords.items()} | dict(sizes)
    place = dict(zip(plan.keys, map(tuple, plan.index.tolist()), strict=True))
    arrays: dict[str, NDArray[Any]] = {}
    wanted = [v for v in schema.variables if v.name not in given and (texts or not v.long)]
    for variable in wanted:
        shape = [lengths[dim] for dim in variable.dims]
        arrays[variable.name] = _empty(shape, variable)
        if variable.recorded:
            arrays[variable.companion.name] = _empty(shape, variable.companion)
    fillers = [(v, *_axes(v, plan.dims)) for v in wanted]
    for record in records:
        index = place.get(record.key)
        if index is None:
            continue
        for variable, kept, dropped in fillers:
            if any(index[axis] for axis in dropped):
                continue
            value = record.values.get(variable.name)
            if value is None:
                continue
            at = tuple(index[axis] for axis in kept)
            if isinstance(value, list):
                arrays[variable.name][at][: len(value)] = value
            else:
                arrays[variable.name][at] = value
            if variable.recorded:
                arrays[variable.companion.name][at] = True
    data: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for variable in schema.variables:
        for each in (variable, variable.companion) if variable.recorded else (variable,):
            values = given.get(each.name, arrays.get(each.name))
            if values is None:
                continue
            entry: Any = (each.dims, np.asarray(values, dtype=_DTYPE[each.kind]), each.attrs)
            (coords if each.role == "coordinate" else data)[each.name] = entry
    for name, labels in plan.coords.items():
        kind = object if isinstance(labels[0], str) else np.int64
        coords[name] = ((name,), np.asarray(labels, dtype=kind), {})
    for name, size in sizes.items():
        coords[name] = ((name,), np.arange(size, dtype=np.int64), {})
    return xr.Dataset(data, coords, dict(attrs))


def check_dataset(ds: xr.Dataset, schema: Schema, *needed: str) -> None:
    """Refuse a Dataset that lacks what is asked of it.

    Parameters
    ----------
    ds : Dataset
        What was given.
    schema : Schema
        What it should follow.
    *needed : str
        Variables or coordinates that are needed.

    Raises
    ------
    DatasetError
        If one is missing or has other dimensions, naming it.
    """
    if not isinstance(ds, xr.Dataset):
        raise DatasetError(f"a {schema.question} Dataset is needed, not a {type(ds).__name__}")
    for name in needed:
        if name not in ds.variables:
            raise DatasetError(f"the Dataset has no `{name}`; a {schema.question} Dataset has one")
        if name in schema:
            extra = set(ds[name].dims) - set(schema[name].dims)
            lost = set(schema[name].dims) - set(ds[name].dims)
            if lost:
                raise DatasetError(
                    f"`{name}` has lost the dimension {', '.join(sorted(lost))}; "
                    "select with a list, e.g. ds.sel(concept=['wisdom'])"
                )
            if extra:
                raise DatasetError(f"`{name}` has the unknown dimension {sorted(map(str, extra))}")


def _empty(shape: list[int], variable: Variable) -> NDArray[Any]:
    return np.full(shape, _FILL[variable.kind], dtype=_DTYPE[variable.kind])


def _axes(variable: Variable, dims: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Axes of the plan that a variable has, in its own order, and those that it lacks."""
    kept = [dims.index(dim) for dim in variable.dims if dim in dims]
    return kept, [axis for axis, dim in enumerate(dims) if dim not in variable.dims]
