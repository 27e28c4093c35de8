"""Two recall runs side by side, paired by episode."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.canonical import canonical_json
from corecurves.engine.dataset import in_memory
from corecurves.errors import DatasetError
from corecurves.files.baselines import load_baseline
from corecurves.schema import SCHEMA_VERSION
from corecurves.stats import MeanInterval, change_interval, t_interval
from corecurves.stats.shares import pooled_difference
from corecurves.summaries.recall import AVERAGES, FEW, summarize_recall
from corecurves.summaries.recall_episodes import Counts, count, read_episodes
from corecurves.text import counted

__all__ = ["RUNS", "compare_recall"]

Floats = NDArray[np.float64]

RUNS = ("baseline", "new")
_SIDE = ("precision", "recall", "f1", "noise_tokens", "useful_tokens", "kept_tokens")


def compare_recall(
    ds: xr.Dataset,
    baseline: xr.Dataset | str = "baseline",
    *,
    confidence: float = 0.95,
    folder: str | Path | None = None,
) -> xr.Dataset:
    """A recall run against a baseline, on the episodes that both scored.

    Parameters
    ----------
    ds : Dataset
        From `run_recall_eval`.
    baseline : Dataset or str
        Another run, or the name of one that `save_baseline` kept.
    confidence : float
        Nominal coverage of the intervals.
    folder : str, Path or None
        Where baselines are kept; None for the user's data folder.

    Returns
    -------
    Dataset
        Over ``run`` (baseline, new) what `summarize_recall` says of the common episodes; and
        ``precision_change``, ``recall_change``, ``f1_change`` over ``average`` and
        ``noise_tokens_change``, the new run minus the baseline, paired by episode, each with
        ``_ci`` and ``_n``. ``dropped`` and ``restored`` over ``(episode, lesson)`` mark lessons
        that mattered and that only the baseline, or only the new run, serves. Attributes:
        ``cautions`` (what makes the two hard to compare) and ``bought`` (what a gain was bought
        with; empty where it was not).

    Raises
    ------
    DatasetError
        If one is no recall Dataset, there is no such baseline, or no episode is common.
    ValueError
        If `confidence` is not between 0 and 1.

    Warns
    -----
    UserWarning
        If candidate sets, pools, stores or token counters differ, or the store has changed.

    Examples
    --------
    >>> import corecurves as cc
    >>> names = ("serve-all", "bm25")
    >>> runs = [cc.run_recall_eval("demo_store", s, ledger=False, progress=False) for s in names]
    >>> compared = cc.compare_recall(runs[1], runs[0])
    >>> float(compared.recall_change.sel(average="micro")) < 0, compared.attrs["bought"][:14]
    (True, 'bought: 7 less')
    """
    old = load_baseline(baseline, folder=folder) if isinstance(baseline, str) else baseline
    ds, old = in_memory(ds), in_memory(old)
    episodes = {"baseline": count(read_episodes(old)), "new": count(read_episodes(ds))}
    names = _common(old, ds, episodes)
    pair = {run: _only(of, names) for run, of in zip(RUNS, (old, ds), strict=True)}
    sides = [summarize_recall(pair[run], confidence=confidence) for run in RUNS]
    counts = [count(read_episodes(pair[run])) for run in RUNS]
    columns = [f"{name}{suffix}" for name in _SIDE for suffix in ("", "_ci", "_n")]
    joined = xr.concat([side[columns].reset_coords(drop=True) for side in sides], "run")
    compared = joined.assign_coords(run=("run", np.array(RUNS, dtype=object)))
    compared = compared.assign(_changes(counts[0], counts[1], confidence))
    mattered = _mattered(pair["baseline"], pair["new"])
    compared = compared.assign(mattered).assign_coords(
        average=("average", np.array(AVERAGES, dtype=object)),
        ci_bound=("ci_bound", np.array(["lower", "upper"], dtype=object)),
    )
    cautions = _cautions(old, ds) + _left_out(len(names), episodes)
    for caution in _cautions(old, ds):
        warnings.warn(caution, stacklevel=2)
    compared.attrs = {
        "summary_of": "recall_comparison",
        "question": "recall",
        "schema_version": SCHEMA_VERSION,
        "ci_prob": confidence,
        "episodes": len(names),
        "few": "yes" if len(names) <= FEW else "no",
        "cautions": canonical_json(cautions),
        "bought": _bought(compared),
        "simulated": max(str(x.attrs.get("simulated", "no")) for x in (old, ds)),
        **{
            f"{run}_{key}": of.attrs.get(key, "")
            for run, of in zip(RUNS, (old, ds), strict=True)
            for key in ("selector", "identity", "threshold", "max_pack_tokens", "candidates",
                        "store", "corecurves_version")
        },
    }  # fmt: skip
    return compared


def _common(old: xr.Dataset, new: xr.Dataset, counts: dict[str, Counts]) -> list[str]:
    scored = [
        {str(name) for name, kept in zip(of.episode.values, each.kept, strict=True)
         if not np.isnan(kept)}
        for of, each in zip((old, new), counts.values(), strict=True)
    ]  # fmt: skip
    names = sorted(scored[0] & scored[1])
    if not names:
        raise DatasetError("no episode was scored in both runs; there is nothing to compare")
    return names


def _only(ds: xr.Dataset, names: list[str]) -> xr.Dataset:
    short = ds.sel(episode=names)
    return short.drop_vars("kept_at", errors="ignore")


def _changes(old: Counts, new: Counts, confidence: float) -> dict[str, xr.DataArray]:
    found: dict[str, xr.DataArray] = {}
    wholes = {
        "precision": [(c.hits, c.kept, c.precision) for c in (new, old)],
        "recall": [(c.hits, c.useful, c.recall) for c in (new, old)],
        "f1": [(2 * c.hits, c.kept + c.useful, c.f1) for c in (new, old)],
    }
    for name, ((part, whole, own), (other, other_whole, other_own)) in wholes.items():
        intervals = [
            pooled_difference(part, whole, other, other_whole, confidence=confidence),
            change_interval(own - other_own, confidence=confidence),
        ]
        found |= _change(name, ("average",), intervals, "1", confidence)
    for name, values in (
        ("noise_tokens", new.noise - old.noise),
        ("useful_tokens", new.useful_tokens - old.useful_tokens),
    ):
        interval = t_interval(values, confidence=confidence)
        found |= _change(name, (), [interval], "o200k tokens", confidence)
    return found


def _change(
    name: str, dims: tuple[str, ...], found: list[MeanInterval], units: str, confidence: float
) -> dict[str, xr.DataArray]:
    shape = (len(found),) if dims else ()
    label = f"change of {name.replace('_', ' ')}, new - baseline"
    how = {"ci_prob": confidence, "ci_kind": "paired by episode"}
    return {
        f"{name}_change": xr.DataArray(
            np.array([x.mean for x in found]).reshape(shape), dims=dims,
            attrs={"long_name": label, "units": units},
        ),
        f"{name}_change_ci": xr.DataArray(
            np.array([x[1:3] for x in found]).reshape((*shape, 2)), dims=(*dims, "ci_bound"),
            attrs={"long_name": f"interval of the {label}", "units": units, **how},
        ),
        f"{name}_change_n": xr.DataArray(
            np.array([x.units for x in found], dtype=np.int64).reshape(shape), dims=dims,
            attrs={"long_name": f"episodes behind the {label}", "units": "episodes"},
        ),
    }  # fmt: skip


def _mattered(old: xr.Dataset, new: xr.Dataset) -> xr.Dataset:
    """Lessons that mattered and that one of the two alone serves, in most samples."""
    names = sorted({*map(str, old.lesson.values), *map(str, new.lesson.values)})
    served, known = [], []
    for of in (old, new):
        wide = of[["kept", "used"]].reset_coords(drop=True).reindex(lesson=names)
        kept = wide.kept.mean("sample")
        served.append(kept > 0.5)
        known.append((wide.used == 1) & kept.notnull())
    both = known[0] & known[1]
    marks = {"dropped": served[0] & ~served[1], "restored": served[1] & ~served[0]}
    return xr.Dataset(
        {
            name: (mark & both)
            .transpose("episode", "lesson")
            .assign_attrs(long_name=f"whether a lesson that mattered is {name}", units="1")
            for name, mark in marks.items()
        }
    )


def _cautions(old: xr.Dataset, new: xr.Dataset) -> list[str]:
    """What makes two runs hard to compare."""
    labels = {
        "candidates": "candidate sets differ: what is kept out of one is not what is kept out of "
        "the other",
        "pool": "the selectors were shown pools of different sizes",
        "store": "the stores differ",
        "store_digest": "the store has changed: its lessons or episodes are not what they were",
        "token_counter": "tokens were counted in different ways",
    }
    found: list[str] = []
    for key, label in labels.items():
        values = [str(of.attrs.get(key, "")) for of in (old, new)]
        if values[0] == values[1] or (key == "store_digest" and found and "stores" in found[-1]):
            continue
        shown = "" if key == "store_digest" else f" ({values[0]}, {values[1]})"
        found.append(f"{label}{shown}")
    return found


def _left_out(common: int, counts: dict[str, Counts]) -> list[str]:
    """What only one of two runs scored."""
    numbers = [int((~np.isnan(each.kept)).sum()) for each in counts.values()]
    if max(numbers) == common:
        return []
    return [
        f"{counted(common, 'episode')} {'is' if common == 1 else 'are'} in both; the baseline has "
        f"{numbers[0]}, the new run {numbers[1]}"
    ]


def _bought(compared: xr.Dataset) -> str:
    """What a gain was bought with."""
    at = np.argwhere(compared.dropped.values)
    better = float(compared.precision_change.sel(average="micro")) > 0
    quieter = float(compared.noise_tokens_change) < 0
    if not at.size or not (better or quieter):
        return ""
    gain = " and ".join(
        name for name, so in (("higher precision", better), ("fewer noise tokens", quieter)) if so
    )
    named = ", ".join(
        f"{compared.lesson.values[j]} in {compared.episode.values[i]}" for i, j in at.tolist()
    )
    n = len(at)
    return (
        f"bought: {counted(n, 'lesson')} that mattered and that the baseline served "
        f"{'are' if n > 1 else 'is'} dropped for {gain}: {named}"
    )
