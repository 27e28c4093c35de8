"""Benches: lessons with their levels and episodes in YAML, written by hand and checked whole.

A bench is held to rules that a store is not. Known-good and trap are minimal pairs, the answer is
not in the task, each level is truly shorter than the one before and says what it dropped.
"""

from __future__ import annotations

import re
from pathlib import Path

from corecurves.errors import Fault, FileFaults, UsageError
from corecurves.files.bench_reader import Bench
from corecurves.files.pairs import unlike_note
from corecurves.files.yaml_text import Reader, read_text
from corecurves.specs.lesson import Store

__all__ = ["bench_files", "check_bench", "load_bench", "looks_like_bench"]

_YAML = (".yaml", ".yml")
_BENCH = re.compile(r"^[\"']?(?:lessons|cases)[\"']?\s*:", re.MULTILINE)


def bench_files(path: str | Path) -> list[Path]:
    """Files of a bench.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> "cases.yaml" in [file.name for file in bench_files(bundled_path("episodes", "rose_bench"))]
    True
    """
    path = Path(path)
    if path.is_file():
        return [path] if path.suffix.lower() in _YAML else []
    files = sorted(
        file for file in path.glob("*") if file.suffix.lower() in _YAML and file.is_file()
    )
    return files if any(looks_like_bench(file) for file in files) else []


def looks_like_bench(file: Path) -> bool:
    """Whether a file has lessons or cases in it; it may be wrong inside."""
    try:
        return bool(_BENCH.search(file.read_bytes().decode("utf-8-sig", "replace")))
    except OSError:
        return False


def load_bench(path: str | Path, *, shown: str = "", strict: bool = False) -> Store:
    """Bench of a file or a folder.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> store = load_bench(bundled_path("episodes", "rose_bench"))
    >>> {case.kind for case in store.cases} == {"multi", "distractor", "conflict", "null"}
    True
    """
    store, faults = check_bench(path, shown=shown, strict=strict)
    if faults:
        raise FileFaults(faults)
    return store


def check_bench(
    path: str | Path, *, shown: str = "", strict: bool = False
) -> tuple[Store, tuple[Fault, ...]]:
    """Bench of a file or a folder, and everything that is wrong in it.

    Examples
    --------
    >>> from corecurves.bundled import bundled_path
    >>> store, faults = check_bench(bundled_path("episodes", "rose_bench"), strict=True)
    >>> len(store.lessons) >= 40
    True
    """
    path = Path(path)
    shown = shown or str(path)
    files = bench_files(path)
    if not files:
        raise UsageError(f"{shown} holds no bench; give YAML files with `lessons:` or `cases:`")
    faults: list[Fault] = []
    bench = Bench(strict)
    for file in files:
        name = shown if file == path else f"{shown}/{file.name}"
        text = read_text(file, name, faults)
        reader = Reader(name, faults)
        root = reader.parse(text) if text is not None else None
        if root is not None:
            bench.read(reader, root)
    if not faults and not bench.lessons and not bench.cases:
        raise UsageError(f"{shown} has neither a lesson nor a case in it; write one")
    outcomes = {e.id: e.outcome for group in bench.episodes.values() for e in group}
    note = unlike_note(outcomes | {case.id: case.outcome for case in bench.cases})
    store = Store(
        name=path.stem if path.is_file() else path.resolve().name,
        lessons=tuple(sorted(bench.lessons, key=lambda lesson: lesson.id)),
        episodes=dict(sorted(bench.episodes.items())),
        cases=tuple(bench.cases),
        skipped=(*bench.notes, *filter(None, [note])),
        path=str(path.absolute()),
    )
    return store, tuple(sorted(set(faults)))
