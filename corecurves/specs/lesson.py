"""Lessons in their levels, recorded episodes, and the cases of a bench, as files give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from corecurves.canonical import JSON

__all__ = [
    "DROPPED_KINDS",
    "Checks",
    "Dropped",
    "Episode",
    "Lesson",
    "Level",
    "Outcome",
    "ServedCase",
    "Store",
]

WRITTEN_KINDS = ("parameter", "edge-case", "rationale", "example", "precondition", "step")
"""Kinds of claim that a compressor of this library declares."""
DROPPED_KINDS = (
    *WRITTEN_KINDS, "counter-example", "procedure-step", "naming", "reference",
)  # fmt: skip
"""Kinds of claim that a level may drop: the closed list, those of ROSE among them."""

MAKE_SHORTER = "write `name.L1.md` beside the lesson, or run `corecurves rose compress`"
"""What to do where a lesson has its full text only."""


@dataclass(frozen=True)
class Dropped:
    """A claim that a level no longer makes.

    Parameters
    ----------
    claim : str
        What was dropped.
    kind : str
        What sort of claim it was: one of `DROPPED_KINDS`; empty where nothing says.
    holder : str
        The level or node that still holds it; empty where the file does not say.
    """

    claim: str
    kind: str = ""
    holder: str = ""

    def content(self) -> dict[str, str]:
        """What is known of it, as files write it."""
        return {key: value for key, value in vars(self).items() if value}


@dataclass(frozen=True)
class Level:
    """One level of a lesson: L0 is the full text, each further one is shorter.

    Parameters
    ----------
    depth : int
        0 for L0.
    text : str
        What is served.
    node : str
        Id of the node that it was read from.
    dropped : tuple of Dropped
        What it leaves out against the level before.
    planted : str
        Why it loses something that matters, where that was done by hand on purpose; else empty.
    created : str
        When it was made, as the file says; empty where undated.
    covers : tuple of str
        Ids of the episodes that the level's subtree covered (``covers_tasks``).
    compressor : str
        Who made it; empty where no compressor did.
    merged : bool
        Whether it stands for several lessons.
    subtree : tuple of str
        Ids of the nodes that it was made from, its own among them.
    origins : tuple of str
        Ids of the episodes that an L0 of the subtree was written from, as far as it is stated.
    shown : tuple of str or None
        Ids of the episodes that its compressor was shown, or that an L0 was written from; None
        where the file does not say.
    load_bearing, preserve : tuple of str
        Spans of it that were seen doing work, and what a shorter form must keep.
    """

    depth: int
    text: str
    node: str = ""
    dropped: tuple[Dropped, ...] = ()
    planted: str = ""
    created: str = ""
    covers: tuple[str, ...] = ()
    compressor: str = ""
    merged: bool = False
    subtree: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None
    load_bearing: tuple[str, ...] = ()
    preserve: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its label on ``level``."""
        return f"L{self.depth}"


@dataclass(frozen=True)
class Lesson:
    """Procedural knowledge, in levels.

    Parameters
    ----------
    id : str
        Its label on ``concept``.
    title, family, kind : str
        What it is called, what it belongs to, and ``trap``, ``detail``, ``principle`` or empty.
    levels : tuple of Level
        By depth, from L0 on; a depth may be missing.
    demo : bool
        Whether it belongs to the small subset that a demonstration runs.
    """

    id: str
    title: str
    family: str
    kind: str
    levels: tuple[Level, ...]
    demo: bool = False

    def level(self, depth: int) -> Level | None:
        """Level of a depth, or None."""
        return next((level for level in self.levels if level.depth == depth), None)

    def _repr_html_(self) -> str:
        from corecurves.specs.views import lesson_html

        return lesson_html(self)


