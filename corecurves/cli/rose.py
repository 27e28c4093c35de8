"""``corecurves rose``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corecurves.cli.targets import check_targets, exit_code, json_value, say_cost
from corecurves.cli.targets import max_concurrency as at_once
from corecurves.errors import ExitCode, UsageError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["rose"]


@click.group()
def rose() -> None:
    """Ask whether lessons survive being compressed."""


@rose.command("eval")
@click.argument("store", default="rose_bench")
@click.option(
    "--model",
    default="smollm2",
    show_default=True,
    metavar="SPEC",
    help="Who is evaluated: smollm2, gguf:PATH, openai:NAME@BASE_URL, simulated.",
)
@click.option(
    "--grader",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="auto, contrast, checklist, gain, judge or judge:MODEL.",
)
@click.option(
    "--arm",
    "arms",
    multiple=True,
    metavar="ARM",
    help="control, ceiling, treatment, placebo, scrambled or truncation; may be given "
    "again.  [default: the first five]",
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    metavar="LEVEL",
    help="L1, L2, …; may be given again.  [default: all]",
)
@click.option(
    "--holdout",
    type=float,
    help="Share of episodes in the test half.  [default: 1 where no level was made by a "
    "compressor, else 0.3]",
)
@click.option("--samples", default=3, show_default=True, help="Repeats.")
@click.option("--seed", default=0, show_default=True, help="Seed of the whole run.")
@click.option(
    "--margin",
    default=0.1,
    show_default=True,
    help="Loss of transfer that still counts as holding.",
)
@click.option(
    "--leaks",
    default="drop",
    show_default=True,
    metavar="HOW",
    help="drop or keep cells whose level was made with the episode.",
)
@at_once
@click.option(
    "--ledger",
    metavar="FILE",
    help="Where finished cells are kept; 'none' keeps none.  [default: a file in the "
    "user's cache folder]",
)
@click.option("--dry-run", is_flag=True, help="Say what it would cost, from three calls, and stop.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Save the Dataset (.nc).")
@click.option(
    "--plot", type=click.Path(dir_okay=False), help="Save the curve (.png, .svg or .pdf)."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, not as a table.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def evaluate(
    store: str,
    model: str,
    grader: str,
    arms: tuple[str, ...],
    levels: tuple[str, ...],
    holdout: float | None,
    samples: int,
    seed: int,
    margin: float,
    leaks: str,
    ledger: str | None,
    max_concurrency: int,
    dry_run: bool,
    out: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Replay held-out episodes against every level of each lesson.

    STORE is the folder of a ROSE store, of a bench, or of lessons in Markdown with their episodes,
    or a bundled name; it is opened read-only. The table shows the control first: what the model
    does with no lesson at all.

    \b
    corecurves models pull smollm2                      once: the local model's weights
    corecurves rose eval --samples 3                    the bundled bench
    corecurves rose eval my_store --holdout 0.3 --plot curve.png
    """  # noqa: D301
    import corecurves as cc
    from corecurves.rose.run import DEFAULT_ARMS

    check_targets(out, plot, store=store)
    if not 0 < margin < 0.5:
        raise UsageError(f"`--margin` is {margin:g}; give a number above 0 and below 0.5")
    asked: dict[str, Any] = {
        "grader": grader,
        "levels": levels or None,
        "arms": arms or DEFAULT_ARMS,
        "holdout": holdout,
        "samples": samples,
        "seed": seed,
        "leaks": leaks,
    }
    if dry_run:
        return say_cost(cc.plan_rose(store, model, calibrate=True, **asked))
    ds = cc.run_rose_eval(
        store,
        model,
        ledger=False if ledger == "none" else ledger,
        progress=not quiet,
        max_concurrency=max_concurrency,
        **asked,
    )
    summary = cc.summarize_rose(ds)
    verdict = cc.verdict(summary, margin=margin)
    click.echo(_as_json(summary, verdict) if as_json else f"{cc.text_rose(summary)}\n\n{verdict}")
    if out:
        click.echo(f"Dataset: {cc.save(ds, out)}", err=True)
    if plot:
        import matplotlib as mpl

        with mpl.rc_context({"backend": "agg"}):
            figure = cc.plot_rose(summary, margin=margin).get_figure(root=True)
            Path(plot).parent.mkdir(parents=True, exist_ok=True)
            if figure is not None:
                figure.savefig(plot, dpi=130)
        click.echo(f"figure: {plot}", err=True)
    return exit_code(ds)


@rose.command("screen")
@click.argument("store", default="rose_bench")
@click.option(
    "--model",
    default="smollm2",
    show_default=True,
    metavar="SPEC",
    help="A model that can be scored.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the run.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Write the table (.tsv).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def screen(store: str, model: str, seed: int, out: str | None, quiet: bool) -> int:
    """List the cases that a model passes with no lesson: they measure its prior, so delete them.

    It uses framings of its own, so that what it drops does not inflate the lift of an evaluation.
    Exit code 1 where a case is to be dropped.
    """
    import corecurves as cc

    check_targets(out, store=store, kinds=(".tsv",))
    table = cc.run_screen(store, model, seed=seed, progress=not quiet)
    click.echo(table.to_string(index=False, float_format=lambda x: f"{x:+.3f}"))
    dropped = table.decision.str.startswith("drop")
    click.echo(f"\n{int((~dropped).sum())} of {len(table)} cases are kept")
    if out:
        table.to_csv(out, sep="\t", index=False, float_format="%+.4f")
    return ExitCode.FINDINGS if dropped.any() else ExitCode.FINE


def _as_json(summary: xr.Dataset, verdict: object) -> str:
    from dataclasses import asdict

    content = {
        "attrs": {k: v for k, v in summary.attrs.items() if k != "config"},
        "verdict": json_value(asdict(verdict)),  # type: ignore[call-overload]
        "summary": json_value(summary.drop_vars("lesson_text", errors="ignore").to_dict()),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1, default=str)
