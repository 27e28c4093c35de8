"""A team's own lessons: Markdown files in a folder, with the episodes that test them beside.

``name.md`` is the full lesson, ``name.L1.md``, ``name.L2.md`` … are its shorter levels; front
matter is optional in all of them. ``name/SKILL.md`` and ``skills/name/SKILL.md`` are full lessons
too. ``episodes.jsonl`` has one episode a line, ``episodes.yaml`` a list of them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from yaml.nodes import Node

from corecurves.blocks import headings, lines_of
from corecurves.bundled import bundled_path
from corecurves.errors import Fault, FileFaults, UsageError, unknown
from corecurves.files.front_matter import late_front_matter, past_lead, split_front_matter
from corecurves.files.markdown_episodes import EPISODE_FILES, read_episodes
from corecurves.files.optional import dropped_claims, keys_of, text_of, texts_of
from corecurves.files.pairs import unlike_note
from corecurves.files.yaml_text import Reader, read_text, spelled
from corecurves.names import stem_of, taken
from corecurves.specs.lesson import DROPPED_KINDS, Lesson, Level, Store
from corecurves.text import count_tokens

__all__ = ["check_markdown", "lesson_files", "load_markdown", "looks_like_markdown"]

_EXAMPLE = "own_notes"
_SKILL = "SKILL.md"
_LEVEL = re.compile(r"(?P<stem>.+)\.L(?P<depth>\d{1,3})", re.IGNORECASE)
_LESSON_KEYS = ("id", "title", "family", "kind", "demo")
_LEVEL_KEYS = ("dropped", "planted", "compressor", "shown")
_BOTH_KEYS = ("created", "covers_tasks", "load_bearing", "preserve")


@dataclass(frozen=True)
class _Page:
    """A file as it was read."""

    path: str
    stem: str
    reader: Reader
    table: Mapping[str, Node]
    text: str


def looks_like_markdown(folder: Path) -> bool:
    """Whether a folder has lessons in Markdown; they may be wrong inside."""
    if not folder.is_dir():
        return False
    names = {path.name.lower() for path in folder.iterdir() if path.is_file()}
    stems = {stem.lower() for _, stem in lesson_files(folder)}
    levels = [match for stem in stems if (match := _LEVEL.fullmatch(stem))]
    return bool(stems and names & set(EPISODE_FILES)) or any(m["stem"] in stems for m in levels)


def lesson_files(folder: Path) -> list[tuple[Path, str]]:
    """Files of the lessons of a folder, and what each is called without its ending."""
    own = [path for path in sorted(folder.iterdir()) if path.suffix.lower() == ".md"]
    skills = sorted([*folder.glob(f"*/{_SKILL}"), *folder.glob(f"skills/*/{_SKILL}")])
    found = [(path, stem_of(path)) for path in own]
    found += [(path, stem_of(Path(f"{path.parent.name}.md"))) for path in skills]
    return [
        (path, stem)
        for path, stem in found
        if path.is_file() and not any(x.startswith(".") for x in path.relative_to(folder).parts)
    ]


def load_markdown(folder: str | Path, *, shown: str = "") -> Store:
    """Lessons and episodes of a folder of Markdown files.

    Examples
    --------
    >>> store = load_markdown("own_notes")
    >>> [level.name for level in store.lessons[0].levels]
    ['L0', 'L1', 'L2']
    """
    store, faults = check_markdown(folder, shown=shown)
    if faults:
        raise FileFaults(faults)
    return store


def check_markdown(folder: str | Path, *, shown: str = "") -> tuple[Store, tuple[Fault, ...]]:
    """Lessons and episodes of a folder of Markdown files, and everything that is wrong in it.

    Examples
    --------
    >>> check_markdown("own_notes")[1]
    ()
    """
    path = Path(folder)
    if str(folder) == _EXAMPLE and not path.exists():
        path, shown = bundled_path("episodes", _EXAMPLE), shown or f"episodes/{_EXAMPLE}"
    shown = shown or str(folder)
    if not path.is_dir():
        raise UsageError(f"there is no folder {shown}; give one with your lessons, `name.md` each")
    faults: list[Fault] = []
    notes: list[str] = []
    lessons: dict[str, Lesson] = {}
    names: dict[str, str] = {}
    ids: dict[str, tuple[str, str]] = {}
    files, found = _levels_by_stem(path, shown, notes, faults)
    for stem, depths in sorted(files.items()):
        own, lesson, place = _lesson(stem, depths, notes, faults)
        if message := taken(ids, own, f"is also that of {stem}.md"):
            faults.append(Fault(place, 1, message))
            continue
        names[own] = stem
        if lesson is not None:
            lessons[own] = lesson
    if not found:
        raise UsageError(f"{shown} has no Markdown file in it; write each lesson as `name.md`")
    one = len(files) == 1
    episodes = read_episodes(path, shown, lessons, names, notes, faults, one=one)
    note = unlike_note({e.id: e.outcome for key in lessons for e in episodes[key]})
    store = Store(
        name=path.resolve().name,
        lessons=tuple(lessons[key] for key in sorted(lessons)),
        episodes={key: tuple(episodes[key]) for key in sorted(lessons)},
        skipped=(*notes, *filter(None, [note])),
        path=str(path.absolute()),
    )
    return store, tuple(sorted(set(map(spelled, faults))))


def _levels_by_stem(
    folder: Path, shown: str, notes: list[str], faults: list[Fault]
) -> tuple[dict[str, dict[int, tuple[Path, str]]], int]:
    """Files of each lesson by depth, and how many there are."""
    found: dict[str, dict[int, tuple[Path, str]]] = {}
    number = 0
    for path, own in lesson_files(folder):
        if path.stem.lower() == "readme":
            notes.append(f"{path.name}: not read as a lesson")
            continue
        number += 1
        match = _LEVEL.fullmatch(own)
        stem, depth = (match["stem"], int(match["depth"])) if match else (own, 0)
        name = f"{shown}/{path.relative_to(folder).as_posix()}"
        other = found.setdefault(stem, {}).setdefault(depth, (path, name))[1]
        if other != name:
            faults.append(Fault(name, 1, f"is level {depth} of '{stem}', as {other} is; keep one"))
    return found, number


def _lesson(
    stem: str, files: Mapping[int, tuple[Path, str]], notes: list[str], faults: list[Fault]
) -> tuple[str, Lesson | None, str]:
    """Id of a name's files, their lesson, and where it stands; no id where it cannot be read."""
    pages = {
        depth: page
        for depth, (path, name) in sorted(files.items())
        if (page := _page(path, name, stem, depth, notes, faults)) is not None
    }
    first = files[min(files)][1]
    for depth in sorted(files):
        if depth and depth - 1 not in files:
            below = max((other for other in files if other < depth), default=-1) + 1
            gap = [
                f"{stem}.L{lower}.md" if lower else f"{stem}.md" for lower in range(below, depth)
            ]
            what = " and ".join(
                f"level {n}" if n else "the full lesson" for n in range(below, depth)
            )
            message = f"is level {depth}, and {what} {'is' if len(gap) == 1 else 'are'} not there"
            message += f"; write {' and '.join(gap)}, or rename this"
            faults.append(Fault(files[depth][1], 1, message))
    if 0 not in pages:  # without a full lesson there is no `id` that could differ from the name
        return "" if 0 in files else stem, None, first
    head = pages[0]
    own = text_of(head.reader, head.table, "id") or stem
    if "/" in own:
        head.reader.fault(head.table["id"], f"the id '{own}' has a / in it; write another sign")
    title, family, kind = (
        text_of(head.reader, head.table, key) for key in ("title", "family", "kind")
    )
    demo = bool(head.reader.flag(head.table["demo"], "demo")) if "demo" in head.table else False
    levels = [_level(page, own, depth) for depth, page in pages.items()]
    for before, level in pairwise(levels):
        longer, tokens = count_tokens(before.text), count_tokens(level.text)
        if tokens >= longer:
            message = (
                f"level {level.name} has {tokens} tokens, no fewer than the {longer} of "
                f"{before.name}; shorten it"
            )
            faults.append(Fault(pages[level.depth].path, 1, message))
    if len(pages) < len(files):
        return own, None, first
    title = title or next(headings(head.text), stem)
    return own, Lesson(own, title, family, kind, tuple(levels), demo), first


