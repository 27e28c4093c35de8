"""The node form of data that comes from elsewhere than YAML: JSON lines and Python values.

One validator reads them all, because all of them become the nodes that `yaml_text.Reader` walks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from corecurves.errors import Fault

__all__ = ["OtherNode", "json_lines", "value_node"]


class OtherNode(Node):
    """A value that is neither text nor a flag, a list or a mapping."""

    id = "other"


def value_node(value: object, *, line: int = -1) -> Node:
    """Node of a Python value."""
    mark = Mark("", 0, line, 0, None, 0)
    if value is None:
        return OtherNode("null", value, mark, mark)
    if isinstance(value, str):
        return ScalarNode("tag:yaml.org,2002:str", value, mark, mark)
    if isinstance(value, bool):
        return ScalarNode("tag:yaml.org,2002:bool", str(value).lower(), mark, mark)
    if isinstance(value, Mapping):
        pairs = [
            (value_node(key, line=line), value_node(item, line=line)) for key, item in value.items()
        ]
        return MappingNode("tag:yaml.org,2002:map", pairs, mark, mark)
    if isinstance(value, list | tuple):
        items = [value_node(item, line=line) for item in value]
        return SequenceNode("tag:yaml.org,2002:seq", items, mark, mark)
    return OtherNode(type(value).__name__, value, mark, mark)


def json_lines(text: str, name: str, faults: list[Fault]) -> list[Node]:
    """Nodes of the JSON objects in a text that has one a line."""
    found = []
    after = 0
    # Only \n ends a line: a reply may hold U+2028 and its like inside a string.
    lines = text.rstrip("\n").split("\n")
    for number, line in enumerate(lines):
        if not line.strip() or number < after:
            continue
        try:
            value = _DECODER.decode(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            message = f"is not JSON ({reason}); write one object a line"
            if line.strip()[-1] in "{[,:":
                after = number + _height(lines[number:])
                if after > number + 1:
                    message = f"is JSON over {after - number} lines; write each object on one line"
            faults.append(Fault(name, number + 1, message))
            continue
        found.append(_json_node(value, number))
    return found


def _height(lines: list[str]) -> int:
    """Lines of the JSON value that these begin with; where it has no end, up to the next object."""
    text = "\n".join(lines).lstrip()
    try:
        return text.count("\n", 0, _DECODER.raw_decode(text)[1]) + 1
    except (ValueError, RecursionError):
        return next((n for n, line in enumerate(lines) if n and _is_object(line)), len(lines))


def _is_object(line: str) -> bool:
    try:
        return line.startswith("{") and bool(_DECODER.decode(line))
    except (ValueError, RecursionError):
        return False


class _Pairs(list[tuple[str, Any]]):
    """Pairs of a JSON object, repeated keys included."""


def _json_node(value: object, line: int) -> Node:
    if isinstance(value, _Pairs):
        node = value_node({}, line=line)
        node.value = [(value_node(k, line=line), _json_node(v, line)) for k, v in value]
        return node
    if isinstance(value, list):
        node = value_node([], line=line)
        node.value = [_json_node(item, line) for item in value]
        return node
    return value_node(value, line=line)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs, parse_constant=_refuse)
