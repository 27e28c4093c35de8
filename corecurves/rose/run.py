"""The calls: plan, run, and the awaitable twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from corecurves.engine import loop
from corecurves.engine.executors import timed
from corecurves.engine.plan import Plan
from corecurves.engine.run import LedgerChoice, open_ledger
from corecurves.engine.sink import Sink
from corecurves.rose.job import prepare
from corecurves.specs import Store

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["arun_rose_eval", "plan_rose", "run_rose_eval"]

DEFAULT_ARMS = ("control", "ceiling", "treatment", "placebo", "scrambled")


def run_rose_eval(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    grader: object = "auto",
    levels: Sequence[str] | None = None,
    arms: Sequence[str] = DEFAULT_ARMS,
    holdout: float | None = None,
    samples: int = 3,
    seed: int = 0,
    leaks: str = "drop",
    temperature: float = 0.7,
    max_tokens: int = 512,
    executor: object = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Held-out episodes replayed against every level of each lesson.

    Parameters
    ----------
    store : str, Path or Store
        ``"rose_bench"``, a ROSE store's folder or a bench folder; opened read-only.
    model : str, Model or callable
        Who is evaluated: ``"smollm2"``, ``"openai:NAME@BASE_URL"``, ``"simulated"``, an object, or
        a function ``messages -> text``.
    grader : str, Grader or callable
        ``auto``, ``contrast``, ``checklist``, ``gain``, ``judge``, ``judge:MODEL``, or anything
        that takes a `BlindCase`.
    levels : sequence of str or None
        Which to run, e.g. ``["L1", "L2"]``; None for all.
    arms : sequence of str
        ``control``, ``ceiling``, ``treatment``, ``placebo``, ``scrambled``, ``truncation``.
    holdout : float or None
        Share of episodes in the test half, 1 for all; None takes all where no level was made by a
        compressor, and 0.3 otherwise.
    samples : int
        Repeats: framings for a model that is scored, seeds and framings for one that is asked.
        Framings of one episode correlate at 0.92 to 0.95, so they are no independent repeats.
    seed : int
        Seed of the whole run.
    leaks : {"drop", "keep"}
        Whether cells whose level was made with the episode are left out, or kept and marked.
    temperature : float
        Of the sampling, where the model is asked. A model that is scored samples nothing: there
        this and `max_tokens` are no part of the plan, and one that is given is warned of.
    max_tokens : int
        Longest answer, in the model's own tokens.
    executor : Executor, dask.distributed.Client or None
        Where batches are run; None for this process.
    max_concurrency : int
        Calls at work at once; a local model takes one.
    ledger : str, Path, None or False
        File in which done cells are kept; None for one in the user's cache folder, False for none.
    texts : bool
        Whether the Dataset holds the long texts.
    progress : bool
        Whether to show progress.

    Returns
    -------
    Dataset
        Over ``(concept, episode, level, arm, sample)``; every cell stands at one place: control at
        level ``none``, ceiling at ``L0``, the others at ``L1`` and on; NaN elsewhere.

    Raises
    ------
    UsageError
        If an argument is wrong, the model's weights are missing, or the ledger lies in the store.
    FileFaults
        If the store is.
    LedgerError
        If the ledger is damaged or belongs to another plan.
    PermanentFailure
        If no retry can mend what failed; what was done stays in the ledger.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> ds.attrs["simulated"]
    'yes'
    """
    job = prepare(
        store, model, grader, levels, arms, holdout, samples, seed, leaks, temperature, max_tokens
    )
    with open_ledger(job.stages.plan, job.checked(ledger)) as book:
        ds = job.dataset(job.stages.run(book, executor, max_concurrency, progress), texts)
    return timed(ds, job.stages.work, executor, max_concurrency)


async def arun_rose_eval(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    grader: object = "auto",
    levels: Sequence[str] | None = None,
    arms: Sequence[str] = DEFAULT_ARMS,
    holdout: float | None = None,
    samples: int = 3,
    seed: int = 0,
    leaks: str = "drop",
    temperature: float = 0.7,
    max_tokens: int = 512,
    executor: object = None,
    max_concurrency: int = 8,
    ledger: LedgerChoice = None,
    texts: bool = True,
    progress: bool = True,
) -> xr.Dataset:
    """Awaitable twin of `run_rose_eval`.

    Parameters
    ----------
    store, model, grader, levels, arms, holdout, samples, seed, leaks
        See `run_rose_eval`.
    temperature, max_tokens, executor, max_concurrency, ledger, texts, progress
        See `run_rose_eval`.

    Returns
    -------
    Dataset
        See `run_rose_eval`.

    Raises
    ------
    UsageError, FileFaults, LedgerError, PermanentFailure
        See `run_rose_eval`.
    """
    job = prepare(
        store, model, grader, levels, arms, holdout, samples, seed, leaks, temperature, max_tokens
    )
    with open_ledger(job.stages.plan, job.checked(ledger)) as book:
        records = await job.stages.arun(book, executor, max_concurrency, progress)
        ds = job.dataset(records, texts)
    return timed(ds, job.stages.work, executor, max_concurrency)


def plan_rose(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    grader: object = "auto",
    levels: Sequence[str] | None = None,
    arms: Sequence[str] = DEFAULT_ARMS,
    holdout: float | None = None,
    samples: int = 3,
    seed: int = 0,
    leaks: str = "drop",
    temperature: float = 0.7,
    max_tokens: int = 512,
    calibrate: bool = False,
) -> Plan:
    """Plan of a rose run, and what it costs, before anything is run.

    Parameters
    ----------
    store, model, grader, levels, arms, holdout, samples, seed, leaks
        See `run_rose_eval`.
    temperature, max_tokens
        See `run_rose_eval`.
    calibrate : bool
        Whether to make three calls, spread over the plan, and estimate the seconds from them; a run
        with the default ledger does not make them again.

    Returns
    -------
    Plan
        ``plan.cost`` has cells, calls, prompt tokens (o200k) and, calibrated, estimated seconds;
        of a model that tells its context, the prompts that do not fit it.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> plan = cc.plan_rose("rose_bench", "simulated", samples=1)
    >>> plan.cost["cells"] == len(plan)
    True
    """
    job = prepare(
        store, model, grader, levels, arms, holdout, samples, seed, leaks, temperature, max_tokens
    )
    plan = job.stages.plan
    if not calibrate:
        return plan
    few = [list(plan)[i] for i in sorted({0, len(plan) // 2, len(plan) - 1})]
    # In the ledger that the run takes, so that no call is made twice.
    with open_ledger(plan) as book:
        known = book.done()
        loop.wait(job.stages.work.run([x for x in few if x.key not in known], Sink(book.write)))
        records = {record.key: record for record in book.records()}
    took = [float(records[cell.key].values["seconds"]) for cell in few]  # type: ignore[arg-type]
    seconds = sum(took) / len(took) * len(plan)
    return replace(plan, cost={**plan.cost, "estimated_seconds": round(seconds)})
