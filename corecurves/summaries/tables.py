"""Tables of summaries, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corecurves.engine.dataset import check_summary
from corecurves.summaries.figures import decimals, with_interval
from corecurves.summaries.gate import gate_line
from corecurves.summaries.refusals import nothing_taught
from corecurves.systems.grounded.parse import explained

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["aggregates_lane", "plain_table", "table_lane", "text_lane"]

_AGGREGATES = (
    "mean_corrections_to_first_hit",
    "mean_corrections_to_saturation",
    "first_hit_rate",
    "saturation_rate",
    "mean_saturation_score",
)


def table_lane(summary: xr.Dataset) -> pd.DataFrame:
    """Table of a lane summary, one row a concept and arm.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    DataFrame
        The curve of hits and of vault hits by k, and the figures of the contract. "≥1" is what an
        answer had said when it was cut off, where no sample has a whole one. "never" and
        "undecided" are written out; with several samples the figures are means over those that
        reached the target.

    Raises
    ------
    DatasetError
        If it is no lane summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> cc.table_lane(summary).loc[("wisdom", "taught"), "hits by k"]
    '0 1 2 3 4 5'
    """
    import pandas as pd

    summary = check_summary(summary, "lane", "a Dataset of summarize_lane")
    rows = {}
    for concept in summary.concept.values:
        for arm in summary.arm.values:
            one = summary.sel(concept=concept, arm=arm)
            inside = (one.k <= one.curriculum_length).values
            rows[(str(concept), str(arm))] = {
                "split": str(one.split.item()),
                "shape": str(one["shape"].item()),
                "hits by k": _curve(
                    one.cumulative_token_hit_count.values[inside],
                    one.hits_at_least.mean("sample").values[inside],
                ),
                "vault hits by k": _curve(one.vault_hits.values[inside]),
                "first hit": _reached(one, "first_hit"),
                "saturation": _reached(one, "saturation"),
                "score": _number(float(one.saturation_score.mean("sample")), 2),
            }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(list(rows), names=["concept", "arm"])
    return frame


def aggregates_lane(summary: xr.Dataset) -> pd.DataFrame:
    """Table of the aggregates of a lane summary, one row an arm.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    DataFrame
        Each figure with its interval and the number of concepts that it is over; with six or fewer
        there is one decimal.

    Raises
    ------
    DatasetError
        If it is no lane summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> cc.aggregates_lane(summary).loc["taught", "mean corrections to first hit"]
    '1.0 (n 3)'
    """
    import pandas as pd

    summary = check_summary(summary, "lane", "a Dataset of summarize_lane")
    rows = {}
    for arm in summary.arm.values:
        one = summary.sel(arm=arm)
        rows[str(arm)] = {
            name.replace("_", " "): _with_count(
                float(one[name]), one[f"{name}_ci"].values, int(one[f"{name}_n"])
            )
            for name in _AGGREGATES
        }
        for name in ("first_hit_rate", "saturation_rate"):
            if undecided := int(one[name.replace("_rate", "_undecided")]):
                low, high = one[f"{name}_bounds"].values
                rows[str(arm)][name.replace("_", " ")] += (
                    f"; {low:.2f} to {high:.2f} with {undecided} undecided"
                )
        cut = int(one.cells_cut_off)
        rows[str(arm)]["cells"] = (
            f"{int(one.cells_judged)} judged of {int(one.cells_planned)}, "
            f"{int(one.cells_failed)} failed" + f", {cut} of them cut off" * bool(cut)
        )
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "arm"
    return frame


def text_lane(summary: xr.Dataset) -> str:
    """Lane summary as plain text for a terminal.

    Parameters
    ----------
    summary : Dataset
        From `summarize_lane`.

    Returns
    -------
    str
        The table of concepts, the aggregates, what the review refused, and the gate.

    Raises
    ------
    DatasetError
        If it is no lane summary.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> print(cc.text_lane(summary).splitlines()[-1].partition(";")[0])
    gate: passed (replay determinism 1.00, 20 of 20 snapshots reproduced
    """
    concepts = table_lane(summary).reset_index().drop(columns="vault hits by k")
    totals = aggregates_lane(summary).T
    over = summary.attrs["aggregates_over"]
    n = int(summary.n_concepts)
    kept = "keep" if over == "contract" else "do not keep"
    return "\n".join(
        [
            plain_table(concepts),
            "",
            f"over the concepts that {kept} the contract, {n} in all (interval: "
            f"{round(100 * summary.attrs['ci_prob'])} %, n: concepts)",
            plain_table(totals.reset_index(names="")),
            "",
            *_refused(summary),
            *_cut_off(summary),
            gate_line(summary),
            *filter(None, [nothing_taught(summary)]),
        ]
    )


def _cut_off(summary: xr.Dataset) -> list[str]:
    if not (cut := int(summary.cells_cut_off.sum())):
        return []
    return [
        f"{cut} answers were cut off: the tokens that they had said are hits, a lower bound (≥), "
        "and the others are unknown; a reply gets more room with ?max_tokens= behind the model"
    ]


def _refused(summary: xr.Dataset) -> list[str]:
    refused = summary.refusals.to_series()
    lines = [f"{concept}, {arm}: {what}" for (concept, arm), what in refused.items() if str(what)]
    reasons = str(summary.refusal_reasons.item()).split(", ")
    return lines + [f"{reason}{why}" for reason in reasons if (why := explained(reason))]


def _curve(values: np.ndarray, least: np.ndarray | None = None) -> str:
    shown = [_number(float(value), 1) for value in values]
    if least is not None:
        bounds = zip(shown, least, strict=True)
        shown = [f"≥{_number(low, 1)}" if x == "–" and low > 0 else x for x, low in bounds]
    return " ".join(shown)


def _number(value: float, digits: int) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.0f}" if digits == 1 and value == round(value) else f"{value:.{digits}f}"


def _reached(one: xr.Dataset, name: str) -> str:
    states = one[f"{name}_state"].values
    values = one[f"corrections_to_{name}"].values
    if not (states == "reached").any():
        return "never" if (states == "never").all() else "undecided"
    mean = _number(float(np.nanmean(values)), 1)
    missed = int((states != "reached").sum())
    return f"{mean} ({missed} of {states.size} not)" if missed else mean


def _with_count(value: float, bounds: np.ndarray, n: int) -> str:
    return f"{with_interval(value, bounds, decimals(n))} (n {n})"


def plain_table(frame: pd.DataFrame) -> str:
    """Table as plain text, columns aligned to the left."""
    cells = [[str(column) for column in frame.columns]]
    cells += [[str(value) for value in row] for row in frame.itertuples(index=False)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)
