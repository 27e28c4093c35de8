"""The labels of a run's plan, in its Dataset: what tells a Dataset into which two were put."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from corecurves.canonical import canonical_json
from corecurves.errors import DatasetError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["LABELS", "labels_attr", "refuse_merged"]

LABELS = "labels"
"""Attribute of a Dataset of a run: the labels of each of its dimensions, as JSON."""
_TOGETHER = {
    "lane": "cc.compare_systems({'a': …, 'b': …})",
    "recall": "cc.plot_recall({'a': …, 'b': …})",
    "rose": "cc.plot_compressors({'a': …, 'b': …})",
}


def labels_attr(coords: Mapping[str, Sequence[str | int]]) -> dict[str, str]:
    """Attribute that says which labels a run has."""
    return {LABELS: canonical_json({name: list(labels) for name, labels in coords.items()})}


def refuse_merged(ds: xr.Dataset) -> None:
    """Refuse a Dataset of two runs, whose attributes would speak of one of them.

    A part of a run (``sel``, ``isel``) has labels of its plan, each once; so has one whose labels
    were all renamed, or some of its arms in place. Two runs that ``xr.concat`` or ``xr.merge`` put
    into one have a label twice, some that are not in the plan, or a dimension more.
    """
    said = ds.attrs.get(LABELS)
    if said is None:
        return
    planned: dict[str, list[str | int]] = json.loads(said)
    why = ""
    if "status" in ds.variables and (more := set(ds["status"].dims) - set(planned)):
        new = sorted(map(str, more))[0]
        for dim in planned.keys() - set(ds.dims):
            if new in ds.coords and set(ds[new].values.tolist()) <= set(planned[dim]):
                raise DatasetError(
                    f"the dimension `{dim}` was renamed; name it back: ds.rename({new}={dim!r})"
                )
        why = f"it has the dimension '{new}', which no run has"
    for dim, labels in planned.items():
        if dim not in ds.dims or dim not in ds.coords:
            continue
        found = ds[dim].values.tolist()
        twice = [label for label, n in Counter(found).items() if n > 1]
        known = set(labels)
        strange = [label for label in found if label not in known]
        # All runs of a question share the names of arms: one that no plan has was renamed in place.
        renamed = (
            dim == "arm"
            and len(found) == len(labels)
            and all(new == old for new, old in zip(found, labels, strict=True) if new in known)
        )
        if twice:
            why = f"it has {dim} {twice[0]!r} twice"
        elif strange and not renamed and (len(strange) < len(found) or len(found) > len(labels)):
            why = f"{dim} {strange[0]!r} is not in the plan that its attributes speak of"
    if why:
        together = _TOGETHER.get(str(ds.attrs.get("question")))
        named = f", or give them by name: {together}" if together else ""
        raise DatasetError(
            f"two runs were put into one Dataset, and its attributes are those of one: {why}; give "
            f"each run by itself{named}"
        )
