"""The lane: how fast a system becomes competent as it is corrected.

Each *snapshot* (concept, k) opens a session with a turn about the concept, teaches the first k
corrections, and asks the probe. In ``mode="fresh"`` every snapshot, and every replay of it, has a
new session. In ``mode="prefix"`` replay 0 teaches once and forks at each k; the other replays stay
fresh, so a matching trace hash proves that forking changed nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corecurves import __version__
from corecurves.canonical import JSON, canonical_json, digest, stable_seed
from corecurves.engine import loop
from corecurves.engine.ledger import Record
from corecurves.engine.plan import Cell, Plan
from corecurves.engine.run import LedgerChoice, arun, open_ledger, run
from corecurves.errors import CellFailure, PermanentFailure, UsageError, unknown
from corecurves.files.curricula import CurriculumSource, load_curricula, load_filler
from corecurves.protocol.arms import LANE_ARMS, arm_corrections, check_arms
from corecurves.schema import LANE, SCHEMA_VERSION
from corecurves.specs import Curriculum
from corecurves.systems.base import Turn
from corecurves.systems.resolve import Adapter, as_system
from corecurves.text import hits

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["arun_lane", "plan_lane", "run_lane"]

Mode = Literal["fresh", "prefix"]
_MODES = ("fresh", "prefix")


def run_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    arms: Sequence[str] = LANE_ARMS,
    samples: int = 1,
    replays: int = 2,
    seed: int = 0,
    mode: Mode = "fresh",
    executor: Executor | None = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Corrections-to-competence curve of each concept.

    Parameters
    ----------
    curricula : str, Path, Curriculum, mapping, or iterable of these
        What is taught, see `load_curricula`.
    system : str, System or callable
        What is taught it: a spec string such as ``"grounded?max_hops=2"``, an object with
        ``start``, or a function ``text -> text``.
    arms : sequence of {"taught", "control"}
        The conditions; control measures the prior.
    samples : int
        Independent repeats, each with a seed of its own.
    replays : int
        Runs of the same snapshot with the same seed; reproducibility needs at least 2.
    seed : int
        Seed of the whole run.
    mode : {"fresh", "prefix"}
        Whether each snapshot has a session of its own, or one session is forked at each k.
    executor : Executor or None
        Where batches are run; None for this process.
    max_concurrency : int
        Batches at work at once.
    ledger : str, Path, None or False
        File in which done cells are kept; None for one in the user's cache folder, False for none.
    texts : bool
        Whether the Dataset holds the long texts.
    progress : bool
        Whether to show progress.

    Returns
    -------
    Dataset
        Over ``(concept, k, arm, sample)``, with ``replay`` where replays are compared and ``token``
        for the expected tokens. ``hits`` counts tokens; it is NaN where k exceeds the curriculum or
        the cell did not end well, see ``status``.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If a curriculum is.
    LedgerError
        If the ledger is damaged or belongs to another plan.
    PermanentFailure
        If no retry can mend what failed; what was done stays in the ledger.

    See Also
    --------
    summarize_lane : The figures that are published.
    plot_lane : The curves.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_lane("dev", "grounded", ledger=False, progress=False)
    >>> ds.hits.sel(concept="wisdom", arm="taught", sample=0).values[:3]
    array([0., 1., 2.])
    """
    plan, work = _prepare(curricula, system, arms, samples, replays, seed, mode)
    with open_ledger(plan, ledger) as book:
        run(
            plan, work, book,
            executor=executor, max_concurrency=max_concurrency, progress=progress,
        )  # fmt: skip
        return _dataset(plan, work, list(book.records()), texts)


