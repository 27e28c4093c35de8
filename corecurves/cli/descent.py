"""``corecurves rose descend``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from corecurves.cli.targets import check_targets, exit_code, json_value, say_cost
from corecurves.cli.targets import max_concurrency as at_once
from corecurves.errors import ExitCode

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["descend"]


@click.command("descend")
@click.argument("store", default="rose_bench")
@click.option(
    "--model", default="smollm2", show_default=True, metavar="SPEC",
    help="Who is evaluated: smollm2, gguf:PATH, openai:NAME@BASE_URL, simulated.",
)  # fmt: skip
@click.option(
    "--strategy", "strategies", multiple=True, metavar="NAME",
    help="delta-patch, delta-jump or stepwise; may be given again.  [default: all three]",
)  # fmt: skip
@click.option(
    "--judge", metavar="SPEC",
    help="Who judges how useful a claim is: model:MODEL, judge:MODEL, bm25.  [default: nobody]",
)  # fmt: skip
@click.option(
    "--weights", nargs=3, type=float, metavar="U R T",
    help="Of usefulness, rescue rate and token share.  [default: 0.60 0.28 0.12]",
)  # fmt: skip
@click.option("--claims", default=3, show_default=True, help="Most claims that a patch adds.")
@click.option(
    "--statistics", default="train", show_default=True, metavar="FROM",
    help="Where rescue rates come from: train or none.",
)  # fmt: skip
@click.option(
    "--grader", default="auto", show_default=True, metavar="NAME",
    help="auto, contrast, checklist, judge or judge:MODEL.",
)  # fmt: skip
@click.option(
    "--holdout", type=float,
    help="Share of episodes in the test half.  [default: 0.3 where a compressor made a level, else "
    "0.5, or 1 without --statistics]",
)  # fmt: skip
@click.option("--samples", default=1, show_default=True, help="Repeats.")
@click.option("--seed", default=0, show_default=True, help="Seed of the whole run.")
@click.option(
    "--leaks", default="drop", show_default=True, metavar="HOW",
    help="drop or keep episodes that a form of their lesson was made with.",
)  # fmt: skip
@at_once
@click.option(
    "--ledger", metavar="FILE",
    help="Where finished cells are kept; 'none' keeps none.  [default: a file in the user's "
    "cache folder]",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what it would cost, and stop.")
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Save the Dataset (.nc).")
@click.option("--plot", type=click.Path(dir_okay=False), help="Save the figure (.png, .svg, .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def descend(
    store: str,
    model: str,
    strategies: tuple[str, ...],
    judge: str | None,
    weights: tuple[float, float, float] | None,
    claims: int,
    statistics: str,
    grader: str,
    holdout: float | None,
    samples: int,
    seed: int,
    leaks: str,
    ledger: str | None,
    max_concurrency: int,
    dry_run: bool,
    out: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Compare the ways back to detail where the shortest form of a lesson fails.

    Each strategy serves more and more detail until the episode passes, and ends at L0; where that
    fails too the knowledge is missing, and the compression is not at fault.

    \b
    corecurves rose descend                              the bundled bench, all three strategies
    corecurves rose descend my_store --judge bm25 --plot descent.png
    corecurves rose descend my_store --strategy stepwise --holdout 1
    """  # noqa: D301
    import corecurves as cc
    from corecurves.descent.ranking import WEIGHTS
    from corecurves.descent.trails import STRATEGIES

    check_targets(out, plot, store=store)
    asked: dict[str, Any] = {
        "strategies": strategies or STRATEGIES,
        "judge": judge,
        "weights": weights or WEIGHTS,
        "claims": claims,
        "statistics": statistics,
        "grader": grader,
        "holdout": holdout,
        "samples": samples,
        "seed": seed,
        "leaks": leaks,
    }
    if dry_run:
        return say_cost(cc.plan_descent(store, model, **asked))
    ds = cc.run_descent_eval(
        store,
        model,
        ledger=False if ledger == "none" else ledger,
        progress=not quiet,
        max_concurrency=max_concurrency,
        **asked,
    )
    summary = cc.summarize_descent(ds)
    click.echo(_as_json(summary) if as_json else cc.text_descent(summary))
    if out:
        click.echo(f"Dataset: {cc.save(ds, out)}", err=True)
    if plot:
        _figure(summary, plot)
    # A control, a patch on a train episode or a judgement may have failed where no cell did.
    return ExitCode.FAILED_CELLS if ds.attrs["cells_failed"] else exit_code(ds)


def _figure(summary: xr.Dataset, path: str) -> None:
    import matplotlib as mpl

    import corecurves as cc

    with mpl.rc_context({"backend": "agg"}):
        figure = cc.plot_descent(summary).get_figure(root=True)
        if figure is not None:
            figure.savefig(path, dpi=130, bbox_inches="tight")
    click.echo(f"figure: {path}", err=True)


def _as_json(summary: xr.Dataset) -> str:
    content = {"attrs": dict(summary.attrs), "summary": json_value(summary.to_dict())}
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1, default=str)
