"""Reading of one bench file after another: lessons, episodes and cases, with every fault."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from yaml.nodes import Node, SequenceNode

from corecurves.errors import unknown
from corecurves.files.pairs import check_levels, check_outcome
from corecurves.files.rose_cases import is_rose_case, read_rose_cases
from corecurves.files.yaml_text import Absent, Reader
from corecurves.names import taken
from corecurves.specs.lesson import (
    DROPPED_KINDS,
    Checks,
    Dropped,
    Episode,
    Lesson,
    Level,
    Outcome,
    ServedCase,
)

__all__ = ["Bench"]

_KINDS = ("trap", "detail", "principle")
_LEVEL_KEYS = (
    "dropped", "planted", "created", "compressor", "shown", "load_bearing", "preserve",
)  # fmt: skip
_CASE_KINDS = {"multi": 2, "distractor": 1, "conflict": 2, "null": 0}
"""Kinds of case, with the fewest lessons that each is about."""


@dataclass
class Bench:
    """What was read so far, over all files.

    Parameters
    ----------
    strict : bool
        Whether every outcome needs a trap and at least two wordings of both.
    lessons : list of Lesson
        In the order of the files.
    episodes : dict of str to tuple of Episode
        By lesson.
    cases : list of ServedCase
        In the order of the files.
    places : dict of str to tuple of str
        Where each id stands: lessons and cases share one Dataset's labels.
    notes : list of str
        What to know, and no fault.
    """

    strict: bool
    lessons: list[Lesson] = field(default_factory=list)
    episodes: dict[str, tuple[Episode, ...]] = field(default_factory=dict)
    cases: list[ServedCase] = field(default_factory=list)
    places: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def own_id(self, reader: Reader, node: Node) -> str:
        """Id of a lesson or case, which no other has."""
        return _id(reader, node, self.places)

    def read(self, reader: Reader, root: Node) -> None:
        """Add what a file holds; what is wrong in it goes to the reader's faults."""
        table = reader.mapping(
            root, "a bench file", required=(), optional=("version", "family", "lessons", "cases")
        )
        if table is None:
            return
        family = (reader.text(table["family"], "family") or "") if "family" in table else ""
        if "lessons" in table and "family" not in table:
            reader.fault(root, "a bench file with lessons lacks `family`; write `family: …`")
        for node in reader.items(table["lessons"], "lessons") if "lessons" in table else ():
            self._lesson(reader, node, family)
        cases = list(reader.items(table["cases"], "cases")) if "cases" in table else []
        rose = [node for node in cases if is_rose_case(node)]
        read_rose_cases(self, reader, rose)
        for node in cases:
            if node not in rose:
                self._case(reader, node)

    def _lesson(self, reader: Reader, node: Node, family: str) -> None:
        table = reader.mapping(
            node, "a lesson",
            required=("id", "title", "kind", "levels", "episodes"), optional=("demo",),
        )  # fmt: skip
        if table is None:
            return
        own = self.own_id(reader, table["id"])
        title = reader.text(table["title"], "title") or ""
        kind = _kind(reader, table["kind"], list(_KINDS))
        demo = bool(reader.flag(table["demo"], "demo")) if "demo" in table else False
        levels = tuple(_levels(reader, table["levels"], own))
        inner: dict[str, tuple[str, str]] = {}
        episodes = [
            episode
            for item in reader.items(table["episodes"], "episodes")
            if (episode := self._episode(reader, item, own, family, inner)) is not None
        ]
        if not levels or not own:
            return
        self.lessons.append(Lesson(own, title, family, kind, levels, demo))
        self.episodes[own] = tuple(episodes)

    def _episode(
        self,
        reader: Reader,
        node: Node,
        lesson: str,
        family: str,
        places: dict[str, tuple[str, str]],
    ) -> Episode | None:
        table = reader.mapping(
            node, "an episode",
            required=("id", "task", "good"), optional=("trap", "checks", "ceiling"),
        )  # fmt: skip
        if table is None:
            return None
        own = _id(reader, table["id"], places)
        task = reader.text(table["task"], "task") or ""
        outcome = _outcome(reader, table, task, strict=self.strict)
        ceiling = reader.text(table["ceiling"], "ceiling") if "ceiling" in table else ""
        return Episode(f"{lesson}/{own}", task, outcome, family=family, ceiling=ceiling or "")

    def _case(self, reader: Reader, node: Node) -> None:
        table = reader.mapping(
            node, "a case",
            required=("id", "kind", "lessons", "task", "good"), optional=("trap", "checks"),
        )  # fmt: skip
        if table is None:
            return
        own = self.own_id(reader, table["id"])
        kind = _kind(reader, table["kind"], list(_CASE_KINDS))
        places: dict[str, tuple[str, str]] = {}
        lessons: dict[str, str] = {}
        for item in reader.items(table["lessons"], "lessons"):
            inner = reader.mapping(item, "a case's lesson", required=("id", "text"))
            if inner is not None:
                label = _id(reader, inner["id"], places)
                lessons.setdefault(label, reader.text(inner["text"], "text") or "")
        least = _CASE_KINDS.get(kind, 0)
        if len(lessons) < least and isinstance(table["lessons"], SequenceNode):
            reader.fault(
                table["lessons"],
                f"a {kind} case has {len(lessons)} of at least {least} lessons; write them",
            )
        task = reader.text(table["task"], "task") or ""
        outcome = _outcome(reader, table, task, strict=self.strict)
        self.cases.append(ServedCase(own, kind, lessons, task, outcome))


