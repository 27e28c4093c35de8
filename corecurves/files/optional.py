"""Keys of front matter, which may be missing, null or empty; unknown ones are for the caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from yaml.nodes import MappingNode, Node, ScalarNode

from corecurves.files.yaml_text import Reader
from corecurves.specs.lesson import Dropped

__all__ = ["dropped_claims", "is_null", "keys_of", "text_of", "texts_of"]

_NULL = "tag:yaml.org,2002:null"


def is_null(node: Node) -> bool:
    """Whether a node is an unquoted ``null``, ``~`` or nothing."""
    return isinstance(node, ScalarNode) and node.tag == _NULL


def keys_of(reader: Reader, root: Node) -> dict[str, Node] | None:
    """Nodes by key: unknown keys are kept, a repeated one is a fault."""
    if not isinstance(root, MappingNode):
        reader.fault(root, "the front matter is no mapping; write `id: …`")
        return None
    found: dict[str, tuple[Node, Node]] = {}
    for key_node, value in root.value:
        key = str(key_node.value) if isinstance(key_node, ScalarNode) else ""
        if key in found:
            reader.repeated(key_node, found[key][0], "the front matter")
        found.setdefault(key, (key_node, value))
    return {key: value for key, (_, value) in found.items()}


def text_of(reader: Reader, table: Mapping[str, Node], key: str) -> str:
    """Text of an optional key."""
    node = table.get(key)
    if node is None or is_null(node) or (isinstance(node, ScalarNode) and not node.value.strip()):
        return ""
    return reader.text(node, key) or ""


def texts_of(reader: Reader, table: Mapping[str, Node], key: str) -> tuple[str, ...]:
    """Texts of an optional list, each once; a single text is a list of one."""
    node = table.get(key)
    if node is None or is_null(node):
        return ()
    items = [node] if isinstance(node, ScalarNode) else reader.items(node, key)
    found = (reader.text(item, key) for item in items)
    return tuple(dict.fromkeys(text for text in found if text))


def dropped_claims(reader: Reader, node: Node | None) -> Iterator[Dropped]:
    """Claims of ``dropped``: texts, or mappings with ``claim``, ``kind`` and ``holder``."""
    if node is None or is_null(node):
        return
    for item in reader.items(node, "dropped"):
        if isinstance(item, ScalarNode):
            claim = reader.text(item, "dropped")
            if claim:
                yield Dropped(claim)
            continue
        table = keys_of(reader, item)
        if table is None:
            continue
        claim, kind, holder = (text_of(reader, table, key) for key in ("claim", "kind", "holder"))
        if claim:
            yield Dropped(claim, kind, holder)
        else:
            reader.fault(item, "an entry of `dropped` lacks `claim`; write what was dropped")
