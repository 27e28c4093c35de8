"""Cases of ROSE-Bench (``rmc-bench.yaml``), as they are: a lesson and its task in one entry.

An entry of the kinds trap, detail and principle is a lesson with one episode; the others name the
lessons that they are about. Known-good and trap describe an answer, in one wording each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, Node

from corecurves.errors import unknown
from corecurves.files.pairs import check_outcome
from corecurves.files.yaml_text import Reader
from corecurves.specs.lesson import Episode, Lesson, Level, Outcome, ServedCase

if TYPE_CHECKING:
    from corecurves.files.bench_reader import Bench

__all__ = ["is_rose_case", "read_rose_cases"]

_ABOUT = {
    "multi": "requires",
    "distractor": "distractor_for",
    "conflict": "conflicting",
    "null": "",
}
"""Key that names the lessons of a case, by kind."""
_OWN = ("trap", "detail", "principle")
_OPTIONAL = ("family", "lesson", "trap", *filter(None, _ABOUT.values()), "extra_lesson")


def is_rose_case(node: Node) -> bool:
    """Whether an entry of ``cases`` is in the form of ROSE-Bench."""
    if not isinstance(node, MappingNode):
        return False
    keys = {getattr(key, "value", None) for key, _ in node.value}
    return "good" not in keys and not keys.isdisjoint({"expected", *_OPTIONAL} - {"trap"})


def read_rose_cases(bench: Bench, reader: Reader, nodes: list[Node]) -> None:
    """Add the entries of a file; what is wrong in them goes to the reader's faults."""
    others = []
    texts: dict[str, str] = {}
    for node in nodes:
        table = reader.mapping(
            node, "a case", required=("id", "kind", "task", "expected"), optional=_OPTIONAL
        )
        if table is None:
            continue
        own = bench.own_id(reader, table["id"])
        said = {key: (reader.text(table[key], key) or "").strip() for key in table
                if key not in _ABOUT.values()}  # fmt: skip
        outcome = Outcome((said["expected"],), (said["trap"],) if said.get("trap") else ())
        if said["expected"]:
            for (key, _), message in check_outcome(outcome, said["task"]):
                reader.fault(table[{"good": "expected"}.get(key, key)], message)
        if lesson := said.get("lesson"):
            texts[own] = lesson
        kind = said["kind"]
        if kind in _ABOUT:
            others.append((table, own, said, outcome))
        elif kind not in _OWN:
            reader.fault(table["kind"], unknown("kind", kind, (*_OWN, *_ABOUT)))
        elif not lesson:
            reader.fault(node, f"a {kind} case lacks `lesson`; write `lesson: …`")
        else:
            level = Level(0, lesson, f"{own}.L0", subtree=(f"{own}.L0",))
            family, title = said.get("family", ""), own.replace("-", " ")
            bench.lessons.append(Lesson(own, title, family, kind, (level,)))
            bench.episodes[own] = (Episode(f"{own}/task", said["task"], outcome, family=family),)
    for table, own, said, outcome in others:
        bench.cases.append(_served(bench, reader, table, own, said, texts, outcome))


def _served(
    bench: Bench,
    reader: Reader,
    table: Mapping[str, Node],
    own: str,
    said: Mapping[str, str],
    texts: Mapping[str, str],
    outcome: Outcome,
) -> ServedCase:
    key = _ABOUT[said["kind"]]
    named = [own] if own in texts else []
    if key in table:
        named = [reader.text(item, key) or "" for item in reader.items(table[key], key)]
    elif key and not named:
        reader.fault(table["kind"], f"a {said['kind']} case lacks `{key}`; write `{key}: […]`")
    there = dict(texts)
    if extra := said.get("extra_lesson", ""):
        # Its first line may be its id.
        head, _, rest = extra.partition("\n")
        label = head.removeprefix("id:").strip() if head.startswith("id:") else f"{own}-alt"
        there[label] = rest.strip() if head.startswith("id:") else extra
    for name in named:
        if name not in there:
            bench.notes.append(f"case {own}: the lesson '{name}' is not there to be served")
    lessons = {name: there[name] for name in named if name in there}
    return ServedCase(own, said["kind"], lessons, said["task"], outcome)
