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
    help="The page (.html) or the executed notebook (.ipynb).  [default: NAME.html]",
)
@click.option("--list", "show_list", is_flag=True, help="List the reports and their parameters.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def report(
    name: str | None, assignments: tuple[str, ...], out: str | None, show_list: bool, quiet: bool
) -> int:
    """Render a notebook as a report: one self-contained page, or the executed notebook.

    NAME is one of those that --list shows, or the path of a notebook of your own that has a cell
    tagged `parameters`. A parameter that the notebook does not declare is refused.

    \b
    corecurves report --list
    corecurves report sample_efficiency -p split=public -o report.html
    """  # noqa: D301
    from corecurves.reports import (
        declared_parameters,
        list_reports,
        parse_assignments,
        render_report,
    )
    from corecurves.reports.render import find_template

    if show_list:
        for info in list_reports():
            click.echo(f"{info.name}: {info.title}")
            for parameter in info.parameters:
                help_text = f"  {parameter.help}" if parameter.help else ""
                click.echo(f"    {parameter.name} = {parameter.default!r}{help_text}")
        return ExitCode.FINE
    if name is None:
        raise UsageError("no report is named; 'corecurves report --list' shows what there is")
    given = parse_assignments(assignments, declared_parameters(find_template(name)))
    click.echo(str(render_report(name, out, parameters=given, progress=not quiet)))
    return ExitCode.FINE
