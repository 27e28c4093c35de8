"""What is run: which episodes, which levels, which text in which arm, under which framing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from corecurves.arguments import finite, whole
from corecurves.canonical import stable_seed
from corecurves.errors import UsageError, unknown
from corecurves.protocol.arms import check_arms
from corecurves.protocol.framings import Framing
from corecurves.protocol.rose_arms import ROSE_ARMS, served_text
from corecurves.protocol.split import half, leaks
from corecurves.specs import Episode, Lesson, Level, Store

__all__ = ["Design", "make_design"]

DEFAULT_HOLDOUT = 0.3


@dataclass(frozen=True)
class Design:
    """Everything that decides which cells there are, and what each of them says.

    Parameters
    ----------
    store : Store
        Lessons and episodes.
    arms : tuple of str
        The arms.
    depths : tuple of int
        Depths of the levels, from 0 on.
    holdout : float
        Share of episodes in the test half.
    samples : int
        Repeats.
    seed : int
        Seed of the run.
    leaked : {"drop", "keep"}
        Whether cells whose level was made with the episode are left out, or kept and marked.
    framings : tuple of Framing
        The pool that samples draw on.
    """

    store: Store
    arms: tuple[str, ...]
    depths: tuple[int, ...]
    holdout: float
    samples: int
    seed: int
    leaked: str
    framings: tuple[Framing, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """Labels on ``level``."""
        return ("none", *(f"L{depth}" for depth in self.depths))

    @cached_property
    def lessons(self) -> tuple[Lesson, ...]:
        """Lessons that have an episode in the test half."""
        return tuple(x for x in self.store.lessons if any(self.tested(e) for e in self.episodes(x)))

    def episodes(self, lesson: Lesson) -> tuple[Episode, ...]:
        """Usable episodes of a lesson, in the store's order."""
        return self.store.episodes.get(lesson.id, ())

    def tested(self, episode: Episode) -> bool:
        """Whether an episode is in the test half."""
        return half(episode.id, self.holdout) == "test"

    def leaks(self, lesson: Lesson, depth: int, episode: Episode) -> bool:
        """Whether a level was made with an episode."""
        level = lesson.level(depth)
        return level is not None and leaks(lesson, level, episode)

    def framing(self, lesson: Lesson, episode: Episode, sample: int) -> Framing:
        """Framing of a sample: the same in every arm and level, and balanced over samples."""
        first = stable_seed("framing", self.seed, lesson.id, episode.id)
        return self.framings[(first + sample) % len(self.framings)]

    def seed_of(self, lesson: Lesson, episode: Episode, sample: int) -> int:
        """Seed of a sample, the same in every arm and level."""
        return stable_seed("rose", self.seed, lesson.id, episode.id, sample)

    def places(self, lesson: Lesson) -> Iterator[tuple[str, Level | None]]:
        """Arms of a lesson, each with the level that it stands at; None for no lesson."""
        for arm in self.arms:
            if arm == "control":
                yield arm, None
                continue
            for level in lesson.levels:
                wanted = level.depth == 0 if arm == "ceiling" else level.depth > 0
                if wanted and level.depth in self.depths:
                    yield arm, level

    @cached_property
    def texts(self) -> dict[tuple[str, str, str], str | None]:
        """Text that is served, by lesson, arm and level."""
        found: dict[tuple[str, str, str], str | None] = {}
        for lesson in self.lessons:
            for arm, level in self.places(lesson):
                shown = level or lesson.levels[0]
                name = level.name if level else "none"
                found[lesson.id, arm, name] = served_text(
                    arm, lesson, shown, self.store.lessons, self.seed
                )
        return found


def make_design(
    store: Store,
    *,
    arms: Sequence[str],
    levels: Sequence[str] | None,
    holdout: float | None,
    samples: int,
    seed: int,
    leaked: str,
    framings: tuple[Framing, ...],
) -> Design:
    """Design of a run, checked."""
    samples, seed = whole("samples", samples), whole("seed", seed, least=None)
    if leaked not in ("drop", "keep"):
        raise UsageError(unknown("leaks", leaked, ("drop", "keep")))
    there = sorted({level.depth for lesson in store.lessons for level in lesson.levels})
    names = [f"L{depth}" for depth in there]
    asked = names if levels is None else [levels] if isinstance(levels, str) else list(levels)
    if not asked:
        raise UsageError(f"`levels` is empty; give some of {', '.join(names)}, or None for all")
    for name in asked:
        if name not in names:
            raise UsageError(unknown("level", name, names))
    depths = tuple(sorted({0, *(int(name[1:]) for name in asked)}))
    if holdout is None:
        made = any(level.compressor for lesson in store.lessons for level in lesson.levels)
        holdout = DEFAULT_HOLDOUT if made else 1.0
    holdout = finite("holdout", holdout, above=0, most=1)
    design = Design(
        store, check_arms(arms, ROSE_ARMS), depths, holdout, samples, seed, leaked, framings
    )
    if not design.lessons:
        fresh = any(
            not any(design.leaks(lesson, depth, e) for depth in depths)
            for lesson in store.lessons
            for e in design.episodes(lesson)
        )
        instead = (
            "give a larger one"
            if fresh
            else "a larger one finds only episodes that its levels were made with: record more, or "
            "compress again with a larger holdout"
        )
        raise UsageError(
            f"no episode of {store.name} is in the test half of holdout={holdout}; {instead}"
        )
    return design
