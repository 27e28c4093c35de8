"""Opening of a store: lessons in their levels, and the episodes recorded with them.

Files are opened for reading, and for nothing else. What cannot be read or used is named in
`Store.skipped`, each with its reason; nothing is left out without a word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corecurves.bundled import bundled_path
from corecurves.errors import Fault, FileFaults, UsageError, unknown
from corecurves.files.bench import bench_files, load_bench, looks_like_bench
from corecurves.files.front_matter import read_node
from corecurves.files.graph import Graph, Node, lessons_of, link
from corecurves.files.markdown import load_markdown, looks_like_markdown
from corecurves.files.recorded import Recorded, read_episode
from corecurves.files.yaml_text import read_text
from corecurves.names import stem_of, taken
from corecurves.specs.lesson import Episode, Lesson, Store
from corecurves.text import counted

__all__ = [
    "STORES",
    "Layout",
    "find_store",
    "is_store",
    "open_store",
    "read_layout",
    "refuse_inside",
]

STORES = ("rose_bench", "demo_store", "own_notes")
"""Bundled stores, by name."""
_HIDDEN = (".rose", ".rmc")


@dataclass(frozen=True)
class Layout:
    """Everything in a store's folder, usable or not.

    Parameters
    ----------
    graph : Graph
        Nodes and edges.
    recorded : mapping of str to Recorded
        Episodes by id.
    faults : tuple of Fault
        What is wrong in the files; each of those was read as far as its fault allows.
    """

    graph: Graph
    recorded: Mapping[str, Recorded]
    faults: tuple[Fault, ...] = ()


def open_store(source: str | Path | Store = "rose_bench", *, strict: bool = False) -> Store:
    """Store by name or folder, read-only.

    Parameters
    ----------
    source : str, Path or Store
        ``"rose_bench"``, ``"demo_store"`` or ``"own_notes"``; a ROSE store (a folder with
        ``nodes``, or one in or under a folder with ``.rose`` or ``.rmc``); a bench (a YAML file, or
        a folder of them); a folder of lessons in Markdown with their ``episodes.jsonl``, see
        `Store.from_markdown`. A Store is returned as it is.
    strict : bool
        Whether any fault in a ROSE store's files is raised, and a bench needs traps and two
        wordings of everything, as the bundled one does. Otherwise a file of a ROSE store with a
        fault is named in `Store.skipped`, and the others are used. The faults of a bench or of
        lessons in Markdown are always raised: they are written by hand, and whole.

    Returns
    -------
    Store
        Lessons, usable episodes under each lesson that they used in whatever level, and what was
        skipped.

    Raises
    ------
    UsageError
        If there is no such store, or no lesson in it.
    FileFaults
        If something is wrong in a bench or a Markdown folder; in a ROSE store, if something is and
        `strict` is true or no lesson is left. Every fault, with file and line.

    Examples
    --------
    >>> open_store("demo_store").lessons[0].level(0).name
    'L0'
    """
    if isinstance(source, Store):
        return source
    if not isinstance(source, str | Path):
        raise UsageError(
            f"`store` is {source!r}; give a name, a folder or a Store ({', '.join(STORES)})"
        )
    is_name = isinstance(source, str) and source in STORES
    path = bundled_path("episodes", str(source)) if is_name else Path(source)
    shown = f"episodes/{source}" if is_name else str(source)
    if not path.exists():
        known = unknown("store", str(source), STORES)
        raise UsageError(f"{known}; nor is it a file or folder")
    folder = None if path.is_file() else _store_here(path)
    if folder is None and bench_files(path):
        return load_bench(path, shown=shown, strict=strict or is_name)
    if folder is None and _is_markdown(path):
        return load_markdown(path, shown=shown)
    if folder is None:
        folder = find_store(path)
    if folder != path:
        shown = str(folder)
    return _open(folder, shown, strict=strict)


def is_store(source: str | Path) -> bool:
    """Whether a name, file or folder is a store, a bench or a Markdown folder, by its looks.

    Parameters
    ----------
    source : str or Path
        Name of a bundled store, or a path.

    Returns
    -------
    bool
        True where `open_store` would read it; it may be wrong inside.

    Examples
    --------
    >>> is_store("demo_store"), is_store("public")
    (True, False)
    """
    path = Path(source)
    if not path.exists():
        return str(source) in STORES
    if path.is_dir() and (_store_here(path) is not None or _is_markdown(path)):
        return True
    return any(looks_like_bench(file) for file in bench_files(path))


def find_store(start: str | Path = ".") -> Path:
    """Folder of the ROSE store that a folder belongs to.

    Parameters
    ----------
    start : str or Path
        A folder. It, then each folder above it, is searched for ``.rose`` or ``.rmc``.

    Returns
    -------
    Path
        The folder that has ``nodes`` in it.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> find_store(bundled_path("episodes", "demo_store")).name
    'demo_store'
    """
    first = Path(start).absolute()
    found = _store_here(Path(start))
    if found is not None:
        return found
    for folder in first.parents:
        inside = any(first.is_relative_to(folder / part) for part in ("nodes", "episodes"))
        if inside and (folder / "nodes").is_dir():
            return folder
        found = _hidden(folder)
        if found is not None:
            return found
    raise UsageError(
        f"{start} is no store: it has no `nodes`, no folder from it upward has "
        f"{' or '.join(_HIDDEN)} with `nodes`, and neither YAML files of a bench nor Markdown "
        "lessons with an episodes.jsonl are in it"
    )


def refuse_inside(store: Store, path: str | Path, what: str = "output") -> None:
    """Check that a file to be written lies outside a store.

    Parameters
    ----------
    store : Store
        The store; one without a folder refuses nothing.
    path : str or Path
        Where something is to be written. Symbolic links are followed.
    what : str
        What is to be written, for the message.

    Raises
    ------
    UsageError
        If it lies in the store.

    Examples
    --------
    >>> refuse_inside(open_store("demo_store"), "results.nc")
    """
    if not store.path:
        return
    root = Path(store.path)
    # A store's own folders may be links to elsewhere, and what they lead to is the store.
    roots = [root, *(root / part for part in ("nodes", "episodes"))]
    target = Path(path).resolve()
    for folder in filter(Path.exists, roots):
        for place in filter(Path.exists, (target, *target.parents)):
            if place.samefile(folder):
                raise UsageError(
                    f"the {what} {path} lies inside the store {store.path}, which is read-only; "
                    "give a path outside it"
                )


def read_layout(folder: str | Path, shown: str = "") -> Layout:
    """Everything in the folder of a ROSE store.

    Parameters
    ----------
    folder : str or Path
        A folder with ``nodes`` and ``episodes``.
    shown : str
        What to call the folder in a fault; its path where empty.

    Returns
    -------
    Layout
        Nodes, episodes and faults. Of two files with one id the first by path counts.

    Examples
    --------
    >>> layout = read_layout(bundled_path("episodes", "demo_store"))
    >>> len(layout.recorded) >= 25
    True
    """
    folder = Path(folder)
    faults: list[Fault] = []
    nodes: dict[str, Node] = {}
    episodes: dict[str, Recorded] = {}
    ids: tuple[dict[str, tuple[str, str]], ...] = ({}, {})
    for path, name in _files(folder, "nodes", ".md", shown, faults):
        text = read_text(path, name, faults)
        family = path.parent.name if path.parent != folder / "nodes" else ""
        node = read_node(text, name, faults, stem=stem_of(path), family=family) if text else None
        if node is not None and (message := taken(ids[0], node.id, f"also stands in {name}")):
            faults.append(Fault(name, 1, message))
        elif node is not None:
            nodes[node.id] = node
    for path, name in _files(folder, "episodes", ".json", shown, faults):
        text = read_text(path, name, faults)
        recorded = read_episode(text, name, faults, stem=stem_of(path)) if text else None
        there = f"also stands in {name}"
        if recorded is not None and (message := taken(ids[1], recorded.episode.id, there)):
            faults.append(Fault(name, 1, message))
        elif recorded is not None:
            episodes[recorded.episode.id] = recorded
    return Layout(link(nodes), episodes, tuple(sorted(set(faults))))


def _open(folder: Path, shown: str, *, strict: bool) -> Store:
    layout = read_layout(folder, shown)
    lessons, notes = lessons_of(layout.graph, _written_from(folder, layout.recorded))
    if layout.faults and (strict or not lessons):
        raise FileFaults(layout.faults)
    if not lessons:
        why = f": {'; '.join(notes)}" if notes else "; a lesson is a node of level 0"
        raise UsageError(f"the store {shown} has no lesson that could be used{why}")
    episodes, unused = _by_lesson(layout, lessons)
    own = folder.resolve()
    return Store(
        name=own.parent.name if own.name in _HIDDEN else own.name,
        lessons=lessons,
        episodes=episodes,
        skipped=(*map(str, layout.faults), *layout.graph.notes, *notes, *unused),
        path=str(folder.absolute()),
    )


def _written_from(folder: Path, recorded: Mapping[str, Recorded]) -> dict[str, tuple[str, ...]]:
    """Episodes of the sessions in which ROSE says, in its log, that it wrote or rewrote an L0."""
    try:
        log = (folder / "events.jsonl").read_text("utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for line in log.split("\n"):
        if '"mint"' not in line:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a log may end in half a line
        if isinstance(event, dict) and event.get("kind") == "mint" and event.get("session"):
            own = [key for key, one in recorded.items() if one.session == event["session"]]
            found[str(event.get("node"))] = (*found.get(str(event.get("node")), ()), *own)
    return found


def _by_lesson(
    layout: Layout, lessons: tuple[Lesson, ...]
) -> tuple[dict[str, tuple[Episode, ...]], list[str]]:
    """Usable episodes by lesson, and how many of the others there are for each reason."""
    reach = {lesson.id: set(layout.graph.above(lesson.id)) for lesson in lessons}
    found: dict[str, list[Episode]] = {lesson.id: [] for lesson in lessons}
    skipped: dict[str, list[str]] = {}
    unserved = []
    for name, recorded in sorted(layout.recorded.items()):
        reason = recorded.unusable
        used = set(recorded.episode.used)
        if recorded.episode.served and (odd := sorted(used.difference(recorded.episode.served))):
            unserved.append(f"{name}: {', '.join(odd)}")
        under = [key for key, nodes in reach.items() if not nodes.isdisjoint(used)]
        if not reason and not under:
            reason = "what it used is in no lesson of this store"
        if reason:
            skipped.setdefault(reason, []).append(name)
            continue
        for key in under:
            found[key].append(recorded.episode)
    notes = [
        f"{counted(len(names), 'episode')}: {reason} ({', '.join(names)})"
        for reason, names in sorted(skipped.items())
    ]
    if unserved:
        notes.append(
            f"{counted(len(unserved), 'episode')} used a lesson that was not served, which recall "
            f"leaves unscored unless the whole store is searched ({'; '.join(unserved)})"
        )
    return {key: tuple(episodes) for key, episodes in found.items()}, notes


def _files(
    folder: Path, part: str, suffix: str, shown: str, faults: list[Fault]
) -> list[tuple[Path, str]]:
    """Files of one kind, in an order that is the same on every machine, and what to call them."""
    found = []
    for path in (folder / part).rglob("*"):
        if path.suffix.lower() != suffix or path.name.startswith("."):
            continue
        inner = path.relative_to(folder).as_posix()
        name = f"{shown or folder}/{inner}"
        if path.is_file():
            found.append((inner, path, name))
        elif path.is_symlink():
            faults.append(Fault(name, 1, "is a link that leads nowhere; mend or remove it"))
    return [(path, name) for _, path, name in sorted(found)]


def _is_markdown(path: Path) -> bool:
    """Whether a folder has lessons in Markdown that are no nodes of a store."""
    return "nodes" not in path.absolute().parts and looks_like_markdown(path)


def _store_here(folder: Path) -> Path | None:
    return folder if (folder / "nodes").is_dir() else _hidden(folder)


def _hidden(folder: Path) -> Path | None:
    candidates = (folder / name for name in _HIDDEN)
    return next((path for path in candidates if (path / "nodes").is_dir()), None)
