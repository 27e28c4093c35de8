"""The plan: the table of all cells of a run, and everything that decides their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from corecurves.canonical import JSON, digest

__all__ = ["Cell", "Plan"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One unit of work.

    Parameters
    ----------
    index : tuple of int
        Its place along each dimension of the plan.
    key : str
        Hash of everything that can change its result.
    """

    index: tuple[int, ...]
    key: str


@dataclass(frozen=True, eq=False)
class Plan:
    """All cells of a run.

    Parameters
    ----------
    question : str
        ``lane``, ``rose``, ``recall`` or ``descent``.
    coords : mapping of str to sequence
        Labels along each dimension, in order of the dimensions.
    index : ndarray of shape (cell, dim)
        Places of the cells.
    keys : tuple of str
        Keys of the cells.
    groups : ndarray of shape (cell,)
        Cells with the same number share work and are run together; every cell has a number of its
        own where nothing is shared.
    config : mapping of str to JSON
        Everything that decides the results. Concurrency, executor, ledger and progress are no part.
    volatile : str
        A part without an identity that another process would recognise, so that results must not be
        reused there; empty where there is none.
    cost : mapping of str to int
        What the whole plan takes, e.g. turns, before any of it is spent.
    """

    question: str
    coords: Mapping[str, Sequence[str | int]]
    index: NDArray[np.int32]
    keys: tuple[str, ...]
    groups: NDArray[np.int64]
    config: Mapping[str, JSON]
    volatile: str = ""
    cost: Mapping[str, int] = field(default_factory=dict)

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return tuple(self.coords)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the configuration."""
        return digest(dict(self.config))

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Cell]:
        for row, key in zip(self.index.tolist(), self.keys, strict=True):
            yield Cell(tuple(row), key)

    def __repr__(self) -> str:
        shape = ", ".join(f"{name}: {len(labels)}" for name, labels in self.coords.items())
        return f"Plan({self.question}, {len(self)} cells over {shape}, {self.hash[:12]})"

    def _repr_html_(self) -> str:
        from corecurves.engine.plan_view import plan_html

        return plan_html(self)

    def batches(self, missing: Sequence[bool], size: int) -> Iterator[list[Cell]]:
        """Cells that are still to be run, in batches that keep groups together.

        Parameters
        ----------
        missing : sequence of bool
            Per cell whether it is still to be run.
        size : int
            Cells a batch where groups are small.

        Yields
        ------
        list of Cell
            In order of the plan.
        """
        batch: list[Cell] = []
        last = -1
        for cell, group, wanted in zip(self, self.groups.tolist(), missing, strict=True):
            if not wanted:
                continue
            if len(batch) >= size and group != last:
                yield batch
                batch = []
            batch.append(cell)
            last = group
        if batch:
            yield batch
