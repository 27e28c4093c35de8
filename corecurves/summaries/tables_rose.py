"""Tables of rose summaries, for people: the control first, always."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from corecurves.engine.dataset import check_summary
from corecurves.specs import SIMULATED
from corecurves.summaries.figures import decimals, number, with_interval
from corecurves.summaries.rose_leaks import leaks_line
from corecurves.summaries.tables import plain_table
from corecurves.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["planted_line", "table_rose", "text_rose"]

_ARMS = ("control", "ceiling", "treatment", "placebo", "scrambled", "truncation")


def table_rose(summary: xr.Dataset, *, kind: str = "all") -> pd.DataFrame:
    """Table of a rose summary, one row a level and arm, the control first.

    Parameters
    ----------
    summary : Dataset
        From `summarize_rose`.
    kind : str
        Kind of lesson, or ``"all"``.

    Returns
    -------
    DataFrame
        Transfer with its interval, tokens, what is retained of the lift, the shift against control,
        and how many lessons, episodes and cells it is over: judged of planned and, where some have
        no result, the transfer if all of these had failed, or passed. With six episodes or fewer
        there is one decimal.

    Raises
    ------
    DatasetError
        If it is no rose summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.table_rose(cc.summarize_rose(ds)).index[0]
    ('none', 'control')
    """
    import pandas as pd

    summary = check_summary(summary, "rose", "a Dataset of summarize_rose")
    one = summary.sel(kind=kind)
    rows = {}
    for level in one.level.values:
        for arm in sorted(map(str, one.arm.values), key=_ARMS.index):
            at = one.sel(level=level, arm=arm)
            if not int(at.cells_planned):
                continue
            digits = decimals(int(at.transfer_episodes))
            treated = arm == "treatment"
            rows[(str(level), arm)] = {
                "transfer": with_interval(at.transfer, at.transfer_ci, digits),
                "tokens": number(at.tokens, 0),
                "retained": number(at.retained.sel(part="all"), digits) if treated else "",
                "shift": "" if arm == "control" else number(at["shift"], digits, sign=True),
                "lessons": int(at.transfer_n),
                "episodes": int(at.transfer_episodes),
                "cells": _cells(at),
            }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(list(rows), names=["level", "arm"])
    return frame


def text_rose(summary: xr.Dataset) -> str:
    """Rose summary as plain text for a terminal.

    Parameters
    ----------
    summary : Dataset
        From `summarize_rose`.

    Returns
    -------
    str
        The table, what it is over, and what was left out.

    Raises
    ------
    DatasetError
        If it is no rose summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_rose_eval(store, "simulated", samples=1, ledger=False, progress=False)
    >>> cc.text_rose(cc.summarize_rose(ds)).splitlines()[0].split()[:2]
    ['level', 'arm']
    """
    frame = table_rose(summary).reset_index()
    out = [name for name in summary.left_out.values if name]
    n = int((summary.left_out == "").sum())
    drawn = "every level drawn" if bool(summary.drawn.any()) else "no shorter level drawn"
    lines = [
        plain_table(frame),
        "",
        f"model {summary.attrs['model']}, grader {summary.attrs['grader']}, "
        f"{counted(n, 'lesson')} with {drawn}; intervals: "
        f"{round(100 * float(summary.attrs['ci_prob']))} %",
    ]
    if summary.attrs.get("simulated") == "yes":
        lines.append(SIMULATED)
    lift = summary.sel(kind="all")
    digits = decimals(int(lift.lift_episodes))
    lines.append(
        f"lift (ceiling − control): {with_interval(lift.lift, lift.lift_ci, digits)}; "
        "retained is a share of it; shift is against control, in nats per token"
    )
    if planted := planted_line(summary):
        lines.append(f"{planted}; the verdict sets these apart")
    if leaked := leaks_line(summary):
        lines.append(leaked)
    if silent := silent_places(summary):
        lines.append(f"no result at all: {', '.join(silent)}; what is compared with it is missing")
    if out:
        named = [str(c) for c, why in zip(summary.concept.values, summary.left_out.values,
                                          strict=True) if why]  # fmt: skip
        lines.append(f"left out: {', '.join(named)} ({'; '.join(sorted(set(map(str, out))))})")
    if untested := json.loads(str(summary.attrs.get("untested", "[]"))):
        share = f"{float(summary.attrs['holdout']):g}"
        lines.append(f"no episode in the test half of holdout={share}: {', '.join(untested)}")
    return "\n".join(lines)


def without_result(summary: xr.Dataset) -> list[str]:
    """How many lessons are left out, and how many cells failed and where every one did."""
    found, one = [], summary.sel(kind="all")
    if out := int((summary.left_out != "").sum()):
        total = counted(summary.sizes["concept"], "lesson")
        reasons = sorted(set(map(str, summary.left_out.values)) - {""})
        wanting = all(why.startswith("no judged cell") for why in reasons)
        why = " for want of a result" if wanting else f" ({'; '.join(reasons)})"
        found.append(f"{out} of {total} left out{why}")
    if failed := int(one.cells_failed.sum()):
        text = f"{failed} of {counted(one.cells_planned.sum(), 'cell')} failed"
        silent = silent_places(summary)
        found.append(text + f", all of them of {', '.join(silent)}" * bool(silent))
    return found


def silent_places(summary: xr.Dataset) -> list[str]:
    """Arms and levels of which no cell has a result."""
    one = summary.sel(kind="all")
    dead = (one.cells_planned > 0) & (one.cells_judged == 0)
    return [f"{arm} at {level}" for level in summary.level.values for arm in summary.arm.values
            if bool(dead.sel(level=level, arm=arm))]  # fmt: skip


def planted_line(summary: xr.Dataset) -> str:
    """Line on the lessons that were made to lose something on purpose."""
    lost = []
    for at in summary.in_part.transpose("level", ...):
        many = int(at.sel(part="planted").sum())
        if many:
            of = counted(at.sel(part="all").sum(), "lesson")
            lost.append(f"{many} of {of} at {at.level.item()}")
    return f"made to lose what matters, on purpose: {', '.join(lost)}" if lost else ""


def _cells(at: xr.Dataset) -> str:
    planned, judged = int(at.cells_planned), int(at.cells_judged)
    if judged == planned:
        return f"{judged}/{planned}"
    low, high = (f"{float(bound):.2f}" for bound in at.transfer_bounds.values)
    return f"{judged}/{planned}, {int(at.cells_failed)} failed: {low} to {high}"
