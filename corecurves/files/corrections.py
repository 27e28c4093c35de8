"""Corrections of a curriculum, in either form, with the tokens that they add."""

from __future__ import annotations

from collections.abc import Mapping

from yaml.nodes import MappingNode, Node, SequenceNode

from corecurves.files.yaml_text import Reader
from corecurves.specs import Correction, Token
from corecurves.text import hits

__all__ = ["read_case", "read_corrections"]


def read_corrections(reader: Reader, node: Node) -> list[Correction]:
    """Corrections of a list: texts, or mappings with ``text`` and ``adds``."""
    found = []
    for item in reader.items(node, "corrections"):
        if not isinstance(item, MappingNode):
            text = reader.text(item, "corrections")
            found.append(Correction(text or "", line=reader.line(item)))
            continue
        table = reader.mapping(item, "a correction", required=("text",), optional=("adds",))
        if table is None:
            continue
        text = reader.text(table["text"], "text")
        adds = _tokens(reader, table["adds"]) if "adds" in table else []
        if text is not None:
            found.append(Correction(text, tuple(adds), line=reader.line(item)))
    if not found and isinstance(node, SequenceNode) and not node.value:
        reader.fault(node, "`corrections` is empty; write at least one")
    return found


def _tokens(reader: Reader, node: Node) -> list[Token]:
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return [token for token in (_token(reader, item) for item in nodes) if token is not None]


def _token(reader: Reader, node: Node) -> Token | None:
    if not isinstance(node, MappingNode):
        text = reader.text(node, "adds")
        return Token(text) if text else None
    table = reader.mapping(node, "a token", required=("token",), optional=("also",))
    if table is None:
        return None
    text = reader.text(table["token"], "token")
    also = reader.items(table["also"], "also") if "also" in table else ()
    forms = [form for form in (reader.text(item, "also") for item in also) if form]
    return Token(text, tuple(forms)) if text else None


def read_case(reader: Reader, table: Mapping[str, Node]) -> list[Correction]:
    """Corrections of a case: which token each one adds is read off the texts."""
    texts = [
        (reader.text(n, "curriculum"), reader.line(n))
        for n in reader.items(table["curriculum"], "curriculum")
    ]
    expected: list[Token] = []
    for item in reader.items(table["expected_tokens"], "expected_tokens"):
        expected += _tokens(reader, item)
    if not texts and isinstance(table["curriculum"], SequenceNode):
        reader.fault(table["curriculum"], "`curriculum` is empty; write at least one correction")
    if not expected and isinstance(table["expected_tokens"], SequenceNode):
        reader.fault(table["expected_tokens"], "`expected_tokens` is empty; write at least one")
    seen: set[str] = set()
    found = []
    for text, line in texts:
        stands = hits([token.forms for token in expected], text or "")
        new = [t for t, hit in zip(expected, stands, strict=True) if hit and t.text not in seen]
        seen |= {token.text for token in new}
        found.append(Correction(text or "", tuple(new), line=line))
    for token in expected if texts else ():
        if token.text not in seen:
            reader.fault(
                table["expected_tokens"],
                f"no correction introduces the token '{token.text}'; "
                "write a correction that does, or remove the token",
            )
    return found