def _page(
    path: Path, name: str, stem: str, depth: int, notes: list[str], faults: list[Fault]
) -> _Page | None:
    text = read_text(path, name, faults)
    if text is None:
        return None
    reader = Reader(name, faults)
    shown = f"{path.parent.name}/{path.name}" if path.name == _SKILL else path.name
    lead, text = past_lead(text)
    parts = split_front_matter(text)
    lines = lines_of(text)
    if parts is None and lines[0].rstrip() in ("---", "+++"):
        message = "begins with `---`, and no second `---` ends the front matter; write it"
        if lines[0].startswith("+"):
            message = "begins with `+++`, as TOML; write the front matter in YAML, between `---`"
        faults.append(Fault(name, lead + 1, message))
        return None
    header, body = parts or ("", "\n".join(lines).strip("\n"))
    header = "\n" * lead + header
    if parts is None and (at := late_front_matter(lines)):
        notes.append(
            f"{shown}: what looks like front matter, from line {lead + at} on, is read as text, "
            "for a line stands before it; move it to the top"
        )
    table: dict[str, Node] | None = {}
    if header.strip():
        root = reader.parse(header)
        table = keys_of(reader, root) if root is not None else None
    if not body.strip():
        faults.append(Fault(name, 1 + header.count("\n"), "has no text below its front matter"))
        return None
    if table is None:
        return None
    _check_keys(reader, table, shown, stem, depth, notes)
    return _Page(name, stem, reader, table, body)


