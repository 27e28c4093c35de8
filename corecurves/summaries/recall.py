"""Summary of a recall run: precision with recall, and what the noise costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import in_memory
from corecurves.schema import SCHEMA_VERSION
from corecurves.stats import MeanInterval, RateInterval, nested_rate, t_interval
from corecurves.stats.rates import check_confidence
from corecurves.stats.shares import pooled_rate
from corecurves.summaries.provenance import carried
from corecurves.summaries.recall_episodes import Counts, Episodes, count, read_episodes

__all__ = ["AVERAGES", "FEW", "summarize_recall"]

Floats = NDArray[np.float64]

AVERAGES = ("micro", "episode")
"""All lessons of all episodes in one pot, or each episode's own figure averaged."""
FEW = 6
"""Episodes up to which there is a direction and no decimal place."""
_BOUNDS = ["lower", "upper"]


def summarize_recall(ds: xr.Dataset, *, confidence: float = 0.95) -> xr.Dataset:
    """Precision, recall and tokens of a recall run.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval`.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        ``precision``, ``recall`` and ``f1`` over ``average``: *micro*, all lessons in one pot, and
        *episode*, the mean of each episode's own; each with ``_ci`` and ``_n`` (episodes).
        ``noise_tokens``, ``useful_tokens`` and ``kept_tokens`` are means an episode with ``_ci``,
        and ``_total``; ``served_tokens`` what was served at the time. ``precision_bounds`` and
        ``recall_bounds`` are micro, if all that is not known had gone badly, or well. By episode:
        ``episode_precision``, ``episode_recall``, ``episode_kept``, ``episode_useful``,
        ``episode_hits``, ``episode_noise_tokens``; by episode and lesson ``missed``, the share of
        samples in which a lesson that mattered was dropped. With a sweep: ``curve_precision``,
        ``curve_recall``, ``curve_f1`` and ``curve_noise_tokens`` over ``threshold``, micro. Counts:
        ``episodes_planned``, ``_scored``, ``_failed``, ``_skipped``, ``_nothing_kept``,
        ``_nothing_useful``, ``cells_planned``, ``_judged``, ``_failed``, ``_silent``; lessons that
        mattered and of which failed calls leave open whether they are dropped:
        ``missed_undecided``.

    Raises
    ------
    DatasetError
        If `ds` is no recall Dataset.
    ValueError
        If `confidence` is not between 0 and 1.

    Notes
    -----
    U is what was used, was served, and exists. Precision is the share of U in what is kept,
    missing where nothing is kept (ranx counts it as 0, so its mean over episodes is lower); recall
    the share of U that is kept, missing where U is empty; F1 is ``2 · hits / (kept + |U|)``,
    missing where U is empty. An episode counts where the fate of all of its candidates is known.
    The episode is the unit of the intervals:
    `corecurves.stats.shares` for micro figures, Wilson on the effective size for means of episodes,
    *t* for tokens;
    ``tests/benchmarks/ratio_coverage.py`` compares them with others.

    Examples
    --------
    >>> import corecurves as cc
    >>> ds = cc.run_recall_eval("demo_store", "serve-all", ledger=False, progress=False)
    >>> summary = cc.summarize_recall(ds)
    >>> float(summary.recall.sel(average="micro")), int(summary.episodes_scored)
    (1.0, 36)
    """
    check_confidence(confidence)
    ds = in_memory(ds)
    episodes = read_episodes(ds)
    counts = count(episodes)
    figures = {
        **_rates(counts, confidence),
        **_tokens(ds, counts, confidence),
        **_bounds(episodes),
        **_counts(ds, episodes, counts),
        **_by_episode(episodes, counts),
    }
    if "kept_at" in ds:
        figures |= _curve(ds, episodes, confidence)
    coords: dict[str, Any] = {
        "average": ("average", np.array(AVERAGES, dtype=object)),
        "ci_bound": ("ci_bound", np.array(_BOUNDS, dtype=object)),
        "episode": ("episode", ds.episode.values),
        "lesson": ("lesson", ds.lesson.values),
    }
    if "kept_at" in ds:
        coords["threshold"] = ("threshold", ds.threshold.values)
    summary = xr.Dataset(figures).assign_coords(coords)
    named = [name for name in ("gone", "lost", "outcome") if name in ds.coords]
    summary = summary.assign_coords({name: ("episode", ds[name].values) for name in named})
    summary.attrs = carried(ds) | {
        "summary_of": "recall",
        "schema_version": SCHEMA_VERSION,
        "ci_prob": confidence,
        "few": "yes" if int(summary.episodes_scored) <= FEW else "no",
    }
    return summary


