"""What several commands share: checks of output files, and JSON without NaN."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corecurves.errors import ExitCode, UsageError
from corecurves.files.store import open_store, refuse_inside

if TYPE_CHECKING:
    import xarray as xr

    from corecurves.engine.plan import Plan

__all__ = [
    "check_folder", "check_targets", "exit_code", "json_value", "max_concurrency", "say_cost",
]  # fmt: skip

max_concurrency = click.option(
    "--max-concurrency", default=8, show_default=True, help="Calls or batches at work at once."
)  # fmt: skip


def check_targets(
    out: str | None, plot: str | None = None, *, store: str = "", kinds: tuple[str, ...] = (".nc",)
) -> None:
    """Refuse a bad target before anything is spent."""
    options = {"--out": (out, kinds), "--plot": (plot, (".png", ".svg", ".pdf"))}
    opened = open_store(store) if store and (out or plot) else None
    for option, (target, suffixes) in options.items():
        if target and Path(target).suffix not in suffixes:
            raise click.UsageError(
                f"{option} is {target}; give a file that ends in {', '.join(suffixes)}"
            )
        if target and opened:
            refuse_inside(opened, target)
        if target:
            check_folder(Path(target).parent)
            if Path(target).exists() and not os.access(target, os.W_OK):
                raise UsageError(f"{target} cannot be written to; give another file")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written to, before anything is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made ({error.strerror}); give another") from error
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} cannot be written to; give a folder of your own")


def exit_code(ds: xr.Dataset) -> int:
    """Exit code for a finished run: whether every planned cell has a result."""
    status = ds.replay_status if "replay_status" in ds else ds.status
    failed = ((status != "ok") & (status != "")).any()
    return ExitCode.FAILED_CELLS if failed else ExitCode.FINE


def json_value(value: object) -> object:
    """Value with null where there is no number."""
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def say_cost(plan: Plan) -> ExitCode:
    """Print what a plan costs, a line each; the exit code of a dry run."""
    for name, value in plan.cost.items():
        click.echo(f"{name.replace('_', ' ')}: {value:,}")
    return ExitCode.FINE
