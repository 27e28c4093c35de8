"""The calls: compress a lesson, compress a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from corecurves.arguments import finite, whole
from corecurves.compress.counted import counted
from corecurves.compress.halves import halves_of
from corecurves.compress.lesson import Maker
from corecurves.compress.resolve import as_compressor
from corecurves.compress.result import CompressedStore, Compression
from corecurves.engine.progress import Progress
from corecurves.errors import Interrupted, UsageError, unknown
from corecurves.files.store import open_store
from corecurves.files.store_copy import check_copy, is_rose, node_names, write_copy
from corecurves.graders import TAKE, as_grader
from corecurves.protocol.framings import SCREENING
from corecurves.protocol.split import half
from corecurves.specs import Lesson, Store

__all__ = ["compress_lesson", "compress_store"]

_LONGEST = 0.75


def compress_lesson(
    store: str | Path | Store,
    lesson: str,
    compressor: object = "extractive",
    *,
    model: object = "smollm2",
    grader: object = "auto",
    depths: int = 2,
    ratio: float = _LONGEST,
    holdout: float = 0.3,
    samples: int = 1,
    tries: int = 3,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool = True,
) -> Compression:
    """Shorter levels of a lesson, each accepted by a replay of its train episodes.

    Parameters
    ----------
    store : str, Path or Store
        ``"rose_bench"``, a ROSE store's folder or a bench; opened read-only.
    lesson : str
        Id of the lesson.
    compressor : str, Compressor or callable
        ``extractive``, ``prune``, ``rewrite:MODEL``, each with ``?setting=value`` or not; or
        anything that takes a `corecurves.compress.TrainView` and returns a
        `corecurves.compress.Draft` or a text.
    model : str, Model or callable
        Who replays, and who scores for ``extractive`` and ``prune``.
    grader : str, Grader or callable
        See `run_rose_eval`. It has to say passed or not: ``gain`` does not.
    depths : int
        Levels to be made; when one is not accepted, no deeper one is tried.
    ratio : float
        Most o200k tokens of a level as a share of the level before, at most 0.75.
    holdout : float
        Share of episodes in the test half, which the compressor never sees, below 1.
    samples : int
        Framings under which each train episode is replayed.
    tries : int
        Drafts a level, at most. A refused one hands the known-good wordings and the tasks of the
        episodes that failed to the next as hints.
    seed : int
        Seed of the whole call.
    out : str, Path or None
        Folder, empty or not there yet, for a copy of the store with the new levels.
    progress : bool
        Whether to show progress.

    Returns
    -------
    Compression
        Levels that were accepted, and every try with its draft and why it was refused.

    Raises
    ------
    UsageError
        If an argument is wrong, the lesson is not there, or the copy cannot be written.
    FileFaults
        If the store is.
    PermanentFailure
        If no retry can mend a failed call.

    Notes
    -----
    A draft is accepted if it is not empty, has at most its share of tokens, declares at least one
    dropped claim with a holder and a kind of the closed list, or none where it is not clear, and
    every train episode that passes with L0 under a framing passes with the draft under the same. A
    replay that could not be judged refuses. Nothing comes from a ledger: each candidate is a call.
    The framings are those of `run_screen`, which share none with the evaluation. What the
    compressor was shown stands in each level it made, and `run_rose_eval` counts it as leaked.

    Examples
    --------
    >>> import corecurves as cc
    >>> store = cc.open_store("rose_bench").demo()
    >>> found = cc.compress_lesson(store, "link-jobs-seven", model="simulated", progress=False)
    >>> [level.name for level in found.levels], found.simulated
    (['L1', 'L2'], True)
    """
    found = compress_store(
        store, compressor, lessons=[lesson], model=model, grader=grader, depths=depths,
        ratio=ratio, holdout=holdout, samples=samples, tries=tries, seed=seed, out=out,
        progress=progress,
    )  # fmt: skip
    return found.compressions[0]


def compress_store(
    store: str | Path | Store,
    compressor: object = "extractive",
    *,
    lessons: Sequence[str] | None = None,
    model: object = "smollm2",
    grader: object = "auto",
    depths: int = 2,
    ratio: float = _LONGEST,
    holdout: float = 0.3,
    samples: int = 1,
    tries: int = 3,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool = True,
) -> CompressedStore:
    """Store whose lessons have levels that a compressor made.

    Parameters
    ----------
    store : str, Path or Store
        ``"rose_bench"``, a ROSE store's folder or a bench; opened read-only.
    compressor : str, Compressor or callable
        See `compress_lesson`.
    lessons : sequence of str or None
        Ids of those to be compressed; None for all.
    model, grader, depths, ratio, holdout, samples, tries, seed
        See `compress_lesson`.
    out : str, Path or None
        Folder, empty or not there yet, for a copy. A ROSE store is copied byte for byte; the old
        levels of the lessons get ``status: archived``, unless they stand for another lesson too. A
        folder of lessons in Markdown is copied too, and its old levels are hidden. Anything else is
        written as a bench.
    progress : bool
        Whether to show progress.

    Returns
    -------
    CompressedStore
        Its ``store`` can be evaluated; a lesson without an accepted level keeps L0 alone, and is
        named in ``without``.

    Raises
    ------
    UsageError
        If an argument is wrong, a lesson is not there, or the copy cannot be written.
    FileFaults
        If the store is.
    PermanentFailure
        If no retry can mend a failed call.

    Examples
    --------
    >>> import corecurves as cc
    >>> demo = cc.open_store("rose_bench").demo()
    >>> found = cc.compress_store(demo, "prune", model="simulated", depths=1, progress=False)
    >>> len(found.compressions) == len(demo.lessons)
    True
    """
    opened = store if isinstance(store, Store) else open_store(store)
    chosen = _chosen(opened, lessons)
    depths, samples, tries = (
        whole("depths", depths),
        whole("samples", samples),
        whole("tries", tries),
    )
    seed = whole("seed", seed, least=None)
    ratio = finite("ratio", ratio, above=0, most=_LONGEST)
    if holdout == 1:
        raise UsageError("`holdout` is 1, which leaves no train episode; give a share below 1")
    half("", holdout)
    target = check_copy(opened, out) if out is not None else None
    asked = counted(model)
    halves = {lesson.id: halves_of(opened, lesson, holdout) for lesson in chosen}
    judge = as_grader(grader, asked, [x for train, _ in halves.values() for x in train])
    wants = getattr(judge, "wants", "answer")
    if wants == "gain":
        raise UsageError(
            f"the grader gain says neither passed nor failed, so that nothing is accepted; {TAKE}"
        )
    if wants != "answer" and samples > len(SCREENING):
        raise UsageError(f"`samples` is {samples}; there are {len(SCREENING)} framings")
    names = _Names(opened)
    maker = Maker(
        asked, as_compressor(compressor, asked), judge, depths, ratio, samples, tries, seed,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), names,
    )  # fmt: skip
    found = []
    with Progress(len(chosen), "compress", show=progress) as bar:
        for lesson in chosen:
            try:
                found.append(maker.make(lesson, *halves[lesson.id]))
            except KeyboardInterrupt:
                said = "a compression is kept only as a whole: the same call starts anew"
                raise Interrupted(said, resumes=False) from None
            bar.step()
    result = _replaced(opened, found)
    if target is None:
        return CompressedStore(result, tuple(found))
    copied = write_copy(opened, result, {one.lesson: one.levels for one in found}, target)
    kept = {lesson.id for lesson in opened.lessons}
    result = replace(
        copied,
        name=opened.name,
        lessons=tuple(lesson for lesson in copied.lessons if lesson.id in kept),
        episodes={key: value for key, value in copied.episodes.items() if key in kept},
    )
    return CompressedStore(result, tuple(found), str(target))


def _chosen(store: Store, lessons: Sequence[str] | None) -> list[Lesson]:
    there = {lesson.id: lesson for lesson in store.lessons}
    asked = there if lessons is None else [lessons] if isinstance(lessons, str) else lessons
    for name in asked:
        if name not in there:
            raise UsageError(unknown("lesson", name, there))
    if not asked:
        raise UsageError(f"no lesson is asked for; {store.name} has {', '.join(there)}")
    return [there[name] for name in dict.fromkeys(asked)]


class _Names:
    """Ids of new nodes: those of a bench by its rule, those of a ROSE store free in its folder."""

    def __init__(self, store: Store) -> None:
        self.rose = is_rose(store)
        self.taken = node_names(store)

    def __call__(self, lesson: Lesson, depth: int) -> str:
        if not self.rose:
            return f"{lesson.id}.L{depth}"
        number, name = 1, f"{lesson.id}.l{depth}"
        while name in self.taken:
            number += 1
            name = f"{lesson.id}.l{depth}-{number}"
        self.taken.add(name)
        return name


def _replaced(store: Store, found: Sequence[Compression]) -> Store:
    """The store with its new levels; a level that stands for a lesson left as it was stays."""
    made = {one.lesson: one.levels for one in found}
    others = {
        level.node
        for lesson in store.lessons
        if lesson.id not in made
        for level in lesson.levels
        if level.merged
    }
    lessons = []
    for lesson in store.lessons:
        if lesson.id not in made:
            lessons.append(lesson)
            continue
        new = made[lesson.id]
        depths = {level.depth for level in new}
        old = [x for x in lesson.levels if x.depth == 0 or x.node in others]
        levels = (*new, *(x for x in old if x.depth not in depths))
        lessons.append(replace(lesson, levels=tuple(sorted(levels, key=lambda x: x.depth))))
    return replace(store, lessons=tuple(lessons))
