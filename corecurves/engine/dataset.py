"""The bridge from plan and ledger to a Dataset, by the schema's table."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.canonical import JSON, canonical_json
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block
from corecurves.errors import DatasetError
from corecurves.files.labels import labels_attr, refuse_merged
from corecurves.schema import Schema, Variable

__all__ = ["build_dataset", "check_dataset", "check_summary", "in_memory"]

_FILL = {"float": np.nan, "text": "", "flag": False}
_DTYPE = {"float": np.float64, "text": object, "flag": np.bool_}


def build_dataset(
    plan: Plan,
    blocks: Iterable[Block],
    schema: Schema,
    *,
    sizes: Mapping[str, int],
    given: Mapping[str, NDArray[Any]],
    attrs: Mapping[str, JSON],
    texts: bool = True,
) -> xr.Dataset:
    """Dataset of a run."""
    lengths = {name: len(labels) for name, labels in plan.coords.items()} | dict(sizes)
    arrays: dict[str, NDArray[Any]] = {}
    wanted = [v for v in schema.variables if v.name not in given and (texts or not v.long)]
    for variable in wanted:
        shape = [lengths[dim] for dim in variable.dims]
        arrays[variable.name] = _empty(shape, variable)
        if variable.recorded:
            arrays[variable.companion.name] = _empty(shape, variable.companion)
    place = dict(zip(plan.keys, range(len(plan)), strict=True))
    remarks: set[str] = set()
    for block in blocks:
        remarks.update(itertools.chain(*filter(None, block.columns.get("remarks", ()))))
        at = np.fromiter(map(place.get, block.keys, itertools.repeat(-1)), np.int64)
        known = np.flatnonzero(at >= 0)
        if known.size:
            _fill(arrays, wanted, plan.dims, block, known, plan.index[at[known]])
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
    everything = {**plan.coords, **{name: range(size) for name, size in sizes.items()}}
    attrs = {**attrs, **labels_attr(everything)}
    if remarks:
        attrs["remarks"] = canonical_json(sorted(remarks))
        warnings.warn("; ".join(sorted(remarks)), stacklevel=4)
    return xr.Dataset(data, coords, attrs)


def _fill(
    arrays: Mapping[str, NDArray[Any]],
    wanted: Iterable[Variable],
    dims: tuple[str, ...],
    block: Block,
    known: NDArray[np.intp],
    index: NDArray[np.int32],
) -> None:
    """Put the rows `known` of a block at the places `index`, of shape (row, dim)."""
    columns = {**block.columns, "status": block.statuses}
    places: dict[tuple[str, ...], tuple[NDArray[np.bool_], NDArray[np.intp]]] = {}
    for variable in wanted:
        column = columns.get(variable.name)
        if column is None:
            continue
        kept, dropped = _axes(variable, dims)
        array = arrays[variable.name]
        shape = array.shape[: len(kept)]
        if variable.dims not in places:
            first = (index[:, dropped] == 0).all(axis=1)
            at = np.ravel_multi_index(tuple(index[first, axis] for axis in kept), shape)
            places[variable.dims] = first, at
        first, at = places[variable.dims]
        values = _as_objects(column)[known[first]]
        if None in column:
            there = np.array([value is not None for value in values], dtype=bool)
            values, at = values[there], at[there]
        if array.ndim > len(kept):
            _fill_rows(array.reshape(-1, array.shape[-1]), at, values)
        else:
            array.reshape(-1)[at] = values
        if variable.recorded:
            arrays[variable.companion.name].reshape(-1)[at] = True


def _fill_rows(array: NDArray[Any], at: NDArray[np.intp], values: NDArray[Any]) -> None:
    """Put lists, which may be shorter than a row, into the rows `at`."""
    lengths = np.array([len(value) for value in values], dtype=np.int64)
    for length in np.unique(lengths):
        same = lengths == length
        array[at[same], :length] = np.array(values[same].tolist(), dtype=array.dtype)


def _as_objects(column: Sequence[Any]) -> NDArray[Any]:
    """The values of a column; a list stays one value."""
    objects = np.empty(len(column), dtype=object)
    objects[:] = column
    return objects


def in_memory(ds: xr.Dataset) -> xr.Dataset:
    """A Dataset whose arrays are NumPy's, as all figures are computed from."""
    variables = getattr(ds, "variables", {})  # what is no Dataset is refused by who asked
    pieces = any(variable.chunks is not None for variable in variables.values())
    return ds.compute() if pieces else ds


def check_summary(summary: xr.Dataset, of: str, needed: str) -> xr.Dataset:
    """Refuse what is no summary of a kind."""
    if getattr(summary, "attrs", {}).get("summary_of") != of:
        raise DatasetError(f"{needed} is needed")
    return in_memory(summary)


def check_dataset(ds: xr.Dataset, schema: Schema, *needed: str) -> xr.Dataset:
    """Refuse a Dataset that lacks what is asked of it."""
    if not isinstance(ds, xr.Dataset):
        raise DatasetError(f"a {schema.question} Dataset is needed; got {type(ds).__name__}")
    question = ds.attrs.get("question", schema.question)
    if question != schema.question:
        raise DatasetError(f"a {schema.question} Dataset is needed; this one is of {question}")
    refuse_merged(ds)
    for variable in schema.variables:
        # Filled up with NaN by an alignment, it would read as true there.
        if variable.kind == "flag" and variable.name in ds and ds[variable.name].dtype != bool:
            raise DatasetError(
                f"`{variable.name}` is not true or false throughout; give the Dataset as it was run"
            )
    for name in needed:
        if name not in ds.variables:
            raise DatasetError(f"the Dataset has no `{name}`; a {schema.question} Dataset has one")
        if name in schema:
            extra = set(ds[name].dims) - set(schema[name].dims)
            lost = set(schema[name].dims) - set(ds[name].dims)
            if lost:
                raise DatasetError(
                    f"`{name}` has lost the dimension {', '.join(sorted(lost))}; {_kept(ds, lost)}"
                )
            if extra:
                raise DatasetError(f"`{name}` has the unknown dimension {sorted(map(str, extra))}")
    for dim in ds["status"].dims if "status" in ds.variables else ():
        if not ds.sizes[dim]:
            raise DatasetError(f"the Dataset has no `{dim}` left; select at least one")
    order = dict.fromkeys(dim for variable in schema.variables for dim in variable.dims)
    return in_memory(ds.transpose(*order, ..., missing_dims="ignore"))


def _kept(ds: xr.Dataset, lost: set[str]) -> str:
    """How a dimension is kept: by the very selection that lost it, where it can be told."""
    chosen = {dim: ds[dim].item() for dim in sorted(lost) if dim in ds.coords and not ds[dim].dims}
    if not chosen:
        return "give the Dataset with it, as it was run"
    said = ", ".join(f"{dim}=[{label!r}]" for dim, label in chosen.items())
    return f"select with a list, e.g. ds.sel({said})"


def _empty(shape: list[int], variable: Variable) -> NDArray[Any]:
    return np.full(shape, _FILL[variable.kind], dtype=_DTYPE[variable.kind])


def _axes(variable: Variable, dims: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Axes of the plan that a variable has, in its own order, and those that it lacks."""
    kept = [dims.index(dim) for dim in variable.dims if dim in dims]
    return kept, [axis for axis, dim in enumerate(dims) if dim not in variable.dims]
