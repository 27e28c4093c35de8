"""What is replayed: recorded episodes with what each was served, and the lessons that still exist.

Two candidate sets are offered. *Served*: exactly the lessons that an episode was served, as far as
they still exist. *Whole store*: of each lesson the shortest form that stands, and merged forms
beside them, as recall would find them today; of a bench, every full lesson.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from corecurves.canonical import digest
from corecurves.errors import UsageError
from corecurves.files.graph import Graph
from corecurves.files.layout import read_layout
from corecurves.files.recorded import Recorded
from corecurves.files.store import open_store
from corecurves.specs import Lesson, Store
from corecurves.text import count_tokens

__all__ = ["NEEDING", "Material", "Piece", "Replay", "read_material"]

NEEDING = ("multi", "conflict")
"""Kinds of case that need their lessons; in the others the right pack is empty."""


@dataclass(frozen=True)
class Piece:
    """A lesson in one of its levels, as the store has it today.

    Parameters
    ----------
    id, title, family, status : str
        As in the store.
    level : int
        0 for a full lesson.
    text : str
        What would be served.
    tokens : int
        Its length in o200k tokens.
    """

    id: str
    title: str
    family: str
    status: str
    level: int
    text: str
    tokens: int


@dataclass(frozen=True)
class Replay:
    """An episode that can be replayed.

    Parameters
    ----------
    id, task : str
        Its label, and the prompt.
    served : tuple of str
        Lessons that it was served and that still exist, in the order recorded.
    gone : tuple of str
        Those that no longer exist.
    used : tuple of str
        Lessons that had borne on the work, those that were not served among them; of those served,
        as far as they still exist.
    outcome, created : str
        As recorded.
    """

    id: str
    task: str
    served: tuple[str, ...]
    gone: tuple[str, ...]
    used: tuple[str, ...]
    outcome: str
    created: str


@dataclass(frozen=True)
class Material:
    """Everything that a recall evaluation takes from a store.

    Parameters
    ----------
    store : Store
        The store.
    graph : Graph
        Its nodes.
    pieces : mapping of str to Piece
        Lessons that exist, in order of id.
    replays : tuple of Replay
        Episodes that are replayed, in order of id.
    probes : mapping of str to str
        Prompts of all episodes that have one, those that cannot be replayed among them.
    skipped : mapping of str to tuple of str
        Episodes that are not replayed, by reason.
    whole : tuple of str
        Candidates of the whole store.
    forms : mapping of str to tuple of str
        Per lesson (its L0) those candidates of the whole store that stand for it.
    """

    store: Store
    graph: Graph
    pieces: Mapping[str, Piece]
    replays: tuple[Replay, ...]
    probes: Mapping[str, str]
    skipped: Mapping[str, tuple[str, ...]]
    whole: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]

    @property
    def texts(self) -> dict[str, str]:
        """Texts of all lessons that exist."""
        return {key: piece.text for key, piece in self.pieces.items()}

    @property
    def digest(self) -> str:
        """SHA-256 of the lessons' texts and of what was recorded."""
        rows = [[r.id, r.task, list(r.served), list(r.gone), list(r.used)] for r in self.replays]
        return digest([self.texts, rows])

    def stand_in(self, piece: str) -> tuple[str, ...]:
        """Candidates of the whole store that say today what a lesson said when it was served."""
        if piece in self.whole:
            return (piece,)
        own = [key for key in self.forms if piece in self.graph.above(key)]
        return tuple(dict.fromkeys(self.forms[key][0] for key in own if self.forms[key]))


