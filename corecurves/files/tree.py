"""A store drawn as text: levels, status, and what each level dropped."""

from __future__ import annotations

from pathlib import Path

from corecurves.errors import UsageError
from corecurves.files.graph import Graph, Node
from corecurves.files.layout import read_layout
from corecurves.files.store import open_store
from corecurves.specs import Store
from corecurves.text import count_tokens

__all__ = ["store_tree"]


def store_tree(source: str | Path | Store = "demo_store") -> str:
    """Lessons of a ROSE store with their levels, as indented text.

    Parameters
    ----------
    source : str, Path or Store
        The store, by name or folder; opened read-only.

    Returns
    -------
    str
        By family a line a node: id, level, status, o200k tokens and title; below it the claims that
        it dropped, with kind and holder, and the nodes made from it. A node that was made from
        several stands under each, whole the first time only. Faults and edges that lead nowhere are
        named at the end.

    Raises
    ------
    UsageError
        If there is no such store, or it is a bench.
    FileFaults
        If no lesson is left for the faults in its files.

    Examples
    --------
    >>> store_tree("demo_store").splitlines()[1].split(",")[0]
    '  interpreter-slot  L0 active'
    """
    store = open_store(source)
    if not store.path or not (Path(store.path) / "nodes").is_dir():
        raise UsageError(f"{store.name} has no nodes to draw; give a ROSE store, a folder of them")
    layout = read_layout(store.path, store.name)
    graph = layout.graph
    starts = {
        name
        for name, node in graph.nodes.items()
        if not any(graph.nodes[d].level <= node.level for d in graph.down[name])
    }
    seen: set[str] = set()
    lines: list[str] = []
    families = sorted({node.family for node in graph.nodes.values()})
    for family in families:
        own = sorted(name for name, node in graph.nodes.items() if node.family == family)
        drawn: list[str] = []
        # Nodes in a cycle start nowhere; what is still missing in the end is drawn for itself.
        for name in [*(n for n in own if n in starts), *own]:
            if name not in seen:
                _draw(graph, name, "  ", seen, drawn, ())
        if drawn:
            lines += [family or "(no family)", *drawn]
    notes = [*map(str, layout.faults), *graph.notes]
    return "\n".join([*lines, *(f"note: {note}" for note in notes)])


def _draw(
    graph: Graph, name: str, indent: str, seen: set[str], lines: list[str], path: tuple[str, ...]
) -> None:
    node = graph.nodes[name]
    head = f"{indent}{name}  L{node.level} {node.status}, {count_tokens(node.text)} tokens"
    if name in seen:
        lines.append(f"{head} (drawn above)")
        return
    seen.add(name)
    lines.append(f"{head}: {node.title}" if node.title else head)
    lines.extend(f"{indent}    dropped {_claim(node, i)}" for i in range(len(node.dropped)))
    for upper in sorted(graph.up[name]):
        if upper not in path and graph.nodes[upper].level >= node.level:
            _draw(graph, upper, f"{indent}  ", seen, lines, (*path, name))


def _claim(node: Node, i: int) -> str:
    claim = node.dropped[i]
    kind = f"{claim.kind}: " if claim.kind else ""
    return f"{kind}{claim.claim}" + (f" (held by {claim.holder})" if claim.holder else "")
