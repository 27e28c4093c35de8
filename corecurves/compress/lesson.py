"""Compression of one lesson: drafts, tries, hints, and the levels that come of them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from corecurves.blocks import lines_of
from corecurves.canonical import stable_seed
from corecurves.compress.accept import Replay, form_fault, lost, passing
from corecurves.compress.base import Draft, TrainEpisode, TrainView
from corecurves.compress.counted import CountedModel
from corecurves.compress.resolve import label
from corecurves.compress.result import Compression, Try
from corecurves.engine import loop
from corecurves.engine.failures import failure, reraise_if_stopping
from corecurves.specs import Episode, Lesson, Level, is_simulated
from corecurves.text import count_tokens

__all__ = ["Maker"]

_NAMED = 3
"""Failing episodes and unjudged replays that a refusal names."""


@dataclass(frozen=True)
class Maker:
    """Everything that is the same for all lessons.

    Parameters
    ----------
    model : CountedModel
        Who replays.
    compressor : Compressor
        Who makes drafts.
    grader : Grader
        Who grades.
    depths, samples, tries, seed : int
        See `compress_lesson`.
    ratio : float
        See `compress_lesson`.
    created : str
        Date that new levels bear.
    name : callable
        Takes a lesson and a depth; returns the id of the new level's node.
    """

    model: CountedModel
    compressor: Any
    grader: Any
    depths: int
    ratio: float
    samples: int
    tries: int
    seed: int
    created: str
    name: Callable[[Lesson, int], str] = field(repr=False)

    def make(
        self, lesson: Lesson, train: tuple[Episode, ...], test: tuple[Episode, ...]
    ) -> Compression:
        """Levels of a lesson."""
        start = self.model.calls[0]
        full = lesson.level(0)
        found: dict[str, Any] = {
            "lesson": lesson.id,
            "compressor": label(self.compressor),
            "model": self.model.identity.name,
            "grader": self.grader.identity.name,
            "full": full.text if full else "",
            "train": tuple(episode.id for episode in train),
            "simulated": is_simulated(self.model, self.compressor, self.grader),
        }
        if full is None:
            return Compression(**found, refusal="it has no L0")
        if not train:
            return Compression(
                **found,
                refusal="it has no train episode to be checked with; record more, or give a "
                "smaller `holdout`",
            )
        replay = Replay(lesson.id, train, self.model, self.grader, self.samples, self.seed)
        demanded = replay.run(full.text)
        good = passing(demanded, found["train"])
        judged = {episode for episode, _ in demanded.passed}
        found["not_demanded"] = tuple(x for x in found["train"] if x in judged and x not in good)
        refusal = ""
        if demanded.unjudged:
            refusal = f"the replay of L0 could not be judged: {_few(demanded.unjudged)}"
        elif not good:
            refusal = "L0 passes no train episode, so that nothing can be checked"
        levels: list[Level] = []
        tries: list[Try] = []
        while not refusal and len(levels) < self.depths:
            chain = (full, *levels)
            made, more = self._level(lesson, chain, replay, demanded, _hints(lesson, full, test))
            tries += more
            if made is None:
                refusal = more[-1].refusal
            else:
                levels.append(made)
        return Compression(
            **found, levels=tuple(levels), tries=tuple(tries), refusal=refusal,
            calls=self.model.calls[0] - start,
        )  # fmt: skip

    def _level(
        self,
        lesson: Lesson,
        chain: tuple[Level, ...],
        replay: Replay,
        demanded: Any,
        hints: tuple[tuple[str, ...], tuple[str, ...]],
    ) -> tuple[Level | None, list[Try]]:
        full, before = chain[0], chain[-1]
        depth = before.depth + 1
        bearing, preserve = hints
        holders = list(dict.fromkeys(name for x in chain for name in (x.name, x.node) if name))
        own = before.node and before.node != f"{lesson.id}.{before.name}"
        shown = tuple(TrainEpisode(x.task, x.outcome) for x in replay.episodes)
        budget = int(self.ratio * count_tokens(before.text))
        tries: list[Try] = []
        for attempt in range(self.tries):
            view = TrainView(
                lesson.id, lesson.title, full.text, before.text,
                before.node if own else before.name, depth, budget, shown, bearing, preserve,
                attempt, stable_seed("compressor", self.seed, lesson.id, depth, attempt),
            )  # fmt: skip
            began, calls = time.perf_counter(), self.model.calls[0]
            draft, refusal = loop.wait(self._draft(view))
            refusal = refusal or form_fault(draft, view, holders)
            if not refusal:
                why = [x.refusal for x in tries if x.text == draft.text]
                refusal = f"the same draft was refused before: {why[0]}" if why else ""
            failing: list[str] = []
            if not refusal:
                now = replay.run(draft.text)
                failing = lost(demanded, now) if not now.unjudged else []
                if now.unjudged:
                    refusal = f"the replay could not be judged: {_few(now.unjudged)}"
                elif failing:
                    refusal = f"train episodes fail that pass with L0: {_few(failing)}"
            tries.append(
                Try(depth, attempt + 1, draft.text, count_tokens(draft.text), budget, draft.dropped,
                    refusal, tuple(failing), self.model.calls[0] - calls,
                    time.perf_counter() - began)
            )  # fmt: skip
            if not refusal:
                return self._made(lesson, before, draft, replay), tries
            told = [
                hint for x in replay.episodes if x.id in failing for hint in (*x.outcome.good,
                                                                             x.task)
            ]  # fmt: skip
            preserve = tuple(dict.fromkeys((*preserve, *told)))
        return None, tries

    async def _draft(self, view: TrainView) -> tuple[Draft, str]:
        """A draft, or why there is none."""
        try:
            draft = await self.compressor.compress(view)
        except BaseException as error:
            reraise_if_stopping(error)
            status, reason = failure(error)
            return Draft(""), f"the compressor gave no draft ({status}): {reason}"
        # As a file gives it back: lines end in one way, and no blank lines stand around the text;
        # the first line keeps its indentation, which may be that of code.
        text = re.sub(r"\A(?:[^\S\n]*\n)+", "", "\n".join(lines_of(draft.text)).rstrip())
        return Draft(text, tuple(draft.dropped)), ""

    def _made(self, lesson: Lesson, before: Level, draft: Draft, replay: Replay) -> Level:
        depth = before.depth + 1
        node = self.name(lesson, depth)
        below = before.subtree or ((before.node,) if before.node else ())
        bench = node == f"{lesson.id}.L{depth}"
        return Level(
            depth, draft.text, node, draft.dropped, created=self.created, covers=before.covers,
            compressor=label(self.compressor),
            subtree=(*below, node) if bench else (node, *below), origins=before.origins,
            shown=tuple(episode.id for episode in replay.episodes),
        )  # fmt: skip


def _hints(
    lesson: Lesson, full: Level, test: tuple[Episode, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Spans that did work and hints of the store's files, but for those that tell a test episode.

    A span that stands in L0 tells nothing that L0 does not; another that holds, or is a part of,
    what a test episode says may come from it.
    """
    secret = [text for x in test for text in (x.id, x.task, *x.outcome.good) if text.strip()]

    def clean(spans: list[str]) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys(
                span
                for span in spans
                if span in full.text or not any(x in span or span in x for x in secret)
            )
        )

    return (
        clean([span for level in lesson.levels for span in level.load_bearing]),
        clean([span for level in lesson.levels for span in level.preserve]),
    )


def _few(names: Any) -> str:
    listed = list(names)
    more = len(listed) - _NAMED
    return ", ".join(listed[:_NAMED]) + (f" and {more} more" if more > 0 else "")
