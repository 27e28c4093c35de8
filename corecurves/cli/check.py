"""``corecurves check``."""

from __future__ import annotations

from pathlib import Path

import click

from corecurves.errors import ExitCode

__all__ = ["check"]


@click.command()
@click.argument("paths", nargs=-1, type=str, metavar="[PATH]...")
def check(paths: tuple[str, ...]) -> int:
    """Say what is wrong in curricula, before anything is run.

    PATH is a file, a folder or the name of a bundled split; without one, all bundled curricula are
    checked together. Each fault is one line: file:line: what is wrong, what to write. A curriculum
    that keeps the contract is also put to the review of the embedded system, which must accept
    every correction at its k.

    \b
    corecurves check
    corecurves check curricula/mine.yaml
    """  # noqa: D301
    from corecurves.files.curricula import check_curricula, splits
    from corecurves.protocol.reviewed import check_reviewed

    sources = [Path(path) if Path(path).exists() else path for path in paths] or splits()
    found, faults = check_curricula(sources)
    faults = (*faults, *check_reviewed(found))
    for fault in sorted(faults):
        click.echo(str(fault))
    kept = sum(curriculum.contract for curriculum in found)
    click.echo(
        f"curricula read: {len(found)}, of them under the contract: {kept}; faults: {len(faults)}",
        err=True,
    )
    return ExitCode.FINDINGS if faults else ExitCode.FINE
