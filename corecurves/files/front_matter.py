"""Nodes of a store: Markdown with YAML front matter, read as real stores have it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from corecurves.blocks import lines_of
from corecurves.errors import Fault
from corecurves.files.graph import STATUSES
from corecurves.files.graph import Node as StoreNode
from corecurves.files.optional import dropped_claims, is_null, keys_of, text_of, texts_of
from corecurves.files.yaml_text import Reader

__all__ = ["late_front_matter", "past_lead", "plain", "read_node", "split_front_matter"]

_FENCE = "---"
_INVISIBLE = "\ufeff\u200b\u2060"
_KEY = r"[\w\"'-]+[ \t]*[:=]"
_LEAD = re.compile(
    rf"(?:[\s{_INVISIBLE}]|<!--(?:(?!-->).)*-->)+"
    rf"(?=---[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*{_KEY}|\+\+\+[ \t]*\n)",
    re.DOTALL,
)
"""What may stand before front matter, where it is that of a lesson of one's own."""
_KNOWN = (
    "id", "family", "title", "gist", "level", "status", "created", "derived_from", "parents",
    "compressed_into", "covers_tasks", "dropped", "preserve", "load_bearing", "stats", "kind",
    "planted", "compressor", "shown",
)  # fmt: skip


def split_front_matter(text: str) -> tuple[str, str] | None:
    r"""Front matter and body of a text.

    Examples
    --------
    >>> split_front_matter("---\nid: a\n---\nWear gloves.\n")
    ('\nid: a\n', 'Wear gloves.')
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return None
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in (_FENCE, "..."):
            return "\n".join(["", *lines[1:number], ""]), "\n".join(lines[number + 1 :]).strip("\n")
    return None


def past_lead(text: str) -> tuple[int, str]:
    r"""Text from its front matter on, where nothing that says anything stands before that.

    Examples
    --------
    >>> past_lead("\n<!-- mine -->\n---\nid: a\n---\nWear gloves.")
    (2, '---\nid: a\n---\nWear gloves.')
    >>> past_lead("\n---\nWear gloves.")
    (0, '\n---\nWear gloves.')
    """
    text = "\n".join(lines_of(text)).lstrip(_INVISIBLE)
    lead = _LEAD.match(text)
    if lead is None:
        return 0, text
    return lead[0].count("\n"), text[lead.end() :]


def late_front_matter(lines: Sequence[str]) -> int:
    """Line, from 1, at which something like front matter begins below other text; 0 for none."""
    for number in [n for n, line in enumerate(lines) if line.strip()][1:5]:
        rest = "\n".join(lines[number:])
        alone = lines[number - 1].lstrip()[:1] in ("", "#")
        if alone and re.match(
            rf"(---|\+\+\+)\s*\n\s*{_KEY}[^\n]*\n(?:.*\n)?\1\s*(?:\n|\Z)", rest, re.S
        ):
            return number + 1
    return 0


def read_node(
    text: str, name: str, faults: list[Fault], *, stem: str = "", family: str = ""
) -> StoreNode | None:
    r"""Node of a Markdown text.

    Examples
    --------
    >>> node = read_node("---\nid: 010\nlevel: 1\nowner: lab\n---\nWear gloves.", "a.md", [])
    >>> node.id, node.level, node.extra
    ('010', 1, {'owner': 'lab'})
    """
    parts = split_front_matter(text)
    if parts is None:
        message = f"has no front matter; begin and end it with a line `{_FENCE}`"
        faults.append(Fault(name, 1, message))
        return None
    header, body = parts
    reader = Reader(name, faults)
    before = len(faults)
    root = reader.parse(header)
    table = keys_of(reader, root) if root is not None else None
    if table is None:
        return None
    level = _depth(reader, table)
    status = text_of(reader, table, "status") or "active"
    if status not in STATUSES:
        reader.fault(table["status"], f"`status` is '{status}'; it may be {', '.join(STATUSES)}")
    own = _own_id(reader, table) or stem
    edges = {
        key: texts_of(reader, table, key)
        for key in ("derived_from", "parents", "compressed_into", "covers_tasks")
    }
    if not body.strip():
        faults.append(Fault(name, header.count("\n") + 1, "has no text below its front matter"))
    if level is None or len(faults) > before:
        return None
    named = {
        key: text_of(reader, table, key)
        for key in ("family", "title", "gist", "created", "kind", "planted", "compressor")
    }
    return StoreNode(
        id=own,
        family=named["family"] or family,
        title=named["title"],
        gist=named["gist"],
        level=level,
        text=body,
        status=status,
        created=named["created"],
        derived_from=edges["derived_from"],
        parents=tuple(dict.fromkeys(edges["parents"] + edges["compressed_into"])),
        covers_tasks=edges["covers_tasks"],
        dropped=tuple(dropped_claims(reader, table.get("dropped"))),
        preserve=texts_of(reader, table, "preserve"),
        load_bearing=texts_of(reader, table, "load_bearing"),
        stats=_stats(table.get("stats")),
        kind=named["kind"],
        planted=named["planted"],
        compressor=named["compressor"],
        shown=texts_of(reader, table, "shown") if "shown" in table else None,
        extra={key: plain(value) for key, value in table.items() if key not in _KNOWN},
    )


def plain(node: Node) -> object:
    """Value of a node: text as in the file, lists and mappings.

    Examples
    --------
    >>> import yaml
    >>> plain(yaml.compose("{a: no, b: [010, ~]}"))
    {'a': 'no', 'b': ['010', None]}
    """
    return _plain(node, {})


def _plain(node: Node, done: dict[int, object]) -> object:
    if id(node) in done:
        return done[id(node)]
    done[id(node)] = None
    value: object = None
    if isinstance(node, MappingNode):
        value = {
            str(key.value) if isinstance(key, ScalarNode) else str(_plain(key, done)): _plain(
                item, done
            )
            for key, item in node.value
        }
    elif isinstance(node, SequenceNode):
        value = [_plain(item, done) for item in node.value]
    elif not is_null(node):
        value = str(node.value)
    done[id(node)] = value
    return value


def _depth(reader: Reader, table: Mapping[str, Node]) -> int | None:
    node = table.get("level")
    if node is None:
        reader.fault(None, "the front matter lacks `level`; write 0 for a full lesson")
        return None
    value = node.value if isinstance(node, ScalarNode) else ""
    digits = value.strip().removeprefix("L")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 4):
        reader.fault(node, f"`level` is {value or 'no number'}; write 0, 1, 2 …")
        return None
    return int(digits)


def _own_id(reader: Reader, table: Mapping[str, Node]) -> str:
    """Id as the file has it: a node may be called null."""
    node = table.get("id")
    if node is None or (is_null(node) and not node.value):
        return ""
    return reader.text(node, "id") or ""


def _stats(node: Node | None) -> dict[str, float]:
    """Counts that are finite numbers; the others say nothing."""
    table = plain(node) if node is not None else None
    found: dict[str, float] = {}
    for key, value in table.items() if isinstance(table, dict) else ():
        try:
            number = float(value) if isinstance(value, str) else math.nan
        except ValueError:
            continue
        if math.isfinite(number):
            found[key] = number
    return found
