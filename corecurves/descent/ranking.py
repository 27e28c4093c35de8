"""Which dropped claim is the most promising.

The worth of a claim is 0.60 · usefulness, as a model judges it for the task at hand, + 0.28 · its
rescue rate on train episodes, (rescues + 1) / (attempts + 2), − 0.12 · its share of L0's tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from corecurves.arguments import finite
from corecurves.descent.trails import Claim, Trail
from corecurves.errors import UsageError
from corecurves.selectors.bm25 import Bm25
from corecurves.selectors.embedding import Lsa
from corecurves.selectors.relevance import Relevance

__all__ = [
    "WEIGHTS",
    "Standing",
    "checked_weights",
    "rank",
    "rescue_rate",
    "said_of",
    "scale_of",
    "usefulness",
]

WEIGHTS = (0.60, 0.28, 0.12)
"""Of usefulness, rescue rate and token share."""

_SCALES = {
    "nats": "the logistic function of the judge's nats",
    "cosine": "(1 + cosine) / 2 of the judge's vectors",
    "open": "the judge's scores, from the lowest (0) to the highest (1) of the claims",
    "share": "the judge's scores, as they are where all lie in [0, 1], else from the lowest (0) to "
    "the highest (1) of the claims",
}


@dataclass(frozen=True)
class Standing:
    """A claim, and what its place is made of.

    Parameters
    ----------
    claim : Claim
        The claim.
    worth : float
        What it is ranked by.
    useful : float or None
        Usefulness in [0, 1]; None without a judge.
    attempts, rescues : int
        Patches with it alone on train episodes, and how many of them passed.
    share : float
        Its tokens over those of L0.
    """

    claim: Claim
    worth: float
    useful: float | None
    attempts: int
    rescues: int
    share: float


def checked_weights(weights: Sequence[float]) -> tuple[float, float, float]:
    """Weights of the three terms."""
    if isinstance(weights, str) or not isinstance(weights, Iterable) or len(list(weights)) != 3:
        raise UsageError(
            f"`weights` is {weights!r}; give three numbers, of usefulness, rescue rate and token "
            f"share, as in {WEIGHTS}"
        )
    useful, rate, share = (finite("weights", weight, least=0) for weight in weights)
    return useful, rate, share


def scale_of(judge: Any) -> str:
    """Scale of a selector's scores."""
    own = getattr(judge, "scale", None)
    if own in _SCALES:
        return str(own)
    kinds = {Relevance: "nats", Lsa: "cosine", Bm25: "open"}
    return next((scale for kind, scale in kinds.items() if isinstance(judge, kind)), "share")


def said_of(scale: str) -> str:
    """What is said of a scale in a Dataset."""
    return f"{_SCALES[scale]}; 0.5 where the judge is silent"


def usefulness(scores: Sequence[float | None], scale: str) -> list[float]:
    """Scores of the claims of one task, in [0, 1] and in the same order.

    Examples
    --------
    >>> usefulness([2.0, 6.0, None], "open"), usefulness([0.0, 1.0], "share")
    ([0.0, 1.0, 0.5], [0.0, 1.0])
    >>> [round(x, 2) for x in usefulness([0.0, 2.0], "nats")]
    [0.5, 0.88]
    """
    said = [score for score in scores if score is not None]
    if scale == "nats":
        return [0.5 if x is None else _logistic(x) for x in scores]
    if scale == "cosine":
        return [0.5 if x is None else (1 + x) / 2 for x in scores]
    if scale == "share" and all(0 <= x <= 1 for x in said):
        return [0.5 if x is None else float(x) for x in scores]
    low, high = min(said, default=0.0), max(said, default=0.0)
    return [0.5 if x is None or low == high else (x - low) / (high - low) for x in scores]


def rescue_rate(attempts: int, rescues: int) -> float:
    """Laplace's rule: 1/2 where nothing was tried."""
    return (rescues + 1) / (attempts + 2)


def rank(
    trail: Trail,
    useful: Sequence[float] | None,
    counts: Sequence[tuple[int, int]],
    weights: tuple[float, float, float],
) -> list[Standing]:
    """Claims of a lesson for one task, the most promising first."""
    found = []
    for i, claim in enumerate(trail.claims):
        share, (attempts, rescues) = trail.share(claim), counts[i]
        worth = weights[1] * rescue_rate(attempts, rescues) - weights[2] * share
        said = None if useful is None else useful[i]
        worth += weights[0] * (said or 0.0)
        # Rounded, so that the last bits of a sum decide no order.
        found.append(Standing(claim, round(worth, 12), said, attempts, rescues, share))
    return sorted(found, key=lambda one: (-one.worth, one.claim.number))


def _logistic(nats: float) -> float:
    # The larger exponential never overflows.
    small = math.exp(-abs(nats))
    return (1.0 if nats >= 0 else small) / (1 + small)
