"""``corecurves lane``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corecurves.cli.targets import check_targets, exit_code, json_value, say_cost
from corecurves.cli.targets import max_concurrency as at_once
from corecurves.errors import ExitCode

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["lane", "save_figure"]


@click.command()
@click.argument("curricula", nargs=-1, metavar="[CURRICULA]...")
@click.option(
    "--system",
    default="grounded",
    show_default=True,
    metavar="SPEC",
    help="What is taught, with its settings: 'grounded?max_hops=2&vault_capacity=3'.",
)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="ARM",
    help="taught or control; may be given again.  [default: both]",
)
@click.option("--samples", default=1, show_default=True, help="Independent repeats.")
@click.option(
    "--replays",
    default=2,
    show_default=True,
    help="Runs of each snapshot with the same seed; 1 measures no reproducibility.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the whole run.")
@click.option(
    "--mode",
    default="fresh",
    show_default=True,
    metavar="MODE",
    help="fresh: a new session a snapshot; prefix: one session, forked at each k.",
)
@click.option(
    "--ledger",
    metavar="FILE",
    help="Where finished cells are kept, so that the same call resumes; 'none' keeps "
    "none.  [default: a file in the user's cache folder]",
)
@at_once
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and stop.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Save the Dataset (.nc).")
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Save the curves, a panel a concept (.png, .svg or .pdf).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, not as a table.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def lane(
    curricula: tuple[str, ...],
    system: str,
    arms: tuple[str, ...],
    samples: int,
    replays: int,
    seed: int,
    mode: str,
    ledger: str | None,
    max_concurrency: int,
    dry_run: bool,
    out: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Measure how fast a system becomes competent as it is corrected.

    CURRICULA are files, folders or names of bundled splits (public, holdouts, dev, stress); without
    one, the public split. Each concept is taught one correction at a time and probed after each:
    the table shows the expected tokens hit after k = 0, 1, 2, … corrections.

    \b
    corecurves lane                                     the public split, embedded system
    corecurves lane stress --system 'grounded?max_hops=2'
    corecurves lane mine.yaml --out mine.nc --plot mine.png
    """  # noqa: D301
    import corecurves as cc
    from corecurves.summaries.refusals import nothing_taught

    check_targets(out, plot)
    asked: dict[str, Any] = {
        "arms": arms or ("taught", "control"),
        "samples": samples,
        "replays": replays,
        "seed": seed,
        "mode": mode,
    }
    if dry_run:
        return say_cost(cc.plan_lane(_sources(curricula), system, **asked))
    ds = cc.run_lane(
        _sources(curricula),
        system,
        **asked,
        ledger=False if ledger == "none" else ledger,
        max_concurrency=max_concurrency,
        progress=not quiet,
    )
    summary = cc.summarize_lane(ds)
    click.echo(_as_json(summary) if as_json else cc.text_lane(summary))
    if out:
        click.echo(f"Dataset: {cc.save(ds, out)}", err=True)
    if plot:
        save_figure(summary, Path(plot))
        click.echo(f"figure: {plot}", err=True)
    return exit_code(ds) or (ExitCode.FINDINGS if nothing_taught(summary) else ExitCode.FINE)


def save_figure(summary: xr.Dataset, path: Path) -> None:
    """Save the curves of a lane summary, a panel a concept."""
    import matplotlib as mpl

    import corecurves as cc

    lengths = summary.curriculum_length
    alike = float(lengths.max()) <= 2 * float(lengths.min())
    with mpl.rc_context({"backend": "agg"}):
        figure = cc.facet(cc.plot_lane, summary, col="concept", share=alike)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)


def _sources(curricula: tuple[str, ...]) -> str | list[str | Path]:
    if not curricula:
        return "public"
    return [Path(name) if Path(name).exists() else name for name in curricula]


def _as_json(summary: xr.Dataset) -> str:
    import corecurves as cc

    concepts = cc.table_lane(summary).reset_index().to_dict(orient="records")
    aggregates = {
        str(name): json_value(variable.values.tolist())
        for name, variable in summary.data_vars.items()
        if variable.dims in ((), ("arm",), ("arm", "ci_bound"))
    }
    curves = {
        name: json_value(summary[name].transpose("concept", "arm", "k").values.tolist())
        for name in ("cumulative_token_hit_count", "vault_hits", "gain")
    }
    content = {
        "system": summary.attrs["system"],
        "plan_hash": summary.attrs["plan_hash"],
        "aggregates_over": summary.attrs["aggregates_over"],
        "arm": summary.arm.values.tolist(),
        "concepts": concepts,
        "curves": {"dims": ["concept", "arm", "k"], **curves},
        "aggregates": aggregates,
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
