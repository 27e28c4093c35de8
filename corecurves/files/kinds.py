"""What a file or folder is, by its looks: it may be wrong inside."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corecurves.files.bench import looks_like_bench
from corecurves.files.markdown import lesson_files, looks_like_markdown
from corecurves.files.markdown_episodes import EPISODE_FILES
from corecurves.files.store import store_around, store_here

__all__ = ["Found", "found_in"]

Kind = Literal["curricula", "pack", "filler", "bench", "store", "notes", "astray", "nothing"]

_YAML = (".yaml", ".yml")
_TEXTS = (".md", ".json")
_LOOKS: dict[Kind, re.Pattern[str]] = {
    "pack": re.compile(r"^lemmas\s*:", re.MULTILINE),
    "filler": re.compile(r"^filler\s*:", re.MULTILINE),
    "curricula": re.compile(r"^(?:- +)?[{\"' ]*(?:concept|corrections|probe)\b", re.MULTILINE),
}


@dataclass(frozen=True, order=True)
class Found:
    """A file or folder, and what it is read as.

    Parameters
    ----------
    kind : str
        ``curricula``, ``pack``, ``filler``, ``bench``, ``store`` (of ROSE), ``notes`` (lessons in
        Markdown), ``astray`` (episodes without lessons beside them), or ``nothing``.
    path : Path
        The file; the folder of a store, of lessons in Markdown, and of a bench of several files.
    """

    kind: Kind
    path: Path


def found_in(path: Path) -> list[Found]:
    """Everything in a file or folder that is read, each thing once.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> sorted({found.kind for found in found_in(bundled_path("curricula"))})
    ['curricula', 'filler', 'pack']
    """
    return sorted(set(_of_file(path) if path.is_file() else _of_folder(path)))


def _of_file(path: Path) -> Iterator[Found]:
    store = store_around(path)
    if store is not None:
        yield Found("store", store)
    elif notes := _notes_around(path):
        yield Found("notes", notes)
    else:
        yield _alone(path)


def _of_folder(folder: Path) -> Iterator[Found]:
    inside = store_around(folder / "x")
    here = inside or store_here(folder)
    if here is not None:
        yield Found("store", here)
    if inside is not None or here == folder:
        return
    read: set[Path] = set()
    for part, folders, names in os.walk(folder):
        folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
        place = Path(part)
        if place != folder and (store := store_here(place)) is not None:
            yield Found("store", store)
            if store == place:
                folders.clear()
                continue
        if looks_like_markdown(place):
            read |= {path for path, _ in lesson_files(place)}
        yield from _together(
            place,
            [
                x
                for x in sorted(names)
                if not x.startswith(".") and (place / x not in read or looks_like_markdown(place))
            ],
        )


def _together(folder: Path, names: list[str]) -> Iterator[Found]:
    """What the files of one folder are, each beside the others."""
    files = [folder / name for name in names]
    if looks_like_markdown(folder):
        yield Found("notes", folder)
        files = [file for file in files if not _is_of_notes(file)]
    looks = {file: _look(file) for file in files if file.suffix.lower() in _YAML}
    if "bench" in looks.values():
        # What looks like nothing in a bench is a part of it that is wrong.
        of_bench = [file for file, look in looks.items() if look in ("bench", None)]
        whole = len(of_bench) == len(looks)
        yield from (Found("bench", path) for path in ([folder] if whole else of_bench))
        files = [file for file in files if file not in of_bench]
    for file in files:
        found = _alone(file)
        if found.kind != "nothing" or (
            file.suffix.lower() in _TEXTS and file.stem.lower() != "readme"
        ):
            yield found


def _alone(file: Path) -> Found:
    if file.name in EPISODE_FILES:
        return Found("astray", file)
    if file.suffix.lower() in _YAML:
        return Found(_look(file) or "curricula", file)
    return Found("curricula" if file.suffix.lower() == ".jsonl" else "nothing", file)


def _notes_around(file: Path) -> Path | None:
    """Folder of lessons in Markdown that a file is of: its own, or one above that of a skill."""
    if not _is_of_notes(file):
        return None
    for folder in file.parents[: 3 if file.name == "SKILL.md" else 1]:
        if looks_like_markdown(folder):
            return folder
    return None


def _is_of_notes(file: Path) -> bool:
    return file.suffix.lower() == ".md" or file.name in EPISODE_FILES


def _look(file: Path) -> Kind | None:
    if looks_like_bench(file):
        return "bench"
    try:
        text = file.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return None
    return next((kind for kind, look in _LOOKS.items() if look.search(text)), None)
