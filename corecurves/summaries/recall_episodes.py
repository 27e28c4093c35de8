"""What each replayed episode counts: kept and useful lessons, and their tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from corecurves.engine.dataset import check_dataset
from corecurves.errors import DatasetError
from corecurves.schema import RECALL
from corecurves.stats import mean_known

__all__ = ["Counts", "Episodes", "count", "read_episodes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Figures of each episode; NaN where no sample of it is whole.

    Parameters
    ----------
    hits, kept, useful : ndarray of shape (episode,)
        Lessons that are kept and useful, kept, useful: means over samples.
    noise, useful_tokens : ndarray of shape (episode,)
        Tokens of what is kept: that of no use, and that of use.
    precision, recall, f1 : ndarray of shape (episode,)
        Means over samples of each sample's own; NaN where it has none.
    """

    hits: Floats
    kept: Floats
    useful: Floats
    noise: Floats
    useful_tokens: Floats
    precision: Floats
    recall: Floats
    f1: Floats


@dataclass(frozen=True)
class Episodes:
    """A recall Dataset as arrays.

    Parameters
    ----------
    kept : ndarray of shape (episode, lesson, sample)
        1, 0, NaN where it is not known.
    used : ndarray of shape (episode, lesson)
        1, 0; NaN for what is no candidate.
    tokens : ndarray of shape (lesson,)
        Lengths.
    """

    kept: Floats
    used: Floats
    tokens: Floats


def read_episodes(ds: xr.Dataset) -> Episodes:
    """Arrays of a recall Dataset."""
    ds = check_dataset(ds, RECALL, "kept", "used", "lesson_tokens", "status")
    kept = ds.kept.transpose("episode", "lesson", "sample").values
    used = ds.used.transpose("episode", "lesson").values
    if np.isnan(used).all():
        raise DatasetError("nothing is known of what was used; there is nothing to score")
    return Episodes(kept, used, ds.lesson_tokens.values)


def count(episodes: Episodes, kept: Floats | None = None) -> Counts:
    """Figures of each episode."""
    shown = episodes.kept if kept is None else kept
    candidate = ~np.isnan(episodes.used)
    used = np.where(candidate, episodes.used, 0.0)[:, :, None]
    some = np.asarray(candidate.any(axis=1))[:, None]
    whole = (~np.isnan(shown) | ~candidate[:, :, None]).all(axis=1) & some
    served = np.where(candidate[:, :, None], np.nan_to_num(shown), 0.0)
    lengths = episodes.tokens[None, :, None]

    def each(values: Floats) -> Floats:
        return np.where(whole, values.sum(axis=1), np.nan)

    hits, kept_ = each(served * used), each(served)
    useful = each(np.broadcast_to(used, served.shape))
    either = kept_ + useful
    return Counts(
        mean_known(hits),
        mean_known(kept_),
        mean_known(useful),
        mean_known(each(served * (1 - used) * lengths)),
        mean_known(each(served * used * lengths)),
        mean_known(_share(hits, kept_)),
        mean_known(_share(hits, useful)),
        # Without a useful lesson there is no recall, and nothing to balance.
        mean_known(np.where(useful > 0, _share(2 * hits, either), np.nan)),
    )


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share
