"""Screening of a bench: which cases a model passes without any lesson.

A case whose control passes measures the prior and is dropped; so is one that is too near to call.
Screening has framings of its own, so that dropping cases does not inflate the lift of the
evaluation. A ceiling that fails is kept and flagged: there the lesson never helped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.run import LedgerChoice, open_ledger
from corecurves.files.store import open_store
from corecurves.protocol.framings import SCREENING
from corecurves.rose.job import prepare
from corecurves.rose.served import run_served_cases
from corecurves.specs import Store

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["NEAR", "run_screen"]

NEAR = 0.05
"""Nats a token: a margin nearer to 0 than this may flip on another processor."""


def run_screen(
    store: str | Path | Store = "rose_bench",
    model: object = "smollm2",
    *,
    seed: int = 0,
    ledger: LedgerChoice = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Margins of every case without a lesson and with the full one, and what follows.

    Parameters
    ----------
    store : str, Path or Store
        A bench whose cases have traps.
    model : str or Model
        A model that can be scored; screening is per model.
    seed : int
        Seed of the run.
    ledger : str, Path, None or False
        See `run_rose_eval`; the cells of served cases are kept in a file beside it,
        ``NAME-served``.
    progress : bool
        Whether to show progress.

    Returns
    -------
    DataFrame
        A row a case: ``lesson``, ``episode``, ``kind``, the mean margins ``control`` and
        ``ceiling`` over the screening framings in nats a token, and the ``decision``; *not judged*
        where one of them has no result.

    Raises
    ------
    UsageError
        If the model cannot be scored or a case has no trap.
    FileFaults
        If the store is wrong.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> table = cc.run_screen(store, "simulated", ledger=False, progress=False)
    >>> table.columns.tolist()
    ['lesson', 'episode', 'kind', 'control', 'ceiling', 'decision']
    """
    import pandas as pd

    opened = store if isinstance(store, Store) else open_store(store)
    arms = ("control", "ceiling")
    job = prepare(
        opened, model, "contrast", ["L0"], arms, 1.0, len(SCREENING), seed, "keep", 0.7, 512,
        framings=SCREENING,
    )  # fmt: skip
    with open_ledger(job.stages.plan, job.checked(ledger)) as book:
        ds = job.dataset(job.stages.run(book, None, 8, progress), texts=False)
    rows = []
    for c, concept in enumerate(ds.concept.values):
        for e in range(ds.sizes["episode"]):
            if not ds.episode_id.values[c, e]:
                continue
            control = _mean(ds.isel(concept=c, episode=e), "none", "control")
            ceiling = _mean(ds.isel(concept=c, episode=e), "L0", "ceiling")
            rows.append(
                [concept, ds.episode_id.values[c, e], ds.kind.values[c], control, ceiling,
                 _decision(control, ceiling)]
            )  # fmt: skip
    if opened.cases:
        rows += _served(opened, model, seed, job.checked(ledger), progress)
    return pd.DataFrame(
        rows, columns=["lesson", "episode", "kind", "control", "ceiling", "decision"]
    )


def _mean(ds: xr.Dataset, level: str, arm: str) -> float:
    return float(ds.score.sel(level=level, arm=arm).mean(skipna=False))


def _decision(control: float, ceiling: float) -> str:
    if np.isnan(control) or np.isnan(ceiling):
        return "not judged"
    if control > NEAR:
        return "drop: passes with no lesson"
    if control > -NEAR:
        return "drop: too near to call with no lesson"
    if ceiling <= 0:
        return "keep: the full lesson does not help"
    return "keep"


def _served(
    store: Store, model: object, seed: int, ledger: LedgerChoice, progress: bool
) -> list[list[object]]:
    """Rows of the other kinds; for distractor and null a passing control is right."""
    if isinstance(ledger, str | Path):
        # A file belongs to one plan.
        ledger = Path(ledger).with_name(f"{Path(ledger).stem}-served{Path(ledger).suffix}")
    ds = run_served_cases(
        store, model, grader="contrast", samples=len(SCREENING), seed=seed, ledger=ledger,
        progress=progress, framings=SCREENING,
    )  # fmt: skip
    rows: list[list[object]] = []
    for c, case in enumerate(ds.case.values):
        margin = {
            str(s): float(ds.score.sel(served=s)[c].mean(skipna=False)) for s in ds.served.values
        }
        kind = str(ds.kind.values[c])
        none = margin["none"]
        other = margin["first"] if kind in ("distractor", "null") else margin["all"]
        if np.isnan(none) or np.isnan(other):
            decision = "not judged"
        elif kind in ("distractor", "null"):
            # Harm is a loss in nats: it shows long before a case that passes comes to fail.
            harmless = other > none - NEAR
            decision = "drop: serving the lesson does no harm" if harmless else "keep"
            if none <= NEAR:
                decision = "drop: fails or is too near to call with no lesson"
        else:
            decision = _decision(none, other)
        rows.append(["", str(case), kind, none, other, decision])
    return rows
