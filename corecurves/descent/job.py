"""A prepared run: rounds of calls until every ladder has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves.canonical import JSON
from corecurves.descent.cost import cost_of
from corecurves.descent.design import Design, make_design
from corecurves.descent.states import Opened, Result
from corecurves.descent.walk import Walk
from corecurves.engine.failures import warn_of_failures
from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Plan
from corecurves.engine.run import LedgerChoice, Work
from corecurves.errors import UsageError
from corecurves.files.store import open_store, refuse_inside
from corecurves.graders import TAKE, as_grader
from corecurves.models.resolve import as_model
from corecurves.protocol.framings import EVALUATION
from corecurves.replay.stages import Stages
from corecurves.replay.work import ReplayWork, sampling
from corecurves.selectors import as_selector
from corecurves.selectors.work import SelectorWork
from corecurves.specs import Store, unrecognisable

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Job", "prepare"]


@dataclass(frozen=True)
class Job:
    """A prepared run.

    Parameters
    ----------
    walk : Walk
        The ladders, and the design that they belong to.
    plan : Plan
        What is asked first, and what the whole may cost.
    model, grader : Model and Grader
        Who is evaluated, and who grades.
    wants : str
        What candidates the grader takes.
    sampling : mapping of str to JSON
        Temperature and longest answer, where the model is asked.
    """

    walk: Walk
    plan: Plan
    model: Any
    grader: Any
    wants: str
    sampling: Mapping[str, JSON]

    @property
    def design(self) -> Design:
        """What is run."""
        return self.walk.design

    def checked(self, ledger: LedgerChoice) -> LedgerChoice:
        """The ledger, refused where it lies in the store."""
        if isinstance(ledger, str | Path):
            refuse_inside(self.design.store, ledger)
        return ledger

    @property
    def work(self) -> ReplayWork:
        """What is done with what is put to the model."""
        return ReplayWork(self.model, {}, self.wants, self.sampling)

    def rounds(self, book: Ledger, asked: Opened) -> Iterator[tuple[Plan, Work]]:
        """What is to be run, one after the other, until every ladder has ended.

        A failed call is made once a run, however many ladders wait for it: they all end there.
        """
        while (opened := self.walk.opened(self.known(book, asked))).any():
            asked.add(opened)
            if opened.prompts:
                yield from self._stages(opened).rounds(book)
            if opened.asks:
                yield self._judging(opened)

    def known(self, book: Ledger, asked: Opened) -> dict[str, Result]:
        """Results by key of what was asked; a replay with its grade."""
        records = {record.key: record for record in book.records()}
        grades = self._stages(asked).cases(book)
        found = {}
        for key in (*asked.prompts, *asked.asks):
            record = records[key]
            if key in grades:
                record = _graded(record, records[grades[key][0]])
            found[key] = Result(record.status, record.values)
        return found

    def dataset(self, book: Ledger, asked: Opened, texts: bool) -> xr.Dataset:
        """Dataset of a run that has ended; warns of the cells without a result."""
        # xarray is loaded when there is something to put into it.
        from corecurves.descent.dataset import descent_dataset

        known = self.known(book, asked)
        failed = [
            Record(key, result.status, {"reason": str(result.values.get("reason", ""))})
            for key, result in known.items()
            if result.status != "ok"
        ]
        warn_of_failures(failed, _over(self.plan, tuple(known)))
        return descent_dataset(
            self.plan, self.walk, known, model=self.model, grader=self.grader, texts=texts
        )

    def _stages(self, opened: Opened) -> Stages:
        # A local model reads again only what differs from the prompt before.
        keys = sorted(
            opened.prompts,
            key=lambda key: ([m["content"] for m in opened.prompts[key].messages], key),
        )
        plan = _over(self.plan, tuple(keys))
        work = replace(self.work, prompts=opened.prompts)
        return Stages(plan, work, self.grader, opened.tasks, self.design.seed)

    def _judging(self, opened: Opened) -> tuple[Plan, SelectorWork]:
        """All claims of a task are judged in one call: their cells stay together."""
        number: dict[tuple[str, int], int] = {}
        groups = [number.setdefault((a.task, a.seed), len(number)) for a in opened.asks.values()]
        claims = [int(ask.id) - 1 for ask in opened.asks.values()]
        plan = replace(
            self.plan,
            coords={"task": list(range(len(number))), "claim": list(range(max(claims) + 1)),
                    "sample": [0]},
            index=np.array([groups, claims, [0] * len(groups)], dtype=np.int32).T,
            keys=tuple(opened.asks),
            groups=np.asarray(groups, dtype=np.int64),
        )  # fmt: skip
        return plan, SelectorWork(self.walk.judge, opened.asks)


def _over(plan: Plan, keys: tuple[str, ...]) -> Plan:
    """The plan over other cells."""
    n = len(keys)
    return replace(
        plan,
        coords={"cell": list(range(n))},
        index=np.arange(n, dtype=np.int32)[:, None],
        keys=keys,
        groups=np.arange(n, dtype=np.int64),
    )


def _graded(candidate: Record, grade: Record) -> Record:
    """A candidate with its grade: the grade's values, where it has them, go before."""
    given = {name: value for name, value in grade.values.items() if value is not None}
    return Record(candidate.key, grade.status, {**candidate.values, **given})


def prepare(
    store: str | Path | Store,
    model: object,
    *,
    strategies: Sequence[str],
    judge: object,
    weights: Sequence[float],
    claims: int,
    statistics: str,
    grader: object,
    holdout: float | None,
    samples: int,
    seed: int,
    leaks: str,
    temperature: float,
    max_tokens: int,
) -> Job:
    """Everything that a run needs, checked before anything is spent."""
    opened = store if isinstance(store, Store) else open_store(store)
    design = make_design(
        opened, strategies=strategies, claims=claims, weights=weights, statistics=statistics,
        holdout=holdout, samples=samples, seed=seed, leaked=leaks,
    )  # fmt: skip
    asked = as_model(model)
    episodes = [case.episode for case in (*design.tests, *design.trains)]
    marker = as_grader(grader, asked, episodes)
    wants = getattr(marker, "wants", "answer")
    if wants == "gain":
        raise UsageError(
            f"a ladder ends where a form passes, and the grader gain passes nothing; {TAKE}"
        )
    if wants != "answer" and samples > len(EVALUATION):
        raise UsageError(
            f"`samples` is {samples}, and a model that is scored has one answer a framing; there "
            f"are {len(EVALUATION)} framings"
        )
    selector = None
    if judge is not None and design.ranks:
        selector = as_selector(judge)
        if hasattr(selector, "fitted"):
            # A word weighs by all claims of the store, not by the few of one lesson.
            selector = selector.fitted(
                {f"{name}/{c.number}": c.text
                 for name, trail in design.trails.items() for c in trail.claims}
            )  # fmt: skip
    who = asked.identity.content()
    settings = sampling(wants, temperature, max_tokens)
    walk = Walk(design, selector, [who, wants, list(settings.values())])
    config: dict[str, JSON] = {
        **design.content(),
        "model": who,
        "grader": marker.identity.content(),
        **settings,
    }
    first = walk.opened({})
    plan = Plan(
        question="descent",
        coords={},
        index=np.zeros((0, 0), dtype=np.int32),
        keys=(),
        groups=np.zeros(0, dtype=np.int64),
        config=config,
        volatile=unrecognisable(model=asked, grader=marker, judge=selector),
        cost=cost_of(walk, first, wants),
    )
    return Job(walk, _over(plan, tuple(first.prompts)), asked, marker, wants, settings)