def _check_keys(
    reader: Reader,
    table: Mapping[str, Node],
    file: str,
    stem: str,
    depth: int,
    notes: list[str],
) -> None:
    """Faults of keys that are misspelt or in the wrong file; the others are noted."""
    here, elsewhere = (_LEVEL_KEYS, _LESSON_KEYS) if depth else (_LESSON_KEYS, _LEVEL_KEYS)
    alone = []
    for key, node in table.items():
        known = [*here, *_BOTH_KEYS]
        if key in known:
            continue
        if key in elsewhere:
            place = f"{stem}.md" if depth else "the file of a level"
            reader.fault(node, f"`{key}` belongs in {place}; move it there")
            continue
        near = difflib.get_close_matches(key, [*known, *elsewhere], n=1, cutoff=0.75)
        if near and abs(len(near[0]) - len(key)) < 2:
            reader.fault(node, f"the front matter has no key `{key}`; did you mean `{near[0]}`?")
        else:
            alone.append(key)
    if alone:
        notes.append(f"{file}: keys left alone: {', '.join(alone)}")


def _level(page: _Page, lesson: str, depth: int) -> Level:
    dropped = tuple(dropped_claims(page.reader, page.table.get("dropped")))
    for claim in dropped:
        if claim.kind and claim.kind not in DROPPED_KINDS:
            page.reader.fault(page.table["dropped"], unknown("kind", claim.kind, DROPPED_KINDS))
    planted, created, compressor = (
        text_of(page.reader, page.table, key) for key in ("planted", "created", "compressor")
    )
    return Level(
        depth,
        page.text,
        node=f"{lesson}.L{depth}",
        dropped=dropped,
        planted=planted,
        created=created,
        covers=texts_of(page.reader, page.table, "covers_tasks"),
        compressor=compressor,
        subtree=tuple(f"{lesson}.L{below}" for below in range(depth + 1)),
        shown=texts_of(page.reader, page.table, "shown") if "shown" in page.table else None,
        load_bearing=texts_of(page.reader, page.table, "load_bearing"),
        preserve=texts_of(page.reader, page.table, "preserve"),
    )
