"""Runs of the lane's explorer, each made once."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corecurves.engine.plan import Plan
from corecurves.explore.job import Job
from corecurves.lane.plan import prepare
from corecurves.lane.work import LaneWork
from corecurves.specs import Curriculum

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Runs"]

_MOST = 200
"""Runs that are remembered."""
_LOCK = threading.Lock()


@dataclass
class Runs:
    """Datasets by what was run.

    Parameters
    ----------
    seed : int
        Seed of the runs.
    mode : str
        ``fresh`` or ``prefix``.
    max_concurrency : int
        Snapshots at work at once.
    """

    seed: int = 0
    mode: str = "fresh"
    max_concurrency: int = 8
    _kept: dict[str, xr.Dataset] = field(default_factory=dict, repr=False)
    _open: list[tuple[Plan, LaneWork]] = field(default_factory=list, repr=False)

    def begin(self, curricula: Sequence[Curriculum], system: object) -> Job:
        """Begin what is not known yet of some curricula."""
        plans = [self._plan(curriculum, system) for curriculum in curricula]
        self._open = [part for part in plans if part[0].hash not in self._kept]
        return Job(self._open, max_concurrency=self.max_concurrency)

    def finish(self, job: Job) -> None:
        """Keep the Datasets of a job that has ended."""
        # A run says at its end how many cells failed; here each point says so itself.
        with _LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from corecurves.lane.dataset import lane_dataset

            for (plan, work), book in zip(self._open, job.books, strict=True):
                while len(self._kept) >= _MOST:
                    del self._kept[next(iter(self._kept))]
                self._kept[plan.hash] = lane_dataset(plan, work, book, texts=True)
                book.close()

    def of(self, curriculum: Curriculum, system: object) -> xr.Dataset:
        """Dataset of a curriculum; a KeyError where it was not run."""
        return self._kept[self._plan(curriculum, system)[0].hash]

    def _plan(self, curriculum: Curriculum, system: object) -> tuple[Plan, LaneWork]:
        return prepare(curriculum, system, ("taught",), 1, 1, self.seed, self.mode)
