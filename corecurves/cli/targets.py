"""What several commands share: checks of output files, and JSON without NaN."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["check_targets", "json_value"]


def check_targets(out: str | None, plot: str | None) -> None:
    """Refuse a bad target before anything is spent.

    Parameters
    ----------
    out, plot : str or None
        Files for the Dataset and the figure.

    Raises
    ------
    click.UsageError
        If a suffix is wrong, naming the option.
    """
    kinds = {"--out": (out, (".nc",)), "--plot": (plot, (".png", ".svg", ".pdf"))}
    for option, (target, suffixes) in kinds.items():
        if target and Path(target).suffix not in suffixes:
            raise click.UsageError(
                f"{option} is {target}; give a file that ends in {', '.join(suffixes)}"
            )


def json_value(value: object) -> object:
    """Value with null where there is no number.

    Parameters
    ----------
    value : object
        Nested lists and mappings of plain values.

    Returns
    -------
    object
        The same, without NaN and infinities.
    """
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
