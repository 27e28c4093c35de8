"""The baseline: whatever may be served is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from corecurves.selectors.base import Candidate, Fixed, Opinion
from corecurves.specs import Identity

__all__ = ["ServeAll"]


@dataclass(frozen=True)
class ServeAll(Fixed):
    """Every candidate, in the order given: recall is 1 by construction where no budget binds.

    Examples
    --------
    >>> import asyncio
    >>> said = ServeAll().score("Wash up.", [Candidate("a", "Rinse.")], sample=0, seed=0)
    >>> asyncio.run(said)["a"].score
    1.0
    """

    identity: ClassVar[Identity] = Identity("serve-all", "1")
    threshold: ClassVar[float] = 0.0

    async def score(
        self, task: str, candidates: Sequence[Candidate], *, sample: int, seed: int
    ) -> Mapping[str, Opinion]:
        """Score 1 for each."""
        return {candidate.id: Opinion(1.0) for candidate in candidates}
