"""Copies of stores with new levels; the store itself is only read.

The copy is made in a folder beside its target and renamed in the end, so that what stands at the
target is whole or is not there.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from corecurves.errors import UsageError
from corecurves.files.bench_writer import dump_yaml, write_bench
from corecurves.files.front_matter import read_node
from corecurves.files.graph import Node, link
from corecurves.files.layout import read_layout
from corecurves.files.notes_copy import is_notes, write_notes_levels
from corecurves.files.store import open_store, refuse_inside
from corecurves.names import stem_of
from corecurves.specs.lesson import Lesson, Level, Store

__all__ = ["check_copy", "is_rose", "node_names", "write_copy"]

_STATUS = re.compile(r"""^["']?status["']?\s*:""")
_STANDING = ("active", "merged")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def is_rose(store: Store) -> bool:
    """Whether a store is the folder of a ROSE store, and not a bench or made in memory.

    Examples
    --------
    >>> is_rose(open_store("demo_store")), is_rose(Store("in memory", (), {}))
    (True, False)
    """
    return bool(store.path) and (Path(store.path) / "nodes").is_dir()


def check_copy(store: Store, out: str | Path) -> Path:
    """Target of a copy, refused before anything is spent where it cannot be one."""
    target = Path(out).absolute()
    refuse_inside(store, target, "copy")
    if target.exists() and not target.is_dir():
        raise UsageError(f"`out` is {out}, a file; give a folder that is not there yet")
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"`out` is {out}, which has something in it; give an empty or new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"`out` is {out}, which cannot be made ({error.strerror})") from error
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{target.parent} cannot be written to; give a folder of your own")
    if not is_rose(store) and not is_notes(store):
        with tempfile.TemporaryDirectory() as folder:
            write_bench(store, Path(folder))
    return target


def node_names(store: Store) -> set[str]:
    """Ids that new nodes of a copy must not have."""
    return set(read_layout(store.path).graph.nodes) if is_rose(store) else set()


def write_copy(
    store: Store, result: Store, made: Mapping[str, tuple[Level, ...]], out: Path
) -> Store:
    """Write a copy of a store with new levels.

    A ROSE store is copied file by file, byte for byte. In the copy the old levels of each lesson
    named are archived, but for those that stand for another lesson too, and each new level is a
    file beside its L0. A folder of lessons in Markdown is copied likewise; there the old levels are
    hidden. Any other store is written as a bench.
    """
    work = out.parent / f".{out.name}.{secrets.token_hex(4)}.partial"
    try:
        work.mkdir()
        if is_rose(store):
            _copy_tree(Path(store.path), work, ())
            nodes = _nodes(work)
            _archive(store, made, nodes)
            for lesson in store.lessons:
                for level in made.get(lesson.id, ()):
                    _add(work, nodes, lesson, level)
            back = open_store(work)
            _check(back, made)
        elif is_notes(store):
            _copy_tree(Path(store.path), work, ())
            back = write_notes_levels(work, made)
            _check(back, made)
        else:
            back = write_bench(result, work)
        if out.exists():
            out.rmdir()
        work.rename(out)
        return replace(back, name=out.name, path=str(out))
    except OSError as error:
        what = error.strerror or error
        raise UsageError(f"the copy {out} cannot be written ({what}); nothing is there") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _copy_tree(source: Path, target: Path, chain: tuple[Path, ...]) -> None:
    """Files by their bytes; what links lead to is copied, so that the copy stands alone."""
    real = source.resolve()
    if real in chain:
        raise UsageError(f"{source} is a link to a folder that it lies in; the copy has no end")
    for path in sorted(source.iterdir()):
        if path.is_dir():
            (target / path.name).mkdir()
            _copy_tree(path, target / path.name, (*chain, real))
        elif path.is_file():
            shutil.copyfile(path, target / path.name)


def _nodes(folder: Path) -> dict[str, tuple[Path, Node]]:
    """Nodes with their files: of two with one id the first by path, as the reader has it."""
    found: dict[str, tuple[Path, Node]] = {}
    paths = [p for p in (folder / "nodes").rglob("*") if p.suffix.lower() == ".md" and p.is_file()]
    for path in sorted(paths, key=lambda p: p.relative_to(folder).as_posix()):
        text = path.read_bytes().decode("utf-8-sig", "replace")
        stem, hidden = stem_of(path), path.name.startswith(".")
        node = None if hidden else read_node(text, path.name, [], stem=stem)
        if node is not None:
            found.setdefault(node.id, (path, node))
    return found


def _archive(
    store: Store, made: Mapping[str, tuple[Level, ...]], nodes: Mapping[str, tuple[Path, Node]]
) -> None:
    """Set the status of the old levels of lessons, but for those of another lesson too."""
    graph = link({name: node for name, (_, node) in nodes.items()})
    roots = [node for _, node in nodes.values() if node.level == 0 and node.status in _STANDING]
    shared = {name for root in roots if root.id not in made for name in graph.above(root.id)}
    for name in sorted({name for lesson in made for name in graph.above(lesson)} - shared):
        path, node = nodes[name]
        if node.level > 0 and node.status in _STANDING:
            path.write_bytes(_archived(path.read_bytes(), path, store.name))


def _archived(raw: bytes, path: Path, shown: str) -> bytes:
    """File with its status changed, and every other byte as it was."""
    lines = _LINES.findall(raw.decode("utf-8"))
    end = next(i for i, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "..."))
    here = [i for i, line in enumerate(lines[1:end], 1) if _STATUS.match(line)]
    at = here[0] if here else end
    tail = re.search(r"[\r\n]*\Z", lines[at - 1])
    new = f"status: archived{tail[0] if tail else ''}"
    lines[at : at + len(here[:1])] = [new]
    text = "".join(lines)
    node = read_node(text.removeprefix("\ufeff"), path.name, [], stem=stem_of(path))
    if node is None or node.status != "archived":
        raise UsageError(
            f"{shown}: the status in {path.name} cannot be changed; write it as a line of its own, "
            "`status: active`"
        )
    return text.encode("utf-8")


def _add(work: Path, nodes: Mapping[str, tuple[Path, Node]], lesson: Lesson, level: Level) -> None:
    """A file for a new level, beside its L0."""
    full = lesson.level(0)
    below = level.subtree[1] if len(level.subtree) > 1 else ""
    folder = nodes[full.node][0].parent if full and full.node in nodes else work / "nodes"
    table = {
        "id": level.node,
        "family": lesson.family,
        "title": lesson.title,
        "level": level.depth,
        "status": "active",
        "created": level.created,
        "derived_from": [below],
        "dropped": [claim.content() for claim in level.dropped],
        "compressor": level.compressor,
        "shown": list(level.shown or ()),
    }
    stem = re.sub(r"[^\w.-]+", "_", level.node).lstrip(".") or "level"
    path = folder / f"{stem}.md"
    while path.exists():
        path = path.with_name(f"{path.stem}-2.md")
    path.write_text(f"---\n{dump_yaml(table)}---\n\n{level.text}\n", encoding="utf-8", newline="\n")


def _check(back: Store, made: Mapping[str, tuple[Level, ...]]) -> None:
    """That the copy opens with the new levels."""
    lessons = {lesson.id: lesson for lesson in back.lessons}
    for name, levels in made.items():
        for level in levels:
            found = lessons[name].level(level.depth) if name in lessons else None
            if found != level:
                raise UsageError(
                    f"the copy does not read back: {level.name} of {name} is not what was made; "
                    "look whether its node lies in several lessons"
                )
