"""A prepared run: its cells, its two stages, and the Dataset of what they found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corecurves import __version__
from corecurves.canonical import JSON, canonical_json, digest
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block
from corecurves.engine.run import LedgerChoice
from corecurves.errors import UsageError
from corecurves.files.store import open_store, refuse_inside
from corecurves.graders import as_grader
from corecurves.models.resolve import as_model
from corecurves.protocol.framings import EVALUATION, Framing
from corecurves.replay.stages import Stages
from corecurves.replay.work import Prompt, ReplayWork, sampling
from corecurves.rose.design import Design, make_design
from corecurves.schema import SCHEMA_VERSION
from corecurves.specs import Store, is_simulated, unrecognisable
from corecurves.text import count_tokens

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Job", "prepare"]


@dataclass(frozen=True)
class Job:
    """A prepared run, and what its Dataset says of it.

    Parameters
    ----------
    design : Design
        What is run.
    stages : Stages
        Its cells, and what is done with them.
    attrs : mapping of str to JSON
        Attributes of the Dataset.
    """

    design: Design
    stages: Stages
    attrs: Mapping[str, JSON]

    def checked(self, ledger: LedgerChoice) -> LedgerChoice:
        """The ledger, refused where it lies in the store."""
        if isinstance(ledger, str | Path):
            refuse_inside(self.design.store, ledger)
        return ledger

    def dataset(self, blocks: Iterable[Block], texts: bool) -> xr.Dataset:
        """Dataset of what is known of the cells."""
        # xarray is loaded when there is something to put into it.
        from corecurves.rose.dataset import rose_dataset

        stages = self.stages
        return rose_dataset(
            stages.plan, self.design, blocks, self.attrs,
            gain=stages.work.wants == "gain", texts=texts,
        )  # fmt: skip


def prepare(
    store: str | Path | Store,
    model: object,
    grader: object,
    levels: Sequence[str] | None,
    arms: Sequence[str],
    holdout: float | None,
    samples: int,
    seed: int,
    leaks: str,
    temperature: float,
    max_tokens: int,
    framings: tuple[Framing, ...] = EVALUATION,
) -> Job:
    """Everything that a run needs, checked before anything is spent."""
    opened = store if isinstance(store, Store) else open_store(store)
    design = make_design(
        opened, arms=arms, levels=levels, holdout=holdout, samples=samples, seed=seed,
        leaked=leaks, framings=framings,
    )  # fmt: skip
    asked = as_model(model)
    episodes = [e for lesson in design.lessons for e in design.episodes(lesson)]
    judge = as_grader(grader, asked, episodes)
    wants = getattr(judge, "wants", "answer")
    settings = sampling(wants, temperature, max_tokens)
    if wants != "answer" and samples > len(framings):
        raise UsageError(
            f"`samples` is {samples}, and a model that is scored has one answer a framing; there "
            f"are {len(framings)} framings"
        )
    if wants == "gain" and "control" not in design.arms:
        raise UsageError("the grader gain is taken against the control; add the arm 'control'")
    prompts, index = _cells(design, asked, wants, settings)
    work = ReplayWork(asked, prompts, wants, settings)
    config = _config(design, asked, judge, settings)
    longest = max(len(design.episodes(lesson)) for lesson in design.lessons)
    calls = sum(prompt.calls(wants) for prompt in prompts.values())
    tokens = [sum(count_tokens(message["content"]) for message in prompt.messages)
              for prompt in prompts.values()]  # fmt: skip
    plan = Plan(
        question="rose",
        coords={
            "concept": [lesson.id for lesson in design.lessons],
            "episode": list(range(longest)),
            "level": list(design.levels),
            "arm": list(design.arms),
            "sample": list(range(samples)),
        },
        index=np.asarray(index, dtype=np.int32),
        keys=tuple(prompts),
        groups=np.arange(len(prompts), dtype=np.int64),
        config=config,
        volatile=unrecognisable(model=asked, grader=judge),
        cost={
            "cells": len(prompts),
            "calls": calls,
            "prompt_tokens": sum(tokens),
            **asked.beyond_context(
                (n, max_tokens if wants == "answer" else _longest(prompt))
                for n, prompt in zip(tokens, prompts.values(), strict=True)
            ),
        },
    )
    tasks = {
        key: design.episodes(design.lessons[row[0]])[row[1]].task
        for key, row in zip(plan.keys, index, strict=True)
    }
    stages = Stages(plan, work, judge, tasks, seed)
    return Job(design, stages, _attrs(plan, design, asked, judge))


def _cells(
    design: Design, model: Any, wants: str, settings: Mapping[str, JSON]
) -> tuple[dict[str, Prompt], list[tuple[int, ...]]]:
    """Prompts by key, with the place of each; equal beginnings stand together."""
    who = model.identity.content()
    sampled = list(settings.values())
    levels, arms = list(design.levels), list(design.arms)
    found = []
    for c, lesson in enumerate(design.lessons):
        for e, episode in enumerate(design.episodes(lesson)):
            if not design.tested(episode):
                continue
            outcome = episode.outcome.content()
            framings = [design.framing(lesson, episode, s) for s in range(design.samples)]
            seeds = [design.seed_of(lesson, episode, s) for s in range(design.samples)]
            for arm, level in design.places(lesson):
                depth = level.depth if level else None
                if (
                    depth is not None
                    and design.leaked == "drop"
                    and design.leaks(lesson, depth, episode)
                ):
                    continue
                name = level.name if level else "none"
                text = design.texts[lesson.id, arm, name]
                for s, (framing, seed) in enumerate(zip(framings, seeds, strict=True)):
                    messages = framing.messages(episode.task, text)
                    place = [lesson.id, episode.id, name, arm, s]
                    key = digest(
                        ["rose", who, wants, sampled, list(map(dict, messages)), outcome, seed,
                         place]
                    )  # fmt: skip
                    at = (c, e, levels.index(name), arms.index(arm), s)
                    order = [message["content"] for message in messages]
                    found.append((order, at, key, Prompt(tuple(messages), episode.outcome, seed)))
    if not found:
        raise UsageError("every cell is leaked: no level can be tested; run with leaks='keep'")
    # A local model reads again only what differs from the prompt before.
    found.sort(key=lambda item: (item[0], item[1]))
    return {key: prompt for _, _, key, prompt in found}, [at for _, at, _, _ in found]


def _longest(prompt: Prompt) -> int:
    """Tokens of the longest text that is scored behind a prompt."""
    return max(map(count_tokens, (*prompt.outcome.good, *prompt.outcome.trap)), default=0)


def _config(
    design: Design, model: Any, grader: Any, settings: Mapping[str, JSON]
) -> dict[str, JSON]:
    return {
        "question": "rose",
        "schema": SCHEMA_VERSION,
        "model": model.identity.content(),
        "grader": grader.identity.content(),
        "arms": list(design.arms),
        "levels": list(design.levels),
        "holdout": design.holdout,
        "samples": design.samples,
        "seed": design.seed,
        "leaks": design.leaked,
        **settings,
        "framings": [[f.name, f.with_lesson, f.without_lesson, f.system_with_lesson,
                      f.system_without_lesson] for f in design.framings],
        "served": {"/".join(key): text for key, text in design.texts.items()},
        "episodes": {
            lesson.id: [
                {"id": e.id, "task": e.task, "outcome": e.outcome.content()}
                for e in design.episodes(lesson)
            ]
            for lesson in design.lessons
        },
    }  # fmt: skip


def _attrs(plan: Plan, design: Design, model: Any, grader: Any) -> dict[str, JSON]:
    leaked = sum(
        design.leaks(lesson, depth, episode)
        for lesson in design.lessons
        for episode in design.episodes(lesson)
        for depth in design.depths
    )
    # A level that a simulation made is no real one either.
    makers = {x.compressor for lesson in design.lessons for x in lesson.levels
              if x.depth in design.depths}  # fmt: skip
    return {
        "question": "rose",
        "schema_version": SCHEMA_VERSION,
        "corecurves_version": __version__,
        "plan_hash": plan.hash,
        "store": design.store.name,
        "model": model.identity.name,
        "grader": grader.identity.name,
        "simulated": "yes" if is_simulated(model, grader, *makers) else "no",
        "holdout": design.holdout,
        "leaks": design.leaked,
        "leaked_pairs": leaked,
        "untested": canonical_json(
            sorted({x.id for x in design.store.lessons} - {x.id for x in design.lessons})
        ),
        "skipped": canonical_json(list(design.store.skipped)),
        "token_counter": "o200k",
        "identity": canonical_json(
            {"model": model.identity.content(), "grader": grader.identity.content()}
        ),
        "config": canonical_json(dict(plan.config)),
    }