def _rates(counts: Counts, confidence: float) -> dict[str, xr.DataArray]:
    either = counts.kept + counts.useful
    parts = {
        "precision": (counts.hits, counts.kept, counts.precision),
        "recall": (counts.hits, counts.useful, counts.recall),
        "f1": (2 * counts.hits, np.where(np.nansum(counts.useful) > 0, either, np.nan), counts.f1),
    }
    names = {"precision": "precision", "recall": "recall", "f1": "F1"}
    found: dict[str, xr.DataArray] = {}
    for name, (part, whole, own) in parts.items():
        pair = [
            pooled_rate(part, whole, confidence=confidence),
            nested_rate(own, whole, confidence=confidence),
        ]
        found |= _estimate(name, ("average",), pair, names[name], confidence)
    return found


def _tokens(ds: xr.Dataset, counts: Counts, confidence: float) -> dict[str, xr.DataArray]:
    scored = ~np.isnan(counts.kept)
    served = (
        ds.served_tokens.values if "served_tokens" in ds.coords else np.full(scored.size, np.nan)
    )
    each = {
        "noise_tokens": (counts.noise, "tokens kept that were of no use"),
        "useful_tokens": (counts.useful_tokens, "tokens kept that were of use"),
        "kept_tokens": (counts.noise + counts.useful_tokens, "tokens kept"),
        "served_tokens": (np.where(scored, served, np.nan), "tokens served at the time"),
    }
    found: dict[str, xr.DataArray] = {}
    for name, (values, label) in each.items():
        interval = _positive(values, confidence)
        attrs = {"long_name": f"{label}, an episode", "units": "o200k tokens"}
        found |= _estimate(name, (), [interval], attrs["long_name"], confidence, "o200k tokens")
        total = np.nansum(values) if interval.units else np.nan
        found[f"{name}_total"] = xr.DataArray(
            total, attrs={"long_name": label, "units": "o200k tokens"}
        )
    return found


def _positive(values: Floats, confidence: float) -> MeanInterval:
    """*t* interval of a mean of what is never negative."""
    mean, lower, upper, units = t_interval(values, confidence=confidence)
    return MeanInterval(mean, max(lower, 0.0) if lower == lower else lower, upper, units)


def _estimate(
    name: str,
    dims: tuple[str, ...],
    found: list[RateInterval] | list[MeanInterval] | list[Any],
    label: str,
    confidence: float,
    units: str = "1",
) -> dict[str, xr.DataArray]:
    shape = (len(found),) if dims else ()
    value = np.array([x[0] for x in found]).reshape(shape)
    bounds = np.array([x[1:3] for x in found]).reshape((*shape, 2))
    n = np.array([x[3] for x in found], dtype=np.int64).reshape(shape)
    how = {"ci_prob": confidence, "ci_kind": "over episodes"}
    return {
        name: xr.DataArray(value, dims=dims, attrs={"long_name": label, "units": units}),
        f"{name}_ci": xr.DataArray(
            bounds, dims=(*dims, "ci_bound"),
            attrs={"long_name": f"interval of {label}", "units": units, **how},
        ),
        f"{name}_n": xr.DataArray(
            n, dims=dims, attrs={"long_name": f"episodes behind {label}", "units": "episodes"}
        ),
    }  # fmt: skip


def _bounds(episodes: Episodes) -> dict[str, xr.DataArray]:
    unknown = np.isnan(episodes.kept)
    used = episodes.used[:, :, None]
    ends = []
    for well in (False, True):
        counts = count(episodes, np.where(unknown, np.where(well, used, 1 - used), episodes.kept))
        ends.append((_pooled(counts.hits, counts.kept), _pooled(counts.hits, counts.useful)))
    return {
        f"{name}_bounds": xr.DataArray(
            [ends[0][i], ends[1][i]], dims=("ci_bound",),
            attrs={"long_name": f"micro {name} if all that is not known had gone badly, or well",
                   "units": "1"},
        )
        for i, name in enumerate(("precision", "recall"))
    }  # fmt: skip


