"""Summary of a lane run: the figures that the sample-efficiency contract publishes."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import check_dataset
from corecurves.schema import LANE, SCHEMA_VERSION
from corecurves.stats import first_reach, kaplan_meier, mean_known, nested_rate, t_interval
from corecurves.summaries.figures import named
from corecurves.summaries.gate import replay_figures, seed_spread
from corecurves.summaries.provenance import carried
from corecurves.summaries.refusals import refusal_counts, refusals

__all__ = ["summarize_lane"]

Floats = NDArray[np.float64]
_BOUNDS = ("lower", "upper")
_NEEDED = ("hits", "token_hits", "vault_hits", "status", "replay_match", "replay_status",
           "introduced", "contract", "curriculum_length", "expected_recorded", "accepted",
           "review")  # fmt: skip


def summarize_lane(
    ds: xr.Dataset, *, contract: bool | None = None, confidence: float = 0.95
) -> xr.Dataset:
    """Curve of each concept, and the aggregates over concepts.

    Parameters
    ----------
    ds : Dataset
        From `run_lane`.
    contract : bool or None
        Whether the aggregates are over the concepts that keep the contract, or over the others;
        None takes the others only where no concept keeps it.
    confidence : float
        Nominal coverage of the intervals.

    Returns
    -------
    Dataset
        Per concept: ``cumulative_token_hit_count (concept, k, arm)`` and ``vault_hits`` (means over
        judged samples), the slope ``gain``, ``corrections_to_first_hit``,
        ``corrections_to_saturation`` (NaN when never, see ``…_state``), ``saturation_score``, and
        the ``delay`` of each token. Aggregates by arm, each with an interval along ``ci_bound``;
        a concept's samples are averaged first. ``survival (arm, delay)`` is the Kaplan–Meier share
        of tokens not yet heard, clustered by concept. ``replay_determinism`` and ``gate``; the
        attribute ``replay_process`` says where replays were run, and ``seed_spread`` by how much
        the hits of samples, each with a seed of its own, differ.
        ``refusals (concept, arm)`` says what the system's review refused.

    Raises
    ------
    DatasetError
        If `ds` is no lane Dataset.

    Notes
    -----
    A snapshot that did not end well is neither a hit nor a miss. Where it stands before the first
    hit, that concept's figure is *undecided*: it is left out of the means and rates and counted in
    ``…_undecided``; ``…_bounds`` are the rates if all undecided ones had failed, unless a later
    snapshot shows that they have not, or passed.

    Of an answer that was cut off, the tokens that it had said are certain: ``hits_at_least`` counts
    them. They decide that a target was reached, never that it was missed, and are in no mean of
    hits and no saturation score.

    The delay of a token is its first k in the answer minus the k that introduced it, right-censored
    at the curriculum's end. A token that is in the answer before it is taught has a negative delay:
    the system knew it. ``survival`` assumes that a delay is unrelated to the token's place in the
    curriculum: where later tokens are harder, it is too low.

    Examples
    --------
    >>> import corecurves as cc
    >>> summary = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    >>> summary.saturation_rate.sel(arm="taught").item(), summary.gate.item()
    (1.0, 'passed')
    """
    ds = check_dataset(ds, LANE, *_NEEDED)
    contract = bool(ds.contract.any()) if contract is None else contract
    planned = (ds.k <= ds.curriculum_length).transpose("concept", "k")
    tokens = ds.expected_recorded.sum("token")
    tokens = tokens.where(tokens > 0, np.inf)  # a row that was blanked has nothing to reach
    curve = _curve(ds)
    least = ds.hits.fillna(ds.token_hits.sum("token")).where(planned & (ds.status != ""))
    reached = {
        "first_hit": _reach(ds.hits, least, xr.ones_like(tokens), planned),
        "saturation": _reach(ds.hits, least, tokens, planned),
    }
    certain = {"first_hit": _ever(least >= 1), "saturation": _ever(least >= tokens)}
    last = ds.hits.where(ds.k == ds.curriculum_length).max("k")
    score = (last / tokens).transpose("concept", "arm", "sample")
    delays = _delays(ds, planned)
    counted = ds.contract.values == contract
    figures: dict[str, Any] = {
        **curve,
        "hits_at_least": least.assign_attrs(named("expected tokens hit at the least", "tokens")),
        **{f"corrections_to_{name}": k for name, (k, _) in reached.items()},
        **{f"{name}_state": state for name, (_, state) in reached.items()},
        "saturation_score": score.assign_attrs(named("hits at the end / expected tokens")),
        **delays,
        **_aggregates(reached, certain, score, ds.curriculum_length.values, counted, confidence),
        **_survival(delays, counted, confidence),
        **_counts(ds, planned, counted),
        **replay_figures(ds, counted),
        "seed_spread": seed_spread(ds, counted),
        "refusals": refusals(ds),
        **refusal_counts(ds),
    }
    summary = xr.Dataset(figures).assign_coords(ci_bound=list(_BOUNDS))
    summary = summary.assign_coords({name: ds[name] for name in ds.coords if name != "replay"})
    summary["expected"] = ds.expected
    summary.attrs = carried(ds) | {
        "summary_of": "lane",
        "schema_version": SCHEMA_VERSION,
        "aggregates_over": "contract" if contract else "not contract",
        "ci_prob": confidence,
    }
    return summary


def _curve(ds: xr.Dataset) -> dict[str, xr.DataArray]:
    judged = ds.hits.notnull().sum("sample")
    hits = ds.hits.sum("sample") / judged.where(judged > 0)
    seen = ds.vault_hits.notnull().sum("sample")
    vault = ds.vault_hits.sum("sample") / seen.where(seen > 0)
    gain = hits.diff("k").reindex(k=ds.k)
    match = ds.replay_match.min("sample")
    return {
        "hits": ds.hits,
        "replay_match": match.assign_attrs(named("whether all replays of all samples agree")),
        "cumulative_token_hit_count": hits.assign_attrs(named("expected tokens hit", "tokens")),
        "vault_hits": vault.assign_attrs(named("memory entries retrieved", "entries")),
        "gain": gain.assign_attrs(named("hits gained by the k-th correction", "tokens")),
        "samples_judged": judged.assign_attrs(named("judged samples", "samples")),
    }


def _reach(
    hits: xr.DataArray, least: xr.DataArray, target: xr.DataArray, planned: xr.DataArray
) -> tuple[xr.DataArray, xr.DataArray]:
    """First k at a target by concept, arm and sample, and whether it was reached."""
    # What an answer had said when it was cut off is certain; what it would have said is not.
    known = hits.fillna(least.where(least >= target))
    arranged = known.transpose("concept", "arm", "sample", "k")
    exists = planned.broadcast_like(arranged).transpose(*arranged.dims)
    goal = target.broadcast_like(arranged.isel(k=0)).transpose("concept", "arm", "sample")
    k, state = first_reach(arranged.values, goal.values, planned=exists.values)
    dims = ("concept", "arm", "sample")
    return (
        xr.DataArray(k, dims=dims, attrs=named("smallest k that reaches it", "corrections")),
        xr.DataArray(state.astype(object), dims=dims, attrs=named("whether it was reached")),
    )


def _delays(ds: xr.Dataset, planned: xr.DataArray) -> dict[str, xr.DataArray]:
    """Delay of each token, and whether it was observed (1), censored (0) or unknown (NaN)."""
    arranged = ds.token_hits.transpose("concept", "arm", "sample", "token", "k")
    real = ds.expected_recorded.broadcast_like(arranged.isel(k=0))
    real = real.transpose("concept", "arm", "sample", "token")
    exists = planned.broadcast_like(arranged).transpose(*arranged.dims)
    first, state = first_reach(arranged.values, np.ones(arranged.shape[:-1]), planned=exists.values)
    dims = ("concept", "arm", "sample", "token")
    introduced = ds.introduced.broadcast_like(real).transpose(*dims).values
    end = ds.curriculum_length.broadcast_like(real).transpose(*dims).values
    seen, never = state == "reached", state == "never"
    delay = np.where(seen, first, np.where(never, end, np.nan)) - introduced
    event = np.where(seen, 1.0, np.where(never, 0.0, np.nan))
    keep = real.values
    attrs = named("first k in the answer minus the k that introduced it", "corrections")
    return {
        "delay": xr.DataArray(np.where(keep, delay, np.nan), dims=dims, attrs=attrs),
        "delay_observed": xr.DataArray(
            np.where(keep, event, np.nan), dims=dims, attrs=named("1 observed, 0 censored")
        ),
    }


def _ever(at: xr.DataArray) -> NDArray[np.bool_]:
    """Whether a curve is known to stand at its target somewhere, by concept, arm and sample."""
    ever: NDArray[np.bool_] = at.any("k").transpose("concept", "arm", "sample").values
    return ever


def _aggregates(
    reached: dict[str, tuple[xr.DataArray, xr.DataArray]],
    certain: dict[str, NDArray[np.bool_]],
    score: xr.DataArray,
    lengths: Floats,
    counted: NDArray[np.bool_],
    confidence: float,
) -> dict[str, xr.DataArray]:
    found: dict[str, xr.DataArray] = {}
    for name, (k, state) in reached.items():
        k, state = k[counted], state[counted]
        longest = float(lengths[counted].max(initial=0))
        found |= _mean(f"mean_corrections_to_{name}", k.values, "corrections", confidence, longest)
        decided = (state != "undecided").values
        passed = (state == "reached").values
        found |= _rate(f"{name}_rate", passed, decided, confidence)
        low = (passed | certain[name][counted]).sum((0, 2))
        high = (passed | ~decided).sum((0, 2))
        total = max(1, int(counted.sum()) * state.sizes["sample"])
        found[f"{name}_rate_bounds"] = xr.DataArray(
            np.stack([low, high], axis=-1) / total,
            dims=("arm", "ci_bound"),
            attrs=named("rate if all undecided had failed, or passed"),
        )
        found[f"{name}_undecided"] = xr.DataArray(
            (~decided).sum((0, 2)), dims="arm", attrs=named("undecided curves", "curves")
        )
    return found | _mean("mean_saturation_score", score[counted].values, "1", confidence, 1.0)


def _mean(
    name: str, values: Floats, units: str, confidence: float, highest: float
) -> dict[str, xr.DataArray]:
    """Mean over concepts of means over samples, by arm, with a t interval inside [0, highest]."""
    means = mean_known(values)
    intervals = [t_interval(column, confidence=confidence) for column in means.T]
    bounds = np.array([[i.lower, i.upper] for i in intervals]).reshape(-1, 2).clip(0.0, highest)
    label = name.replace("_", " ")
    return {
        name: xr.DataArray([i.mean for i in intervals], dims="arm", attrs=named(label, units)),
        f"{name}_ci": _interval(bounds, label, units, "t over concepts", confidence),
        f"{name}_n": xr.DataArray(
            [i.units for i in intervals], dims="arm", attrs=named("concepts in it", "concepts")
        ),
    }


def _rate(
    name: str, passed: NDArray[np.bool_], decided: NDArray[np.bool_], confidence: float
) -> dict[str, xr.DataArray]:
    """Share of concepts, by arm, with a Wilson interval."""
    means = mean_known(np.where(decided, passed, np.nan))
    repeats = decided.sum(axis=2)
    rates = [
        nested_rate(means[:, arm], repeats[:, arm], confidence=confidence)
        for arm in range(means.shape[1])
    ]
    label = name.replace("_", " ")
    bounds = np.array([[r.lower, r.upper] for r in rates]).reshape(-1, 2)
    return {
        name: xr.DataArray([r.rate for r in rates], dims="arm", attrs=named(label)),
        f"{name}_ci": _interval(bounds, label, "1", "Wilson over concepts", confidence),
        f"{name}_n": xr.DataArray(
            [r.units for r in rates], dims="arm", attrs=named("concepts in it", "concepts")
        ),
    }


def _interval(bounds: Floats, label: str, units: str, kind: str, confidence: float) -> xr.DataArray:
    attrs: dict[str, Any] = {**named(f"interval of {label}", units)}
    attrs |= {"ci_kind": kind, "ci_prob": confidence}
    return xr.DataArray(bounds, dims=("arm", "ci_bound"), attrs=attrs)


def _survival(
    delays: dict[str, xr.DataArray], counted: NDArray[np.bool_], confidence: float
) -> dict[str, xr.DataArray]:
    """Kaplan–Meier share of tokens not yet heard, on the whole delays of all arms."""
    delay, event = delays["delay"].values[counted], delays["delay_observed"].values[counted]
    known = ~np.isnan(event)
    low = int(delay[known].min()) - 1 if known.any() else -1
    grid = np.arange(low, int(delay[known].max()) + 1 if known.any() else 0)
    n_arms = delay.shape[1]
    share = np.full((n_arms, grid.size), np.nan)
    band = np.full((n_arms, grid.size, 2), np.nan)
    at_risk = np.zeros((n_arms, grid.size))
    for arm in range(n_arms):
        mask = known[:, arm]
        cluster = np.broadcast_to(np.arange(delay.shape[0])[:, None, None], mask.shape)
        curve = kaplan_meier(
            delay[:, arm][mask], event[:, arm][mask] == 1, cluster[mask], confidence=confidence
        )
        if not curve.time.size:
            continue
        row = np.searchsorted(curve.time, grid, side="right") - 1
        inside = (row >= 0) & (grid <= curve.time[-1])
        before = row < 0
        beyond = 0.0 if curve.survival[-1] == 0 else np.nan  # once all are heard, none is left
        share[arm] = np.where(inside, curve.survival[row], np.where(before, 1.0, beyond))
        band[arm, :, 0] = np.where(inside, curve.lower[row], np.nan)
        band[arm, :, 1] = np.where(inside, curve.upper[row], np.nan)
        observed = delay[:, arm][mask]
        at_risk[arm] = [(observed >= time).sum() for time in grid]
    attrs: dict[str, Any] = named("share of tokens not yet heard")
    kind = {"ci_kind": "Wilson on the effective size, clustered by concept"}
    return {
        "survival": xr.DataArray(share, {"delay_k": grid}, ("arm", "delay_k"), attrs=attrs),
        "survival_ci": xr.DataArray(
            band, dims=("arm", "delay_k", "ci_bound"), attrs=attrs | kind | {"ci_prob": confidence}
        ),
        "survival_at_risk": xr.DataArray(
            at_risk, dims=("arm", "delay_k"), attrs=named("tokens at risk", "tokens")
        ),
        "mean_delay": xr.DataArray(
            mean_known(np.where(event == 1, delay, np.nan), axis=(0, 2, 3)),
            dims="arm", attrs=named("mean delay of the tokens heard", "corrections"),
        ),
        "tokens_heard": xr.DataArray(
            (event == 1).sum((0, 2, 3)), dims="arm", attrs=named("tokens heard", "tokens")
        ),
        "tokens_censored": xr.DataArray(
            (event == 0).sum((0, 2, 3)), dims="arm", attrs=named("tokens never heard", "tokens")
        ),
    }  # fmt: skip


def _counts(
    ds: xr.Dataset, planned: xr.DataArray, counted: NDArray[np.bool_]
) -> dict[str, xr.DataArray]:
    n = planned[counted].sum().item() * ds.sizes["sample"]
    ok = (ds.status[counted] == "ok").sum(("concept", "k", "sample"))
    cut = (ds.status[counted] == "cut_off").sum(("concept", "k", "sample"))
    return {
        "cells_cut_off": cut.assign_attrs(named("snapshots whose answer was cut off", "cells")),
        "cells_planned": xr.full_like(ok, n).assign_attrs(named("planned snapshots", "cells")),
        "cells_judged": ok.assign_attrs(named("judged snapshots", "cells")),
        "cells_failed": (n - ok).assign_attrs(named("snapshots without a result", "cells")),
        "n_concepts": xr.DataArray(int(counted.sum()), attrs=named("concepts in the aggregates")),
    }
