"""Everything in the folder of a ROSE store, usable or not, and the store that is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corecurves.errors import Fault, UsageError
from corecurves.files.front_matter import read_node
from corecurves.files.graph import Graph, Node, lessons_of, link
from corecurves.files.recorded import Recorded, read_episode
from corecurves.files.yaml_text import read_text
from corecurves.names import stem_of, taken
from corecurves.specs.lesson import Episode, Lesson, Store
from corecurves.text import counted

__all__ = ["HIDDEN", "Layout", "read_layout", "read_store"]

HIDDEN = (".rose", ".rmc")
"""Folders that hold the store of the folder that they are in."""


@dataclass(frozen=True)
class Layout:
    """Everything in a store's folder, usable or not.

    Parameters
    ----------
    graph : Graph
        Nodes and edges.
    recorded : mapping of str to Recorded
        Episodes by id.
    faults : tuple of Fault
        What is wrong in the files; each of those was read as far as its fault allows.
    """

    graph: Graph
    recorded: Mapping[str, Recorded]
    faults: tuple[Fault, ...] = ()


def read_layout(folder: str | Path, shown: str = "") -> Layout:
    """Everything in the folder of a ROSE store.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> layout = read_layout(bundled_path("episodes", "demo_store"))
    >>> len(layout.recorded) >= 25
    True
    """
    folder = Path(folder)
    faults: list[Fault] = []
    nodes: dict[str, Node] = {}
    episodes: dict[str, Recorded] = {}
    ids: tuple[dict[str, tuple[str, str]], ...] = ({}, {})
    for path, name in _files(folder, "nodes", ".md", shown, faults):
        text = read_text(path, name, faults)
        family = path.parent.name if path.parent != folder / "nodes" else ""
        node = read_node(text, name, faults, stem=stem_of(path), family=family) if text else None
        if node is not None and (message := taken(ids[0], node.id, f"also stands in {name}")):
            faults.append(Fault(name, 1, message))
        elif node is not None:
            nodes[node.id] = node
    for path, name in _files(folder, "episodes", ".json", shown, faults):
        text = read_text(path, name, faults)
        recorded = read_episode(text, name, faults, stem=stem_of(path)) if text else None
        there = f"also stands in {name}"
        if recorded is not None and (message := taken(ids[1], recorded.episode.id, there)):
            faults.append(Fault(name, 1, message))
        elif recorded is not None:
            episodes[recorded.episode.id] = recorded
    return Layout(link(nodes), episodes, tuple(sorted(set(faults))))


def read_store(folder: Path, shown: str) -> tuple[Store | None, tuple[Fault, ...]]:
    """Store in the folder of a ROSE store, and everything that is wrong in its files."""
    layout = read_layout(folder, shown)
    lessons, notes = lessons_of(layout.graph, _written_from(folder, layout.recorded))
    if not lessons and layout.faults:
        return None, layout.faults
    if not lessons:
        why = f": {'; '.join(notes)}" if notes else "; a lesson is a node of level 0"
        raise UsageError(f"the store {shown} has no lesson that could be used{why}")
    episodes, unused = _by_lesson(layout, lessons)
    own = folder.resolve()
    store = Store(
        name=own.parent.name if own.name in HIDDEN else own.name,
        lessons=lessons,
        episodes=episodes,
        skipped=(*layout.graph.notes, *notes, *unused),
        path=str(folder.absolute()),
    )
    return store, layout.faults


def _written_from(folder: Path, recorded: Mapping[str, Recorded]) -> dict[str, tuple[str, ...]]:
    """Episodes of the sessions in which ROSE says, in its log, that it wrote or rewrote an L0."""
    try:
        log = (folder / "events.jsonl").read_text("utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for line in log.split("\n"):
        if '"mint"' not in line:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a log may end in half a line
        if isinstance(event, dict) and event.get("kind") == "mint" and event.get("session"):
            own = [key for key, one in recorded.items() if one.session == event["session"]]
            found[str(event.get("node"))] = (*found.get(str(event.get("node")), ()), *own)
    return found


def _by_lesson(
    layout: Layout, lessons: tuple[Lesson, ...]
) -> tuple[dict[str, tuple[Episode, ...]], list[str]]:
    """Usable episodes by lesson, and how many of the others there are for each reason."""
    reach = {lesson.id: set(layout.graph.above(lesson.id)) for lesson in lessons}
    found: dict[str, list[Episode]] = {lesson.id: [] for lesson in lessons}
    skipped: dict[str, list[str]] = {}
    unserved = []
    for name, recorded in sorted(layout.recorded.items()):
        reason = recorded.unusable
        used = set(recorded.episode.used)
        if recorded.episode.served and (odd := sorted(used.difference(recorded.episode.served))):
            unserved.append(f"{name}: {', '.join(odd)}")
        under = [key for key, nodes in reach.items() if not nodes.isdisjoint(used)]
        if not reason and not under:
            reason = "what it used is in no lesson of this store"
        if reason:
            skipped.setdefault(reason, []).append(name)
            continue
        for key in under:
            found[key].append(recorded.episode)
    notes = [
        f"{counted(len(names), 'episode')}: {reason} ({', '.join(names)})"
        for reason, names in sorted(skipped.items())
    ]
    if unserved:
        notes.append(
            f"{counted(len(unserved), 'episode')} used a lesson that was not served, which recall "
            f"leaves unscored unless the whole store is searched ({'; '.join(unserved)})"
        )
    return {key: tuple(episodes) for key, episodes in found.items()}, notes


def _files(
    folder: Path, part: str, suffix: str, shown: str, faults: list[Fault]
) -> list[tuple[Path, str]]:
    """Files of one kind, in an order that is the same on every machine, and what to call them."""
    found = []
    for path in (folder / part).rglob("*"):
        if path.suffix.lower() != suffix or path.name.startswith("."):
            continue
        inner = path.relative_to(folder).as_posix()
        name = f"{shown or folder}/{inner}"
        if path.is_file():
            found.append((inner, path, name))
        elif path.is_symlink():
            faults.append(Fault(name, 1, "is a link that leads nowhere; mend or remove it"))
    return [(path, name) for _, path, name in sorted(found)]