def _pooled(part: Floats, whole: Floats) -> float:
    total = float(np.nansum(whole))
    return float(np.nansum(part)) / total if total else np.nan


def _counts(ds: xr.Dataset, episodes: Episodes, counts: Counts) -> dict[str, xr.DataArray]:
    planned = ds.status.values != ""
    judged = ds.status.values == "ok"
    scored = ~np.isnan(counts.kept)
    skipped = json.loads(str(ds.attrs.get("skipped", "{}")))
    silent = ds.silent.values == 1 if "silent" in ds else np.zeros(1)
    figures = {
        "episodes_planned": int((~np.isnan(episodes.used)).any(axis=1).sum()),
        "episodes_scored": int(scored.sum()),
        "episodes_failed": int(scored.size - scored.sum()),
        "episodes_skipped": sum(map(len, skipped.values())),
        "episodes_nothing_kept": int((counts.kept[scored] == 0).sum()),
        "episodes_nothing_useful": int((counts.useful[scored] == 0).sum()),
        "cells_planned": int(planned.sum()),
        "cells_judged": int(judged.sum()),
        "cells_failed": int((planned & ~judged).sum()),
        "cells_silent": int(silent.sum()),
        "missed_undecided": _undecided(episodes),
    }
    return {
        name: xr.DataArray(
            np.int64(value), attrs={"long_name": name.replace("_", ", "), "units": "1"}
        )
        for name, value in figures.items()
    }


def _undecided(episodes: Episodes) -> int:
    """Lessons that mattered, were dropped in no sample that is known, and may be in another."""
    open_ = np.isnan(episodes.kept).any(axis=-1) & ~(episodes.kept == 0).any(axis=-1)
    return int(((episodes.used == 1) & open_).sum())


def _by_episode(episodes: Episodes, counts: Counts) -> dict[str, xr.DataArray]:
    each = {
        "precision": (counts.precision, "1"), "recall": (counts.recall, "1"),
        "f1": (counts.f1, "1"), "hits": (counts.hits, "lessons"), "kept": (counts.kept, "lessons"),
        "useful": (counts.useful, "lessons"), "noise_tokens": (counts.noise, "o200k tokens"),
        "useful_tokens": (counts.useful_tokens, "o200k tokens"),
    }  # fmt: skip
    dropped = np.where((episodes.used == 1)[:, :, None], 1 - episodes.kept, np.nan)
    total = np.nansum(dropped, axis=-1)
    known = (~np.isnan(dropped)).sum(axis=-1)
    missed = np.divide(total, known, out=np.full(total.shape, np.nan), where=known > 0)
    return {
        **{
            f"episode_{name}": xr.DataArray(
                values, dims=("episode",),
                attrs={"long_name": f"{name.replace('_', ' ')} of the episode", "units": units},
            )
            for name, (values, units) in each.items()
        },
        "missed": xr.DataArray(
            missed, dims=("episode", "lesson"),
            attrs={"long_name": "share of samples in which a lesson that mattered was dropped",
                   "units": "1"},
        ),
    }  # fmt: skip


def _curve(ds: xr.Dataset, episodes: Episodes, confidence: float) -> dict[str, xr.DataArray]:
    swept = ds.kept_at.transpose("episode", "lesson", "sample", "threshold").values
    all_counts = [count(episodes, swept[..., i]) for i in range(swept.shape[-1])]
    ways: dict[str, Callable[[Counts], Any]] = {
        "precision": lambda c: pooled_rate(c.hits, c.kept, confidence=confidence),
        "recall": lambda c: pooled_rate(c.hits, c.useful, confidence=confidence),
        "f1": lambda c: pooled_rate(2 * c.hits, c.kept + c.useful, confidence=confidence),
    }
    found: dict[str, xr.DataArray] = {}
    for name, way in ways.items():
        estimates = [way(counts) for counts in all_counts]
        found |= _estimate(f"curve_{name}", ("threshold",), estimates, f"micro {name}", confidence)
    noise = [_positive(counts.noise, confidence) for counts in all_counts]
    return found | _estimate(
        "curve_noise_tokens", ("threshold",), noise, "tokens kept that were of no use, an episode",
        confidence, "o200k tokens",
    )  # fmt: skip
