"""The Dataset of a descent run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves import __version__
from corecurves.canonical import JSON, canonical_json
from corecurves.descent.design import Case
from corecurves.descent.ranking import rescue_rate, said_of, scale_of
from corecurves.descent.states import Result
from corecurves.descent.walk import Walk
from corecurves.engine.dataset import build_dataset
from corecurves.engine.plan import Plan
from corecurves.schema import DESCENT, SCHEMA_VERSION
from corecurves.specs import is_simulated

__all__ = ["descent_dataset"]

_COSTS = ("score", "tokens_in", "tokens_out", "tokens_cached", "seconds")


def descent_dataset(
    plan: Plan,
    walk: Walk,
    known: Mapping[str, Result],
    *,
    model: Any,
    grader: Any,
    texts: bool,
) -> xr.Dataset:
    """Dataset of a run that has ended."""
    design = walk.design
    climbed = {
        (e, g, s): walk.climbed(case, strategy, s, known)
        for e, case in enumerate(design.tests)
        for g, strategy in enumerate(design.strategies)
        for s in range(design.samples)
    }
    steps = max(map(len, climbed.values()))
    claims = max(1, *(len(case.trail.claims) for case in design.tests))
    shape = (len(design.tests), len(design.strategies), steps, design.samples)
    given = {v.name: _empty(v.kind, [dict(zip(DESCENT.dims, shape, strict=True)).get(d, claims)
                                     for d in v.dims]) for v in DESCENT.variables}  # fmt: skip
    given["tried"][:] = 0
    for (e, g, s), tries in climbed.items():
        spent = 0
        for step, one in enumerate(tries):
            at = e, g, step, s
            spent += one.rung.tokens
            given["tried"][at] = 1
            given["tokens_spent"][at], given["calls"][at] = spent, step + 1
            given["rung"][at], given["rung_text"][at] = one.rung.label, one.rung.text
            _fill(given, at, one.result)
            if one.result.passed is not None and tries[0].result.passed is False:
                given["rescued"][at] = float(one.result.passed)
        given["fault"][e, g, s] = _fault(case := design.tests[e], tries)
        full = known.get(walk.replay(case, case.trail.full, s)[0])
        if full is not None and full.passed is not None:
            given["ceiling"][e, s] = float(full.passed)
    for e, case in enumerate(design.tests):
        _describe(given, e, case, walk, known)
    long = {v.name for v in DESCENT.variables if v.long}
    kept = {
        name: values for name, values in given.items() if texts or name not in long
    }  # fmt: skip
    recorded = {
        v.companion.name: given[v.name] != "" for v in DESCENT.variables
        if v.recorded and v.name in kept
    }  # fmt: skip
    recorded |= {
        name: (given["status"] == "ok") | (given["answer"] != "") for name in ("answer_recorded",)
        if name in recorded and getattr(grader, "wants", "answer") == "answer"
    }  # fmt: skip
    places = replace(
        plan,
        coords={
            "episode": [case.id for case in design.tests],
            "strategy": list(design.strategies),
            "step": list(range(steps)),
            "sample": list(range(design.samples)),
        },
        index=np.zeros((0, 4), dtype=np.int32),
        keys=(),
        groups=np.zeros(0, dtype=np.int64),
    )
    return build_dataset(
        places, (), DESCENT, sizes={"claim": claims}, given={**kept, **recorded},
        attrs=_attrs(plan, walk, known, model, grader), texts=texts,
    )  # fmt: skip


def _empty(kind: str, shape: list[int]) -> NDArray[Any]:
    if kind == "text":
        return np.full(shape, "", dtype=object)
    return np.zeros(shape, dtype=bool) if kind == "flag" else np.full(shape, np.nan)


def _fill(given: Mapping[str, NDArray[Any]], at: tuple[int, ...], result: Result) -> None:
    given["status"][at] = result.status
    given["reason"][at] = str(result.values.get("reason") or "")
    given["answer"][at] = str(result.values.get("answer") or "")
    for name in _COSTS:
        if (value := result.values.get(name)) is not None:
            given[name][at] = value
    given["passed"][at] = np.nan if result.passed is None else float(result.passed)


def _fault(case: Case, tries: list[Any]) -> str:
    """What became of a ladder."""
    if not tries or tries[-1].result.passed is None:
        return "not judged"
    if tries[-1].result.passed:
        return "none" if len(tries) == 1 else "rescued"
    # A ladder that stopped short of L0 could not be ordered.
    return "knowledge gap" if tries[-1].rung is case.trail.full else "not judged"


def _describe(
    given: Mapping[str, NDArray[Any]], e: int, case: Case, walk: Walk, known: Mapping[str, Result]
) -> None:
    """What belongs to the episode: its control, its lesson, and the ranking of the claims."""
    trail, design = case.trail, walk.design
    given["concept"][e], given["episode_id"][e] = trail.lesson.id, case.episode.id
    given["family"][e], given["kind"][e] = trail.lesson.family, trail.lesson.kind
    given["task"][e], given["leaked"][e] = case.episode.task, case.leaked
    given["short_level"][e] = trail.short.label
    given["short_tokens"][e], given["full_tokens"][e] = trail.short.tokens, trail.full.tokens
    failed = False
    for s in range(design.samples):
        given["framing"][e, s] = design.framing(case, s).name
        control = known[walk.replay(case, None, s)[0]]
        given["control_status"][e, s] = control.status
        if control.passed is not None:
            given["control_passed"][e, s] = float(control.passed)
        failed |= known[walk.replay(case, trail.short, s)[0]].passed is False
    for claim in trail.claims:
        given["claim_text"][e, claim.number - 1] = claim.text
        given["claim_kind"][e, claim.number - 1] = claim.kind
        given["claim_holder"][e, claim.number - 1] = claim.holder.label
    ranking = walk.ranking(case, known) if failed and design.ranks else None
    if ranking is None:
        return
    given["ranking_status"][e], given["ranking_reason"][e] = ranking.status, ranking.reason
    for name, value in ranking.values.items():
        given[f"judge_{name}"][e] = value
    for place, one in enumerate(ranking.standings):
        at = e, one.claim.number - 1
        given["claim_rank"][at], given["worth"][at] = place + 1, one.worth
        given["usefulness"][at] = np.nan if one.useful is None else one.useful
        given["attempts"][at], given["rescues"][at] = one.attempts, one.rescues
        given["rescue_rate"][at] = rescue_rate(one.attempts, one.rescues)
        given["token_share"][at] = one.share


def _statistics(walk: Walk, known: Mapping[str, Result], learned: int) -> str:
    """Where the rescue rates come from, or why every one is 1/2."""
    design = walk.design
    train = f"{learned} train episode{'' if learned == 1 else 's'}"
    tested = {case.trail.lesson.id for case in design.tests}
    if not learned and design.statistics == "none":
        why = "not taken from train episodes (statistics='none')"
    elif not any(not case.test and case.trail.lesson.id in tested for case in design.cases):
        why = "no train episode"
    elif not learned:
        why = "the lessons have no dropped claim that train episodes could try"
    else:
        short = [
            known.get(walk.replay(case, case.trail.short, s)[0])
            for case in design.trains
            for s in range(design.samples)
        ]
        if any(one is not None and one.passed is False for one in short):
            return train
        why = f"{train}, none of which fails at the shortest form"
    return f"{why}: every rescue rate is 1/2"


def _attrs(
    plan: Plan, walk: Walk, known: Mapping[str, Result], model: Any, grader: Any
) -> dict[str, JSON]:
    design, judge = walk.design, walk.judge
    # A level that a simulation made is no real one either.
    makers = {level.compressor for trail in design.trails.values() for level in trail.lesson.levels}
    learned = len({case.id for case in design.trains})
    return {
        "question": "descent",
        "schema_version": SCHEMA_VERSION,
        "corecurves_version": __version__,
        "plan_hash": plan.hash,
        "store": design.store.name,
        "model": model.identity.name,
        "grader": grader.identity.name,
        "simulated": "yes" if is_simulated(model, grader, judge, *makers) else "no",
        "judge": "none" if judge is None else judge.identity.name,
        "usefulness": "no judge: the term is absent" if judge is None else said_of(scale_of(judge)),
        "weights": canonical_json(list(design.weights)),
        "claims": design.claims,
        "statistics": _statistics(walk, known, learned),
        "train_episodes": learned,
        "holdout": design.holdout,
        "leaks": design.leaked,
        "left_out": canonical_json([case.id for case in design.dropped]),
        "skipped": canonical_json([*design.store.skipped, *design.notes]),
        "cells": len(known),
        "cells_failed": sum(result.status != "ok" for result in known.values()),
        "token_counter": "o200k",
        "identity": canonical_json(
            {
                "model": model.identity.content(),
                "grader": grader.identity.content(),
                "judge": None if judge is None else judge.identity.content(),
            }
        ),
        "config": canonical_json(dict(plan.config)),
    }
