"""What is done with a cell: a model is scored or asked, and the candidate graded blind."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, ClassVar

from corecurves.arguments import finite, whole
from corecurves.canonical import JSON
from corecurves.engine.failures import failure, reraise_if_stopping
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Cell
from corecurves.engine.sink import Sink
from corecurves.graders.base import BlindCase, checked_grade
from corecurves.models.base import Completion, CutOff, Message, known_sum
from corecurves.reply import judged
from corecurves.specs import Outcome
from corecurves.text import RULES

__all__ = ["GradeWork", "Prompt", "ReplayWork", "sampling"]

_USUAL = {"temperature": 0.7, "max_tokens": 512}


def sampling(wants: str, temperature: float, max_tokens: int) -> dict[str, JSON]:
    """Settings of a call, checked; none where the model is scored, for nothing is sampled there."""
    found: dict[str, JSON] = {
        "temperature": finite("temperature", temperature, least=0),
        "max_tokens": whole("max_tokens", max_tokens),
    }
    if wants == "answer":
        return found | {"text_rules": RULES}
    if idle := [f"`{name}`" for name, value in found.items() if value != _USUAL[name]]:
        warnings.warn(
            f"{' and '.join(idle)} can change nothing: the model is scored on given texts, and "
            "samples none; take a grader of answers, such as 'checklist', to have it asked",
            stacklevel=4,
        )
    return {}


@dataclass(frozen=True)
class Prompt:
    """What a cell puts to the model.

    Parameters
    ----------
    messages : tuple of Message
        The prompt.
    outcome : Outcome
        The known-good outcome and the trap.
    seed : int
        Seed of the sampling.
    """

    messages: tuple[Message, ...]
    outcome: Outcome
    seed: int

    def calls(self, wants: str) -> int:
        """Calls that it takes: one where the model is asked, one a wording where it is scored."""
        if wants == "answer":
            return 1
        traps = self.outcome.trap if wants == "preference" else ()
        return len(self.outcome.good) + len(traps)


@dataclass(frozen=True)
class ReplayWork:
    """First stage: a candidate for each cell.

    Parameters
    ----------
    model : Model
        Who is asked or scored.
    prompts : mapping of str to Prompt
        By key of the cell.
    wants : str
        What candidates the grader takes: ``answer``, ``preference`` or ``gain``.
    sampling : mapping of str to JSON
        Temperature and longest answer, where the model is asked.
    """

    actor: ClassVar[str] = "model"

    model: Any
    prompts: Mapping[str, Prompt]
    wants: str
    sampling: Mapping[str, Any]

    def part(self, cells: Sequence[Cell]) -> ReplayWork:
        """The same for some cells alone: their prompts."""
        return replace(self, prompts={cell.key: self.prompts[cell.key] for cell in cells})

    def prepare(self) -> bool:
        """Model calls are awaited; none blocks the loop."""
        return False

    async def run(self, cells: Sequence[Cell], emit: Sink) -> None:
        """Get a candidate for each cell."""
        for cell in cells:
            emit.check()
            prompt = self.prompts[cell.key]
            started = time.perf_counter()
            values: dict[str, JSON] = {}
            status = "ok"
            try:
                if self.wants == "answer":
                    reply = await self._ask(prompt)
                    values = _said(reply)
                    judged(reply.text)
                else:
                    values = await self._score(prompt)
            except BaseException as error:
                reraise_if_stopping(error)
                if isinstance(error, CutOff):
                    values = _said(error.completion)
                status, values["reason"] = failure(error)
            seconds = time.perf_counter() - started
            emit(Record(cell.key, status, {**values, "seconds": seconds}))

    async def _ask(self, prompt: Prompt) -> Completion:
        reply: Completion = await self.model.generate(
            list(prompt.messages),
            seed=prompt.seed,
            temperature=self.sampling["temperature"],
            max_tokens=self.sampling["max_tokens"],
        )
        return reply

    async def _score(self, prompt: Prompt) -> dict[str, JSON]:
        """Mean nats a token of the known-good wordings, or their margin over the trap's."""
        sides = {"good": prompt.outcome.good}
        if self.wants == "preference":
            sides["trap"] = prompt.outcome.trap
        found: dict[str, list[float]] = {side: [] for side in sides}
        used: dict[str, int | None] = {"tokens_in": 0, "tokens_out": 0, "tokens_cached": 0}
        # A wording and its trap begin alike: side by side, a local model reads that once.
        for wording in zip_longest(*sides.values()):
            for side, text in zip(sides, wording, strict=True):
                if text is None:
                    continue
                scored = await self.model.logprob(list(prompt.messages), text)
                found[side].append(scored.per_token)
                took = (scored.tokens_in, scored.tokens, scored.tokens_cached)
                used = {name: known_sum(used[name], n) for name, n in zip(used, took, strict=True)}
        means = {side: sum(scores) / len(scores) for side, scores in found.items()}
        return {"score": means["good"] - means.get("trap", 0.0), **used}


def _said(reply: Completion) -> dict[str, JSON]:
    """The raw reply, and what it cost."""
    return {
        "answer": reply.text,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "tokens_cached": reply.tokens_cached,
    }


@dataclass(frozen=True)
class GradeWork:
    """Second stage: a grade for each different candidate.

    Parameters
    ----------
    grader : Grader
        Who grades.
    cases : mapping of str to BlindCase
        By key of the grade, which knows no lesson, level or arm.
    """

    actor: ClassVar[str] = "grader"

    grader: Any
    cases: Mapping[str, BlindCase] = field(repr=False)

    def part(self, cells: Sequence[Cell]) -> GradeWork:
        """The same for some cells alone: their cases."""
        return replace(self, cases={cell.key: self.cases[cell.key] for cell in cells})

    def prepare(self) -> bool:
        """Graders are awaited; none blocks the loop."""
        return False

    async def run(self, cells: Sequence[Cell], emit: Sink) -> None:
        """Grade each case."""
        for cell in cells:
            emit.check()
            try:
                grade = checked_grade(await self.grader.grade(self.cases[cell.key]))
                status = grade.status
                values: dict[str, JSON] = {"reason": grade.reason}
                if grade.passed is not None:
                    values["passed"] = int(grade.passed)
                if grade.score is not None:
                    values["score"] = grade.score
            except BaseException as error:
                reraise_if_stopping(error)
                status, reason = failure(error)
                values = {"reason": reason}
            emit(Record(cell.key, status, values))
