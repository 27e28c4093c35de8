"""``corecurves check``."""

from __future__ import annotations

from pathlib import Path

import click

from corecurves.errors import ExitCode, Fault, FileFaults, UsageError, unknown

__all__ = ["check"]


@click.command()
@click.argument("paths", nargs=-1, type=str, metavar="[PATH]...")
def check(paths: tuple[str, ...]) -> int:
    """Say what is wrong in curricula, benches, stores and lessons, before anything is run.

    PATH is a file, a folder, or the name of what is bundled (a split, rose_bench, demo_store,
    own_notes); without one, all bundled curricula are checked together. Each fault is one line:
    file:line: what is wrong, what to write. A curriculum that keeps the contract is also put to the
    review of the embedded system, which must accept every correction at its k. A bench needs traps
    and two wordings of everything, as the bundled one has.

    \b
    corecurves check
    corecurves check curricula/mine.yaml
    corecurves check my_bench/ my_notes/
    """  # noqa: D301
    from corecurves.files.curricula import check_curricula, splits
    from corecurves.files.markdown import looks_like_markdown
    from corecurves.files.store import STORES, is_store
    from corecurves.protocol.reviewed import check_reviewed

    stores = [path for path in paths if is_store(path)]
    inner = (sub for path in paths if path not in stores for sub in sorted(Path(path).rglob("*/")))
    stores += [str(folder) for folder in inner if looks_like_markdown(folder)]
    faults = [fault for path in stores for fault in _store_faults(path)]
    if any(path not in stores for path in paths) or not paths:
        others = [path for path in paths if path not in stores]
        for path in others:
            if path not in splits() and not Path(path).exists():
                bundled = unknown("check", path, (*splits(), *STORES))
                raise UsageError(f"there is no file or folder '{path}', and {bundled}")
        sources = [Path(path) if Path(path).exists() else path for path in others] or splits()
        found, wrong = check_curricula(sources)
        faults += [*wrong, *check_reviewed(found)]
        kept = sum(curriculum.contract for curriculum in found)
        click.echo(f"curricula read: {len(found)}, of them under the contract: {kept}", err=True)
    for fault in sorted(faults):
        click.echo(str(fault))
    click.echo(f"faults: {len(faults)}", err=True)
    return ExitCode.FINDINGS if faults else ExitCode.FINE


def _store_faults(path: str) -> tuple[Fault, ...]:
    from corecurves.files.store import open_store

    try:
        store = open_store(path, strict=True)
    except FileFaults as error:
        return error.faults
    episodes = sum(map(len, store.episodes.values()))
    click.echo(
        f"{store.name}: lessons read: {len(store.lessons)}, episodes: {episodes}, "
        f"cases: {len(store.cases)}",
        err=True,
    )
    for note in store.skipped:
        click.echo(f"{store.name}: left out: {note}", err=True)
    return ()
