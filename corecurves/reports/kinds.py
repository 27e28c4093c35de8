"""Kinds of values that a parameter takes, read from its annotation or from its default."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "ANY",
    "Expression",
    "Kind",
    "MisfitError",
    "fit",
    "kind_of_annotation",
    "kind_of_default",
]


class MisfitError(ValueError):
    """A value that is not of the kind."""


@dataclass(frozen=True)
class Expression:
    """A default that is no literal, so only the running notebook knows its value.

    Parameters
    ----------
    source : str
        The Python text of it.
    """

    source: str

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True)
class Kind:
    """What a parameter takes.

    Parameters
    ----------
    name : str
        ``bool``, ``int``, ``float``, ``str``, ``None``, ``list``, ``tuple``, ``dict``, ``choice``,
        ``union`` or ``any``.
    parts : tuple of Kind
        Kinds of the items of a list or tuple, of the values of a dict, of the members of a union.
    choices : tuple
        The values of a choice.
    fixed : bool
        Whether a tuple has exactly the parts that are listed.
    """

    name: str
    parts: tuple[Kind, ...] = ()
    choices: tuple[object, ...] = ()
    fixed: bool = False

    def __str__(self) -> str:
        inner = ", ".join(str(part) for part in self.parts)
        if self.name == "choice":
            return " or ".join(repr(choice) for choice in self.choices)
        if self.name == "union":
            return " or ".join(str(part) for part in self.parts)
        if self.name == "tuple" and self.parts and not self.fixed:
            return f"tuple[{inner}, ...]"
        if self.name == "dict":
            return f"dict[str, {inner}]" if inner else "dict[str, any]"
        return f"{self.name}[{inner}]" if self.parts else self.name


ANY = Kind("any")
_SCALARS = {name: Kind(name) for name in ("bool", "int", "float", "str", "None")}
_NAMED = {
    **_SCALARS,
    "list": Kind("list", (ANY,)),
    "Sequence": Kind("list", (ANY,)),
    "tuple": Kind("tuple", (ANY,)),
    "dict": Kind("dict", (ANY,)),
    "Mapping": Kind("dict", (ANY,)),
    "Path": Kind("str"),
}


def kind_of_annotation(annotation: str) -> Kind:
    """Kind that an annotation declares.

    Examples
    --------
    >>> str(kind_of_annotation("tuple[str, ...] | None"))
    'tuple[str, ...] or None'
    """
    try:
        return _of_node(ast.parse(annotation, mode="eval").body)
    except SyntaxError:
        return ANY


def _of_node(node: ast.expr) -> Kind:
    if isinstance(node, ast.Constant):
        if node.value is None:
            return _SCALARS["None"]
        return kind_of_annotation(node.value) if isinstance(node.value, str) else ANY
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([_of_node(node.left), _of_node(node.right)])
    if isinstance(node, ast.Subscript):
        return _of_subscript(_last_name(node.value), node.slice)
    name = _last_name(node)
    return _NAMED.get(name, _NAMED.get(name.lower(), ANY))


def _of_subscript(name: str, index: ast.expr) -> Kind:
    nodes = index.elts if isinstance(index, ast.Tuple) else [index]
    if name == "Literal":
        return Kind("choice", choices=tuple(ast.literal_eval(node) for node in nodes))
    if name == "Optional":
        return _union([_of_node(nodes[0]), _SCALARS["None"]])
    if name == "Union":
        return _union([_of_node(node) for node in nodes])
    base = _NAMED.get(name, _NAMED.get(name.lower(), ANY))
    if base.name == "tuple":
        last = nodes[-1]
        if isinstance(last, ast.Constant) and last.value is Ellipsis:
            return Kind("tuple", (_of_node(nodes[0]),))
        return Kind("tuple", tuple(_of_node(node) for node in nodes), fixed=True)
    if base.name in ("list", "dict"):
        return Kind(base.name, (_of_node(nodes[-1]),))
    return base


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _union(kinds: Sequence[Kind]) -> Kind:
    parts: list[Kind] = []
    for kind in kinds:
        parts += kind.parts if kind.name == "union" else [kind]
    return ANY if ANY in parts else Kind("union", tuple(dict.fromkeys(parts)))


def kind_of_default(default: object) -> Kind:
    """Kind that a default shows.

    Examples
    --------
    >>> str(kind_of_default(("taught", "control")))
    'tuple[str, ...]'
    """
    if default is None or isinstance(default, Expression):
        return ANY
    if isinstance(default, list | tuple):
        kinds = {kind_of_default(item) for item in default}
        if kinds == {_SCALARS["int"], _SCALARS["float"]}:
            kinds = {_SCALARS["float"]}
        return Kind(type(default).__name__, (kinds.pop() if len(kinds) == 1 else ANY,))
    if isinstance(default, dict):
        return Kind("dict", (ANY,))
    return _SCALARS.get(type(default).__name__, ANY)


def fit(kind: Kind, value: object) -> object:
    """Value as its kind has it.

    Examples
    --------
    >>> fit(kind_of_default((0.5,)), [1, 2])
    (1.0, 2.0)
    """
    if kind.name == "any":
        return value
    if kind.name == "union":
        return _first(kind.parts, value)
    if kind.name == "choice":
        if any(value == choice and type(value) is type(choice) for choice in kind.choices):
            return value
    elif kind.name in ("list", "tuple"):
        if isinstance(value, list | tuple):
            return _fit_items(kind, value)
    elif kind.name == "dict":
        if isinstance(value, dict):
            part = kind.parts[0] if kind.parts else ANY
            return {key: fit(part, item) for key, item in value.items()}
    elif kind.name == "float":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif type(value).__name__ == kind.name or (value is None and kind.name == "None"):
        return value
    raise MisfitError(f"{value!r} is no {kind}")


def _fit_items(kind: Kind, value: Sequence[object]) -> object:
    parts = kind.parts if kind.fixed else (kind.parts or (ANY,)) * len(value)
    if len(parts) != len(value):
        raise MisfitError(f"{len(value)} items instead of {len(parts)}")
    items = [fit(part, item) for part, item in zip(parts, value, strict=True)]
    return tuple(items) if kind.name == "tuple" else items


def _first(kinds: Sequence[Kind], value: object) -> object:
    for kind in kinds:
        try:
            return fit(kind, value)
        except MisfitError:
            continue
    raise MisfitError(f"{value!r} is none of {', '.join(map(str, kinds))}")
