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
from corecurves.engine.run import Work, arun_apart, run
from corecurves.graders import BlindCase, Preference
from corecurves.replay.work import GradeWork, ReplayWork

__all__ = ["Cases", "Stages"]

Cases = dict[str, tuple[str, BlindCase]]
"""Key of the grade, and blind case, by key of the cell."""


@dataclass(frozen=True)
class Stages:
    """A prepared run.

    Parameters
    ----------
    plan : Plan
        The cells of the first stage.
    work : ReplayWork
        What is done with them.
    grader : Grader
        Who grades the candidates.
    tasks : mapping of str to str
        Task of each cell, by key.
    seed : int
        Decides the order of grading.
    """

    plan: Plan
    work: ReplayWork
    grader: Any
    tasks: Mapping[str, str]
    seed: int

    def run(
        self, book: Ledger, executor: object, max_concurrency: int, progress: bool
    ) -> Iterator[Block]:
        """Run what is missing of both stages; what is known of cells, then their grades."""
        for plan, work in self.rounds(book):
            run(plan, work, book, executor=executor, max_concurrency=max_concurrency,
                progress=progress)  # fmt: skip
        return self.known(book)

    async def arun(
        self, book: Ledger, executor: object, max_concurrency: int, progress: bool
    ) -> Iterator[Block]:
        """Awaitable twin of `run`."""
        for plan, work in self.rounds(book):
            await arun_apart(plan, work, book, executor=executor, max_concurrency=max_concurrency,
                             progress=progress)  # fmt: skip
        return self.known(book)

    def rounds(self, book: Ledger) -> Iterator[tuple[Plan, Work]]:
        """What is to be run, one after the other: the second follows from what the first found."""
        yield self.plan, self.work
        yield self._grading(self.cases(book))

    def cases(self, book: Ledger) -> Cases:
        """Key of the grade, and blind case, of each cell that has a candidate."""
        found: Cases = {}
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

    def _grading(self, found: Cases) -> tuple[Plan, GradeWork]:
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

    def known(self, book: Ledger) -> Iterator[Block]:
        """What is known of cells, then their grades; warns of those without a result."""
        cases = self.cases(book)
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
