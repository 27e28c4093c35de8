"""What stands between a lesson's shortest form and its full text: claims, holders, children."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from corecurves.specs import Lesson, Level, Store
from corecurves.text import count_tokens

__all__ = ["STRATEGIES", "Claim", "Rung", "Trail", "patched", "rungs", "trails_of"]

STRATEGIES = ("delta-patch", "delta-jump", "stepwise")
"""Ways back to detail: see `rungs`."""


@dataclass(frozen=True)
class Rung:
    """One text that a strategy serves.

    Parameters
    ----------
    label : str
        What it is: a level, a node, or the short form with the numbers of the claims added.
    text : str
        What is served.
    """

    label: str
    text: str

    @property
    def tokens(self) -> int:
        """Its length in o200k tokens."""
        return count_tokens(self.text)


@dataclass(frozen=True)
class Claim:
    """A claim that was dropped on the way to the shortest form.

    Parameters
    ----------
    number : int
        Its place in the manifest, from 1 on: the shortest level's own claims first.
    text, kind : str
        What it says, and its kind.
    holder : Rung
        The level or node that still holds it.
    """

    number: int
    text: str
    kind: str
    holder: Rung


@dataclass(frozen=True)
class Trail:
    """A lesson, seen from its shortest form.

    Parameters
    ----------
    lesson : Lesson
        The lesson.
    short, full : Rung
        Its shortest form, and L0.
    claims : tuple of Claim
        What the shortest form and every level between it and L0 dropped, in order of the manifest.
    children : tuple of Rung
        The levels between, from the shortest on; where one stands for several lessons, those of the
        others too, by depth and then by node.
    """

    lesson: Lesson
    short: Rung
    full: Rung
    claims: tuple[Claim, ...]
    children: tuple[Rung, ...]

    def share(self, claim: Claim) -> float:
        """Tokens of a claim over those of L0."""
        return count_tokens(claim.text) / max(1, self.full.tokens)


def patched(trail: Trail, claims: Sequence[Claim]) -> Rung:
    """The short form with claims added."""
    numbers = ", ".join(str(claim.number) for claim in claims)
    label = f"{trail.short.label} + claim{'s' if len(claims) > 1 else ''} {numbers}"
    return Rung(
        label, " ".join([_sentence(trail.short.text), *(_sentence(c.text) for c in claims)])
    )


def rungs(trail: Trail, strategy: str, ranked: Sequence[Claim], claims: int) -> list[Rung]:
    """The ladder of a strategy: the shortest form first, L0 last, each text once."""
    between: Sequence[Rung]
    if strategy == "delta-patch":
        between = [patched(trail, ranked[:n]) for n in range(1, min(claims, len(ranked)) + 1)]
    elif strategy == "delta-jump":
        between = [claim.holder for claim in ranked]
    else:
        between = trail.children
    ladder = {trail.short.text: trail.short}
    for rung in between:
        # Nothing comes after L0: where it holds the best claim, the jump is the last one.
        if rung.text == trail.full.text:
            break
        ladder.setdefault(rung.text, rung)
    return [*ladder.values(), trail.full]


def trails_of(store: Store) -> tuple[dict[str, Trail], tuple[str, ...]]:
    """Trails of a store's lessons by id, and what could not be taken as it stands."""
    nodes = {
        level.node: (lesson, level)
        for lesson in store.lessons
        for level in lesson.levels
        if level.node
    }
    trails, notes = {}, []
    for lesson in store.lessons:
        full = lesson.level(0)
        shorter = sorted((x for x in lesson.levels if x.depth > 0), key=lambda x: -x.depth)
        if full is None or not shorter:
            notes.append(f"lesson {lesson.id}: it has no shorter form")
            continue
        found = []
        for claim in _claims(lesson, shorter, nodes):
            if isinstance(claim, str):
                notes.append(claim)
            else:
                found.append(claim)
        trails[lesson.id] = Trail(
            lesson,
            Rung(shorter[0].name, shorter[0].text),
            Rung(full.name, full.text),
            tuple(found),
            tuple(_children(lesson, shorter, nodes)),
        )
    return trails, tuple(notes)


_Nodes = Mapping[str, tuple[Lesson, Level]]


def _claims(lesson: Lesson, shorter: Sequence[Level], nodes: _Nodes) -> Iterator[Claim | str]:
    """Claims in order of the manifest, each once; and a word on every holder that is not there."""
    seen: set[str] = set()
    for level in shorter:
        for dropped in level.dropped:
            if dropped.claim in seen:
                continue
            seen.add(dropped.claim)
            holder = _holder(lesson, level, dropped.holder, nodes)
            if holder is None:
                holder = _before(lesson, level)
                if dropped.holder:
                    yield (
                        f"lesson {lesson.id}: '{dropped.holder}' should hold '{dropped.claim}' and "
                        f"is no longer form of it; {holder.label} is taken"
                    )
            yield Claim(len(seen), dropped.claim, dropped.kind, holder)


def _holder(lesson: Lesson, level: Level, name: str, nodes: _Nodes) -> Rung | None:
    """The longer form of that name: a level of the lesson, or a node of the store."""
    for own in lesson.levels:
        if name in (own.name, own.node) and own.depth < level.depth:
            return Rung(own.name, own.text)
    if name in nodes and nodes[name][1].depth < level.depth:
        return Rung(name, nodes[name][1].text)
    return None


def _before(lesson: Lesson, level: Level) -> Rung:
    """The next longer level, which holds by definition what this one dropped."""
    own = max((x for x in lesson.levels if x.depth < level.depth), key=lambda x: x.depth)
    return Rung(own.name, own.text)


def _children(lesson: Lesson, shorter: Sequence[Level], nodes: _Nodes) -> Iterator[Rung]:
    """The levels between; L0 of another lesson is none of them, for each ladder ends at its own."""
    short = shorter[0]
    found = {level.node or level.name: Rung(level.name, level.text) for level in shorter[1:]}
    depths = {level.node or level.name: level.depth for level in shorter[1:]}
    for level in shorter:
        for name in level.subtree if level.merged else ():
            owner, other = nodes.get(name, (lesson, level))
            if owner.id != lesson.id and 0 < other.depth < short.depth and name not in found:
                found[name], depths[name] = Rung(name, other.text), other.depth
    yield from (found[name] for name in sorted(found, key=lambda name: (-depths[name], name)))


def _sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?", ":", ";")) else f"{stripped}."
