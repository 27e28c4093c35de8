"""Episodes beside lessons in Markdown: JSON lines, one an episode, or a YAML list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from yaml.nodes import MappingNode, Node, SequenceNode

from corecurves.errors import Fault, unknown
from corecurves.files.nodes import json_lines
from corecurves.files.pairs import check_outcome
from corecurves.files.yaml_text import Absent, Reader, read_text
from corecurves.names import look, taken
from corecurves.specs.lesson import Checks, Episode, Lesson, Outcome

__all__ = ["EPISODE_FILES", "read_episodes"]

EPISODE_FILES = ("episodes.jsonl", "episodes.yaml", "episodes.yml")
_OPTIONAL = ("id", "lesson", "trap", "checks", "created")


def read_episodes(
    folder: Path,
    shown: str,
    lessons: Mapping[str, Lesson],
    stems: Mapping[str, str],
    notes: list[str],
    faults: list[Fault],
    *,
    one: bool,
) -> dict[str, list[Episode]]:
    """Episodes of a folder, by lesson."""
    before = len(faults)
    # Of a lesson whose id could not be read, an episode is no second fault.
    whole = "" not in stems
    found: dict[str, list[Episode]] = {key: [] for key in (*lessons, *stems)}
    by_name = {look(stem): key for key, stem in stems.items()} | {look(key): key for key in stems}
    places: dict[str, tuple[str, str]] = {}
    files = [name for name in EPISODE_FILES if (folder / name).is_file()]
    if not files:
        faults.append(
            Fault(
                f"{shown}/{EPISODE_FILES[0]}",
                0,
                'is missing; write one episode a line: {"task": "…", "good": "…"}',
            )
        )
    number = 0
    for name in files:
        reader = Reader(f"{shown}/{name}", faults)
        for node in _nodes(reader, folder / name):
            number += 1
            _add(reader, node, number, by_name, lessons, found, places, one=one, whole=whole)
    if len(faults) == before:
        notes += [
            f"{stems[key]}.md: no episode is about it (`lesson: {key}` in {files[0]} makes one)"
            for key in lessons
            if not found[key]
        ]
    return found


def _nodes(reader: Reader, path: Path) -> Iterator[Node]:
    text = read_text(path, reader.name, reader.faults)
    if text is None:
        return
    if path.suffix == ".jsonl":
        yield from json_lines(text, reader.name, reader.faults)
        return
    root = reader.parse(text)
    if isinstance(root, MappingNode):
        table = reader.mapping(root, "a file of episodes", required=("episodes",))
        root = table["episodes"] if table else None
    if root is not None:
        yield from reader.items(root, "episodes")


def _add(
    reader: Reader,
    node: Node,
    number: int,
    by_name: Mapping[str, str],
    lessons: Mapping[str, Lesson],
    found: dict[str, list[Episode]],
    places: dict[str, tuple[str, str]],
    *,
    one: bool,
    whole: bool,
) -> None:
    table = reader.mapping(node, "an episode", required=("task", "good"), optional=_OPTIONAL)
    if table is None:
        return
    own = (reader.text(table["id"], "id") or "") if "id" in table else f"episode-{number}"
    place = f"also stands at {reader.name}:{reader.line(table.get('id', node))}"
    if message := taken(places, own, place):
        reader.fault(table.get("id", node), message)
    task = reader.text(table["task"], "task") or ""
    created = (reader.text(table["created"], "created") or "") if "created" in table else ""
    outcome = _outcome(reader, table, task)
    for key in _about(reader, node, table, by_name, lessons, one=one, whole=whole):
        # A copy would count as an observation of its own.
        same = [x.id for x in found[key] if (x.task, x.outcome) == (task, outcome)]
        if task and same:
            reader.fault(
                node, f"an episode is a copy of '{same[0]}', and would count twice; remove one"
            )
        family = lessons[key].family if key in lessons else ""
        found[key].append(Episode(own, task, outcome, family=family, created=created))


def _about(
    reader: Reader,
    node: Node,
    table: Mapping[str, Node],
    by_name: Mapping[str, str],
    lessons: Mapping[str, Lesson],
    *,
    one: bool,
    whole: bool,
) -> list[str]:
    """Ids of the lessons that an episode is about."""
    if "lesson" not in table:
        if not one:
            first = min(lessons, default="…")
            reader.fault(
                node, f"an episode lacks `lesson`, and there are several; write `lesson: {first}`"
            )
        return list(lessons) if one else []
    about = []
    for name in _texts(reader, table["lesson"], "lesson"):
        if look(name) in by_name:
            about.append(by_name[look(name)])
        elif whole and name:
            reader.fault(table["lesson"], unknown("lesson", name, sorted(lessons)))
    return list(dict.fromkeys(about))


def _outcome(reader: Reader, table: Mapping[str, Node], task: str) -> Outcome:
    before = len(reader.faults)
    good, trap = (
        tuple(_texts(reader, table[key], key)) if key in table else () for key in ("good", "trap")
    )
    checks = Checks()
    if "checks" in table:
        inner = reader.mapping(
            table["checks"], "`checks`", required=(), optional=("must", "must_not")
        )
        words = (
            tuple(_texts(reader, inner[key], key)) if inner and key in inner else ()
            for key in ("must", "must_not")
        )
        checks = Checks(*words)
    outcome = Outcome(good, trap, checks)
    if len(reader.faults) == before and not isinstance(table["good"], Absent):
        for (key, index), message in check_outcome(outcome, task):
            node = table.get(key, table["good"])
            if index is not None and isinstance(node, SequenceNode):
                node = node.value[index]
            reader.fault(node, message)
    return outcome


def _texts(reader: Reader, node: Node, key: str) -> Iterator[str]:
    """Texts of a list, or a text alone; an empty one keeps its place, so that pairs stay pairs."""
    items = node.value if isinstance(node, SequenceNode | Absent) else [node]
    for item in items:
        yield reader.text(item, key) or ""
