"""``corecurves report``."""

from __future__ import annotations

import click

from corecurves.errors import ExitCode, UsageError

__all__ = ["report"]


@click.command()
@click.argument("name", required=False)
@click.option(
    "-p",
    "--parameter",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the notebook; may be given again.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="The page (.html), the executed notebook (.ipynb), or the folder of a sweep.  "
    "[default: NAME.html, NAME-sweep]",
)
@click.option(
    "--sweep",
    metavar="GRID",
    help="A report for each combination, and an index: samples=[3,5],margin=[0.05,0.1].",
)
@click.option(
    "--most", type=int, metavar="N", help="Reports that a sweep may make.  [default: 100]"
)
@click.option("--list", "show_list", is_flag=True, help="List the reports and their parameters.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def report(
    name: str | None,
    assignments: tuple[str, ...],
    out: str | None,
    sweep: str | None,
    most: int | None,
    show_list: bool,
    quiet: bool,
) -> int:
    """Render a notebook as a report: one self-contained page, or the executed notebook.

    NAME is one of those that --list shows, or the path of a notebook of your own that has a cell
    tagged `parameters`. A parameter that the notebook does not declare is refused.

    \b
    corecurves report --list
    corecurves report sample_efficiency -p split=public -o report.html
    corecurves report rose_transfer --sweep "samples=[3,5],margin=[0.05,0.1]" -o sweep
    """  # noqa: D301
    from corecurves.reports import (
        declared_parameters,
        list_reports,
        parse_assignments,
        parse_sweep,
        render_report,
        render_sweep,
    )
    from corecurves.reports.sweep import MOST
    from corecurves.reports.templates import find_template

    if show_list:
        for info in list_reports():
            click.echo(f"{info.name}: {info.title}")
            for parameter in info.parameters:
                click.echo(f"    {parameter}")
        return ExitCode.FINE
    if name is None:
        raise UsageError("no report is named; 'corecurves report --list' shows what there is")
    if most is not None and sweep is None:
        raise UsageError("--most bounds a sweep; give --sweep too")
    declared = declared_parameters(find_template(name))
    given = parse_assignments(assignments, declared)
    if sweep is not None:
        grid = parse_sweep(sweep, declared)
        bound = MOST if most is None else most
        made = render_sweep(name, out, grid=grid, parameters=given, progress=not quiet, most=bound)
    else:
        made = render_report(name, out, parameters=given, progress=not quiet)
    click.echo(str(made))
    return ExitCode.FINE