async def arun_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    arms: Sequence[str] = LANE_ARMS,
    samples: int = 1,
    replays: int = 2,
    seed: int = 0,
    mode: Mode = "fresh",
    executor: Executor | None = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Awaitable twin of `run_lane`.

    Parameters
    ----------
    curricula, system, arms, samples, replays, seed, mode
        See `run_lane`.
    executor, max_concurrency, ledger, texts, progress
        See `run_lane`.

    Returns
    -------
    Dataset
        See `run_lane`.

    Raises
    ------
    UsageError, FileFaults, LedgerError, PermanentFailure
        See `run_lane`.
    """
    plan, work = _prepare(curricula, system, arms, samples, replays, seed, mode)
    with open_ledger(plan, ledger) as book:
        # The background loop, as in the plain form: an async client belongs to one loop.
        running = loop.start(
            arun(
                plan, work, book,
                executor=executor, max_concurrency=max_concurrency, progress=progress,
            )
        )  # fmt: skip
        await asyncio.wrap_future(running)
        return _dataset(plan, work, list(book.records()), texts)


def plan_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    arms: Sequence[str] = LANE_ARMS,
    samples: int = 1,
    replays: int = 2,
    seed: int = 0,
    mode: Mode = "fresh",
) -> Plan:
    """Plan of a lane run, and what it costs, before anything is run.

    Parameters
    ----------
    curricula, system, arms, samples, replays, seed, mode
        See `run_lane`.

    Returns
    -------
    Plan
        ``len(plan)`` cells; ``plan.cost`` counts the turns of teaching and the probes.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If a curriculum is.

    Examples
    --------
    >>> import corecurves as cc
    >>> cc.plan_lane("dev", "grounded", mode="prefix").cost["probes"]
    52
    """
    return _prepare(curricula, system, arms, samples, replays, seed, mode)[0]


def _prepare(
    curricula: CurriculumSource,
    system: object,
    arms: Sequence[str],
    samples: int,
    replays: int,
    seed: int,
    mode: str,
) -> tuple[Plan, LaneWork]:
    for name, count in (("samples", samples), ("replays", replays)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UsageError(f"`{name}` is {count!r}; give a whole number from 1")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"`seed` is {seed!r}; give a whole number")
    if mode not in _MODES:
        raise UsageError(unknown("mode", mode, _MODES))
    chosen = check_arms(arms, LANE_ARMS)
    loaded = load_curricula(curricula)
    adapter = as_system(system)
    filler = load_filler() if "control" in chosen else ()
    scripts = tuple(
        tuple(
            Script(
                target.opening,
                tuple(c.text for c in arm_corrections(arm, target, loaded, filler)),
                target.probe,
                tuple(token.forms for token in target.tokens),
            )
            for arm in chosen
        )
        for target in loaded
    )
    seeds = tuple(
        tuple(stable_seed("lane", seed, target.concept, sample) for sample in range(samples))
        for target in loaded
    )
    work = LaneWork(adapter, loaded, scripts, seeds, mode)
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
            taught = _taught_hashes(identity, script)
            for s, r in itertools.product(range(samples), range(replays)):
                shared = work.mode == "prefix" and r == 0
                number = next(group)
                for k in range(len(script.corrections) + 1):
                    place = [curriculum.concept, k, arm, s, r, "prefix" if shared else "fresh"]
                    keys.append(digest(["lane", taught[k], work.seeds[c][s], place]))
                    index.append((c, k, a, s, r))
                    groups.append(number if shared or k == 0 else (number := next(group)))
                    turns += 0 if shared else 1 + k
                turns += 1 + len(script.corrections) if shared else 0
    longest = max(len(curriculum) for curriculum in work.curricula)
    config: dict[str, JSON] = {
        "question": "lane",
        "schema": SCHEMA_VERSION,
        "system": identity,
        "curricula": [curriculum.content() for curriculum in work.curricula],
        "taught": {
            arm: [list(work.scripts[c][a].corrections) for c in range(len(work.curricula))]
            for a, arm in enumerate(arms)
        },
        "arms": list(arms),
        "samples": samples,
        "replays": replays,
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
        volatile=work.system.volatile,
        cost={"cells": len(keys), "teaching_turns": turns, "probes": len(keys)},
    )


def _taught_hashes(identity: dict[str, JSON], script: Script) -> list[str]:
    """Per k a hash of everything that is said up to the probe, and of how the answer is read."""
    start = digest([identity, script.opening, script.probe, script.tokens])
    return list(
        itertools.accumulate(script.corrections, lambda so_far, text: digest([so_far, text]),
                             initial=start)
    )  # fmt: skip


@dataclass(frozen=True)
class Script:
    """What is said in one arm of one concept.

    Parameters
    ----------
    opening : str
        The first turn.
    corrections : tuple of str
        What is taught, in order.
    probe : str
        The question after each.
    tokens : tuple of tuple of str
        Per expected token its accepted forms.
    """

    opening: str
    corrections: tuple[str, ...]
    probe: str
    tokens: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LaneWork:
    """What the lane does with cells; it can travel to another process where its system can.

    Parameters
    ----------
    system : Adapter
        What is taught.
    curricula : tuple of Curriculum
        The concepts, in the plan's order.
    scripts : tuple of tuple of Script
        By concept and arm.
    seeds : tuple of tuple of int
        By concept and sample.
    mode : str
        ``fresh`` or ``prefix``.
    """

    system: Adapter
    curricula: tuple[Curriculum, ...]
    scripts: tuple[tuple[Script, ...], ...]
    seeds: tuple[tuple[int, ...], ...]
    mode: str

    def prepare(self) -> bool:
        """Look at one session: whether turns block, and whether it can fork."""
        session = self.system.start(0)
        if self.mode == "prefix" and not hasattr(session, "fork"):
            name = self.system.identity.name
            warnings.warn(
                f"{name} cannot fork, so mode='prefix' runs every snapshot fresh", stacklevel=2
            )
        close = getattr(session, "close", None)
        if close is not None and not inspect.iscoroutinefunction(close):
            close()
        declared = getattr(session, "asynchronous", None)
        asynchronous = inspect.iscoroutinefunction(session.turn) if declared is None else declared
        return not asynchronous

    async def run(self, cells: Sequence[Cell], emit: Callable[[Record], None]) -> None:
        """Work on cells, handing each record over as soon as it is known."""
        for _, group in itertools.groupby(cells, self._shares):
            together = list(group)
            if self.mode == "prefix" and together[0].index[4] == 0:
                await self._run_prefix(together, emit)
            else:
                for cell in together:
                    await self._run_fresh(cell, emit)

    def _shares(self, cell: Cell) -> tuple[int, ...]:
        concept, _, arm, sample, replay = cell.index
        return concept, arm, sample, replay

    async def _run_fresh(self, cell: Cell, emit: Callable[[Record], None]) -> None:
        concept, k, arm, sample, _ = cell.index
        script = self.scripts[concept][arm]
        started = time.perf_counter()
        session = None
        try:
            session = self.system.start(self.seeds[concept][sample])
            last = await _turn(session, script.opening)
            for text in script.corrections[:k]:
                last = await _turn(session, text)
            answer = await _turn(session, script.probe)
            record = _record(cell, script, answer, last if k else None, started)
        except _NOT_OURS:
            raise
        except Exception as error:
            record = _failure(cell, error, started)
        finally:
            await _close(session)
        emit(record)

    async def _run_prefix(self, cells: list[Cell], emit: Callable[[Record], None]) -> None:
        concept, _, arm, sample, _ = cells[0].index
        script = self.scripts[concept][arm]
        wanted = {cell.index[1]: cell for cell in cells}
        started = time.perf_counter()
        trunk, k = None, 0
        try:
            trunk = self.system.start(self.seeds[concept][sample])
            if not hasattr(trunk, "fork"):
                for cell in cells:
                    await self._run_fresh(cell, emit)
                return
            last = await _turn(trunk, script.opening)
            for k in range(max(wanted) + 1):
                if k:
                    last = await _turn(trunk, script.corrections[k - 1])
                if k not in wanted:
                    continue
                branch = None
                try:
                    branch = await _maybe(trunk.fork())
                    answer = await _turn(branch, script.probe)
                    record = _record(wanted[k], script, answer, last if k else None, started)
                except _NOT_OURS:
                    raise
                except Exception as error:
                    record = _failure(wanted[k], error, started)
                finally:
                    await _close(branch)
                emit(record)
                started = time.perf_counter()
        except _NOT_OURS:
            raise
        except Exception as error:
            for cell in cells:
                if cell.index[1] >= k:
                    emit(_failure(cell, error, started))
        finally:
            await _close(trunk)


_NOT_OURS = (PermanentFailure, UsageError)


async def _turn(session: Any, text: str) -> Turn:
    turn = await _maybe(session.turn(text))
    if not isinstance(turn, Turn):
        raise TypeError(f"`turn` returned a {type(turn).__name__}; it must return a Turn")
    return turn


async def _maybe(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _close(session: Any) -> None:
    close = getattr(session, "close", None)
    if close is not None:
        await _maybe(close())


def _record(
    cell: Cell, script: Script, answer: Turn, correction: Turn | None, started: float
) -> Record:
    found = hits(script.tokens, answer.surface, answer.walk_surface)
    values: dict[str, JSON] = {
        "status": "ok",
        "replay_status": "ok",
        "hits": sum(found),
        "token_hits": [int(hit) for hit in found],
        "vault_hits": answer.vault_hits,
        "surface": answer.surface,
        "walk_surface": answer.walk_surface,
        "trace_hash": answer.trace_hash,
        "seconds": time.perf_counter() - started,
    }
    if correction is not None and correction.accepted is not None:
        values |= {"accepted": int(correction.accepted), "review": correction.review}
    return Record(cell.key, "ok", values)


def _failure(cell: Cell, error: Exception, started: float) -> Record:
    status = error.status if isinstance(error, CellFailure) else "call_failed"
    reason = str(error) if isinstance(error, CellFailure) else f"{type(error).__name__}: {error}"
    values: dict[str, JSON] = {
        "status": status,
        "replay_status": status,
        "reason": reason,
        "seconds": time.perf_counter() - started,
    }
    return Record(cell.key, status, values)


def _dataset(plan: Plan, work: LaneWork, records: list[Record], texts: bool) -> xr.Dataset:
    from corecurves.engine.dataset import build_dataset

    curricula = work.curricula
    n_tokens = max(len(curriculum.tokens) for curriculum in curricula)
    ds = build_dataset(
        plan,
        records,
        LANE,
        sizes={"token": n_tokens},
        given=_given(plan, work, n_tokens),
        attrs=_attrs(plan, work),
        texts=texts,
    )
    ds["replay_match"] = (LANE["replay_match"].dims, _replay_match(plan, records),
                          LANE["replay_match"].attrs)  # fmt: skip
    _warn_of_failures(records, plan)
    return ds


def _given(plan: Plan, work: LaneWork, n_tokens: int) -> dict[str, Any]:
    curricula = work.curricula
    n, n_k, n_arms = len(curricula), len(plan.coords["k"]), len(plan.coords["arm"])
    correction = np.full((n, n_k, n_arms), "", dtype=object)
    adds = np.full((n, n_k), "", dtype=object)
    expected = np.full((n, n_tokens), "", dtype=object)
    introduced = np.full((n, n_tokens), np.nan)
    for c, curriculum in enumerate(curricula):
        for a in range(n_arms):
            texts = work.scripts[c][a].corrections
            correction[c, 1 : len(texts) + 1, a] = texts
        for k, taught in enumerate(curriculum.corrections, start=1):
            adds[c, k] = ", ".join(token.text for token in taught.adds)
        tokens = [token.text for token in curriculum.tokens]
        expected[c, : len(tokens)] = tokens
        introduced[c, : len(tokens)] = curriculum.introduced
    return {
        "correction": correction,
        "correction_recorded": correction != "",
        "adds": adds,
        "expected": expected,
        "expected_recorded": expected != "",
        "introduced": introduced,
        "replay_match": np.full([len(plan.coords[d]) for d in LANE["replay_match"].dims], np.nan),
        "split": np.array([c.split for c in curricula], dtype=object),
        "pack": np.array([c.pack for c in curricula], dtype=object),
        "shape": np.array([c.shape for c in curricula], dtype=object),
        "contract": np.array([c.contract for c in curricula]),
        "probe": np.array([c.probe for c in curricula], dtype=object),
        "curriculum_length": np.array([float(len(c)) for c in curricula]),
    }


def _replay_match(plan: Plan, records: list[Record]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 where all replays ended well with one non-empty hash, 0 where not, NaN where unplanned."""
    shape = [len(labels) for labels in plan.coords.values()]
    hashes = np.full(shape, "", dtype=object)
    planned = np.zeros(shape, dtype=bool)
    place = dict(zip(plan.keys, map(tuple, plan.index.tolist()), strict=True))
    planned[tuple(plan.index.T)] = True
    for record in records:
        if record.key in place and record.status == "ok":
            hashes[place[record.key]] = record.values["trace_hash"]
    if shape[-1] < 2:
        return np.full(shape[:-1], np.nan)
    same = (hashes == hashes[..., :1]).all(axis=-1) & (hashes[..., 0] != "")
    return np.where(planned[..., 0], same.astype(float), np.nan)


def _attrs(plan: Plan, work: LaneWork) -> Mapping[str, JSON]:
    packs = {c.pack: c.pack_digest for c in work.curricula if c.pack}
    return {
        "question": "lane",
        "schema_version": SCHEMA_VERSION,
        "corecurves_version": __version__,
        "plan_hash": plan.hash,
        "system": work.system.source if isinstance(work.system.source, str)
        else work.system.identity.name,
        "identity": canonical_json(work.system.identity.content()),
        "pack_digest": canonical_json(packs),
        "config": canonical_json(dict(plan.config)),
    }  # fmt: skip


def _warn_of_failures(records: list[Record], plan: Plan) -> None:
    wanted = set(plan.keys)
    failed = [r for r in records if r.key in wanted and r.status != "ok"]
    if not failed:
        return
    counts = {s: sum(r.status == s for r in failed) for s in sorted({r.status for r in failed})}
    named = ", ".join(f"{status} {count}" for status, count in counts.items())
    warnings.warn(
        f"{len(failed)} of {len(plan)} cells have no result ({named}); "
        f"the first: {failed[0].values.get('reason', '')}",
        stacklevel=3,
    )
