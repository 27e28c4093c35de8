"""The calls: plan, run, and the awaitable twin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from corecurves.descent.job import prepare
from corecurves.descent.ranking import WEIGHTS
from corecurves.descent.states import Opened
from corecurves.descent.trails import STRATEGIES
from corecurves.engine.executors import timed
from corecurves.engine.plan import Plan
from corecurves.engine.run import LedgerChoice, arun_apart, open_ledger, run
from corecurves.specs import Store

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["arun_descent_eval", "plan_descent", "run_descent_eval"]


def run_descent_eval(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    strategies: Sequence[str] = STRATEGIES,
    judge: object = None,
    weights: Sequence[float] = WEIGHTS,
    claims: int = 3,
    statistics: str = "train",
    grader: object = "auto",
    holdout: float | None = None,
    samples: int = 1,
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
    """Ways back to detail for held-out episodes that fail at a lesson's shortest form.

    Each strategy is a ladder; the first rung that passes ends it. All begin with the shortest form
    and end at L0: an episode that L0 fails too is a *knowledge gap*, no fault of the compression.

    Parameters
    ----------
    store : str, Path or Store
        ``"rose_bench"``, a ROSE store's folder or a bench folder; opened read-only.
    model : str, Model or callable
        Who is evaluated: ``"smollm2"``, ``"openai:NAME@BASE_URL"``, ``"simulated"``, an object, or
        a function ``messages -> text``.
    strategies : sequence of str
        ``delta-patch``: the short form with the most promising dropped claim, the best two, …;
        ``delta-jump``: the level or node that still holds the best claim, then the next one's;
        ``stepwise``: the levels between, one by one from the shortest, blind to the manifest; where
        a level stands for several lessons, each of its children.
    judge : str, Selector, callable or None
        Who judges how useful a claim is for the task: ``model:MODEL``, ``judge:MODEL``, ``bm25``,
        or any selector of `run_recall_eval`. None leaves that term out of the ranking.
    weights : sequence of float
        Of usefulness, rescue rate and token share in the worth of a claim, see Notes.
    claims : int
        Most claims that a patch adds.
    statistics : {"train", "none"}
        Where rescue rates come from: each claim alone is added on each train episode of its lesson
        that fails at the shortest form. ``none``, or no train episode, leaves each at 1/2.
    grader : str, Grader or callable
        See `run_rose_eval`; it must pass or fail, so ``gain`` is refused.
    holdout : float or None
        Share of episodes in the test half, 1 for all. None takes 0.3 where a compressor made a
        level; else 0.5, for then the train half serves the rescue rates alone, or 1 where no rate
        is asked for.
    samples : int
        Repeats: framings for a model that is scored, seeds and framings for one that is asked.
    seed : int
        Seed of the whole run.
    leaks : {"drop", "keep"}
        Whether episodes that a form of their lesson was made with are left out, or kept and marked.
    temperature : float
        See `run_rose_eval`.
    max_tokens : int
        See `run_rose_eval`.
    executor : Executor, dask.distributed.Client or None
        Where batches are run; None for this process.
    max_concurrency : int
        Calls at work at once; a local model takes one.
    ledger : str, Path, None or False
        File in which done cells are kept; None for one in the user's cache folder, False for none.
        Strategies, judge, weights, claims and statistics are no part of it: other ones reuse its
        replays.
    texts : bool
        Whether the Dataset holds the long texts.
    progress : bool
        Whether to show progress.

    Returns
    -------
    Dataset
        Over ``(episode, strategy, step, sample)``; step 0 is the shortest form, the same for all
        strategies. ``tried`` is 1 where a step was reached, 0 elsewhere, and there everything else
        is NaN. ``tokens_spent`` (o200k) and ``calls`` (of the evaluated model, one a try) count
        failed tries too, as if the strategy had been alone; what the judge takes is in
        ``judge_tokens_in`` and ``judge_tokens_out``. ``fault (episode, strategy, sample)`` is
        *none* (the short form passed), *rescued*, *knowledge gap*, or *not judged*, where a try or
        the judge had no result.

    Raises
    ------
    UsageError
        If an argument is wrong, no episode is left, or the ledger lies in the store.
    FileFaults
        If the store is wrong.
    LedgerError
        If the ledger is damaged or belongs to another plan.
    PermanentFailure
        If no retry can mend what failed; what was done stays in the ledger.

    Notes
    -----
    The worth of a claim is 0.60 · usefulness + 0.28 · (rescues + 1) / (attempts + 2) − 0.12 ·
    (tokens of the claim) / (tokens of L0); ties keep the order of the manifest. Usefulness is in
    [0, 1]: the logistic function of the nats of ``model:MODEL``, the verdicts of ``judge:MODEL`` as
    they are, the scores of ``bm25`` from the lowest to the highest of the claims, (1 + cosine) / 2
    for ``embedding``; another judge's scores as they are where all lie in [0, 1], else from the
    lowest to the highest. It is 0.5 where the judge is silent. The judge is asked of failed test
    episodes only.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> ds.sizes["strategy"], ds.attrs["simulated"]
    (3, 'yes')
    """
    job = prepare(
        store, model, strategies=strategies, judge=judge, weights=weights, claims=claims,
        statistics=statistics, grader=grader, holdout=holdout, samples=samples, seed=seed,
        leaks=leaks, temperature=temperature, max_tokens=max_tokens,
    )  # fmt: skip
    asked = Opened()
    with open_ledger(job.plan, job.checked(ledger)) as book:
        for plan, work in job.rounds(book, asked):
            run(plan, work, book, executor=executor, max_concurrency=max_concurrency,
                progress=progress)  # fmt: skip
        ds = job.dataset(book, asked, texts)
    return timed(ds, job.work, executor, max_concurrency)


async def arun_descent_eval(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    strategies: Sequence[str] = STRATEGIES,
    judge: object = None,
    weights: Sequence[float] = WEIGHTS,
    claims: int = 3,
    statistics: str = "train",
    grader: object = "auto",
    holdout: float | None = None,
    samples: int = 1,
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
    """Awaitable twin of `run_descent_eval`.

    Parameters
    ----------
    store, model, strategies, judge, weights, claims, statistics, grader, holdout, samples, seed
        See `run_descent_eval`.
    leaks, temperature, max_tokens, executor, max_concurrency, ledger, texts, progress
        See `run_descent_eval`.

    Returns
    -------
    Dataset
        See `run_descent_eval`.

    Raises
    ------
    UsageError, FileFaults, LedgerError, PermanentFailure
        See `run_descent_eval`.
    """
    job = prepare(
        store, model, strategies=strategies, judge=judge, weights=weights, claims=claims,
        statistics=statistics, grader=grader, holdout=holdout, samples=samples, seed=seed,
        leaks=leaks, temperature=temperature, max_tokens=max_tokens,
    )  # fmt: skip
    asked = Opened()
    with open_ledger(job.plan, job.checked(ledger)) as book:
        for plan, work in job.rounds(book, asked):
            await arun_apart(plan, work, book, executor=executor, max_concurrency=max_concurrency,
                             progress=progress)  # fmt: skip
        ds = job.dataset(book, asked, texts)
    return timed(ds, job.work, executor, max_concurrency)


def plan_descent(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    strategies: Sequence[str] = STRATEGIES,
    judge: object = None,
    weights: Sequence[float] = WEIGHTS,
    claims: int = 3,
    statistics: str = "train",
    grader: object = "auto",
    holdout: float | None = None,
    samples: int = 1,
    seed: int = 0,
    leaks: str = "drop",
    temperature: float = 0.7,
    max_tokens: int = 512,
) -> Plan:
    """First cells of a descent run, and what the whole may cost, before anything is run.

    Parameters
    ----------
    store, model, strategies, judge, weights, claims, statistics, grader, holdout, samples, seed
        See `run_descent_eval`.
    leaks, temperature, max_tokens
        See `run_descent_eval`.

    Returns
    -------
    Plan
        The cells that are asked first: controls and shortest forms. What follows depends on what
        fails, so ``plan.cost`` has calls at least and at most (each wording that is scored is one),
        the judge's judgements at most, and episodes of both halves.

    Raises
    ------
    UsageError
        If an argument is wrong.
    FileFaults
        If the store is.

    Examples
    --------
    >>> import corecurves as cc
    >>> plan = cc.plan_descent("rose_bench", "simulated")
    >>> plan.cost["calls_at_least"] < plan.cost["calls_at_most"]
    True
    """
    return prepare(
        store, model, strategies=strategies, judge=judge, weights=weights, claims=claims,
        statistics=statistics, grader=grader, holdout=holdout, samples=samples, seed=seed,
        leaks=leaks, temperature=temperature, max_tokens=max_tokens,
    ).plan  # fmt: skip