def _levels(reader: Reader, node: Node, lesson: str) -> Iterator[Level]:
    nodes = list(reader.items(node, "levels"))
    if not nodes and isinstance(node, SequenceNode):
        reader.fault(node, "`levels` has no level; write at least the full text")
    found: list[tuple[Level, Node]] = []
    for depth, item in enumerate(nodes):
        table = reader.mapping(item, "a level", required=("text",), optional=_LEVEL_KEYS)
        if table is None:
            continue
        holders = [f"{start}L{i}" for start in ("", f"{lesson}.") for i in range(depth)]
        dropped = [
            claim
            for entry in (reader.items(table["dropped"], "dropped") if "dropped" in table else ())
            if (claim := _dropped(reader, entry, holders)) is not None
        ]
        if depth and not dropped:
            message = f"level L{depth} has no `dropped`; list the claims that L{depth - 1} held"
            reader.fault(table.get("dropped", item), message)
        text = reader.text(table["text"], "text")
        level = Level(
            depth,
            text or "",
            f"{lesson}.L{depth}",
            tuple(dropped),
            subtree=tuple(f"{lesson}.L{i}" for i in range(depth + 1)),
            shown=tuple(_texts(reader, table, "shown")) if "shown" in table else None,
            planted=_text(reader, table, "planted"),
            created=_text(reader, table, "created"),
            compressor=_text(reader, table, "compressor"),
            load_bearing=tuple(_texts(reader, table, "load_bearing")),
            preserve=tuple(_texts(reader, table, "preserve")),
        )
        found.append((level, table["text"]))
    for at, message in check_levels([level for level, _ in found]):
        reader.fault(found[at][1], message)
    yield from (level for level, _ in found)


def _dropped(reader: Reader, node: Node, holders: list[str]) -> Dropped | None:
    table = reader.mapping(
        node, "a dropped claim", required=("claim",), optional=("kind", "holder")
    )
    if table is None:
        return None
    holder = _text(reader, table, "holder")
    if holder and holder not in holders:
        reader.fault(table["holder"], unknown("holder", holder, holders))
    kind = _kind(reader, table["kind"], list(DROPPED_KINDS)) if "kind" in table else ""
    return Dropped(reader.text(table["claim"], "claim") or "", kind, holder)


def _text(reader: Reader, table: dict[str, Node], key: str) -> str:
    return (reader.text(table[key], key) or "") if key in table else ""


def _outcome(reader: Reader, table: dict[str, Node], task: str, *, strict: bool) -> Outcome:
    before = len(reader.faults)
    good = tuple(_texts(reader, table, "good"))
    trap = tuple(_texts(reader, table, "trap"))
    checks = Checks()
    if "checks" in table:
        inner = reader.mapping(
            table["checks"], "`checks`", required=(), optional=("must", "must_not")
        )
        if inner is not None:
            checks = Checks(*(tuple(_texts(reader, inner, key)) for key in ("must", "must_not")))
    outcome = Outcome(good, trap, checks)
    if len(reader.faults) > before or isinstance(table["good"], Absent):
        return outcome  # what is no list has neither pairs nor tokens
    for (key, index), message in check_outcome(outcome, task, strict=strict):
        node = table.get(key, table["good"])
        if index is not None and isinstance(node, SequenceNode):
            node = node.value[index]
        reader.fault(node, message)
    return outcome


def _texts(reader: Reader, table: dict[str, Node], key: str) -> Iterator[str]:
    for item in reader.items(table[key], key) if key in table else ():
        # An empty one keeps its place, so that the pairs stay pairs.
        yield reader.text(item, key) or ""


def _kind(reader: Reader, node: Node, kinds: list[str]) -> str:
    kind = reader.text(node, "kind") or ""
    if kind and kind not in kinds:
        reader.fault(node, unknown("kind", kind, kinds))
    return kind


def _id(reader: Reader, node: Node, places: dict[str, tuple[str, str]]) -> str:
    own = reader.text(node, "id") or ""
    place = f"also stands at {reader.name}:{reader.line(node)}"
    if message := taken(places, own, place):
        reader.fault(node, message)
    if "/" in own:
        reader.fault(node, f"the id '{own}' has a / in it; write another sign")
    return own
