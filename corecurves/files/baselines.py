"""Runs that are kept by name, to compare later ones with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from corecurves.errors import DatasetError, UsageError, unknown

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["baseline_names", "baseline_path", "load_baseline", "save_baseline"]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
_TAKEN = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def baseline_path(name: str, folder: str | Path | None = None) -> Path:
    """File of a kept run.

    Examples
    --------
    >>> baseline_path("before-the-change", "kept").as_posix()
    'kept/before-the-change.nc'
    >>> baseline_path("../secrets")
    Traceback (most recent call last):
    corecurves.errors.UsageError: '../secrets' is no name for a baseline; give letters, digits, \
'.', '_' and '-' (at most 64), no path
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or _TAKEN.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a baseline; give letters, digits, '.', '_' and '-' "
            "(at most 64), no path"
        )
    return _folder(folder) / f"{name}.nc"


def save_baseline(
    ds: xr.Dataset, name: str = "baseline", *, folder: str | Path | None = None
) -> Path:
    """Keep a recall run by name, atomically.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval`; its attributes hold the selector's full identity.
    name : str
        What to call it; see `baseline_path`. One of the same store and name is replaced.
    folder : str, Path or None
        Where runs are kept; None for the user's data folder.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If the name is wrong, it belongs to a run on another store, or the folder lies in the store.
    DatasetError
        If `ds` is no recall run, or cannot be saved; an older one is left as it is.

    Examples
    --------
    >>> import tempfile, corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cc.save_baseline(ds, "before", folder=folder)
    ...     cc.load_baseline("before", folder=folder).identical(ds)
    True
    """
    from corecurves.files.datasets import load, save

    path = baseline_path(name, folder)
    attrs = getattr(ds, "attrs", {})
    if attrs.get("question") != "recall" or "summary_of" in attrs or "config" not in attrs:
        raise DatasetError("a Dataset of run_recall_eval is kept as a baseline; give one")
    store = str(attrs.get("store_path", ""))
    if store and path.resolve().is_relative_to(Path(store).resolve()):
        raise UsageError(
            f"the baseline {path} lies inside the store {store}, which is read-only; "
            "give a folder outside it"
        )
    if path.exists():
        try:
            other = load(path).attrs
        except DatasetError:
            # A damaged file is nobody's baseline.
            other = attrs
        if other.get("store") != attrs.get("store"):
            raise UsageError(
                f"the baseline '{name}' is a run on {other.get('store')}, and this one is on "
                f"{attrs.get('store')}; give another name"
            )
    return save(ds, path)


def load_baseline(name: str, *, folder: str | Path | None = None) -> xr.Dataset:
    """A run that was kept by name.

    Parameters
    ----------
    name : str
        Its name.
    folder : str, Path or None
        Where runs are kept; None for the user's data folder.

    Returns
    -------
    Dataset
        Identical to the one that was saved.

    Raises
    ------
    UsageError
        If the name is wrong, or nothing is kept under it.
    DatasetError
        If the file is damaged.

    Examples
    --------
    >>> load_baseline("before", folder="nowhere")
    Traceback (most recent call last):
    corecurves.errors.UsageError: `baseline` has no 'before'; it has none
    """
    from corecurves.files.datasets import load

    path = baseline_path(name, folder)
    if not path.is_file():
        raise UsageError(unknown("baseline", name, baseline_names(folder)))
    return load(path)


def baseline_names(folder: str | Path | None = None) -> list[str]:
    """Names of the runs that are kept.

    Parameters
    ----------
    folder : str, Path or None
        Where runs are kept; None for the user's data folder.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> baseline_names("nowhere")
    []
    """
    return sorted(path.stem for path in _folder(folder).glob("*.nc") if _NAME.fullmatch(path.stem))


def _folder(folder: str | Path | None) -> Path:
    if folder is not None:
        return Path(folder)
    from platformdirs import user_data_path

    return user_data_path("corecurves") / "baselines"
