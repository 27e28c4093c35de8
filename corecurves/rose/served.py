"""Cases about what is served: nothing, the right lessons, one of two, or the wrong one.

A ``multi`` case needs two lessons, and either alone fails; in a ``conflict`` two lessons contradict
each other, and right is to say so; a ``distractor`` shares words with a lesson that does not apply;
in a ``null`` case nothing applies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corecurves import __version__
from corecurves.arguments import whole
from corecurves.canonical import JSON, canonical_json, digest, stable_seed
from corecurves.engine.executors import timed
from corecurves.engine.plan import Plan
from corecurves.engine.run import LedgerChoice, open_ledger
from corecurves.errors import UsageError
from corecurves.files.store import open_store, refuse_inside
from corecurves.graders import TAKE, as_grader
from corecurves.models.resolve import as_model
from corecurves.protocol.framings import EVALUATION, Framing
from corecurves.replay.stages import Stages
from corecurves.replay.work import Prompt, ReplayWork, sampling
from corecurves.rose.packs import pack_digest, read_packs
from corecurves.schema import SCHEMA_VERSION, SERVED
from corecurves.specs import ServedCase, Store, is_simulated, unrecognisable

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RETRIEVED", "SERVINGS", "run_served_cases"]

SERVINGS = ("none", "first", "second", "all")
"""What is served: nothing, the first lesson alone, the second alone, or all of the case's."""
RETRIEVED = "retrieved"
"""What a selector serves, noise included: served too where its run is given."""


def run_served_cases(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    grader: object = "auto",
    samples: int = 3,
    seed: int = 0,
    temperature: float = 0.7,
    max_tokens: int = 512,
    retrieved: xr.Dataset | None = None,
    executor: object = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    progress: bool = True,
    framings: tuple[Framing, ...] = EVALUATION,
) -> xr.Dataset:
    """Cases of the kinds multi, distractor, conflict and null, under each way of serving.

    Parameters
    ----------
    store : str, Path or Store
        A bench that has such cases.
    model, grader, samples, seed, temperature, max_tokens
        See `run_rose_eval`.
    retrieved : Dataset or None
        From `run_recall_eval` on the same bench, over its whole store: each case is also put with
        exactly what its selector serves, noise included, at ``served="retrieved"``. It has no cell
        where the selector's call failed.
    executor, max_concurrency, ledger, progress
        See `run_rose_eval`.
    framings : tuple of Framing
        The pool that samples draw on.

    Returns
    -------
    Dataset
        Over ``(case, served, sample)``: ``passed``, ``score`` and ``status``. A case of one lesson
        has no cell at ``second``, nor at ``all`` beside ``first``.

    Raises
    ------
    UsageError
        If an argument is wrong, or the store has no such cases.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_served_cases("rose_bench", "simulated", samples=1, ledger=False, progress=False)
    >>> sorted(set(ds.kind.values))
    ['conflict', 'distractor', 'multi', 'null']
    """
    opened = store if isinstance(store, Store) else open_store(store)
    if not opened.cases:
        raise UsageError(
            f"{opened.name} has no cases of the kinds multi, distractor, conflict, null"
        )
    samples, seed = whole("samples", samples), whole("seed", seed, least=None)
    packs = {} if retrieved is None else read_packs(retrieved)
    asked = as_model(model)
    judge = as_grader(grader, asked, opened.cases)
    wants = getattr(judge, "wants", "answer")
    if wants == "gain":
        raise UsageError(f"served cases pass or fail, and the grader gain does neither; {TAKE}")
    settings = sampling(wants, temperature, max_tokens)
    if wants != "answer" and samples > len(framings):
        raise UsageError(f"`samples` is {samples}; there are {len(framings)} framings")
    prompts: dict[str, Prompt] = {}
    index: list[tuple[int, int, int]] = []
    servings = [*SERVINGS, *([RETRIEVED] if packs else [])]
    who = asked.identity.content()
    for c, case in enumerate(opened.cases):
        first = stable_seed("framing", seed, case.id)
        for s in range(samples):
            framing = framings[(first + s) % len(framings)]
            for serving, text in _servings(case, packs.get(case.id, ()), s):
                messages = framing.messages(case.task, text)
                at = [case.id, serving, s]
                own = stable_seed("served", seed, case.id, s)
                key = digest(
                    ["served", who, wants, *settings.values(), list(map(dict, messages)),
                     case.outcome.content(), own, at]
                )  # fmt: skip
                prompts[key] = Prompt(tuple(messages), case.outcome, own)
                index.append((c, servings.index(serving), s))
    config: dict[str, JSON] = {
        "question": "served",
        "schema": SCHEMA_VERSION,
        "model": who,
        "grader": judge.identity.content(),
        "cases": [
            {"id": c.id, "kind": c.kind, "lessons": dict(c.lessons), "task": c.task,
             "outcome": c.outcome.content()}
            for c in opened.cases
        ],
        "samples": samples,
        "seed": seed,
        **settings,
        "framings": [framing.name for framing in framings],
    }  # fmt: skip
    if packs:
        config["retrieved"] = {case: list(texts) for case, texts in packs.items()}
    plan = Plan(
        question="served",
        coords={
            "case": [case.id for case in opened.cases],
            "served": servings,
            "sample": list(range(samples)),
        },
        index=np.asarray(index, dtype=np.int32),
        keys=tuple(prompts),
        groups=np.arange(len(prompts), dtype=np.int64),
        config=config,
        volatile=unrecognisable(model=asked, grader=judge),
    )
    tasks = {key: opened.cases[row[0]].task for key, row in zip(plan.keys, index, strict=True)}
    work = ReplayWork(asked, prompts, wants, settings)
    stages = Stages(plan, work, judge, tasks, seed)
    if isinstance(ledger, str | Path):
        refuse_inside(opened, ledger)
    # xarray is loaded when there is something to put into it.
    from corecurves.engine.dataset import build_dataset

    selected = "no" if retrieved is None else str(retrieved.attrs["simulated"])
    with open_ledger(plan, ledger) as book:
        blocks = stages.run(book, executor, max_concurrency, progress)
        ds = build_dataset(
            plan, blocks, SERVED, sizes={},
            given={"kind": np.array([case.kind for case in opened.cases], dtype=object)},
            attrs={
                "question": "served",
                "schema_version": SCHEMA_VERSION,
                "corecurves_version": __version__,
                "plan_hash": plan.hash,
                "store": opened.name,
                "model": asked.identity.name,
                "grader": judge.identity.name,
                "simulated": "yes" if is_simulated(asked, judge) or selected == "yes" else "no",
                "retrieved": "" if retrieved is None else pack_digest(retrieved),
                "identity": canonical_json({"model": who, "grader": judge.identity.content()}),
                "config": canonical_json(config),
            },
        )  # fmt: skip
    return timed(ds, work, executor, max_concurrency)


def _servings(
    case: ServedCase, packs: Sequence[str | None], sample: int
) -> Iterator[tuple[str, str | None]]:
    texts = list(case.lessons.values())
    yield "none", None
    if texts:
        yield "first", texts[0]
    if len(texts) > 1:
        yield "second", texts[1]
        yield "all", "\n\n".join(texts)
    if packs and (pack := packs[sample % len(packs)]) is not None:
        yield RETRIEVED, pack or None
