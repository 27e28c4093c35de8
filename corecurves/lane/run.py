"""The lane: how fast a system becomes competent as it is corrected.

Each *snapshot* (concept, k) opens a session with a turn about the concept, teaches the first k
corrections, and asks the probe. In ``mode="fresh"`` every snapshot, and every replay of it, has a
new session. In ``mode="prefix"`` replay 0 teaches once and forks at each k; the other replays stay
fresh, so a matching trace hash proves that forking changed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from corecurves.engine.executors import timed
from corecurves.engine.ledger import Ledger
from corecurves.engine.plan import Plan
from corecurves.engine.run import LedgerChoice, arun_apart, open_ledger, run
from corecurves.files.curricula import CurriculumSource
from corecurves.lane.plan import prepare
from corecurves.lane.work import LaneWork
from corecurves.protocol.arms import LANE_ARMS

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["arun_lane", "plan_lane", "run_lane"]

Mode = Literal["fresh", "prefix"]


def run_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    arms: Sequence[str] = LANE_ARMS,
    samples: int = 1,
    replays: int = 2,
    seed: int = 0,
    mode: Mode = "fresh",
    executor: object = None,
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
    executor : Executor, dask.distributed.Client or None
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
    plan, work = prepare(curricula, system, arms, samples, replays, seed, mode)
    with open_ledger(plan, ledger) as book, work:
        run(
            plan, work, book,
            executor=executor, max_concurrency=max_concurrency, progress=progress,
        )  # fmt: skip
        return timed(_dataset(plan, work, book, texts), work, executor, max_concurrency)


async def arun_lane(
    curricula: CurriculumSource = "public",
    system: object = "grounded",
    *,
    arms: Sequence[str] = LANE_ARMS,
    samples: int = 1,
    replays: int = 2,
    seed: int = 0,
    mode: Mode = "fresh",
    executor: object = None,
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
    plan, work = prepare(curricula, system, arms, samples, replays, seed, mode)
    with open_ledger(plan, ledger) as book, work:
        await arun_apart(
            plan, work, book,
            executor=executor, max_concurrency=max_concurrency, progress=progress,
        )  # fmt: skip
        return timed(_dataset(plan, work, book, texts), work, executor, max_concurrency)


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
        ``len(plan)`` cells; ``plan.cost`` counts the turns of teaching and the probes. For
        ``mode="prefix"`` it counts those of a system that can fork. Of a model that tells its
        context it has the prompts that do not fit it.

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
    80
    """
    return prepare(curricula, system, arms, samples, replays, seed, mode)[0]


def _dataset(plan: Plan, work: LaneWork, book: Ledger, texts: bool) -> xr.Dataset:
    # xarray is loaded when there is something to put into it.
    from corecurves.lane.dataset import lane_dataset

    return lane_dataset(plan, work, book, texts)
