"""``corecurves rose eval-recall``, ``coverage``, ``tree`` and ``recall``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corecurves.cli.targets import check_targets, exit_code, json_value
from corecurves.cli.targets import max_concurrency as at_once
from corecurves.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray as xr

__all__ = ["COMMANDS"]

_BASELINE = "serve-all"


def _limits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that decide what is served."""
    for option in (
        click.option("--seed", default=0, show_default=True, help="Seed of the run."),
        click.option("--pool", type=int, metavar="N",
                     help="Show the selector only the N best by BM25."),
        click.option("--max-pack-tokens", type=int, metavar="N",
                     help="Most tokens served together.  [default: no limit]"),
        click.option("--threshold", type=float,
                     help="A score must exceed it.  [default: the selector's own]"),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command("eval-recall")
@click.argument("store", default="demo_store")
@click.option(
    "--selector", "selectors", multiple=True, metavar="SPEC",
    help="serve-all, bm25, embedding, model:MODEL or judge:MODEL; may be given again.  "
    "[default: bm25]",
)  # fmt: skip
@click.option("--whole-store", is_flag=True, help="Take all lessons of the store as candidates.")
@_limits
@click.option("--sweep", is_flag=True, help="Score all thresholds at once, for the whole curve.")
@click.option("--samples", default=1, show_default=True, help="Repeats.")
@click.option("--save", "save_as", metavar="NAME", help="Keep this run under a name.")
@click.option("--against", metavar="NAME", help="Compare with a run that was kept.")
@click.option(
    "--baselines", type=click.Path(file_okay=False),
    help="Where runs are kept.  [default: a folder in the user's data folder]",
)  # fmt: skip
@at_once
@click.option(
    "--ledger", metavar="FILE",
    help="Where finished cells are kept; 'none' keeps none.  [default: a file in the user's "
    "cache folder]",
)  # fmt: skip
@click.option("-o", "--out", type=click.Path(dir_okay=False), help="Save the Dataset (.nc).")
@click.option("--plot", type=click.Path(dir_okay=False), help="Save the figure (.png, .svg, .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print the summaries as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def eval_recall(
    store: str,
    selectors: tuple[str, ...],
    whole_store: bool,
    threshold: float | None,
    max_pack_tokens: int | None,
    pool: int | None,
    seed: int,
    sweep: bool,
    samples: int,
    save_as: str | None,
    against: str | None,
    baselines: str | None,
    ledger: str | None,
    max_concurrency: int,
    out: str | None,
    plot: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Score retrieval: replay episodes against exactly the lessons that they were served.

    The first row is always serve-all, which serves whatever it may. Precision and recall are
    printed together, for either alone makes any change look like progress.

    \b
    corecurves rose eval-recall                               bm25 beside serve-all
    corecurves rose eval-recall --selector bm25 --save before keep this run
    corecurves rose eval-recall --selector embedding --against before
    """  # noqa: D301
    import corecurves as cc
    from corecurves.files.baselines import baseline_path, load_baseline

    check_targets(out, plot, store=store)
    names = list(dict.fromkeys(selectors or ("bm25",)))
    single = {"--save": save_as, "--against": against, "--out": out,
              "--ledger": ledger if ledger != "none" else None}  # fmt: skip
    for option, value in single.items():
        if value and len(names) > 1:
            raise click.UsageError(f"{option} goes with one --selector; {len(names)} are given")
    if save_as:
        baseline_path(save_as, baselines)
    before = load_baseline(against, folder=baselines) if against else None
    options: dict[str, Any] = {"whole_store": whole_store, "pool": pool, "seed": seed}
    runs = {}
    for name in dict.fromkeys((_BASELINE, *names)):
        asked = name in names
        runs[name] = cc.run_recall_eval(
            store, name, **options, threshold=threshold if asked else None,
            max_pack_tokens=max_pack_tokens if asked else None, sweep=sweep and asked,
            samples=samples if asked else 1,
            ledger=False if ledger == "none" or not asked else ledger, progress=not quiet,
            max_concurrency=max_concurrency,
        )  # fmt: skip
    summaries = {name: cc.summarize_recall(ds) for name, ds in runs.items()}
    last = runs[names[-1]]
    compared = cc.compare_recall(last, before) if before is not None else None
    if as_json:
        click.echo(_as_json(summaries, compared))
    else:
        click.echo(cc.text_recall(summaries))
        click.echo(f"\n{_once(summaries[names[-1]])}")
        if compared is not None:
            click.echo(f"\nagainst '{against}'\n{cc.text_recall(compared)}")
    if save_as:
        if save_as in cc.baseline_names(folder=baselines):
            click.echo(f"'{save_as}' was kept before; this run takes its place", err=True)
        click.echo(f"kept: {cc.save_baseline(last, save_as, folder=baselines)}", err=True)
    if out:
        click.echo(f"Dataset: {cc.save(last, out)}", err=True)
    if plot:
        drawn = {name: one for name, one in summaries.items() if name in names}
        _figure(cc.plot_recall(drawn, baseline=_from(before, summaries, drawn)), plot)
    return max(exit_code(ds) for ds in runs.values())


@click.command("coverage")
@click.argument("store", default="demo_store")
@click.option(
    "--selector", default="bm25", show_default=True, metavar="SPEC",
    help="serve-all, bm25, embedding, model:MODEL or judge:MODEL.",
)  # fmt: skip
@click.option(
    "--probe", "probes", multiple=True, metavar="TEXT",
    help="A prompt; may be given again.  [default: the prompts of all recorded episodes]",
)  # fmt: skip
@_limits
@click.option("--quiet", is_flag=True, help="Show no progress.")
def coverage(
    store: str,
    selector: str,
    probes: tuple[str, ...],
    threshold: float | None,
    max_pack_tokens: int | None,
    pool: int | None,
    seed: int,
    quiet: bool,
) -> int:
    """List every lesson that no prompt can reach, and why: precision and recall cannot see it.

    Exit code 1 where a lesson is out of reach, 3 where a call failed.
    """
    import corecurves as cc

    table = cc.run_coverage(
        store, selector, probes=probes or None, pool=pool, threshold=threshold,
        max_pack_tokens=max_pack_tokens, seed=seed, progress=not quiet,
    )  # fmt: skip
    lost = table.reached == 0
    budget = table.attrs["max_pack_tokens"]
    click.echo(
        f"{int(lost.sum())} of {len(table)} lessons are reached by none of "
        f"{table.attrs['probes']} prompts (selector {table.attrs['selector']}, threshold "
        f"{table.attrs['threshold']:g}, budget {budget})"
    )
    for lesson, row in table[lost].iterrows():
        click.echo(f"  {lesson}: {row.reason}" + (f" ({row.why})" if row.why else ""))
    reached = table[~lost].sort_values("reached", kind="stable")
    named = (f"{name} ({row.reached})" for name, row in reached.iterrows())
    click.echo(f"reached (by so many prompts): {', '.join(named) or 'none'}")
    if table.attrs["failed"]:
        click.echo(f"{table.attrs['failed']} cells have no result", err=True)
        return ExitCode.FAILED_CELLS
    return ExitCode.FINDINGS if lost.any() else ExitCode.FINE


@click.command("tree")
@click.argument("store", default="demo_store")
def tree(store: str) -> int:
    """Draw the levels of each lesson, with their status and the claims that they dropped."""
    from corecurves.files.tree import store_tree

    click.echo(store_tree(store))
    return ExitCode.FINE


@click.command("recall")
@click.argument("store", default="demo_store")
@click.option("--prompt", required=True, metavar="TEXT", help="What would be asked.")
@click.option(
    "--selector", default="bm25", show_default=True, metavar="SPEC",
    help="serve-all, bm25, embedding, model:MODEL or judge:MODEL.",
)  # fmt: skip
@_limits
def recall(
    store: str,
    prompt: str,
    selector: str,
    threshold: float | None,
    max_pack_tokens: int | None,
    pool: int | None,
    seed: int,
) -> int:
    """Show which lessons would be served for a prompt today, and why."""
    import corecurves as cc
    from corecurves.summaries.tables import plain_table

    table = cc.explain_recall(
        store, prompt, selector, pool=pool, threshold=threshold, max_pack_tokens=max_pack_tokens,
        seed=seed,
    )  # fmt: skip
    served = table[table.served]
    shown = table.reset_index()
    shown["score"] = [f"{x:.3f}" if x == x else "–" for x in shown.score]
    shown["served"] = ["yes" if x else "no" for x in shown.served]
    click.echo(plain_table(shown))
    click.echo(f"\n{len(served)} of {len(table)} served, {int(served.tokens.sum())} tokens")
    failed = table.decision.isin(("call_failed", "cut_off", "unparsable")).any()
    return ExitCode.FAILED_CELLS if failed else ExitCode.FINE


COMMANDS = (eval_recall, coverage, tree, recall)
"""What `corecurves rose` gets from here."""


def _once(summary: xr.Dataset) -> str:
    """What was skipped and what is gone, which is the same for every selector."""
    import corecurves as cc

    text = cc.text_recall(summary)
    return "\n".join(
        line for line in text.splitlines()
        if line.startswith("skipped") or "no longer exists" in line or "no candidate stands" in line
    ) or "no episode was skipped"  # fmt: skip


def _from(
    before: xr.Dataset | None, summaries: dict[str, xr.Dataset], drawn: dict[str, xr.Dataset]
) -> xr.Dataset | None:
    """Where the arrow begins: at the kept run, else at serve-all."""
    start = summaries.get(_BASELINE) if before is None else before
    if start is None or _BASELINE in drawn:
        return None
    one = next(iter(drawn.values()))
    return start if start.attrs.get("candidates") == one.attrs["candidates"] else None


def _figure(ax: Any, path: str) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"backend": "agg"}):
        figure = ax.get_figure(root=True)
        figure.savefig(path, dpi=130, bbox_inches="tight")
    click.echo(f"figure: {Path(path)}", err=True)


def _as_json(summaries: dict[str, xr.Dataset], compared: xr.Dataset | None) -> str:
    content = {name: _plain(one) for name, one in summaries.items()}
    if compared is not None:
        content["comparison"] = _plain(compared)
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1, default=str)


def _plain(one: xr.Dataset) -> object:
    return {"attrs": dict(one.attrs), "summary": json_value(one.to_dict())}
