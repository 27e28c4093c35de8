"""Summary of a descent run: what each way back to detail rescues, and what it costs."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError
from corecurves.schema import SCHEMA_VERSION
from corecurves.stats import mean_known
from corecurves.stats.rates import check_confidence
from corecurves.summaries.descent_failures import Failures, read_failures
from corecurves.summaries.provenance import carried
from corecurves.summaries.rose_units import Estimate, estimates, label
from corecurves.summaries.verdict_text import FEW

__all__ = ["summarize_descent"]

Floats = NDArray[np.float64]


def summarize_descent(
    ds: xr.Dataset, *, controls: str = "drop", confidence: float = 0.95
) -> xr.Dataset:
    """Rescue rate and cost of each strategy, over the failures of the shortest forms.

    Parameters
    ----------
    ds : Dataset
        From `run_descent_eval`.
    controls : {"drop", "keep"}
        Whether failures that the model passes with no lesson at all are left out, or kept: there
        the lesson harms, and a rescue is no rescue by detail.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        Over ``strategy``: ``rescue_rate``; ``early_rate``, the share that another rung than L0
        rescues; ``gap_rate``, the knowledge gaps; ``tokens_to_rescue`` (o200k) and
        ``calls_to_rescue``, over what was rescued; each with ``_ci``, ``_n`` (lessons),
        ``_episodes`` and ``_unit``. ``rescue_bounds`` is the rate if all that was not judged had
        failed, or passed. ``tokens_difference (strategy, against)`` is paired, over failures that
        both rescue. ``full_tokens`` and ``full_rate``: what L0 by itself costs and rescues;
        ``judge_tokens``: what the judge took, a failed episode, in its own tokens.
        ``curve (strategy, spent)``: share of the judged failures rescued by so many tokens. Counts:
        ``failures_planned``, ``_judged``, ``_failed``, ``_rescued``, ``_early`` and ``_gaps`` over
        strategy;
        ``lessons``, ``episodes``, ``failures``, ``short_passed``, ``short_failed_calls``,
        ``control_passes`` (failures that the control passes) and ``controls_unknown`` (whose
        control has no result).

    Raises
    ------
    DatasetError
        If `ds` is no descent Dataset.
    ValueError
        If `controls` is neither, or `confidence` not between 0 and 1.

    Notes
    -----
    Samples are averaged within an episode, episodes within a lesson; the lesson is the unit of the
    intervals (`corecurves.stats.nested` for rates, *t* for tokens and calls).

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> ds = cc.run_descent_eval(store, "simulated", ledger=False, progress=False)
    >>> summary = cc.summarize_descent(ds)
    >>> bool((summary.rescue_rate >= summary.early_rate).all())
    True
    """
    check_confidence(confidence)
    if controls not in ("drop", "keep"):
        raise ValueError(f"`controls` is {controls!r}; give 'drop' or 'keep'")
    if getattr(ds, "attrs", {}).get("question") != "descent" or "summary_of" in ds.attrs:
        raise DatasetError("a Dataset of run_descent_eval is needed")
    ds = in_memory(ds)
    failures, counts = read_failures(ds, controls)
    summary = xr.Dataset(
        {
            **_by_strategy(failures, confidence),
            **_reference(ds, failures, confidence),
            **_differences(failures, confidence),
            **_curve(failures),
            **counts,
        }
    ).assign_coords(
        strategy=("strategy", ds.strategy.values),
        against=("against", ds.strategy.values),
        ci_bound=("ci_bound", np.array(["lower", "upper"], dtype=object)),
    )
    summary.attrs = carried(ds) | {
        "summary_of": "descent",
        "schema_version": SCHEMA_VERSION,
        "controls": controls,
        "ci_prob": confidence,
        "few": "yes" if int(summary.episodes) <= FEW else "no",
    }
    return summary


def _by_strategy(failures: Failures, confidence: float) -> dict[str, xr.DataArray]:
    n = len(failures.rescued)
    found: dict[str, xr.DataArray] = {}
    rates = {
        "rescue_rate": (failures.rescued, "share of failures rescued"),
        "early_rate": (failures.early, "share of failures rescued by another form than L0"),
        "gap_rate": (1 - failures.rescued, "share of knowledge gaps"),
    }
    for name, (values, what) in rates.items():
        found |= estimates(
            name, ("strategy",), (n,), label(what), "Wilson on the effective size", confidence,
            lambda g, values=values: failures.rate(values[g], confidence),
        )  # fmt: skip
    means = {
        "tokens_to_rescue": (failures.tokens, "tokens served until the rescue", "o200k tokens"),
        "calls_to_rescue": (failures.calls, "calls until the rescue", "calls"),
    }
    for name, (values, what, units) in means.items():
        found |= estimates(
            name, ("strategy",), (n,), label(what, units), "t", confidence,
            lambda g, values=values: failures.mean(values[g], confidence),
        )  # fmt: skip
    unknown = np.isnan(failures.rescued) & failures.counted
    bounds = [
        [failures.rate(np.where(unknown[g], end, failures.rescued[g]), confidence).value
         for end in (0.0, 1.0)]
        for g in range(n)
    ]  # fmt: skip
    found["rescue_bounds"] = xr.DataArray(
        np.asarray(bounds, dtype=float), dims=("strategy", "ci_bound"),
        attrs=label("rescue rate if all that was not judged had failed, or passed"),
    )  # fmt: skip
    return found


def _reference(ds: xr.Dataset, failures: Failures, confidence: float) -> dict[str, xr.DataArray]:
    """What L0 would have cost and rescued by itself."""
    full = np.broadcast_to(ds.full_tokens.values[:, None], failures.counted.shape)
    tokens = np.where(failures.counted, full, np.nan)
    ceiling = ds.ceiling.transpose("episode", "sample").values
    passed = np.where(failures.counted, ceiling, np.nan)
    took = (ds.judge_tokens_in + ds.judge_tokens_out).values
    return {
        "judge_tokens": xr.DataArray(
            mean_known(took), attrs=label("tokens of the judge a failed episode", "tokens")
        ),
        **estimates(
            "full_tokens", (), (), label("tokens of L0, by itself", "o200k tokens"), "t",
            confidence, lambda: failures.mean(tokens, confidence),
        ),
        **estimates(
            "full_rate", (), (), label("share of failures that L0 by itself rescues"),
            "Wilson on the effective size", confidence, lambda: failures.rate(passed, confidence),
        ),
    }  # fmt: skip


def _differences(failures: Failures, confidence: float) -> dict[str, xr.DataArray]:
    n = len(failures.tokens)

    def paired(g: int, h: int) -> Estimate | None:
        if g == h:
            return None
        return failures.mean(failures.tokens[g] - failures.tokens[h], confidence, positive=False)

    return estimates(
        "tokens_difference", ("strategy", "against"), (n, n),
        label("tokens to rescue, strategy − against, where both rescue", "o200k tokens"), "t",
        confidence, paired,
    )  # fmt: skip


def _curve(failures: Failures) -> dict[str, xr.DataArray]:
    """Share rescued by so many tokens: a step function, from 0 tokens on."""
    spent = np.unique([0.0, *failures.tokens[~np.isnan(failures.tokens)]])
    share = np.full((len(failures.tokens), len(spent)), np.nan)
    for g, tokens in enumerate(failures.tokens):
        for i, limit in enumerate(spent):
            within = np.where(np.isnan(tokens), 0.0, (tokens <= limit).astype(float))
            known = np.where(np.isnan(failures.rescued[g]), np.nan, within)
            by_lesson = mean_known(failures.nested(known)[0])
            share[g, i] = mean_known(by_lesson)
    return {
        "curve": xr.DataArray(
            share, dims=("strategy", "spent"), coords={"spent": spent},
            attrs=label("share of failures rescued by so many tokens"),
        )
    }  # fmt: skip
