"""The nodes of a store as a graph, and the levels of each lesson in it.

An edge leads from a node *up* to one that was made from it. Both ends may name it: the lower one in
``parents`` (older: ``compressed_into``), the upper one in ``derived_from``. Several nodes may be
merged into one, a node may be compressed twice, and files may hold cycles; every walk ends.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from corecurves.errors import unknown
from corecurves.specs.dates import time_span
from corecurves.specs.lesson import DROPPED_KINDS, Dropped, Lesson, Level

__all__ = ["STATUSES", "Graph", "Node", "lessons_of", "link"]

STATUSES = ("active", "merged", "disputed", "demoted", "superseded", "archived")
"""What a node may be, best first. ROSE serves a disputed one, a demoted one where no other is."""
_STANDING = STATUSES[:4]


@dataclass(frozen=True)
class Node:
    """One node of a store: a lesson in one of its levels.

    Parameters
    ----------
    id, family, title, gist : str
        What it is called, what it belongs to, and what it says in a line.
    level : int
        0 for a full lesson.
    text : str
        The body: what is served.
    status : str
        One of `STATUSES`.
    created : str
        When it was made, as the file says; empty where undated.
    derived_from, parents : tuple of str
        Nodes that it was made from, and nodes that were made from it (either spelling).
    covers_tasks : tuple of str
        Episodes that it covered.
    dropped : tuple of Dropped
        Claims that it no longer makes.
    preserve, load_bearing : tuple of str
        What a shorter form must keep, and what was seen doing work.
    stats : mapping of str to float
        Counts such as ``shown`` or ``rescues``.
    kind, planted, compressor : str
        As in `Lesson` and `Level`; empty where the file does not say.
    shown : tuple of str or None
        As in `Level`.
    extra : mapping of str to object
        Every other key of the file: text, lists and mappings.
    """

    id: str
    family: str
    title: str
    gist: str
    level: int
    text: str
    status: str = "active"
    created: str = ""
    derived_from: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    covers_tasks: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    preserve: tuple[str, ...] = ()
    load_bearing: tuple[str, ...] = ()
    stats: Mapping[str, float] = field(default_factory=dict)
    kind: str = ""
    planted: str = ""
    compressor: str = ""
    shown: tuple[str, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    """Nodes with their edges.

    Parameters
    ----------
    nodes : mapping of str to Node
        By id.
    up, down : mapping of str to tuple of str
        Per node those made from it, and those that it was made from. Only nodes that exist.
    notes : tuple of str
        Edges that lead nowhere or from a level to a lower one; dropped claims whose kind is none of
        `DROPPED_KINDS`, or whose holder is not there.
    """

    nodes: Mapping[str, Node]
    up: Mapping[str, tuple[str, ...]]
    down: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()

    def above(self, node: str) -> tuple[str, ...]:
        """Ids of a node and of all on the way up from it, over edges that do not fall."""
        return _walk(node, self.up, lambda a, b: self.nodes[b].level >= self.nodes[a].level)

    def roots(self, node: str) -> tuple[str, ...]:
        """Ids of the L0 nodes on the way down from a node, over edges that do not rise."""
        down = _walk(node, self.down, lambda a, b: self.nodes[b].level <= self.nodes[a].level)
        return tuple(name for name in down if self.nodes[name].level == 0)

    def below(self, node: str) -> tuple[str, ...]:
        """Ids of a node and of everything that it was made from, over every edge."""
        return _walk(node, self.down, lambda a, b: True)


def link(nodes: Mapping[str, Node]) -> Graph:
    """Graph of nodes, from whichever end names each edge.

    Examples
    --------
    >>> full = Node("a", "f", "", "", 0, "Wear gloves, because acid burns.", parents=("b",))
    >>> short = Node("b", "f", "", "", 1, "Wear gloves.")
    >>> link({"a": full, "b": short}).below("b")
    ('b', 'a')
    """
    up: dict[str, dict[str, None]] = {name: {} for name in nodes}
    down: dict[str, dict[str, None]] = {name: {} for name in nodes}
    notes = []
    for name, node in nodes.items():
        missing = [n for n in (*node.parents, *node.derived_from) if n not in nodes]
        if missing:
            listed = ", ".join(dict.fromkeys(missing))
            notes.append(f"node {name}: an edge leads to {listed}, not in the store")
        edges = [(name, other) for other in node.parents if other in nodes]
        edges += [(other, name) for other in node.derived_from if other in nodes]
        for lower, upper in edges:
            if upper != lower:
                up[lower][upper] = down[upper][lower] = None
    for lower, uppers in up.items():
        for upper in uppers:
            if nodes[upper].level < nodes[lower].level:
                note = f"from level {nodes[lower].level} to level {nodes[upper].level}"
                notes.append(f"node {lower}: its edge up to {upper} leads {note}; not followed")
    notes += [note for node in nodes.values() for note in _claim_notes(node, nodes)]
    return Graph(
        nodes,
        {name: tuple(found) for name, found in up.items()},
        {name: tuple(found) for name, found in down.items()},
        tuple(notes),
    )


def _claim_notes(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """What is wrong with the claims that a node dropped; none of it stops a lesson."""
    lower = [f"L{depth}" for depth in range(node.level)]
    for claim in node.dropped:
        which = f"node {node.id}: the dropped claim '{claim.claim}'"
        if claim.kind and claim.kind not in DROPPED_KINDS:
            yield f"{which}: {unknown('kind', claim.kind, DROPPED_KINDS)}"
        if claim.holder and claim.holder not in nodes and claim.holder not in lower:
            near = difflib.get_close_matches(claim.holder, [*nodes, *lower], n=1)
            hint = f": did you mean '{near[0]}'?" if near else ""
            yield (
                f"{which} is held by '{claim.holder}', which is no node of the store and no level "
                f"below L{node.level}{hint}"
            )


def lessons_of(
    graph: Graph, written_from: Mapping[str, Iterable[str]]
) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
    """Lessons of a graph with their levels, and the nodes that are in none."""
    notes = [
        f"node {name}: its status is {node.status}"
        for name, node in sorted(graph.nodes.items())
        if not _stands(node)
    ]
    lessons = []
    placed: set[str] = set()
    left_out: dict[str, str] = {}
    for name, root in sorted(graph.nodes.items()):
        if root.level != 0:
            continue
        reached = graph.above(name)
        if not _stands(root):
            left_out.update(dict.fromkeys(reached, name))
            continue
        placed.update(reached)
        levels = [_level(graph, root, written_from)]
        depths: dict[int, list[Node]] = {}
        for node in map(graph.nodes.__getitem__, reached[1:]):
            if _stands(node):
                depths.setdefault(node.level, []).append(node)
        for depth, rivals in sorted(depths.items()):
            taken, *others = _ranked(graph, rivals) if depth else [root, *_ranked(graph, rivals)]
            notes += [
                f"node {other.id}: level {depth} of lesson {name} is {taken.id}" for other in others
            ]
            if depth:
                levels.append(_level(graph, taken, written_from))
        title = root.title or name
        lessons.append(Lesson(name, title, root.family, root.kind, tuple(levels)))
    notes += [
        f"node {name}: its L0 {left_out[name]} is left out"
        if name in left_out
        else f"node {name}: no L0 lies below it"
        for name, node in sorted(graph.nodes.items())
        if name not in placed and _stands(node)
    ]
    return tuple(lessons), tuple(notes)


def _stands(node: Node) -> bool:
    return node.status in _STANDING


def _ranked(graph: Graph, rivals: list[Node]) -> list[Node]:
    def rank(node: Node) -> tuple[bool, int, float, str]:
        span = time_span(node.created)
        newest = -span[1] if span else float("inf")
        return _merged(graph, node), STATUSES.index(node.status), newest, node.id

    return sorted(rivals, key=rank)


def _merged(graph: Graph, node: Node) -> bool:
    return (node.status == "merged" and node.level > 0) or len(graph.roots(node.id)) > 1


def _level(graph: Graph, node: Node, written_from: Mapping[str, Iterable[str]]) -> Level:
    subtree = graph.below(node.id)
    below = [graph.nodes[name] for name in subtree]
    roots = [n for n in below if n.level == 0]
    origins = [o for n in roots for o in (*(n.shown or ()), *written_from.get(n.id, ()))]
    return Level(
        node.level,
        node.text,
        node=node.id,
        dropped=node.dropped,
        planted=node.planted,
        created=node.created,
        covers=_distinct(task for n in below for task in n.covers_tasks),
        compressor=node.compressor or _maker(node),
        merged=_merged(graph, node),
        subtree=subtree,
        origins=_distinct(origins),
        shown=node.shown,
        load_bearing=node.load_bearing,
        preserve=node.preserve,
    )


def _maker(node: Node) -> str:
    """What ROSE's ``origin`` says of a level that a compressor made."""
    origin = node.extra.get("origin")
    return f"ROSE {origin}" if node.level and origin in ("compression", "merge") else ""


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _walk(
    start: str, edges: Mapping[str, tuple[str, ...]], follow: Callable[[str, str], bool]
) -> tuple[str, ...]:
    found = {start: None}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        for other in edges[node]:
            if other not in found and follow(node, other):
                found[other] = None
                waiting.append(other)
    return tuple(found)
