"""Tables of recall summaries, for people: precision and recall together, always."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from corecurves.errors import DatasetError, UsageError
from corecurves.specs import SIMULATED
from corecurves.summaries.figures import number, with_interval
from corecurves.summaries.recall import AVERAGES
from corecurves.summaries.recall_transfer import notes_of_misses, table_misses
from corecurves.summaries.tables import plain_table
from corecurves.text import counted

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["table_recall", "text_recall"]

_WHOLE = (
    "whole store: lessons that were not served then were never judged and count as noise, so "
    "precision is a lower bound"
)


def table_recall(summary: xr.Dataset | Mapping[str, xr.Dataset]) -> pd.DataFrame:
    """Table of recall summaries or of a comparison, precision beside recall in every row.

    Parameters
    ----------
    summary : Dataset, or mapping of str to Dataset
        From `summarize_recall`, several under labels of their own, or one from `compare_recall` or
        `join_recall_transfer`.

    Returns
    -------
    DataFrame
        One row a run and average: candidate set, precision, recall and F1 with their intervals,
        noise, useful and kept tokens an episode, tokens served at the time, and episodes. A
        comparison has a row of paired changes besides. With six episodes or fewer there are no
        decimals: precision and recall are counts, and changes are directions. Of
        `join_recall_transfer`: one row a miss, with cases by kind, and those in which it is open.

    Raises
    ------
    DatasetError
        If it is no recall summary.
    UsageError
        If the mapping is empty.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False)
    >>> cc.table_recall(cc.summarize_recall(ds)).columns[1:3].tolist()
    ['precision', 'recall']
    """
    import pandas as pd

    if getattr(summary, "attrs", {}).get("summary_of") == "recall_transfer":
        return table_misses(summary)  # type: ignore[arg-type]
    rows: dict[tuple[str, str], dict[str, object]] = {}
    if getattr(summary, "attrs", {}).get("summary_of") == "recall_comparison":
        rows = _compared(summary)  # type: ignore[arg-type]
    else:
        named = _named(summary)
        for label, one in named.items():
            rows |= {(label, average): _row(one, average) for average in _averages(one)}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(list(rows), names=["run", "average"])
    return frame


def text_recall(summary: xr.Dataset | Mapping[str, xr.Dataset]) -> str:
    """Recall summaries or a comparison as plain text for a terminal.

    Parameters
    ----------
    summary : Dataset, or mapping of str to Dataset
        As for `table_recall`.

    Returns
    -------
    str
        The table, what it is over, what was skipped, every lesson dropped that mattered, and, for a
        comparison, cautions and what a gain was bought with.

    Raises
    ------
    DatasetError
        If it is no recall summary.
    UsageError
        If the mapping is empty.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "bm25", ledger=False, progress=False)
    >>> cc.text_recall(cc.summarize_recall(ds)).splitlines()[0].split()[:5]
    ['run', 'average', 'candidates', 'precision', 'recall']
    """
    lines = [plain_table(table_recall(summary).reset_index()), ""]
    if getattr(summary, "attrs", {}).get("summary_of") == "recall_transfer":
        return "\n".join(lines + notes_of_misses(summary))  # type: ignore[arg-type]
    if getattr(summary, "attrs", {}).get("summary_of") == "recall_comparison":
        return "\n".join(lines + _compared_notes(summary))  # type: ignore[arg-type]
    named = _named(summary)
    several = len(named) > 1
    sets = {str(one.attrs["candidates"]) for one in named.values()}
    if len(sets) > 1:
        lines.append(
            "served and whole-store rows face different candidate sets: do not compare them"
        )
    if "whole-store" in sets:
        lines.append(_WHOLE)
    for label, one in named.items():
        lines += [f"{label}: {line}" if several else line for line in _notes(one, several)]
    return "\n".join(lines)


def _named(summary: xr.Dataset | Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    # A Dataset is a mapping itself.
    if hasattr(summary, "attrs"):
        return {_name(summary): summary}  # type: ignore[arg-type, dict-item]
    if not summary:
        raise UsageError("there is no summary; give one of summarize_recall")
    for one in summary.values():
        _name(one)
    return dict(summary)


def _name(summary: xr.Dataset) -> str:
    if getattr(summary, "attrs", {}).get("summary_of") != "recall":
        raise DatasetError("a Dataset of summarize_recall or compare_recall is needed")
    return str(summary.attrs["selector"])


def _averages(one: xr.Dataset) -> tuple[str, ...]:
    return AVERAGES[:1] if one.attrs["few"] == "yes" else AVERAGES


def _row(one: xr.Dataset, average: str) -> dict[str, object]:
    few = one.attrs["few"] == "yes"
    at = one.sel(average=average)
    scored, planned = int(one.episodes_scored), int(one.episodes_planned)
    row: dict[str, object] = {"candidates": str(one.attrs["candidates"])}
    if few:
        hits = float(one.episode_hits.sum())
        row["precision"] = _of(hits, float(one.episode_kept.sum()))
        row["recall"] = _of(hits, float(one.episode_useful.sum()))
        row["F1"] = "–"
    else:
        for name in ("precision", "recall", "f1"):
            row[name if name != "f1" else "F1"] = with_interval(at[name], at[f"{name}_ci"], 2)
    digits = 0 if few else 1
    row["noise tokens"] = with_interval(one.noise_tokens, one.noise_tokens_ci, digits)
    row["useful tokens"] = number(one.useful_tokens, digits)
    row["kept tokens"] = number(one.kept_tokens, digits)
    row["served then"] = number(one.served_tokens, digits)
    row["episodes"] = f"{scored}/{planned}"
    return row


def _notes(one: xr.Dataset, several: bool) -> list[str]:
    attrs = one.attrs
    percent = round(100 * float(attrs["ci_prob"]))
    budget = attrs["max_pack_tokens"]
    lines = [
        f"store {attrs['store']}, threshold {float(attrs['threshold']):g}, budget "
        f"{budget if budget == 'none' else f'{budget} tokens'}; {attrs['token_counter']} tokens "
        f"an episode; intervals: {percent} %, over episodes"
    ]
    if attrs.get("simulated") == "yes":
        lines.append(SIMULATED)
    if attrs["few"] == "yes":
        n = int(one.episodes_scored)
        direction = f"{counted(n, 'episode')}: a direction, not a decimal place"
        lines.append(direction if n else "no episode could be scored")
    if int(one.cells_failed):
        low, high = (float(x) for x in one.precision_bounds)
        worst, best = (float(x) for x in one.recall_bounds)
        lines.append(
            f"{int(one.cells_failed)} of {counted(one.cells_planned, 'cell')} have no result, "
            f"which leaves out {counted(one.episodes_failed, 'episode')}; with them, precision is "
            f"between {low:.2f} and {high:.2f} and recall between {worst:.2f} and {best:.2f}"
        )
    if int(one.cells_silent):
        lines.append(f"silent on {counted(one.cells_silent, 'candidate')}, counted as kept")
    if not several:
        skipped = json.loads(str(attrs.get("skipped", "{}")))
        lines += [f"skipped, {len(names)}: {reason} ({', '.join(names)})"
                  for reason, names in skipped.items()]  # fmt: skip
        lines += _listed(one, "gone", "no longer exists, not scored")
        lines += _listed(one, "lost", "mattered, and no candidate stands for it: not scored")
    if int(one.episodes_nothing_kept):
        empty = counted(one.episodes_nothing_kept, "episode")
        lines.append(f"nothing was kept in {empty}: no precision")
    if int(one.episodes_nothing_useful):
        idle = counted(one.episodes_nothing_useful, "episode")
        lines.append(f"nothing was of use in {idle}: no recall")
    if missed := _pairs(one, one.missed.values > 0):
        lines.append(f"dropped although it mattered, {len(missed)}: {', '.join(missed)}")
    if int(one.missed_undecided):
        lines.append(f"not known whether dropped: {counted(one.missed_undecided, 'lesson')}")
    return lines


def _listed(one: xr.Dataset, name: str, what: str) -> list[str]:
    if name not in one.coords:
        return []
    where: dict[str, list[str]] = {}
    for episode, found in zip(one.episode.values, one[name].values, strict=True):
        for lesson in filter(None, str(found).split("; ")):
            where.setdefault(lesson, []).append(str(episode))
    return [f"{lesson} {what} ({', '.join(names)})" for lesson, names in sorted(where.items())]


def _compared(summary: xr.Dataset) -> dict[tuple[str, str], dict[str, object]]:
    few = summary.attrs["few"] == "yes"
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for average in AVERAGES:
        for run in map(str, summary.run.values):
            at = summary.sel(run=run, average=average)
            label = f"{run}: {summary.attrs[f'{run}_selector']}"
            rows[label, average] = {
                "candidates": str(summary.attrs[f"{run}_candidates"]),
                **{
                    shown: "–" if few else with_interval(at[name], at[f"{name}_ci"], 2)
                    for name, shown in (("precision", "precision"), ("recall", "recall"),
                                        ("f1", "F1"))
                },
                "noise tokens": with_interval(at.noise_tokens, at.noise_tokens_ci, 0 if few else 1),
                "kept tokens": number(at.kept_tokens, 0 if few else 1),
                "episodes": str(summary.attrs["episodes"]),
            }  # fmt: skip
        at = summary.sel(average=average)
        rows["change", average] = {
            "candidates": "",
            **{
                shown: _change(at[f"{name}_change"], at[f"{name}_change_ci"], 2, few)
                for name, shown in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
            },
            "noise tokens": _change(at.noise_tokens_change, at.noise_tokens_change_ci, 1, few),
            "kept tokens": "",
            "episodes": _paired(at),
        }
    return rows


def _compared_notes(summary: xr.Dataset) -> list[str]:
    percent = round(100 * float(summary.attrs["ci_prob"]))
    lines = [
        f"paired over {counted(summary.attrs['episodes'], 'episode')} that both runs scored; "
        f"change is new - baseline; intervals: {percent} %, over episodes"
    ]
    if summary.attrs.get("simulated") == "yes":
        lines.append(SIMULATED)
    if summary.attrs["few"] == "yes":
        n = counted(summary.attrs["episodes"], "episode")
        lines.append(f"{n}: a direction, not a decimal place")
    lines += [f"caution: {text}" for text in json.loads(summary.attrs["cautions"])]
    if summary.attrs["bought"]:
        lines.append(str(summary.attrs["bought"]))
    elif dropped := _pairs(summary, summary.dropped.values):
        lines.append(f"dropped although it mattered: {', '.join(dropped)}")
    if again := _pairs(summary, summary.restored.values):
        lines.append(f"served again although the baseline dropped it: {', '.join(again)}")
    return lines


def _paired(at: xr.Dataset) -> str:
    """Episodes in which both runs have the figure."""
    precision, recall = int(at.precision_change_n), int(at.recall_change_n)
    return str(recall) if precision == recall else f"precision {precision}, recall {recall}"


def _pairs(one: xr.Dataset, marked: NDArray[np.bool_]) -> list[str]:
    """Lessons, each with its episode, where an array over both is true."""
    at = np.argwhere(marked).tolist()
    return [f"{one.lesson.values[j]} in {one.episode.values[i]}" for i, j in at]


def _of(part: float, whole: float) -> str:
    return f"{part:.0f} of {whole:.0f}" if whole else "–"


def _change(value: xr.DataArray, bounds: xr.DataArray, digits: int, few: bool) -> str:
    shown = float(value)
    if np.isnan(shown):
        return "–"
    # No minus before what rounds to 0.
    shown = 0.0 if abs(shown) < 0.5 * 10**-digits and not few else shown
    if few:
        return "up" if shown > 0 else "down" if shown < 0 else "same"
    return with_interval(shown, bounds, digits, sign=True)
