"""What is known of finished cells: one at a time, and many in columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from corecurves.canonical import JSON, as_json, canonical_json

__all__ = ["Block", "Record", "from_column", "to_stored"]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one finished cell.

    Parameters
    ----------
    key : str
        Key of the cell.
    status : str
        How it ended, see `corecurves.schema.STATUSES`.
    values : dict of str to JSON
        Its values by variable name; None is the same as no value.
    """

    key: str
    status: str
    values: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Block:
    """What is known of many cells, in columns.

    Parameters
    ----------
    keys : sequence of str
        Keys of the cells.
    statuses : sequence of str
        How they ended.
    columns : mapping of str to sequence
        By variable name a value for each cell, None where it has none.
    """

    keys: Sequence[str]
    statuses: Sequence[str]
    columns: Mapping[str, Sequence[Any]]

    def records(self) -> Iterator[Record]:
        """The same, one cell at a time."""
        names = tuple(self.columns)
        rows = zip(*self.columns.values(), strict=True) if names else ((),) * len(self.keys)
        for key, status, row in zip(self.keys, self.statuses, rows, strict=True):
            pairs = zip(names, row, strict=True)
            yield Record(key, status, {name: value for name, value in pairs if value is not None})


def to_stored(value: object, where: str) -> int | float | str | bytes | None:
    r"""What SQLite is given for a value: itself, or its JSON as bytes where SQLite would change it.

    Examples
    --------
    >>> to_stored("judgment", "surface"), to_stored([1, 0], "token_hits")
    ('judgment', b'[1,0]')
    """
    kind = type(value)
    if kind is str and _is_plain(value):  # type: ignore[arg-type]
        return value  # type: ignore[return-value]
    if kind is float and math.isfinite(value):  # type: ignore[arg-type]
        return value  # type: ignore[return-value]
    if kind is int and _SMALLEST <= value <= _LARGEST:  # type: ignore[operator]
        return value  # type: ignore[return-value]
    if value is None:
        return None
    try:
        return canonical_json(value).encode("ascii")
    except (TypeError, ValueError):
        # Once more, for an error that names the value.
        return canonical_json(as_json(value, where)).encode("ascii")


def from_column(column: Sequence[Any]) -> Sequence[Any]:
    """Values of a column as they were before `to_stored`.

    Examples
    --------
    >>> from_column((b"[1,0]", "judgment", None))
    [[1, 0], 'judgment', None]
    """
    if bytes not in set(map(type, column)):
        return column
    # Few different lists stand in a column, as of tokens that were hit: each is read once.
    read = {raw: json.loads(raw) for raw in {value for value in column if type(value) is bytes}}
    return [read[value] if type(value) is bytes else value for value in column]


def _is_plain(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
