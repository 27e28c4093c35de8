"""The calls: run, and the awaitable twin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corecurves.engine.executors import timed
from corecurves.engine.failures import warn_of_failures
from corecurves.engine.ledger import Ledger
from corecurves.engine.plan import Plan
from corecurves.engine.records import Block
from corecurves.engine.run import LedgerChoice, arun_apart, open_ledger, run
from corecurves.files.store import refuse_inside
from corecurves.recall.design import Design, make_design
from corecurves.recall.material import Material, read_material
from corecurves.specs import Store

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["arun_recall_eval", "plan_recall", "prepare", "run_design", "run_recall_eval"]


def run_recall_eval(
    store: str | Path | Store = "demo_store",
    selector: object = "bm25",
    *,
    whole_store: bool = False,
    pool: int | None = None,
    threshold: float | None = None,
    max_pack_tokens: int | None = None,
    sweep: bool | Sequence[float] = False,
    samples: int = 1,
    seed: int = 0,
    executor: object = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Recorded episodes replayed against exactly the lessons that they were served.

    Parameters
    ----------
    store : str, Path or Store
        A ROSE store, by name or folder, opened read-only; a Store stands for its whole folder. Of a
        bench, the cases of kinds other than the plain ones, over its whole store.
    selector : str, Selector or callable
        ``serve-all`` (the baseline), ``bm25``, ``embedding``, ``model:MODEL``, ``judge:MODEL``, an
        object, or a function that takes the task and the texts by id and returns the ids that it
        picks, or scores by id.
    whole_store : bool
        Whether the candidates are those of the whole store instead: of each lesson the shortest
        form that stands, and merged forms. What was not served then was never judged, so it counts
        as noise, and precision is a lower bound.
    pool : int or None
        How many of the whole store's candidates the selector is shown, the best by BM25; None for
        all.
    threshold : float or None
        A score must exceed it; None for the selector's own.
    max_pack_tokens : int or None
        Most tokens that are served together (o200k); the best score goes first.
    sweep : bool or sequence of float
        Further thresholds, for the whole curve from the same scores; True for all at which
        something changes.
    samples : int
        Repeats: wordings for a model that is scored, seeds for one that is asked.
    seed : int
        Seed of the whole run.
    executor : Executor, dask.distributed.Client or None
        Where batches are run; None for this process.
    max_concurrency : int
        Calls at work at once; a local model takes one.
    ledger : str, Path, None or False
        File in which done cells are kept; None for one in the user's cache folder, False for none.
        Threshold, budget and sweep are no part of it: other ones reuse its scores.
    texts : bool
        Whether the Dataset holds the long texts.
    progress : bool
        Whether to show progress.

    Returns
    -------
    Dataset
        Over ``(episode, lesson, sample)``: ``kept``, ``score``, ``silent``, ``decision``; over
        ``(episode, lesson)`` what was ``served``, and ``used`` for candidates. A candidate on which
        the selector is silent counts as kept. Lessons that no longer exist are named in ``gone``,
        episodes that could not be replayed in the attribute ``skipped``.

    Raises
    ------
    UsageError
        If an argument is wrong, nothing can be replayed, or the ledger lies in the store.
    FileFaults
        If the store is.
    LedgerError
        If the ledger is damaged or belongs to another plan.
    PermanentFailure
        If no retry can mend what failed; what was done stays in the ledger.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "serve-all", ledger=False, progress=False)
    >>> int(ds.kept.sum()) == int(ds.served.sum())
    True
    """
    design = prepare(
        store, selector, whole_store=whole_store, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, sweep=sweep, samples=samples, seed=seed,
    )  # fmt: skip
    return run_design(design, executor, max_concurrency, ledger, texts, progress)


async def arun_recall_eval(
    store: str | Path | Store = "demo_store",
    selector: object = "bm25",
    *,
    whole_store: bool = False,
    pool: int | None = None,
    threshold: float | None = None,
    max_pack_tokens: int | None = None,
    sweep: bool | Sequence[float] = False,
    samples: int = 1,
    seed: int = 0,
    executor: object = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Awaitable twin of `run_recall_eval`.

    Parameters
    ----------
    store, selector, whole_store, pool, threshold, max_pack_tokens, sweep, samples, seed
        See `run_recall_eval`.
    executor, max_concurrency, ledger, texts, progress
        See `run_recall_eval`.

    Returns
    -------
    Dataset
        See `run_recall_eval`.

    Raises
    ------
    UsageError, FileFaults, LedgerError, PermanentFailure
        See `run_recall_eval`.
    """
    design = prepare(
        store, selector, whole_store=whole_store, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, sweep=sweep, samples=samples, seed=seed,
    )  # fmt: skip
    with _ledger(design, ledger) as book:
        await arun_apart(design.plan, design.work, book, executor=executor,
                         max_concurrency=max_concurrency, progress=progress)  # fmt: skip
        return timed(_dataset(design, book, texts), design.work, executor, max_concurrency)


def plan_recall(
    store: str | Path | Store = "demo_store",
    selector: object = "bm25",
    *,
    whole_store: bool = False,
    pool: int | None = None,
    samples: int = 1,
    seed: int = 0,
) -> Plan:
    """Plan of a recall run, and what it costs, before anything is run.

    Parameters
    ----------
    store, selector, whole_store, pool, samples, seed
        See `run_recall_eval`.

    Returns
    -------
    Plan
        ``plan.cost`` has cells, probes, and the o200k tokens of what the selector is shown.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> cc.plan_recall("demo_store", "bm25").cost["probes"]
    36
    """
    return prepare(
        store, selector, whole_store=whole_store, pool=pool, threshold=None, max_pack_tokens=None,
        samples=samples, seed=seed,
    ).plan  # fmt: skip


def prepare(
    store: str | Path | Store | Material,
    selector: object,
    *,
    whole_store: bool,
    pool: int | None,
    threshold: float | None,
    max_pack_tokens: int | None,
    sweep: bool | Sequence[float] = False,
    samples: int = 1,
    seed: int = 0,
    probes: Mapping[str, str] | None = None,
) -> Design:
    """Design of a run over a store."""
    material = store
    if not isinstance(material, Material):
        material = read_material(material, whole_store=whole_store)
    return make_design(
        material, selector, whole_store=whole_store, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, sweep=sweep, samples=samples, seed=seed, probes=probes,
    )  # fmt: skip


def run_design(
    design: Design,
    executor: object,
    max_concurrency: int,
    ledger: LedgerChoice,
    texts: bool,
    progress: bool,
) -> xr.Dataset:
    """Run what is missing of a design."""
    with _ledger(design, ledger) as book:
        run(design.plan, design.work, book, executor=executor, max_concurrency=max_concurrency,
            progress=progress)  # fmt: skip
        return timed(_dataset(design, book, texts), design.work, executor, max_concurrency)


def _ledger(design: Design, ledger: LedgerChoice) -> Ledger:
    if isinstance(ledger, str | Path):
        refuse_inside(design.material.store, ledger, "ledger")
    return open_ledger(design.plan, ledger)


def _dataset(design: Design, book: Ledger, texts: bool) -> xr.Dataset:
    warn_of_failures(book.failed(), design.plan)
    # xarray is loaded when there is something to put into it.
    from corecurves.recall.dataset import recall_dataset

    blocks: Iterator[Block] = book.blocks()
    return recall_dataset(design, blocks, texts=texts)
