"""Saving and loading of Datasets.

One format: netCDF through h5netcdf. A save writes a sibling file, reads it back, compares, and only
then takes the place of an older file. A file carries a digest of its content, so that a truncated
or half-written one never loads as an empty Dataset. Plain xarray opens it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from corecurves.canonical import as_json, canonical_json
from corecurves.errors import DatasetError, a_type
from corecurves.files.labels import refuse_merged

__all__ = ["load", "save"]

_FORMAT = "corecurves-dataset-1"
_ESCAPED = "text_escape"
_SPECIAL = re.compile("[\\\\\x00\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def save(ds: xr.Dataset, path: str | Path) -> Path:
    """Save a Dataset as netCDF, atomically and checked.

    Parameters
    ----------
    ds : Dataset
        What to save. Text variables hold text alone; attributes hold what JSON has.
    path : str or Path
        The file, ``.nc``; an older one is replaced only when the new one is whole.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DatasetError
        If a value cannot be saved, naming the variable and the value, two runs were put into one
        Dataset, or the folder cannot be written to. An older file is left as it is.

    Examples
    --------
    >>> import tempfile, corecurves as cc
    >>> ds = cc.run_lane("dev", ledger=False, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cc.load(cc.save(ds, f"{folder}/lane.nc")).identical(ds)
    True
    """
    target = Path(path)
    if target.suffix != ".nc":
        raise DatasetError(f"a Dataset is saved as netCDF: write {target.with_suffix('.nc').name}")
    # xarray is there where there is a Dataset.
    if not hasattr(ds, "variables") or not hasattr(ds, "data_vars"):
        raise DatasetError(f"a Dataset is needed to save, not {a_type(ds)}")
    refuse_merged(ds)
    encoded = _encode(ds)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".nc", dir=target.parent)
    except OSError as error:
        raise DatasetError(
            f"{target} cannot be written ({error.strerror}); give a writable folder"
        ) from error
    os.close(handle)
    sibling = Path(name)
    try:
        try:
            # In memory first: on a full disk, the HDF5 library takes the whole process with it.
            # Copied, as Python 3.13 complains of a buffer that an exception holds.
            sibling.write_bytes(bytes(encoded.to_netcdf(engine="h5netcdf")))
        except (OSError, TypeError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise DatasetError(f"{target} cannot be written: {why}") from error
        if not load(sibling).identical(_plain(ds)):
            raise DatasetError(f"{target} would not read back as it was; nothing was replaced")
        sibling.chmod(0o666 & ~_umask())
        try:
            sibling.replace(target)
        except OSError as error:
            raise DatasetError(
                f"{target} cannot be replaced ({error.strerror}); give another file"
            ) from error
    finally:
        sibling.unlink(missing_ok=True)
    return target


def load(path: str | Path) -> xr.Dataset:
    """Dataset from a file that `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Dataset
        Identical to the one that was saved; text is of dtype object.

    Raises
    ------
    DatasetError
        If there is no such file, or it does not hold a whole Dataset.

    Examples
    --------
    >>> load("lane.nc")
    Traceback (most recent call last):
    corecurves.errors.DatasetError: there is no file lane.nc; give one that corecurves.save wrote
    """
    source = Path(path)
    if not source.is_file():
        raise DatasetError(f"there is no file {source}; give one that corecurves.save wrote")
    try:
        ds = xr.load_dataset(source, engine="h5netcdf")
    except Exception as error:
        raise DatasetError(
            f"{source} cannot be read ({_first_line(error)}); it is damaged or no netCDF file"
        ) from error
    if ds.attrs.get("file_format") != _FORMAT:
        raise DatasetError(
            f"{source} does not hold a whole corecurves Dataset; "
            "open files of other origin with xarray.open_dataset"
        )
    attrs = json.loads(ds.attrs["attrs_json"])
    found = ds.attrs["content_sha256"]
    decoded = ds.map(_decode, keep_attrs=True)
    decoded = decoded.assign_coords(
        {name: (coord.dims, *_decoded(coord)) for name, coord in ds.coords.items()}
    )
    # A file holds no type of what is empty.
    changed = {n: d for n, d in attrs["dtypes"].items() if decoded[n].dtype != d}
    decoded = decoded.assign_coords(
        {n: decoded[n].astype(d) for n, d in changed.items() if n in decoded.coords}
    ).assign({n: decoded[n].astype(d) for n, d in changed.items() if n not in decoded.coords})
    decoded.attrs = attrs["dataset"]
    for name, own in attrs["variables"].items():
        if name in decoded.variables:
            decoded[name].attrs = own
    if _content(decoded) != found:
        raise DatasetError(f"{source} is damaged: its content is not what was saved")
    return decoded


def _encode(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset as the file holds it."""
    plain = _plain(ds)
    variables = {}
    for name, variable in plain.variables.items():
        values, attrs = variable.values, {}
        if variable.dtype == object:
            values, escaped = _escape(str(name), variable.values)
            attrs = {_ESCAPED: "backslash"} if escaped else {}
        elif variable.dtype.kind not in "biuf":
            raise DatasetError(f"`{name}` has the dtype {variable.dtype}; save numbers or text")
        labels = {k: v for k, v in variable.attrs.items() if isinstance(v, str)}
        variables[name] = xr.Variable(variable.dims, values, labels | attrs)
    try:
        attrs_json = canonical_json(
            {
                "dataset": as_json(ds.attrs, "attrs"),
                "variables": {
                    str(name): as_json(v.attrs, f"attrs of `{name}`")
                    for name, v in ds.variables.items()
                },
                "dtypes": {str(name): str(v.dtype) for name, v in plain.variables.items()},
            }
        )
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{error}; save numbers, text, lists and mappings with text keys") from (
            error
        )
    shown = {k: v for k, v in ds.attrs.items() if isinstance(v, str) and not _SPECIAL.search(v)}
    marks = {
        "file_format": _FORMAT,
        "attrs_json": attrs_json,
        "content_sha256": _content(plain),
    }
    coords = {name: variables.pop(name) for name in plain.coords}
    return xr.Dataset(variables, coords, shown | marks)


def _plain(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset with all text of dtype object."""
    fixed = {
        name: (ds[name].dims, np.asarray(ds[name].values, dtype=object), ds[name].attrs)
        for name in ds.variables
        if ds[name].dtype.kind in "UST"
    }
    coords = {name: fixed.pop(name) for name in list(fixed) if name in ds.coords}
    return ds.assign_coords(coords).assign(fixed)


def _escape(name: str, values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], bool]:
    special = False
    for at, value in np.ndenumerate(values):
        if not isinstance(value, str):
            raise DatasetError(f"`{name}` holds {value!r} at {at}; a text variable holds text")
        special = special or bool("\x00" in value or _SPECIAL.search(value.replace("\\", "")))
    if not special:
        return values, False
    out = np.empty_like(values)
    for at, value in np.ndenumerate(values):
        out[at] = _SPECIAL.sub(
            lambda m: "\\\\" if m[0] == "\\" else f"\\u{ord(m[0]):04x}", str(value)
        )
    return out, True


def _decoded(array: xr.DataArray) -> tuple[np.ndarray[Any, Any], dict[Any, Any]]:
    values, attrs = array.values, dict(array.attrs)
    escaped = attrs.pop(_ESCAPED, None) is not None
    if array.dtype.kind in "OUST":
        values = np.asarray(values, dtype=object)
        if escaped:
            flat = [
                _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), str(v))
                for v in values.ravel()
            ]
            values = np.empty_like(values)
            values.ravel()[:] = flat
    return values, attrs


def _decode(array: xr.DataArray) -> xr.DataArray:
    values, attrs = _decoded(array)
    return array.copy(data=values).assign_attrs(attrs)


def _content(ds: xr.Dataset) -> str:
    """Digest over names, dimensions and values of all variables."""
    total = hashlib.sha256()
    for name in sorted(map(str, ds.variables)):
        variable = ds.variables[name]
        kind = "text" if variable.dtype == object else variable.dtype.kind
        head = [name, list(map(str, variable.dims)), list(variable.shape), kind]
        total.update(canonical_json(head).encode())
        if variable.dtype == object:
            total.update(canonical_json(variable.values.ravel().tolist()).encode())
        else:
            total.update(np.ascontiguousarray(variable.values).tobytes())
    return total.hexdigest()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
