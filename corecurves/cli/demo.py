"""``corecurves demo``."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["demo"]

_SPLITS = ("public", "holdouts", "stress")


@click.command()
@click.option(
    "--out",
    default="corecurves-demo",
    show_default=True,
    type=click.Path(),
    help="Folder for figures, Datasets and the report.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def demo(out: str, quiet: bool) -> int:
    """Run the lane once on the bundled curricula, with the embedded system.

    It prints the summary table of each split and writes a figure and a Dataset for each, the delay
    curve of the public split, and an HTML report that needs nothing but a browser.
    """
    import matplotlib as mpl

    import corecurves as cc
    from corecurves.cli.lane import exit_code, save_figure
    from corecurves.cli.targets import check_folder

    folder = Path(out)
    check_folder(folder)
    code = 0
    for split in _SPLITS:
        ds = cc.run_lane(split, "grounded", ledger=False, progress=not quiet)
        summary = cc.summarize_lane(ds, contract=split != "stress")
        click.secho(f"\n{split}: hits after k corrections, embedded system 'grounded'", bold=True)
        click.echo(cc.text_lane(summary))
        cc.save(ds, folder / f"lane_{split}.nc")
        save_figure(summary, folder / f"lane_{split}.png")
        if split == "public":
            with mpl.rc_context({"backend": "agg"}):
                figure = cc.plot_survival(summary).get_figure(root=True)
                if figure is not None:
                    figure.savefig(folder / "delay_public.png", dpi=130)
        code = max(code, exit_code(ds))
    cc.render_report(
        "sample_efficiency",
        folder / "sample_efficiency.html",
        parameters={"ledger": "none"},
        progress=not quiet,
    )
    click.secho("\nwritten:", bold=True)
    for path in sorted(folder.iterdir()):
        click.echo(f"  {path}")
    return code
