"""``corecurves rose compress``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from corecurves.errors import ExitCode
from corecurves.protocol.split import half

if TYPE_CHECKING:
    from corecurves.compress.result import CompressedStore
    from corecurves.specs import Store

__all__ = ["compress"]


@click.command()
@click.argument("store", default="rose_bench")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False),
              help="Folder of the copy: empty, or not there yet.")  # fmt: skip
@click.option(
    "--compressor", default="extractive", show_default=True, metavar="SPEC",
    help="extractive, prune or rewrite:MODEL, each with ?setting=value or not.",
)  # fmt: skip
@click.option(
    "--model", default="smollm2", show_default=True, metavar="SPEC",
    help="Who replays, and scores for extractive and prune.",
)  # fmt: skip
@click.option(
    "--grader", default="auto", show_default=True, metavar="NAME",
    help="auto, contrast, checklist, judge or judge:MODEL; gain cannot accept anything.",
)  # fmt: skip
@click.option("--lesson", "lessons", multiple=True, metavar="ID",
              help="A lesson; may be given again.  [default: all]")  # fmt: skip
@click.option("--depths", default=2, show_default=True, help="Levels to be made.")
@click.option("--ratio", default=0.75, show_default=True,
              help="Most tokens, as a share of the level before.")  # fmt: skip
@click.option("--holdout", default=0.3, show_default=True,
              help="Share of episodes that the compressor never sees.")  # fmt: skip
@click.option("--samples", default=1, show_default=True, help="Framings of each replay.")
@click.option("--tries", default=3, show_default=True, help="Drafts a level, at most.")
@click.option("--seed", default=0, show_default=True, help="Seed of the whole call.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def compress(
    store: str,
    out: str,
    compressor: str,
    model: str,
    grader: str,
    lessons: tuple[str, ...],
    depths: int,
    ratio: float,
    holdout: float,
    samples: int,
    tries: int,
    seed: int,
    quiet: bool,
) -> int:
    """Make shorter levels of lessons, in a copy of the store.

    A draft is accepted only if every train episode that passes with the full lesson still passes
    by replay. STORE is opened read-only. Exit code 3 where a lesson got no level.

    \b
    corecurves rose compress my_store -o short --compressor prune
    corecurves rose compress my_store -o short --compressor rewrite:openai:NAME --grader judge
    corecurves rose eval short --arm control --arm ceiling --arm treatment --arm truncation
    """  # noqa: D301
    import corecurves as cc
    from corecurves.compress.halves import halves_of, untestable

    opened = cc.open_store(store)
    chosen = [x for x in opened.lessons if not lessons or x.id in lessons]
    if said := untestable(opened, {x.id: halves_of(opened, x, holdout) for x in chosen}, holdout):
        click.echo(f"warning: {said}", err=True)
    found = cc.compress_store(
        opened, compressor, lessons=lessons or None, model=model, grader=grader, depths=depths,
        ratio=ratio, holdout=holdout, samples=samples, tries=tries, seed=seed, out=out,
        progress=not quiet,
    )  # fmt: skip
    click.echo(text_compressions(found))
    click.echo(f"copy: {found.path}", err=True)
    for line in _said_of_copy(found, holdout, opened):
        click.echo(line, err=True)
    return ExitCode.FAILED_CELLS if found.without else ExitCode.FINE


def _said_of_copy(found: CompressedStore, holdout: float, before: Store) -> Iterator[str]:
    """What whoever evaluates the copy must know: what is left to test it with, what it replaced."""
    made = {one.lesson for one in found.compressions if one.levels}
    left = sum(
        half(episode.id, holdout) == "test"
        for lesson in made
        for episode in found.store.episodes.get(lesson, ())
    )
    if made:
        yield f"episodes held out, for the evaluation: {left}"
    old = sum(len(x.levels) > 1 for x in before.lessons if x.id in made)
    if old:
        yield f"shorter levels that stood there before are replaced in the copy, in lessons: {old}"


def text_compressions(found: CompressedStore) -> str:
    """Compressions as plain text for a terminal."""
    from corecurves.compress import table_compressions
    from corecurves.specs import SIMULATED
    from corecurves.summaries.tables import plain_table

    first = found.compressions[0]
    table = table_compressions(found.compressions).reset_index()
    outcome = table.outcome.str.partition(":")[0]
    lines = [plain_table(table.drop(columns=["compressor", "dropped"]).assign(outcome=outcome))]
    lines += ["", f"{first.compressor}; replayed by {first.model}, graded by {first.grader}"]
    if first.simulated:
        lines.append(SIMULATED)
    for one in found.compressions:
        lines += ["", one.lesson]
        for level in one.levels:
            claims = [f"    dropped {x.kind or 'claim'}: {x.claim} (held by {x.holder})"
                      for x in level.dropped]  # fmt: skip
            lines += [f"  {level.name} {level.node}", *claims]
        lines += [f"  L{x.depth}, try {x.attempt} refused: {x.refusal}"
                  for x in one.tries if x.refusal]  # fmt: skip
        if one.refusal and not one.tries:
            lines.append(f"  refused: {one.refusal}")
        if one.not_demanded:
            lines.append(f"  not demanded, for L0 fails them: {', '.join(one.not_demanded)}")
    made = len(found.compressions) - len(found.without)
    lines += ["", f"{made} of {len(found.compressions)} lessons have a new level"]
    return "\n".join(lines)
