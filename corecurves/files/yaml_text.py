"""YAML in which text stays text, and every fault has its file and line.

Values are read from the node tree of ``yaml.compose``, never through a constructor: ``no``, ``010``
and ``13:45`` are what the file says. A `Reader` walks one file and collects what is wrong in it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from corecurves.errors import Fault

__all__ = ["Absent", "Reader", "read_text", "spelled"]

_KINDS = {MappingNode: "a mapping", SequenceNode: "a list", ScalarNode: "text"}
_JSON = (".json", ".jsonl")
_ADVICE = re.compile(r"`(\w+):(?: ([^`]*))?`")


class Absent(Node):
    """What stands for a key that is missing: the fault is told, and the rest is read."""

    id = "absent"


def spelled(fault: Fault) -> Fault:
    """Fault whose advice is spelled as its file is: JSON in a JSON file.

    Examples
    --------
    >>> print(spelled(Fault("cases.jsonl", 2, "lacks `probe`; write `probe: …`")))
    cases.jsonl:2: lacks `probe`; write `"probe": "…"`
    """
    if not fault.file.lower().endswith(_JSON):
        return fault
    message = _ADVICE.sub(_json_advice, fault.message)
    for yaml_word, json_word in (("one `- ` an item", "[…, …]"), ("a mapping", "an object")):
        message = message.replace(yaml_word, json_word)
    return replace(fault, message=message)


def _json_advice(match: re.Match[str]) -> str:
    key, value = match.groups()
    if value is None:
        return f'`"{key}"`'
    bare = value in ("true", "false") or value.startswith(("[", "{"))
    return f'`"{key}": {value}`' if bare else f'`"{key}": "{value}"`'


def read_text(path: Path, name: str, faults: list[Fault]) -> str | None:
    """Text of a UTF-8 file, with or without a byte-order mark."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        faults.append(Fault(name, 1, f"cannot be read ({error.strerror}); give a readable file"))
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        faults.append(Fault(name, line, "is not UTF-8 text; save the file as UTF-8"))
        return None
    if not text.strip():
        faults.append(Fault(name, 1, "is empty; write the content or remove the file"))
        return None
    return text


class Reader:
    """Walker over one YAML file that collects faults instead of stopping at the first.

    Parameters
    ----------
    name : str
        The file as the user named it.
    faults : list of Fault
        Where faults go.
    """

    def __init__(self, name: str, faults: list[Fault]) -> None:
        self.name = name
        self.faults = faults

    def fault(self, node: Node | None, message: str) -> None:
        """Add a fault at a node."""
        self.faults.append(Fault(self.name, self.line(node), message))

    @staticmethod
    def line(node: Node | None) -> int:
        """Line of a node, counted from 1."""
        return 1 if node is None else node.start_mark.line + 1

    def parse(self, text: str) -> Node | None:
        """Root node of a text; None where a fault was added."""
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            self.faults.append(
                Fault(self.name, line, f"holds the character {error.character!r}; remove it")
            )
            return None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = 1 if mark is None else mark.line + 1
            problem = " ".join((error.problem or "cannot be parsed").split())
            self.faults.append(
                Fault(self.name, line, f"is not YAML: {problem}; quote the text or mend the layout")
            )
            return None
        except RecursionError:
            self.faults.append(Fault(self.name, 1, "is nested too deeply; write it flat"))
            return None
        if root is None:
            self.faults.append(Fault(self.name, 1, "is empty; write the content or remove it"))
        return root

    def repeated(self, key: Node, first: Node, what: str) -> None:
        """Add the fault of a key that stands twice, with both lines."""
        one, two = self.line(first), self.line(key)
        where = f"first in line {one}" if one != two else "in one line"
        self.fault(key, f"`{key.value}` stands twice in {what}, {where}; keep one")

    def text(self, node: Node, what: str) -> str | None:
        """Text of a scalar node exactly as the file has it."""
        if isinstance(node, Absent):
            return None
        if not isinstance(node, ScalarNode):
            self.fault(node, f"`{what}` is {_kind(node)}; write text")
            return None
        value = str(node.value)
        if not value.strip():
            self.fault(node, f"`{what}` is empty; write text")
            return None
        return value

    def flag(self, node: Node, what: str) -> bool | None:
        """Value of a node that says true or false."""
        is_flag = isinstance(node, ScalarNode) and node.tag == "tag:yaml.org,2002:bool"
        value = str(node.value).lower() if is_flag else None
        if value not in ("true", "false"):
            shown = repr(node.value) if isinstance(node, ScalarNode) else _kind(node)
            self.fault(node, f"`{what}` is {shown}; write true or false")
            return None
        return bool(value == "true")

    def items(self, node: Node, what: str) -> Iterator[Node]:
        """Nodes of a list."""
        if isinstance(node, Absent):
            return
        if not isinstance(node, SequenceNode):
            self.fault(node, f"`{what}` is {_kind(node)}; write a list, one `- ` an item")
            return
        yield from node.value

    def mapping(
        self, node: Node, what: str, *, required: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, Node] | None:
        """Nodes of a mapping by key; unknown, missing and repeated keys are faults."""
        if isinstance(node, Absent):
            return None
        if not isinstance(node, MappingNode):
            self.fault(node, f"{what} is {_kind(node)}; write `{required[0]}: …`")
            return None
        known = [*required, *optional]
        found: dict[str, Node] = {}
        places: dict[str, Node] = {}
        for key_node, value in node.value:
            key = str(key_node.value) if isinstance(key_node, ScalarNode) else ""
            if key in found:
                self.repeated(key_node, places[key], what)
            elif key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                instead = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(known)}"
                self.fault(key_node, f"{what} has no key `{key}`; {instead}")
            else:
                found[key], places[key] = value, key_node
        for key in required:
            if key not in found:
                self.fault(node, f"{what} lacks `{key}`; write `{key}: …`")
                found[key] = Absent("absent", [], node.start_mark, node.end_mark)
        return found


def _kind(node: Node) -> str:
    known = next((text for kind, text in _KINDS.items() if isinstance(node, kind)), None)
    return known or f"a value of type {str(node.tag).removeprefix('builtins.')}"
