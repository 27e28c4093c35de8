"""The plan of a lane run: which snapshots there are, and what is said in each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np

from corecurves.arguments import whole
from corecurves.canonical import JSON, digest, stable_seed
from corecurves.engine.elsewhere import Elsewhere, frozen
from corecurves.engine.plan import Plan
from corecurves.errors import UsageError, unknown
from corecurves.files.curricula import CurriculumSource, load_curricula, load_filler
from corecurves.lane.work import LaneWork, Script
from corecurves.protocol.arms import LANE_ARMS, arm_corrections, check_arms
from corecurves.schema import SCHEMA_VERSION
from corecurves.specs import unrecognisable
from corecurves.systems.resolve import as_system
from corecurves.text import RULES

__all__ = ["prepare"]

_MODES = ("fresh", "prefix")


def prepare(
    curricula: CurriculumSource,
    system: object,
    arms: Sequence[str],
    samples: int,
    replays: int,
    seed: int,
    mode: str,
) -> tuple[Plan, LaneWork]:
    """Plan and work of a run, checked before anything is spent; for arguments see `run_lane`."""
    samples, replays = whole("samples", samples), whole("replays", replays)
    seed = whole("seed", seed, least=None)
    if mode not in _MODES:
        raise UsageError(unknown("mode", mode, _MODES))
    chosen = check_arms(arms, LANE_ARMS)
    loaded = load_curricula(curricula)
    for curriculum in loaded:
        if not curriculum.tokens:
            raise UsageError(
                f"no correction of '{curriculum.concept}' adds an expected token; give it one"
            )
    adapter = as_system(system)
    filler = load_filler() if "control" in chosen else ()
    scripts = tuple(
        tuple(
            Script(
                target.opening,
                tuple(c.text for c in arm_corrections(arm, target, loaded, filler)),
                target.probe,
                tuple(token.forms for token in target.tokens),
                target.pack_source,
            )
            for arm in chosen
        )
        for target in loaded
    )
    seeds = tuple(
        tuple(stable_seed("lane", seed, target.concept, sample) for sample in range(samples))
        for target in loaded
    )
    elsewhere = None
    if replays > 1 and adapter.travels and (raw := frozen(adapter)):
        # What may be edited between two runs is read anew in each.
        elsewhere = Elsewhere(raw, "" if adapter.bundled else uuid4().hex)
    work = LaneWork(adapter, loaded, scripts, seeds, mode, elsewhere)
    return _plan(work, chosen, samples, replays, seed), work


def _plan(work: LaneWork, arms: tuple[str, ...], samples: int, replays: int, seed: int) -> Plan:
    identity = work.system.identity.content()
    index: list[tuple[int, int, int, int, int]] = []
    keys: list[str] = []
    groups: list[int] = []
    turns = 0
    group = itertools.count()
    for c, curriculum in enumerate(work.curricula):
        for a, arm in enumerate(arms):
            script = work.scripts[c][a]
            taught = _taught_hashes(work.system.identity_over(script.pack).content(), script)
            for s, r in itertools.product(range(samples), range(replays)):
                shared = work.mode == "prefix" and r == 0
                number = next(group)
                for k in range(len(script.corrections) + 1):
                    way = "elsewhere" if r and work.elsewhere else "fresh"
                    place = [curriculum.concept, k, arm, s, r, "prefix" if shared else way]
                    keys.append(digest(["lane", taught[k], work.seeds[c][s], place]))
                    index.append((c, k, a, s, r))
                    groups.append(number if shared or k == 0 else (number := next(group)))
                    turns += 0 if shared else 1 + k
                turns += 1 + len(script.corrections) if shared else 0
    foresee: Any = getattr(work.system.system, "beyond_context", lambda conversations: {})
    beyond = foresee(
        (script.opening, *script.corrections[: int(k)], script.probe)
        for c, k, a, *_ in index
        for script in [work.scripts[c][a]]
    )
    longest = max(len(curriculum) for curriculum in work.curricula)
    config: dict[str, JSON] = {
        "question": "lane",
        "schema": SCHEMA_VERSION,
        "text_rules": RULES,
        "system": identity,
        "curricula": [curriculum.content() for curriculum in work.curricula],
        "taught": {
            arm: [list(work.scripts[c][a].corrections) for c in range(len(work.curricula))]
            for a, arm in enumerate(arms)
        },
        "arms": list(arms),
        "samples": samples,
        "replays": replays,
        "replay_process": _replay_process(work, replays),
        "seed": seed,
        "mode": work.mode,
    }
    return Plan(
        question="lane",
        coords={
            "concept": [curriculum.concept for curriculum in work.curricula],
            "k": list(range(longest + 1)),
            "arm": list(arms),
            "sample": list(range(samples)),
            "replay": list(range(replays)),
        },
        index=np.asarray(index, dtype=np.int32),
        keys=tuple(keys),
        groups=np.asarray(groups, dtype=np.int64),
        config=config,
        volatile=unrecognisable(system=work.system),
        cost={"cells": len(keys), "teaching_turns": turns, "probes": len(keys), **beyond},
    )


def _replay_process(work: LaneWork, replays: int) -> str:
    if replays < 2:
        return ""
    return "another interpreter, another hash seed" if work.elsewhere else "same process"


def _taught_hashes(identity: dict[str, JSON], script: Script) -> list[str]:
    """Per k a hash of everything that is said up to the probe, and of how the answer is read."""
    start = digest([identity, script.opening, script.probe, script.tokens, RULES])
    return list(
        itertools.accumulate(script.corrections, lambda so_far, text: digest([so_far, text]),
                             initial=start)
    )  # fmt: skip
