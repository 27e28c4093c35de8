"""Tables of descent summaries, for people."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import check_summary
from corecurves.specs import SIMULATED
from corecurves.summaries.figures import number, with_interval
from corecurves.summaries.tables import plain_table
from corecurves.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["judge_line", "table_descent", "text_descent"]

_NAMED = 6


def table_descent(summary: xr.Dataset) -> pd.DataFrame:
    """Table of a descent summary, one row a strategy.

    Parameters
    ----------
    summary : Dataset
        From `summarize_descent`.

    Returns
    -------
    DataFrame
        Share rescued, and before L0; tokens and calls to rescue; knowledge gaps; failures judged of
        planned and, where some were not, the share if all of these had failed, or passed. With six
        episodes or fewer there are no decimals: shares are counts.

    Raises
    ------
    DatasetError
        If it is no descent summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> cc.table_descent(cc.summarize_descent(ds)).index.tolist()
    ['delta-patch', 'delta-jump', 'stepwise']
    """
    import pandas as pd

    summary = check_summary(summary, "descent", "a Dataset of summarize_descent")
    few = summary.attrs["few"] == "yes"
    rows = {}
    for strategy in summary.strategy.values:
        at = summary.sel(strategy=strategy)
        judged, planned = int(at.failures_judged), int(at.failures_planned)
        row = {}
        for name, shown in (("rescue", "rescued"), ("early", "before L0"), ("gap", "gaps")):
            share = at[f"{name}_rate"]
            row[shown] = with_interval(share, at[f"{name}_rate_ci"], 2)
            if few:
                whole = {"rescued": at.failures_rescued, "gaps": at.failures_gaps,
                         "before L0": at.failures_early}[shown]  # fmt: skip
                row[shown] = f"{int(whole)} of {judged}"
        for name, shown in (("tokens", "tokens to rescue"), ("calls", "calls to rescue")):
            digits = 0 if few or name == "tokens" else 1
            value, bounds = at[f"{name}_to_rescue"], at[f"{name}_to_rescue_ci"]
            row[shown] = with_interval(value, bounds, digits)
        row["failures"] = f"{judged}/{planned}"
        if judged < planned and not few:
            low, high = (number(bound, 2) for bound in at.rescue_bounds.values)
            row["failures"] += f", {planned - judged} not judged: {low} to {high}"
        elif judged < planned:
            row["failures"] += f", {planned - judged} not judged"
        rows[str(strategy)] = row
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "strategy"
    order = ["rescued", "before L0", "tokens to rescue", "calls to rescue", "gaps", "failures"]
    return frame[order]


def text_descent(summary: xr.Dataset) -> str:
    """Descent summary as plain text for a terminal.

    Parameters
    ----------
    summary : Dataset
        From `summarize_descent`.

    Returns
    -------
    str
        The table, what L0 by itself costs, paired differences, what it is over, whether a judge
        ranked the claims and where rescue rates come from.

    Raises
    ------
    DatasetError
        If it is no descent summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> cc.text_descent(cc.summarize_descent(ds)).splitlines()[0].split()[:2]
    ['strategy', 'rescued']
    """
    frame = table_descent(summary).reset_index()
    attrs, few = summary.attrs, summary.attrs["few"] == "yes"
    n = int(summary.episodes)
    percent = round(100 * float(attrs["ci_prob"]))
    lines = [plain_table(frame), ""]
    if attrs.get("simulated") == "yes":
        lines.append(SIMULATED)
    if not int(summary.failures):
        lines.append("no episode fails at its shortest form: there is nothing to rescue")
    elif few:
        lines.append(f"{counted(n, 'episode')}: a direction, not a decimal place")
    lines.append(
        f"store {attrs['store']}, model {attrs['model']}, grader {attrs['grader']}; "
        f"{counted(int(summary.failures), 'failure')} at the shortest form, "
        f"{counted(n, 'episode')}, {counted(int(summary.lessons), 'lesson')}; "
        f"{int(summary.short_passed)} of {int(summary.tests)} pass there; {attrs['token_counter']} "
        f"tokens, failed tries and the shortest form included; intervals: {percent} %"
    )
    full = with_interval(summary.full_tokens, summary.full_tokens_ci, 0)
    share = "" if few else f", and rescues {number(summary.full_rate, 2)}"
    lines += [f"L0 by itself, without a try at the short form: {full} tokens{share}"]
    lines += _differences(summary)
    lines.append(judge_line(attrs))
    if not np.isnan(took := float(summary.judge_tokens)):
        lines.append(f"the judge took {took:.0f} tokens of its own a failed episode, not counted")
    if any(name != "stepwise" for name in summary.strategy.values):
        lines.append(f"rescue rates: {attrs['statistics']}")
    if int(summary.failures_gaps.sum()):
        lines.append(
            "gaps: every rung fails, L0 too: knowledge is missing, compression is not at fault"
        )
    lines += _warnings(summary)
    return "\n".join(lines)


def judge_line(attrs: dict[str, object]) -> str:
    """Who judged the claims' usefulness, in a line."""
    if attrs["judge"] == "none":
        return "no judge: claims are ranked by rescue rate and token share alone"
    return f"judge of usefulness: {attrs['judge']} ({attrs['usefulness']})"


def _differences(summary: xr.Dataset) -> list[str]:
    few = summary.attrs["few"] == "yes"
    found = []
    for left, right in combinations(map(str, summary.strategy.values), 2):
        at = summary.sel(strategy=left, against=right)
        if np.isnan(float(at.tokens_difference)):
            continue
        shown = with_interval(at.tokens_difference, at.tokens_difference_ci, 0, sign=True)
        if few:
            value = float(at.tokens_difference)
            shown = "fewer" if value < 0 else "more" if value > 0 else "as many"
        found.append(
            f"{left} − {right}, paired: {shown} tokens to rescue "
            f"({counted(int(at.tokens_difference_episodes), 'episode')} that both rescue)"
        )
    return found


def _warnings(summary: xr.Dataset) -> list[str]:
    attrs, found = summary.attrs, []
    verb = "left out" if attrs["controls"] == "drop" else "kept"
    if count := int(summary.control_passes):
        found.append(f"{counted(count, 'failure')} that the control passes: {verb}")
    if count := int(summary.controls_unknown):
        found.append(f"{counted(count, 'failure')} whose control has no result: {verb}")
    if count := int(summary.short_failed_calls):
        found.append(f"{counted(count, 'shortest form')} without a result: it may fail or not")
    if int(attrs["cells_failed"]):
        found.append(
            f"{attrs['cells_failed']} of {counted(int(attrs['cells']), 'cell')} have no result"
        )
    if names := json.loads(str(attrs["left_out"])):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        shown = ", ".join(names[:_NAMED])
        found.append(f"left out, a form of their lesson was made with them: {shown}{more}")
    return found
