"""``corecurves check``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from corecurves.errors import ExitCode, Fault, FileFaults, UsageError, unknown

__all__ = ["check"]

_AS = {"bench": "a bench", "store": "a ROSE store", "notes": "lessons in Markdown"}
_ASTRAY = (
    "has episodes, and no lesson in Markdown lies beside it; write each lesson as `name.md` here, "
    "or as `name/SKILL.md`; others in folders inside are not read"
)


@click.command()
@click.argument("paths", nargs=-1, type=str, metavar="[PATH]...")
def check(paths: tuple[str, ...]) -> int:
    """Say what is wrong in curricula, packs, benches, stores and lessons, before anything is run.

    PATH is a file, a folder of whatever is mixed in it, or the name of what is bundled (a split,
    rose_bench, demo_store, own_notes); without one, all bundled curricula are checked together.
    What was read as what is said beside the faults. Each fault is one line: file:line: what is
    wrong, what to write; a note is no fault. A curriculum that keeps the contract is also put to
    the review of the embedded system, which must accept every correction at its k. A bench needs
    traps and two wordings of everything, as the bundled one has, unless it is ROSE's own.

    \b
    corecurves check
    corecurves check curricula/mine.yaml
    corecurves check my_bench/ my_notes/
    """  # noqa: D301
    from corecurves.bundled import bundled_path
    from corecurves.files.curricula import splits
    from corecurves.files.kinds import found_in
    from corecurves.files.store import STORES

    stores: list[tuple[str, str]] = []
    curricula: list[str | Path] = []
    faults: list[Fault] = []
    notes: list[str] = []
    for path in paths or splits():
        if not Path(path).exists():
            if path not in (*splits(), *STORES):
                bundled = unknown("check", path, (*splits(), *STORES))
                raise UsageError(f"there is no file or folder '{path}', and {bundled}")
            if path in STORES:
                stores.append((found_in(bundled_path("episodes", path))[0].kind, path))
            else:
                curricula.append(path)
            continue
        found = found_in(Path(path))
        if all(one.kind == "nothing" for one in found):
            raise UsageError(
                f"nothing in {path} is read: give curricula, packs, a bench or a store"
            )
        curricula += [one.path for one in found if one.kind == "curricula"]
        stores += [(one.kind, str(one.path)) for one in found if one.kind in _AS]
        for one in found:
            if one.kind in ("pack", "filler"):
                faults += _vocabulary(one.kind, one.path)
            elif one.kind == "astray":
                faults.append(Fault(str(one.path), 0, _ASTRAY))
        if unread := [one.path.name for one in found if one.kind == "nothing"]:
            notes.append(f"{path}: not read: {_few(unread)}")
    if curricula:
        faults += _curricula(curricula, notes)
    for kind, path in dict.fromkeys(stores):
        faults += _store(kind, path, notes)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    for fault in sorted(set(faults)):
        click.echo(str(fault))
    click.echo(f"faults: {len(set(faults))}", err=True)
    return ExitCode.FINDINGS if faults else ExitCode.FINE


def _curricula(sources: list[str | Path], notes: list[str]) -> Iterator[Fault]:
    from corecurves.files.contract import contract_notes
    from corecurves.files.curricula import check_curricula
    from corecurves.files.packs import load_pack
    from corecurves.files.yaml_text import spelled
    from corecurves.protocol.reviewed import check_reviewed, refusal_notes

    found, faults = check_curricula(list(dict.fromkeys(sources)))
    notes += [*contract_notes(found, load_pack()), *refusal_notes(found)]
    kept = sum(curriculum.contract for curriculum in found)
    click.echo(
        f"{_few(map(str, sources))}: read as curricula: {len(found)}, of them under the contract: "
        f"{kept}",
        err=True,
    )
    yield from (*faults, *map(spelled, check_reviewed(found)))


def _vocabulary(kind: str, path: Path) -> Iterator[Fault]:
    from corecurves.files.curricula import load_filler
    from corecurves.files.packs import load_pack

    what = "a vocabulary pack" if kind == "pack" else "filler for control arms"
    size = ""
    try:
        if kind == "pack":
            pack = load_pack(path)
            size = f": words: {len(pack.lemmas)}, relations: {len(pack.relations)}"
        else:
            size = f": corrections: {len(load_filler(path))}"
    except FileFaults as error:
        yield from error.faults
    click.echo(f"{path}: read as {what}{size}", err=True)


def _store(kind: str, path: str, notes: list[str]) -> Iterator[Fault]:
    from corecurves.files.store import check_store

    try:
        store, faults = check_store(path, strict=True)
    except UsageError as error:  # nothing could be used of what is there
        yield Fault(path, 0, str(error))
        return
    yield from faults
    size = ""
    if store is not None:
        episodes = {episode.id for group in store.episodes.values() for episode in group}
        size = f": lessons: {len(store.lessons)}, episodes: {len(episodes)}"
        size += f", cases: {len(store.cases)}" if store.cases else ""
        notes += [f"{path}: {note}" for note in store.skipped]
    click.echo(f"{path}: read as {_AS[kind]}{size}", err=True)


def _few(names: Iterable[str]) -> str:
    first, *others = names
    shown = [first, *others[:3]]
    return ", ".join(shown) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
