"""How far each ladder has come, by what is known so far: no calls, only what must be asked next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corecurves.canonical import JSON, digest, stable_seed
from corecurves.descent.design import Case, Design
from corecurves.descent.ranking import rank, scale_of, usefulness
from corecurves.descent.states import Opened, Ranking, Result, Tried
from corecurves.descent.trails import Rung, patched, rungs
from corecurves.models.base import Message
from corecurves.replay.work import Prompt
from corecurves.selectors import Candidate
from corecurves.selectors.work import Ask

__all__ = ["Walk"]


@dataclass(frozen=True)
class Walk:
    """The ladders of a design.

    Parameters
    ----------
    design : Design
        What is run.
    judge : Selector or None
        Who judges usefulness.
    who : list of JSON
        Whatever else decides a replay: the model's identity, what the grader wants, the settings.
    """

    design: Design
    judge: Any
    who: Sequence[JSON]
    _replays: dict[tuple[str, str | None, int], tuple[str, Prompt]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def replay(self, case: Case, rung: Rung | None, sample: int) -> tuple[str, Prompt]:
        """Key and prompt of a replay: the same text is the same call, whoever serves it."""
        at = case.id, None if rung is None else rung.text, sample
        if at not in self._replays:
            self._replays[at] = self._replay(case, rung, sample)
        return self._replays[at]

    def _replay(self, case: Case, rung: Rung | None, sample: int) -> tuple[str, Prompt]:
        framing = self.design.framing(case, sample)
        messages: tuple[Message, ...] = tuple(
            framing.messages(case.episode.task, None if rung is None else rung.text)
        )
        outcome, seed = case.episode.outcome, self.design.seed_of(case, sample)
        key = digest(["descent", *self.who, list(map(dict, messages)), case.episode.task,
                      outcome.content(), seed])  # fmt: skip
        return key, Prompt(messages, outcome, seed)

    def opened(self, known: Mapping[str, Result]) -> Opened:
        """Everything that can be asked now: the ladders' next rungs, and what rankings need."""
        found = Opened()

        def want(case: Case, rung: Rung | None, sample: int) -> Result | None:
            key, prompt = self.replay(case, rung, sample)
            if key not in known:
                found.prompts[key], found.tasks[key] = prompt, case.episode.task
            return known.get(key)

        samples = range(self.design.samples)
        for case in self.design.trains:
            for s in samples:
                short = want(case, case.trail.short, s)
                if short is not None and short.passed is False:
                    for claim in case.trail.claims:
                        want(case, patched(case.trail, [claim]), s)
        for case in self.design.tests:
            for s in samples:
                want(case, None, s)
                short = want(case, case.trail.short, s)
                if short is None or short.passed is not False:
                    continue
                # What L0 would have done by itself is the reference of every strategy.
                want(case, case.trail.full, s)
                if self.design.ranks and self.judge is not None:
                    asks = self.asks(case)
                    found.asks.update({k: a for k, a in asks.items() if k not in known})
                for strategy in self.design.strategies:
                    ladder = self.ladder(case, strategy, known)
                    for rung in ladder or ():
                        result = want(case, rung, s)
                        if result is None or result.passed is not False:
                            break
        return found

    def asks(self, case: Case) -> dict[str, Ask]:
        """What the judge is asked of a case, by key: one cell a claim, all in one call."""
        claims = case.trail.claims
        shown = tuple(Candidate(str(claim.number), claim.text) for claim in claims)
        seed = stable_seed("usefulness", self.design.seed, case.id)
        asked = digest(["usefulness", self.judge.identity.content(), case.episode.task,
                        [[c.id, c.text] for c in shown], seed])  # fmt: skip
        return {digest([asked, case.id, c.id]): Ask(case.episode.task, shown, c.id, 0, seed)
                for c in shown}  # fmt: skip

    def ranking(self, case: Case, known: Mapping[str, Result]) -> Ranking | None:
        """Claims of a case in order; None while something that decides it is not known."""
        counts = self._counts(case, known)
        if counts is None:
            return None
        if self.judge is None:
            standings = rank(case.trail, None, counts, self.design.weights)
            return Ranking(tuple(standings))
        said = [known.get(key) for key in self.asks(case)]
        if any(one is None for one in said):
            return None
        results = [one for one in said if one is not None]
        took = {
            # What a judge did not say is not 0.
            name: float(sum(one.values.get(name, math.nan) for one in results))
            for name in ("tokens_in", "tokens_out")
        }
        for one in results:
            if one.status != "ok":
                return Ranking((), one.status, str(one.values.get("reason", "")), took)
        useful = usefulness([one.values.get("score") for one in results], scale_of(self.judge))
        standings = rank(case.trail, useful, counts, self.design.weights)
        return Ranking(tuple(standings), values=took)

    def _counts(self, case: Case, known: Mapping[str, Result]) -> list[tuple[int, int]] | None:
        """Attempts and rescues of each claim on the lesson's train episodes."""
        attempts, rescues = ([0] * len(case.trail.claims) for _ in range(2))
        for train, s in self._trains(case):
            short = known.get(self.replay(train, train.trail.short, s)[0])
            if short is None:
                return None
            if short.passed is not False:
                continue
            for i, claim in enumerate(train.trail.claims):
                result = known.get(self.replay(train, patched(train.trail, [claim]), s)[0])
                if result is None:
                    return None
                # A patch that could not be judged was no attempt.
                attempts[i] += result.passed is not None
                rescues[i] += result.passed is True
        return list(zip(attempts, rescues, strict=True))

    def _trains(self, case: Case) -> Iterator[tuple[Case, int]]:
        for train in self.design.trains_of.get(case.trail.lesson.id, ()):
            yield from ((train, s) for s in range(self.design.samples))

    def ladder(self, case: Case, strategy: str, known: Mapping[str, Result]) -> list[Rung] | None:
        """Rungs of a strategy; None where the claims have no order, or not yet."""
        if strategy == "stepwise":
            return rungs(case.trail, strategy, (), self.design.claims)
        ranking = self.ranking(case, known)
        if ranking is None or ranking.status != "ok":
            return None
        order = [standing.claim for standing in ranking.standings]
        return rungs(case.trail, strategy, order, self.design.claims)

    def climbed(
        self, case: Case, strategy: str, sample: int, known: Mapping[str, Result]
    ) -> list[Tried]:
        """Rungs that a strategy tried, the shortest form first."""
        ladder = self.ladder(case, strategy, known) or [case.trail.short]
        found = []
        for rung in ladder:
            key, _ = self.replay(case, rung, sample)
            if key not in known:
                break
            found.append(Tried(rung, key, known[key]))
            if known[key].passed is not False:
                break
        return found
