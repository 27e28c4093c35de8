"""What a session was taught: facts with provenance, retrieved by vector and walked by relation.

In the vault each content word (a lemma, or the verb of a relation other than *is*) stands for a
vector of 256 signs, the bits of BLAKE2b over seed and word; a fact is the sum of its words' vectors
scaled to length 1. The similarity of probe and fact is the cosine: one shared word of a fact of n
words gives about 1/√n, none gives 0 up to chance (standard deviation 1/16). Dot products are whole
numbers and are compared as fractions, so a hit is the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from corecurves.systems.grounded.parse import Proposition

__all__ = ["Fact", "Memory"]

_DIMS = 256


@dataclass(frozen=True)
class Fact:
    """An accepted proposition, the turn (from 1) in which it was taught, and what was said."""

    said: Proposition
    turn: int
    text: str

    @cached_property
    def content(self) -> tuple[str, ...]:
        """Content words: the lemmas of both phrases, and the verb unless it is the copula."""
        verb = self.said.relation.base.split()[: self.said.relation.third != "is"]
        return (*self.said.subject.lemmas, *verb, *self.said.object.lemmas)


@dataclass(frozen=True)
class Memory:
    """Facts in the order taught, at most `capacity`: the oldest is forgotten. Never changed."""

    seed: int
    capacity: int | None = None
    facts: tuple[Fact, ...] = ()

    def taught(self, fact: Fact) -> Memory:
        """The memory with one fact more."""
        return replace(self, facts=(*self.facts, fact)[-(self.capacity or 0) :])

    @cached_property
    def held(self) -> dict[tuple[str, str, str], bool]:
        """Whether each triple is held as true (or as denied): the last polarity counts."""
        return {fact.said.triple: not fact.said.denies for fact in self.facts}

    def hits(self, probe: tuple[str, ...], threshold: float) -> int:
        """Number of facts whose cosine with the probe's content words reaches the threshold."""
        squared, count = Fraction(threshold) ** 2, 0
        for fact in self.facts:
            dot = _dot(self.seed, probe, fact.content)
            sizes = _dot(self.seed, probe, probe) * _dot(self.seed, fact.content, fact.content)
            count += dot > 0 and dot * dot * squared.denominator >= sizes * squared.numerator
        return count

    def walk(self, subject: str, relation: str, max_hops: int) -> list[Fact]:
        """Facts held as true on the way from a subject, breadth first in the order taught, once.

        The first hop has the relation, unless that is empty; none is further than `max_hops`.
        """
        last = {fact.said.triple: fact for fact in self.facts if self.held[fact.said.triple]}
        leads: dict[str, list[Fact]] = {}
        for fact in sorted(last.values(), key=lambda fact: fact.turn):
            leads.setdefault(fact.said.triple[0], []).append(fact)
        found: list[Fact] = []
        seen, queue = {subject}, deque([(subject, 0)])
        while queue:
            here, hops = queue.popleft()
            for fact in leads.get(here, ()) if hops < max_hops else ():
                _, verb, there = fact.said.triple
                if hops or relation in ("", verb):
                    found.append(fact)
                    if there not in seen:
                        seen.add(there)
                        queue.append((there, hops + 1))
        return found


@lru_cache(maxsize=65536)
def _bits(seed: int, word: str) -> int:
    return int(hashlib.blake2b(f"{seed}\0{word}".encode(), digest_size=_DIMS // 8).hexdigest(), 16)


@lru_cache(maxsize=65536)
def _dot(seed: int, left: tuple[str, ...], right: tuple[str, ...]) -> int:
    pairs = ((_bits(seed, a), _bits(seed, b)) for a in left for b in right)
    return sum(_DIMS - 2 * (a ^ b).bit_count() for a, b in pairs)