@dataclass(frozen=True)
class Checks:
    """Words that an answer must and must not hold.

    Parameters
    ----------
    must, must_not : tuple of str
        Tokens, matched as whole words.
    """

    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The known-good outcome of a task, and the specific wrong thing done by default.

    Parameters
    ----------
    good, trap : tuple of str
        Wordings of each, written as the answer itself.
    checks : Checks
        What an answer must and must not hold.
    """

    good: tuple[str, ...]
    trap: tuple[str, ...] = ()
    checks: Checks = field(default_factory=Checks)

    def content(self) -> dict[str, JSON]:
        """The outcome as JSON."""
        return {
            "good": list(self.good),
            "trap": list(self.trap),
            "must": list(self.checks.must),
            "must_not": list(self.checks.must_not),
        }


@dataclass(frozen=True)
class Episode:
    """One recorded task with its known-good outcome.

    Parameters
    ----------
    id : str
        Its label.
    task : str
        The prompt.
    outcome : Outcome
        What is known to be good.
    used, served : tuple of str
        Nodes that had borne on the work, and those that were shown.
    family, created : str
        What it belongs to, and when it was recorded, as the file says.
    ceiling : str
        What is known of it with the full lesson: ``fails`` where that did not help; else empty.
    """

    id: str
    task: str
    outcome: Outcome
    used: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    family: str = ""
    created: str = ""
    ceiling: str = ""


@dataclass(frozen=True)
class ServedCase:
    """A case about what happens when nothing, the right or the wrong lesson is served.

    Parameters
    ----------
    id : str
        Its label.
    kind : str
        ``multi``, ``distractor``, ``conflict`` or ``null``.
    lessons : mapping of str to str
        Texts by id.
    task : str
        The prompt.
    outcome : Outcome
        What is known to be good, and the trap.
    """

    id: str
    kind: str
    lessons: Mapping[str, str]
    task: str
    outcome: Outcome


@dataclass(frozen=True)
class Store:
    """Lessons and the episodes recorded with them.

    Parameters
    ----------
    name : str
        What it is called.
    lessons : tuple of Lesson
        In order of id.
    episodes : mapping of str to tuple of Episode
        Usable episodes by lesson id, in a fixed order; one that used several stands under each.
    cases : tuple of ServedCase
        Cases of the other kinds, where the store is a bench.
    skipped : tuple of str
        What was left out, with its reason, and what is to be known of the rest.
    path : str
        The folder, or the single file, absolute; results must not be written into it. Empty where
        there is none.
    """

    name: str
    lessons: tuple[Lesson, ...]
    episodes: Mapping[str, tuple[Episode, ...]]
    cases: tuple[ServedCase, ...] = ()
    skipped: tuple[str, ...] = ()
    path: str = ""

    @classmethod
    def from_markdown(cls, folder: str | Path) -> Store:
        """Store of a team's own lessons in Markdown, with the episodes that test them.

        Parameters
        ----------
        folder : str or Path
            A folder with ``name.md`` (the full lesson), ``name.L1.md``, ``name.L2.md`` … (shorter
            and shorter), and ``episodes.jsonl`` or ``episodes.yaml``. Front matter may be left out:
            the title is then the first heading. ``"own_notes"`` is the example that comes along.

        Returns
        -------
        Store
            Lessons by id; opened read-only.

        Raises
        ------
        UsageError
            If there is no such folder, or no lesson in it.
        FileFaults
            If something is wrong in it: every fault, with file and line.

        Examples
        --------
        >>> Store.from_markdown("own_notes")
        Store('own_notes', 2 lessons, 6 episodes)
        """
        from corecurves.files.markdown import load_markdown  # above: read when it is called

        return load_markdown(folder)

    def demo(self) -> Store:
        """The small named subset that a demonstration runs; it has no cases of other kinds."""
        lessons = tuple(lesson for lesson in self.lessons if lesson.demo)
        kept = {lesson.id: self.episodes.get(lesson.id, ()) for lesson in lessons}
        return replace(self, name=f"{self.name}, demo", lessons=lessons, episodes=kept, cases=())

    def __repr__(self) -> str:
        n = len({episode.id for group in self.episodes.values() for episode in group})
        return f"Store({self.name!r}, {len(self.lessons)} lessons, {n} episodes)"

    def _repr_html_(self) -> str:
        from corecurves.specs.views import store_html

        return store_html(self)
