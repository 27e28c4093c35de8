"""Opening of a store: lessons in their levels, and the episodes recorded with them.

Files are opened for reading, and for nothing else. What cannot be read or used is named in
`Store.skipped`, each with its reason; nothing is left out without a word.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from corecurves.bundled import bundled_path
from corecurves.errors import Fault, FileFaults, UsageError, unknown
from corecurves.files.bench import bench_files, check_bench
from corecurves.files.layout import HIDDEN, read_store
from corecurves.files.markdown import check_markdown, looks_like_markdown
from corecurves.specs.lesson import Store

__all__ = [
    "STORES",
    "check_store",
    "find_store",
    "open_store",
    "refuse_inside",
    "store_around",
    "store_here",
]

STORES = ("rose_bench", "demo_store", "own_notes")
"""Bundled stores, by name."""


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
    store, faults = check_store(source, strict=strict)
    if faults and (strict or store is None or not (Path(store.path) / "nodes").is_dir()):
        raise FileFaults(faults)
    assert store is not None
    return replace(store, skipped=(*map(str, faults), *store.skipped))


def check_store(
    source: str | Path, *, strict: bool = False
) -> tuple[Store | None, tuple[Fault, ...]]:
    """Store by name or folder, and everything that is wrong in its files."""
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
    folder = None if path.is_file() else store_here(path)
    if folder is None and bench_files(path):
        return check_bench(path, shown=shown, strict=strict or is_name)
    if folder is None and "nodes" not in path.absolute().parts and looks_like_markdown(path):
        return check_markdown(path, shown=shown)
    if folder is None:
        folder = find_store(path)
    return read_store(folder, shown if folder == path else str(folder))


def store_around(path: Path) -> Path | None:
    """Folder of the ROSE store that a file is a node, an episode or the log of.

    Examples
    --------
    >>> demo = bundled_path("episodes", "demo_store")
    >>> store_around(demo / "nodes" / "lab" / "prewet-tips.md") == demo
    True
    """
    parts = {"nodes", "episodes"}
    above = path.absolute().parents
    found = (up.parent for up in above if up.name in parts and (up.parent / "nodes").is_dir())
    return next(found, None)


def find_store(start: str | Path = ".") -> Path:
    """Folder of the ROSE store that a folder belongs to.

    Examples
    --------
    >>> find_store(bundled_path("episodes", "demo_store")).name
    'demo_store'
    """
    first = Path(start).absolute()
    found = store_here(Path(start))
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
        f"{' or '.join(HIDDEN)} with `nodes`, and neither YAML files of a bench nor Markdown "
        "lessons with an episodes.jsonl are in it"
    )


def refuse_inside(store: Store, path: str | Path, what: str = "output") -> None:
    """Check that a file to be written lies outside a store.

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


def store_here(folder: Path) -> Path | None:
    """Folder of the ROSE store that a folder is, or has in ``.rose`` or ``.rmc``.

    Examples
    --------
    >>> store_here(bundled_path("episodes", "demo_store")).name
    'demo_store'
    """
    return folder if (folder / "nodes").is_dir() else _hidden(folder)


def _hidden(folder: Path) -> Path | None:
    candidates = (folder / name for name in HIDDEN)
    return next((path for path in candidates if (path / "nodes").is_dir()), None)