def read_material(source: str | Path | Store, *, whole_store: bool = False) -> Material:
    """Lessons and recorded episodes of a store.

    Examples
    --------
    >>> material = read_material("demo_store")
    >>> len(material.replays), sum(map(len, material.skipped.values()))
    (36, 2)
    """
    store = source if isinstance(source, Store) else open_store(source)
    if store.cases:
        return _bench(store)
    if not store.path or not (Path(store.path) / "nodes").is_dir():
        raise UsageError(
            f"{store.name} records no episode that was served lessons; give a ROSE store, a "
            "folder with `nodes` and `episodes`, or a bench with cases"
        )
    layout = read_layout(store.path)
    pieces = {
        key: Piece(key, node.title or key, node.family, node.status, node.level, node.text,
                   count_tokens(node.text))
        for key, node in sorted(layout.graph.nodes.items())
    }  # fmt: skip
    replays, skipped = [], dict[str, list[str]]()
    for key, recorded in sorted(layout.recorded.items()):
        reason = _unusable(recorded, pieces, whole_store)
        if reason:
            skipped.setdefault(reason, []).append(key)
        else:
            replays.append(_replay(recorded, pieces))
    forms = {lesson.id: _forms(lesson, pieces) for lesson in store.lessons}
    return Material(
        store=store,
        graph=layout.graph,
        pieces=pieces,
        replays=tuple(replays),
        probes={
            key: recorded.episode.task
            for key, recorded in sorted(layout.recorded.items())
            if recorded.episode.task
        },
        skipped={reason: tuple(names) for reason, names in sorted(skipped.items())},
        whole=tuple(sorted({form for found in forms.values() for form in found})),
        forms=forms,
    )


def _bench(store: Store) -> Material:
    """Cases of a bench as probes; candidates are all full lessons, its own and those of cases."""
    pieces = {}
    for lesson in store.lessons:
        text = lesson.levels[0].text
        pieces[lesson.id] = Piece(
            lesson.id, lesson.title, lesson.family, "active", 0, text, count_tokens(text)
        )
    replays = []
    for case in store.cases:
        names = []
        for name, text in case.lessons.items():
            # Two cases may call different lessons by one name.
            same = name not in pieces or pieces[name].text == text
            names.append(name if same else f"{case.id}/{name}")
            pieces[names[-1]] = Piece(
                names[-1], name, case.kind, "active", 0, text, count_tokens(text)
            )
        used = tuple(names) if case.kind in NEEDING else ()
        replays.append(Replay(case.id, case.task, (), (), used, case.kind, ""))
    pieces = dict(sorted(pieces.items()))
    return Material(
        store=store,
        graph=Graph({}, {}, {}),
        pieces=pieces,
        replays=tuple(replays),
        probes={replay.id: replay.task for replay in replays},
        skipped={},
        whole=tuple(pieces),
        forms={name: (name,) for name in pieces},
    )


def _unusable(recorded: Recorded, pieces: Mapping[str, Piece], whole_store: bool) -> str:
    if not recorded.episode.task:
        return "no prompt is recorded"
    if not recorded.episode.served and not whole_store:
        return "nothing was served"
    if not recorded.judged:
        return "it is not recorded what was used"
    if not whole_store and not any(name in pieces for name in recorded.episode.served):
        return "nothing that it was served still exists"
    return ""


def _replay(recorded: Recorded, pieces: Mapping[str, Piece]) -> Replay:
    episode = recorded.episode
    served = tuple(name for name in episode.served if name in pieces)
    return Replay(
        episode.id,
        episode.task,
        served,
        tuple(name for name in episode.served if name not in pieces),
        tuple(n for n in episode.used if n in pieces or n not in episode.served),
        recorded.outcome,
        episode.created,
    )


def _forms(lesson: Lesson, pieces: Mapping[str, Piece]) -> tuple[str, ...]:
    """The shortest form of a lesson's own, then merged forms; a demoted one where it has no other.

    A file may have gone since the store was opened.
    """
    levels = [level for level in lesson.levels if level.node in pieces]
    healthy = [level for level in levels if pieces[level.node].status != "demoted"]
    own = [level.node for level in healthy or levels if not level.merged]
    merged = [level.node for level in healthy or levels if level.merged]
    return (*(own[-1:] or merged[-1:]), *(merged if own else merged[:-1]))
