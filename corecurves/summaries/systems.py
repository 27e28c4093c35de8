"""Systems beside each other: one learning curve a system, all over the same concepts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.canonical import canonical_json
from corecurves.engine.dataset import check_dataset
from corecurves.errors import DatasetError, UsageError
from corecurves.names import alike, listed
from corecurves.schema import LANE, SCHEMA_VERSION
from corecurves.stats import difference_interval, no_spread_half_width, t_interval
from corecurves.summaries.figures import named
from corecurves.summaries.gate import gate_arm
from corecurves.systems.baselines import BASELINES

__all__ = ["compare_systems", "identity_name"]

Floats = NDArray[np.float64]
_NEEDED = ("hits", "token_hits", "status", "introduced", "expected", "contract", "correction",
           "curriculum_length", "replay_match", "probe")  # fmt: skip


def compare_systems(
    datasets: Mapping[str, xr.Dataset],
    *,
    last: int | None = None,
    contract: bool | None = None,
    confidence: float = 0.95,
) -> xr.Dataset:
    """Learning curves of several systems, as shares of the same expected tokens.

    Parameters
    ----------
    datasets : mapping of str to Dataset
        From `run_lane`, by the name that a system is to have; of the same curricula.
    last : int or None
        The last k drawn; None for the length of the shortest curriculum. Concepts with fewer
        corrections are left out, and counted.
    contract : bool or None
        Whether to take the concepts that keep the contract, or the others; None takes the others
        only where no concept keeps it.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        ``share (system, arm, k)``: the mean over concepts of the share of a concept's first `last`
        tokens (those that its corrections 1 to `last` add) that are in the answer after k
        corrections, with ``share_ci`` and ``share_bounds`` along ``ci_bound``;
        ``above_control (system, k)``: share taught − share control, paired by concept, with
        ``above_control_ci``; ``above_baseline (system, baseline, k)``: how much more that is than
        the same of parrot and blank, where they are among the systems, with
        ``above_baseline_ci``; ``ideal (k)``: the share that was taught by then;
        ``share_of (system, arm, concept, k)``: the same by concept; ``used (concept)``;
        ``replay_determinism (system)``; ``cells_planned``, ``cells_judged``, ``cells_failed``
        ``(system, arm)``, replay 0. NaN where a system was not run in an arm.

    Raises
    ------
    DatasetError
        If there is none, one is no lane Dataset, or they are not of the same curricula.
    UsageError
        If `last` is out of range.

    Notes
    -----
    Every point of every curve is over the same concepts and, within each, over the same tokens: no
    rise or fall comes from short curricula leaving. A concept that lacks a result somewhere, in any
    system or arm, is therefore left out of all curves (``used`` is False). ``share_bounds`` are the
    means over all concepts of the length asked for, missing snapshots included, if each of those
    had heard nothing, or everything.

    A share counts tokens that were not taught yet too, as the contract's hits do: those are the
    prior, which the control arm measures. ``above_control`` is free of it.

    Samples are averaged within a concept first. The intervals are *t* over concepts, no narrower
    than that many concepts without any spread would get, cut to [0, 1].

    Examples
    --------
    >>> import corecurves as cc
    >>> from corecurves.summaries.systems import compare_systems
    >>> names = ("grounded", "parrot", "blank")
    >>> runs = {s: cc.run_lane("dev", s, ledger=False, progress=False) for s in names}
    >>> compare_systems(runs).share.sel(arm="taught", k=[0, 1, 5]).round(2).values.tolist()
    [[0.0, 0.2, 1.0], [0.0, 0.2, 0.33], [0.0, 0.0, 0.0]]
    """
    datasets = _checked(datasets)
    first = next(iter(datasets.values()))
    contract = bool(first.contract.any()) if contract is None else contract
    wanted = np.flatnonzero(first.contract.values == contract)
    if not wanted.size:
        kind = "keeps" if contract else "breaks"
        raise DatasetError(f"no concept {kind} the contract; give contract={not contract}")
    lengths = first.curriculum_length.values
    end = int(lengths[wanted].min()) if last is None else last
    longest = int(lengths[wanted].max())
    if isinstance(end, bool) or not isinstance(end, int) or not 1 <= end <= longest:
        raise UsageError(f"`last` is {last!r}; give a whole number from 1 to {longest}")
    first = first.isel(concept=wanted[lengths[wanted] >= end]).sel(k=slice(0, end))
    concepts, k = first.concept.values, first.k.values
    early = (first.introduced <= end).transpose("concept", "token")
    arms = list(dict.fromkeys(str(arm) for ds in datasets.values() for arm in ds.arm.values))
    cut = {name: ds.sel(concept=concepts, k=k) for name, ds in datasets.items()}
    shares = xr.concat([_shares(ds, early).reindex(arm=arms) for ds in cut.values()], "system")
    shares = shares.transpose("system", "arm", "concept", "k")
    run = xr.DataArray(
        [[arm in ds.arm.values for arm in arms] for ds in cut.values()], dims=("system", "arm")
    )
    used = (shares.notnull() | ~run).all(("system", "arm", "k")).values
    introduced = first.introduced.transpose("concept", "token").values[:, None, :]
    taught = (introduced <= k[:, None]).sum(2) / np.maximum(early.values.sum(1), 1)[:, None]
    figures: dict[str, Any] = {
        "share_of": shares.assign_attrs(named("share of the first tokens in the answer")),
        **_curves(shares.values, run.values, used, confidence),
        **_above(shares, used, confidence, datasets),
        "ideal": ("k", _mean_over(taught[used]), named("share taught by then")),
        "used": ("concept", used, named("whether the concept has every result")),
        **_counts(cut, arms),
        "replay_determinism": ("system", [_replay(ds) for ds in cut.values()],
                               named("reproduced snapshots / planned snapshots, taught")),
        "replay_process": ("system", [str(ds.attrs.get("replay_process", "")) for ds in
                                      cut.values()], named("where replays were run")),
    }  # fmt: skip
    coords = {"system": list(datasets), "arm": arms, "ci_bound": ["lower", "upper"]}
    summary = xr.Dataset(figures, coords | {"concept": concepts, "k": k})
    summary.attrs = {
        "question": "lane",
        "summary_of": "systems",
        "schema_version": SCHEMA_VERSION,
        "aggregates_over": "contract" if contract else "not contract",
        "ci_prob": confidence,
        "last": end,
        "too_short": int(wanted.size - concepts.size),
        "simulated": ", ".join(name for name, ds in datasets.items() if _simulated(ds)),
        "identities": canonical_json(
            {name: json.loads(ds.attrs["identity"]) for name, ds in datasets.items()}
        ),
    }
    return summary


def _checked(datasets: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    if not isinstance(datasets, Mapping) or not datasets:
        raise DatasetError("a mapping from names of systems to their lane Datasets is needed")
    checked = {name: check_dataset(ds, LANE, *_NEEDED) for name, ds in datasets.items()}
    (name, first), *others = checked.items()
    for label, ds in checked.items():
        if "concept" not in ds.dims or "arm" not in ds.dims or "k" not in ds.dims:
            raise DatasetError(f"'{label}' lacks concept, arm or k as a dimension; select by lists")
    for label, ds in others:
        if set(ds.concept.values) != set(first.concept.values):
            odd = sorted(set(map(str, ds.concept.values)) ^ set(map(str, first.concept.values)))
            raise DatasetError(
                f"'{name}' and '{label}' are not of the same concepts; {listed(odd, 5)} "
                f"is in one of them only{alike(odd)}"
            )
        for concept in first.concept.values:
            if _content(first.sel(concept=concept)) != _content(ds.sel(concept=concept)):
                raise DatasetError(
                    f"'{name}' and '{label}' were not taught the same curriculum of '{concept}'"
                )
    return checked


def _content(one: xr.Dataset) -> list[Any]:
    """What was taught and asked, and which tokens were expected, of one concept."""
    texts = one.correction.sel(arm="taught").values if "taught" in one.arm else np.array([])
    tokens = zip(one.expected.values, one.introduced.values, strict=True)
    return [
        one.probe.item(),
        [text for text in texts.tolist() if text],
        [(token, k) for token, k in tokens if token],
    ]


def _shares(ds: xr.Dataset, early: xr.DataArray) -> xr.DataArray:
    """Share of the early tokens, by concept, arm and k: the mean over judged samples."""
    heard = ds.token_hits.where(early, 0.0).sum("token", skipna=False)
    share: xr.DataArray = (heard / early.sum("token")).where(ds.status == "ok").mean("sample")
    return share.drop_vars([name for name in share.coords if name not in ds.dims])


def _curves(
    shares: Floats, run: NDArray[np.bool_], used: NDArray[np.bool_], confidence: float
) -> dict[str, Any]:
    kept = shares[:, :, used]
    floor = no_spread_half_width(int(used.sum()), confidence=confidence) if used.sum() > 1 else 0.0
    n_systems, n_arms, _, n_k = shares.shape
    mean = np.full((n_systems, n_arms, n_k), np.nan)
    band = np.full((*mean.shape, 2), np.nan)
    for at in zip(*np.nonzero(run), strict=True):
        for k in range(n_k):
            found = t_interval(kept[at][:, k], confidence=confidence, floor=floor)
            mean[at][k] = found.mean
            band[at][k] = np.clip([found.lower, found.upper], 0.0, 1.0)
    missing = np.where(run[:, :, None, None], shares, 0.0)
    ends = [np.where(np.isnan(missing), fill, missing).mean(2) for fill in (0.0, 1.0)]
    bounds = np.where(run[:, :, None, None], np.stack(ends, -1), np.nan)
    dims = ("system", "arm", "k")
    ci = named("interval of the share") | {"ci_kind": "t over concepts", "ci_prob": confidence}
    return {
        "share": (dims, mean, named("share of the first tokens in the answer")),
        "share_ci": ((*dims, "ci_bound"), band, ci),
        "share_bounds": ((*dims, "ci_bound"), bounds,
                         named("share if all missing snapshots had heard nothing, or everything")),
    }  # fmt: skip


def identity_name(ds: xr.Dataset) -> str:
    """Name of who answered, as its identity gives it: a label is free."""
    return str(json.loads(ds.attrs["identity"])["name"])


def _above(
    shares: xr.DataArray,
    used: NDArray[np.bool_],
    confidence: float,
    datasets: Mapping[str, xr.Dataset],
) -> dict[str, Any]:
    """Differences to the control arm and to baselines; nothing where there is no such pair."""
    if not {"taught", "control"} <= set(shares.arm.values.tolist()):
        return {}
    gap = (shares.sel(arm="taught") - shares.sel(arm="control")).values[:, used]
    label = "share taught − share control, paired by concept"
    found = _paired("above_control", ("system", "k"), gap, label, confidence)
    at = [i for i, ds in enumerate(datasets.values()) if identity_name(ds) in BASELINES]
    if at:
        beside = gap[:, None] - gap[at][None]
        label = "how much more it stands above its control than the baseline, paired by concept"
        dims = ("system", "baseline", "k")
        found |= _paired("above_baseline", dims, beside, label, confidence)
        names = list(datasets)
        found["baseline"] = (
            "baseline",
            [names[i] for i in at],
            named("baseline among the systems"),
        )
    return found


def _paired(
    name: str, dims: tuple[str, ...], gaps: Floats, label: str, confidence: float
) -> dict[str, Any]:
    """Mean and interval of differences whose last two dimensions are concept and k."""
    mean = np.full((*gaps.shape[:-2], gaps.shape[-1]), np.nan)
    bounds = np.full((*mean.shape, 2), np.nan)
    for at in np.ndindex(mean.shape):
        found = difference_interval(gaps[(*at[:-1], slice(None), at[-1])], confidence=confidence)
        mean[at], bounds[at] = found.mean, (found.lower, found.upper)
    ci = named(f"interval of {label}") | {"ci_kind": "t over concepts", "ci_prob": confidence}
    return {name: (dims, mean, named(label)), f"{name}_ci": ((*dims, "ci_bound"), bounds, ci)}


def _counts(cut: Mapping[str, xr.Dataset], arms: list[str]) -> dict[str, Any]:
    planned = np.zeros((len(cut), len(arms)))
    judged = planned.copy()
    for s, ds in enumerate(cut.values()):
        for arm in ds.arm.values:
            status = ds.status.sel(arm=arm).values
            planned[s, arms.index(str(arm))] = status.size
            judged[s, arms.index(str(arm))] = (status == "ok").sum()
    dims = ("system", "arm")
    return {
        "cells_planned": (dims, planned, named("planned snapshots", "cells")),
        "cells_judged": (dims, judged, named("judged snapshots", "cells")),
        "cells_failed": (dims, planned - judged, named("snapshots without a result", "cells")),
    }


def _replay(ds: xr.Dataset) -> float:
    match = ds.replay_match.sel(arm=gate_arm(ds))
    planned = int(match.notnull().sum())
    return float((match == 1).sum()) / planned if planned else float("nan")


def _simulated(ds: xr.Dataset) -> bool:
    return ds.attrs.get("simulated") == "yes"


def _mean_over(rows: Floats) -> Floats:
    return rows.mean(0) if len(rows) else np.full(rows.shape[1], np.nan)
