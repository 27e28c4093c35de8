"""The two stages of a run: a candidate for each cell, then a grade for each different candidate."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corecurves.canonical import digest, stable_seed
from corecurves.engine import loop
from corecurves.engine.failures import warn_of_failures
from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Plan
from corecurves.engine.run import arun, run
from corecurves.graders import BlindCase, Preference
from corecurves.rose.work import GradeWork, RoseWork

__all__ = ["Stages"]

_Cases = dict[str, tuple[str, BlindCase]]


@dataclass(frozen=True)
class Stages:
    """A prepared run.

    Parameters
    ----------
    plan : Plan
        The cells of the first stage.
    work : RoseWork
        What is done with them.
    grader : Grader
        Who grades the candidates.
    tasks : mapping of str to str
        Task of each cell, by key.
    seed : int
        Decides the order of grading.
    """

    plan: Plan
    work: RoseWork
    grader: Any
    tasks: Mapping[str, str]
    seed: int

    def run(
        self, book: Ledger, executor: Executor | None, max_concurrency: int, progress: bool
    ) -> list[Record]:
        """Run what is missing of both stages; records of cells, their grades merged in."""
        options = self._options(executor, max_concurrency, progress)
        run(self.plan, self.work, book, **options)
        cases = self._cases(book)
        plan, work = self._grading(cases)
        run(plan, work, book, **options)
        return self._merged(book, cases)

    async def arun(
        self, book: Ledger, executor: Executor | None, max_concurrency: int, progress: bool
    ) -> list[Record]:
        """Awaitable twin of `run`."""
        options = self._options(executor, max_concurrency, progress)
        await asyncio.wrap_future(loop.start(arun(self.plan, self.work, book, **options)))
        cases = self._cases(book)
        plan, work = self._grading(cases)
        await asyncio.wrap_future(loop.start(arun(plan, work, book, **options)))
        return self._merged(book, cases)

    def _options(
        self, executor: Executor | None, max_concurrency: int, progress: bool
    ) -> dict[str, Any]:
        # A model says how many calls it takes at once.
        most = getattr(self.work.model, "concurrency", None) or max_concurrency
        concurrency = min(max_concurrency, most)
        return {"executor": executor, "max_concurrency": concurrency, "progress": progress}

    def _cases(self, book: Ledger) -> _Cases:
        """Key of the grade, and blind case, of each cell that has a candidate."""
        found: _Cases = {}
        if self.work.wants == "gain":
            return found
        who = self.grader.identity.content()
        for record in book.records():
            prompt = self.work.prompts.get(record.key)
            if prompt is None or record.status != "ok":
                continue
            candidate = (
                Preference(float(record.values["score"]))  # type: ignore[arg-type]
                if self.work.wants == "preference"
                else str(record.values["answer"])
            )
            case = BlindCase(self.tasks[record.key], prompt.outcome, candidate)
            found[record.key] = digest(["grade", who, case.content()]), case
        return found

    def _grading(self, found: _Cases) -> tuple[Plan, GradeWork]:
        """Plan and work of the second stage, in an order shuffled by seed."""
        cases = dict(found.values())
        keys = sorted(cases)
        random.Random(stable_seed("grades", self.seed)).shuffle(keys)
        n = len(keys)
        plan = replace(
            self.plan,
            coords={"grade": list(range(n))},
            index=np.arange(n, dtype=np.int32)[:, None],
            keys=tuple(keys),
            groups=np.arange(n, dtype=np.int64),
        )
        return plan, GradeWork(self.grader, cases)

    def _merged(self, book: Ledger, cases: _Cases) -> list[Record]:
        records = {record.key: record for record in book.records()}
        merged = []
        for key in self.plan.keys:
            record = records.get(key)
            if record is None:
                continue
            if key in cases and (grade := records.get(cases[key][0])) is not None:
                values = {**record.values, **grade.values, "status": grade.status}
                record = Record(key, grade.status, values)
            merged.append(record)
        warn_of_failures(merged, self.plan)
        return merged
