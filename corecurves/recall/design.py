"""Which candidates each probe has, and the plan of scoring them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from corecurves.arguments import finite, whole
from corecurves.canonical import JSON, digest, stable_seed
from corecurves.engine.plan import Plan
from corecurves.errors import UsageError
from corecurves.recall.material import Material
from corecurves.recall.probes import Probe, probes_of
from corecurves.schema import SCHEMA_VERSION
from corecurves.selectors import Candidate, as_selector
from corecurves.selectors.work import Ask, SelectorWork
from corecurves.specs import unrecognisable

__all__ = ["Design", "Limits", "make_design"]


@dataclass(frozen=True)
class Limits:
    """What decides which of the scored candidates are served; no part of the scoring.

    Parameters
    ----------
    threshold : float
        A score must exceed it.
    budget : int or None
        Most tokens that are served together.
    sweep : tuple of float or bool
        Further thresholds; True for all at which something changes.
    """

    threshold: float
    budget: int | None
    sweep: tuple[float, ...] | bool = False


@dataclass(frozen=True)
class Design:
    """A prepared run.

    Parameters
    ----------
    material : Material
        Lessons and episodes.
    selector : Selector
        Who selects, over the store's texts.
    probes : tuple of Probe
        What is asked.
    candidates : str
        ``served`` or ``whole-store``.
    pool : int or None
        Candidates of the whole store that the selector is shown, by BM25; None for all.
    samples, seed : int
        Repeats, and the seed of the run.
    limits : Limits
        Threshold and budget.
    """

    material: Material
    selector: Any
    probes: tuple[Probe, ...]
    candidates: str
    pool: int | None
    samples: int
    seed: int
    limits: Limits

    @cached_property
    def lessons(self) -> list[str]:
        """Labels on ``lesson``: whatever is a candidate or was served."""
        named = {name for p in self.probes for name in (*p.candidates, *p.served, *p.used)}
        return sorted(named)

    @property
    def scoring_seed(self) -> int:
        """Seed of the scoring: 0 for a selector whose scores have nothing to do with it."""
        return self.seed if getattr(self.selector, "seeded", True) else 0

    @cached_property
    def plan(self) -> Plan:
        """Plan of the scoring: threshold and budget are no part of it."""
        return self._prepared[0]

    @cached_property
    def work(self) -> SelectorWork:
        """What is done with its cells."""
        return self._prepared[1]

    @cached_property
    def _prepared(self) -> tuple[Plan, SelectorWork]:
        who = self.selector.identity.content()
        place = {name: i for i, name in enumerate(self.lessons)}
        keys: list[str] = []
        asks: dict[str, Ask] = {}
        index, groups = [], []
        texts = self.material.texts
        for e, probe in enumerate(self.probes):
            shown = tuple(Candidate(name, texts[name]) for name in probe.candidates)
            content: JSON = [[c.id, c.text] for c in shown]
            for sample in range(self.samples):
                seed = stable_seed("recall", self.scoring_seed, probe.id, sample)
                asked = digest(["recall", who, probe.task, content, sample, seed])
                for candidate in shown:
                    key = digest([asked, probe.id, candidate.id])
                    keys.append(key)
                    asks[key] = Ask(probe.task, shown, candidate.id, sample, seed)
                    index.append((e, place[candidate.id], sample))
                    groups.append(e * self.samples + sample)
        plan = Plan(
            question="recall",
            coords={
                "episode": [probe.id for probe in self.probes],
                "lesson": self.lessons,
                "sample": list(range(self.samples)),
            },
            index=np.asarray(index, dtype=np.int32).reshape(len(index), 3),
            keys=tuple(keys),
            groups=np.asarray(groups, dtype=np.int64),
            config=self._config(who),
            volatile=unrecognisable(selector=self.selector),
            cost={
                "cells": len(keys),
                "probes": len(self.probes) * self.samples,
                "shown_tokens": self.samples
                * sum(self.material.pieces[c].tokens for p in self.probes for c in p.candidates),
            },
        )
        return plan, SelectorWork(self.selector, asks)

    def _config(self, who: JSON) -> dict[str, JSON]:
        texts = self.material.texts
        return {
            "question": "recall",
            "schema": SCHEMA_VERSION,
            "selector": who,
            "candidates": self.candidates,
            "pool": self.pool,
            "samples": self.samples,
            "seed": self.scoring_seed,
            "probes": [
                {"id": p.id, "task": p.task, "candidates": list(p.candidates),
                 "used": list(p.used)}
                for p in self.probes
            ],
            "lessons": {name: texts[name] for name in self.lessons},
        }  # fmt: skip


def make_design(
    material: Material,
    selector: object,
    *,
    whole_store: bool,
    pool: int | None,
    threshold: float | None,
    max_pack_tokens: int | None,
    sweep: bool | Sequence[float],
    samples: int,
    seed: int,
    probes: Mapping[str, str] | None = None,
) -> Design:
    """Design of a run, checked."""
    samples, seed = whole("samples", samples), whole("seed", seed, least=None)
    pool = None if pool is None else whole("pool", pool)
    if max_pack_tokens is not None:
        max_pack_tokens = whole("max_pack_tokens", max_pack_tokens)
    if pool is not None and not whole_store:
        raise UsageError(
            "`pool` chooses from the whole store; give whole_store=True (--whole-store) with it"
        )
    if material.store.cases and not whole_store and probes is None:
        raise UsageError(
            f"{material.store.name} is a bench: it records no episode that was served lessons; "
            "give whole_store=True (--whole-store) for its cases, or a ROSE store"
        )
    chosen = as_selector(selector)
    most = getattr(chosen, "most_samples", None)
    if most is not None and samples > most:
        answers = "one answer" if most == 1 else f"{most} wordings"
        raise UsageError(f"`samples` is {samples}, and {chosen.identity.name} has {answers}")
    own = float(chosen.threshold)
    limits = Limits(
        own if threshold is None else finite("threshold", threshold),
        max_pack_tokens,
        bool(sweep) if isinstance(sweep, bool | np.bool_) else _rising(sweep),
    )
    if probes is None and not material.replays:
        why = "; ".join(f"{len(v)}: {k}" for k, v in material.skipped.items()) or "there is none"
        raise UsageError(f"no episode of {material.store.name} can be replayed ({why})")
    if hasattr(chosen, "fitted"):
        chosen = chosen.fitted(material.texts)
    asked = probes_of(material, whole_store, pool, probes)
    where = "whole-store" if whole_store else "served"
    return Design(material, chosen, asked, where, pool, samples, seed, limits)


def _rising(sweep: Sequence[float]) -> tuple[float, ...]:
    if isinstance(sweep, str | bytes) or not isinstance(sweep, Sequence | np.ndarray):
        raise UsageError(f"`sweep` is {sweep!r}; give True, or thresholds")
    found = tuple(sorted({finite("sweep", x) for x in sweep}))
    if not found:
        raise UsageError("`sweep` is empty; give True, or thresholds")
    return found
