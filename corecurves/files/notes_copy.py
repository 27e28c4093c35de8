"""New levels in the copy of a folder of lessons in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corecurves.files.bench import bench_files
from corecurves.files.bench_writer import dump_yaml
from corecurves.files.front_matter import past_lead, split_front_matter
from corecurves.files.markdown import lesson_files, load_markdown, looks_like_markdown
from corecurves.files.optional import keys_of, text_of
from corecurves.files.yaml_text import Reader
from corecurves.names import look
from corecurves.specs.lesson import Level, Store

__all__ = ["is_notes", "write_notes_levels"]


def is_notes(store: Store) -> bool:
    """Whether a store is a folder of lessons in Markdown.

    Examples
    --------
    >>> is_notes(load_markdown("own_notes"))
    True
    """
    folder = Path(store.path)
    return bool(store.path) and not bench_files(folder) and looks_like_markdown(folder)


def write_notes_levels(folder: Path, made: Mapping[str, tuple[Level, ...]]) -> Store:
    """Put new levels into a copy; old ones stay under a hidden name, which is not read."""
    stems = _stems(folder)
    for lesson, levels in made.items():
        stem = stems[lesson]
        for path in sorted(folder.glob("*.[mM][dD]")):
            before, mark, depth = path.stem.rpartition(".")
            if look(before) == look(stem) and mark and depth[:1] in "lL" and depth[1:].isdigit():
                path.rename(path.with_name(f".{path.name}"))
        for level in levels:
            table = {
                "created": level.created,
                "compressor": level.compressor,
                "shown": list(level.shown or ()),
                "dropped": [claim.content() for claim in level.dropped],
            }
            text = f"---\n{dump_yaml(table)}---\n\n{level.text}\n"
            path = folder / f"{stem}.L{level.depth}.md"
            path.write_text(text, encoding="utf-8", newline="\n")
    return load_markdown(folder)


def _stems(folder: Path) -> dict[str, str]:
    """Name of the files of each lesson, by its id."""
    found: dict[str, str] = {}
    for path, stem in lesson_files(folder):
        parts = split_front_matter(past_lead(path.read_text(encoding="utf-8-sig"))[1])
        reader = Reader(path.name, [])
        root = reader.parse(parts[0]) if parts and parts[0].strip() else None
        table = keys_of(reader, root) if root is not None else None
        found.setdefault(
            text_of(reader, table or {}, "id") or stem,
            path.parent.name if path.parent != folder else path.stem,
        )
    return found
