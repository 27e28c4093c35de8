"""Acceptance of a draft: its form, and a replay of every train episode.

The replay is fresh: nothing is taken from a ledger, every candidate is a call. Its framings are
those of the screening, which share none with the evaluation, so that what is accepted here is not
what is measured there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from corecurves.blocks import blocks, code_of, lines_of, pair_of
from corecurves.canonical import digest, stable_seed
from corecurves.compress.base import Draft, TrainView
from corecurves.engine.plan import Plan
from corecurves.engine.run import open_ledger, run
from corecurves.errors import unknown
from corecurves.protocol.framings import SCREENING
from corecurves.replay.stages import Stages
from corecurves.replay.work import Prompt, ReplayWork
from corecurves.specs import DROPPED_KINDS, Episode
from corecurves.text import count_tokens

__all__ = ["Replay", "Verdicts", "form_fault", "lost", "passing"]

_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|?)+")
_RUN_ON = re.compile(r"\S\s*(?:`{3}|~{3})\S*\s|\|\s*:?-{3,}:?\s*\|.*\w|\S\s+#{2,6}\s+\w")
_SAMPLING = {"temperature": 0.0, "max_tokens": 512}
"""Of a model that is asked."""


@dataclass(frozen=True)
class Verdicts:
    """What a replay found.

    Parameters
    ----------
    passed : mapping of tuple to bool
        By episode id and sample, of those that were judged.
    unjudged : tuple of str
        Why the others were not, each with its episode.
    """

    passed: Mapping[tuple[str, int], bool]
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    """Train episodes of a lesson, ready to be replayed with any text.

    Parameters
    ----------
    lesson : str
        Id of the lesson.
    episodes : tuple of Episode
        Its train episodes.
    model : Model
        Who replays.
    grader : Grader
        Who grades, blind.
    samples : int
        Framings an episode.
    seed : int
        Seed of the compression.
    """

    lesson: str
    episodes: tuple[Episode, ...]
    model: Any
    grader: Any
    samples: int
    seed: int

    def run(self, text: str) -> Verdicts:
        """Replay every train episode with a text."""
        wants = getattr(self.grader, "wants", "answer")
        who = self.model.identity.content()
        prompts: dict[str, Prompt] = {}
        places: dict[str, tuple[int, int]] = {}
        for e, episode in enumerate(self.episodes):
            first = stable_seed("framing", self.seed, self.lesson, episode.id)
            for s in range(self.samples):
                framing = SCREENING[(first + s) % len(SCREENING)]
                messages = framing.messages(episode.task, text)
                seed = stable_seed("compress", self.seed, self.lesson, episode.id, s)
                key = digest(["compress", who, list(map(dict, messages)), episode.id, s])
                prompts[key] = Prompt(tuple(messages), episode.outcome, seed)
                places[key] = e, s
        plan = Plan(
            question="compress",
            coords={"episode": [e.id for e in self.episodes], "sample": list(range(self.samples))},
            index=np.asarray(list(places.values()), dtype=np.int32),
            keys=tuple(prompts),
            groups=np.arange(len(prompts), dtype=np.int64),
            config={"question": "compress", "keys": list(prompts)},
        )
        work = ReplayWork(self.model, prompts, wants, _SAMPLING)
        tasks = {key: self.episodes[e].task for key, (e, _) in places.items()}
        stages = Stages(plan, work, self.grader, tasks, self.seed)
        with open_ledger(plan, False) as book:
            for part, what in stages.rounds(book):
                run(part, what, book, progress=False)
            found = {record.key: record for record in book.records()}
            grades = {key: grade for key, (grade, _) in stages.cases(book).items()}
        passed: dict[tuple[str, int], bool] = {}
        unjudged = []
        for key, (e, s) in places.items():
            record = found.get(grades.get(key, key))
            verdict = record.values.get("passed") if record and record.status == "ok" else None
            if verdict is None:
                status = record.status if record else "no result"
                reason = str(record.values.get("reason") or "") if record else ""
                why = "no verdict" if status == "ok" else status
                unjudged.append(f"{self.episodes[e].id} ({why}{': ' if reason else ''}{reason})")
            else:
                passed[self.episodes[e].id, s] = bool(verdict)
        return Verdicts(passed, tuple(dict.fromkeys(unjudged)))


def form_fault(draft: Draft, view: TrainView, holders: Collection[str]) -> str:
    """What is wrong with a draft before it is replayed.

    Examples
    --------
    >>> full = "Wear gloves, for acid."
    >>> view = TrainView("a", "", full, full, "L0", 1, 4, ())
    >>> form_fault(Draft("Wear gloves."), view, ["L0"])
    'it shrank and declares nothing that it dropped'
    """
    text = draft.text
    if not text.strip():
        return "the draft is empty"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "the draft holds half a character, which no file can hold"
    layout = _layout_fault(text, view.before)
    if layout:
        return layout
    tokens = count_tokens(text)
    if tokens > view.budget:
        return f"it has {tokens} tokens; at most {view.budget} are allowed"
    if not draft.dropped:
        return "it shrank and declares nothing that it dropped"
    for claim in draft.dropped:
        if not claim.claim.strip():
            return "it declares an empty claim"
        if claim.kind and claim.kind not in DROPPED_KINDS:
            return f"the claim '{claim.claim}': {unknown('kind', claim.kind, DROPPED_KINDS)}"
        if claim.holder not in holders:
            return f"the claim '{claim.claim}': {unknown('holder', claim.holder, list(holders))}"
    return ""


def _layout_fault(text: str, before: str) -> str:
    """What a draft made of code, tables and values that it should keep as they are or leave out."""
    code, ends = code_of(text)
    if not ends and code_of(before)[1]:
        return "a code block in it has no end"
    for line in code:
        if line not in before:
            return (
                f"the line of code '{line}' is not in the text before; keep code, or leave it out"
            )
    lines, old = lines_of(text), {line.strip() for line in lines_of(before)}
    for block in blocks(text):
        for line in map(str.strip, lines[block.start : block.end]):
            if block.kind in ("head", "row") and line not in old and not _RULE.fullmatch(line):
                return (
                    f"the row '{line}' is in no table of the text before; keep rows, or leave out"
                )
            run_on = block.kind in ("prose", "pair", "item", "heading") and _RUN_ON.search(line)
            if run_on and line not in old:
                start = line[max(0, run_on.start() - 20) : run_on.end() + 20]
                return f"a code block, a table or a heading is run into another line: '… {start} …'"
    values: dict[str, dict[str, str]] = {}
    for key, value in filter(None, map(pair_of, lines_of(before))):
        values.setdefault(key.casefold(), {})[value.rstrip(".")] = key
    for key, value in filter(None, map(pair_of, lines)):
        own, bare = values.get(key.casefold()), value.rstrip(".")
        other = next((name for name, theirs in values.items() if bare in theirs), "")
        if own is not None and bare not in own and other:
            return f"'{key}: {value}' has the value of {values[other][bare]}"
    return ""


def lost(before: Verdicts, now: Verdicts) -> list[str]:
    """Ids of episodes that lost a pass."""
    gone = [e for (e, s), passed in before.passed.items() if passed and not now.passed.get((e, s))]
    return list(dict.fromkeys(gone))


def passing(verdicts: Verdicts, ids: Sequence[str]) -> tuple[str, ...]:
    """Ids of episodes with a pass in any framing."""
    good = {episode for (episode, _), passed in verdicts.passed.items() if passed}
    return tuple(name for name in ids if name in good)
