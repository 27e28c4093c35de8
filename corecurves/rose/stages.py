"""The two stages of a run: a candidate for each cell, then a grade for each different candidate."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corecurves.canonical import digest, stable_seed
from corecurves.engine.failures import warn_of_failures
from corecurves.engine.ledger import Ledger
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block
from corecurves.engine.run import arun_apart, run
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
        self, book: Ledger, executor: object, max_concurrency: int, progress: bool
    ) -> Iterator[Block]:
        """Run what is missing of both stages; what is known of cells, then their grades."""
        options = self._options(executor, max_concurrency, progress)
        run(self.plan, self.work, book, **options)
        cases = self._cases(book)
        plan, work = self._grading(cases)
        run(plan, work, book, **options)
        return self._known(book, cases)

    async def arun(
        self, book: Ledger, executor: object, max_concurrency: int, progress: bool
    ) -> Iterator[Block]:
        """Awaitable twin of `run`."""
        options = self._options(executor, max_concurrency, progress)
        await arun_apart(self.plan, self.work, book, **options)
        cases = self._cases(book)
        plan, work = self._grading(cases)
        await arun_apart(plan, work, book, **options)
        return self._known(book, cases)

    def _options(self, executor: object, max_concurrency: int, progress: bool) -> dict[str, Any]:
        # A model says how many calls it takes at once; on an executor each process has its own.
        own = getattr(self.work.model, "concurrency", None) if executor is None else None
        most = own or max_concurrency
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

    def _known(self, book: Ledger, cases: _Cases) -> Iterator[Block]:
        cells: dict[str, list[str]] = {}
        for key, (grade, _) in cases.items():
            cells.setdefault(grade, []).append(key)
        failed = [
            replace(record, key=key)
            for record in book.failed()
            for key in cells.get(record.key, [record.key])
        ]
        warn_of_failures(failed, self.plan)
        grades = (_by_cell(block, cells) for block in book.blocks("passed", "score", "reason"))
        return itertools.chain(book.blocks(), grades)


def _by_cell(block: Block, cells: Mapping[str, list[str]]) -> Block:
    """Grades of a block, each once for every cell that has it."""
    rows = [(i, cell) for i, grade in enumerate(block.keys) for cell in cells.get(grade, ())]
    return Block(
        [cell for _, cell in rows],
        [block.statuses[i] for i, _ in rows],
        {name: [column[i] for i, _ in rows] for name, column in block.columns.items()},
    )
