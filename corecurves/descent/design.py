"""What is run: which episodes, which of them to learn from, and with which strategies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from corecurves.arguments import finite, whole
from corecurves.canonical import JSON, stable_seed
from corecurves.descent.ranking import checked_weights
from corecurves.descent.trails import STRATEGIES, Trail, trails_of
from corecurves.errors import UsageError, unknown
from corecurves.protocol.framings import EVALUATION, Framing
from corecurves.protocol.split import half, leaks
from corecurves.schema import SCHEMA_VERSION
from corecurves.specs import Episode, Store
from corecurves.specs.lesson import MAKE_SHORTER

__all__ = ["Case", "Design", "make_design"]

_MADE, _BY_HAND = 0.3, 0.5


@dataclass(frozen=True)
class Case:
    """One episode of one lesson.

    Parameters
    ----------
    trail : Trail
        The lesson.
    episode : Episode
        The episode.
    test : bool
        Whether it is in the test half.
    leaked : bool
        Whether a form of the lesson was made with it in view.
    """

    trail: Trail
    episode: Episode
    test: bool
    leaked: bool

    @property
    def id(self) -> str:
        """Its label: the lesson and the episode, whose own id may begin with the lesson."""
        lesson = self.trail.lesson.id
        own = self.episode.id
        return own if own.startswith(f"{lesson}/") else f"{lesson}/{own}"


@dataclass(frozen=True)
class Design:
    """Everything that decides what is asked, and how it is ranked.

    Parameters
    ----------
    store : Store
        Lessons and episodes.
    strategies : tuple of str
        Ways back to detail.
    claims : int
        Most claims that a patch adds.
    weights : tuple of float
        Of usefulness, rescue rate and token share.
    statistics : str
        ``train``, or ``none``.
    holdout : float
        Share of episodes in the test half.
    samples, seed : int
        Repeats, and the seed of the run.
    leaked : {"drop", "keep"}
        What becomes of episodes that a form of their lesson was made with.
    trails : dict of str to Trail
        By lesson.
    notes : tuple of str
        What was left out, or not taken as it stands.
    """

    store: Store
    strategies: tuple[str, ...]
    claims: int
    weights: tuple[float, float, float]
    statistics: str
    holdout: float
    samples: int
    seed: int
    leaked: str
    trails: dict[str, Trail]
    notes: tuple[str, ...]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All episodes of all lessons that have a shorter form."""
        return tuple(
            Case(
                trail,
                episode,
                half(episode.id, self.holdout) == "test",
                any(leaks(trail.lesson, level, episode) for level in trail.lesson.levels),
            )
            for name, trail in self.trails.items()
            for episode in self.store.episodes.get(name, ())
        )

    @cached_property
    def tests(self) -> tuple[Case, ...]:
        """Episodes that are evaluated."""
        kept = self.leaked == "keep"
        return tuple(case for case in self.cases if case.test and (kept or not case.leaked))

    @cached_property
    def trains(self) -> tuple[Case, ...]:
        """Episodes that the claims of the tested lessons are tried on."""
        wanted = {case.trail.lesson.id for case in self.tests if case.trail.claims}
        if self.statistics == "none" or not self.ranks:
            return ()
        return tuple(c for c in self.cases if not c.test and c.trail.lesson.id in wanted)

    @cached_property
    def trains_of(self) -> dict[str, tuple[Case, ...]]:
        """The same by lesson."""
        found: dict[str, list[Case]] = {}
        for case in self.trains:
            found.setdefault(case.trail.lesson.id, []).append(case)
        return {name: tuple(cases) for name, cases in found.items()}

    @cached_property
    def dropped(self) -> tuple[Case, ...]:
        """Test episodes that are left out because they leaked."""
        return tuple(case for case in self.cases if case.test and case not in self.tests)

    @property
    def ranks(self) -> bool:
        """Whether a strategy looks at the manifest."""
        return any(name != "stepwise" for name in self.strategies)

    def framing(self, case: Case, sample: int) -> Framing:
        """Framing of a sample: that of the rose evaluation, the same for every text served."""
        first = stable_seed("framing", self.seed, case.trail.lesson.id, case.episode.id)
        return EVALUATION[(first + sample) % len(EVALUATION)]

    def seed_of(self, case: Case, sample: int) -> int:
        """Seed of a sample, the same for every text served."""
        return stable_seed("rose", self.seed, case.trail.lesson.id, case.episode.id, sample)

    def content(self) -> dict[str, JSON]:
        """What decides the replays; ranking and strategies only choose among them."""
        return {
            "question": "descent",
            "schema": SCHEMA_VERSION,
            "holdout": self.holdout,
            "samples": self.samples,
            "seed": self.seed,
            "leaks": self.leaked,
            "framings": [[f.name, f.with_lesson, f.without_lesson, f.system_with_lesson,
                          f.system_without_lesson] for f in EVALUATION],
            "lessons": {
                name: {
                    "texts": [[rung.label, rung.text]
                              for rung in (trail.short, *trail.children, trail.full)],
                    "claims": [[c.text, c.kind, c.holder.label, c.holder.text]
                               for c in trail.claims],
                }
                for name, trail in self.trails.items()
            },
            "episodes": {
                case.id: {"task": case.episode.task, "outcome": case.episode.outcome.content(),
                          "half": "test" if case.test else "train"}
                for case in self.cases
            },
        }  # fmt: skip


def make_design(
    store: Store,
    *,
    strategies: Sequence[str],
    claims: int,
    weights: Sequence[float],
    statistics: str,
    holdout: float | None,
    samples: int,
    seed: int,
    leaked: str,
) -> Design:
    """Design of a run, checked."""
    names = (strategies,) if isinstance(strategies, str) else tuple(strategies)
    for name in names:
        if name not in STRATEGIES:
            raise UsageError(unknown("strategy", name, STRATEGIES))
    if not names or len(set(names)) < len(names):
        raise UsageError(f"`strategies` is {list(names)!r}; name each at most once, and one at all")
    claims, samples = whole("claims", claims), whole("samples", samples)
    seed = whole("seed", seed, least=None)
    if leaked not in ("drop", "keep"):
        raise UsageError(unknown("leaks", leaked, ("drop", "keep")))
    if statistics not in ("train", "none"):
        raise UsageError(unknown("statistics", statistics, ("train", "none")))
    checked = checked_weights(weights)
    if holdout is None:
        made = any(level.compressor for lesson in store.lessons for level in lesson.levels)
        learns = statistics == "train" and any(name != "stepwise" for name in names)
        holdout = _MADE if made else _BY_HAND if learns else 1.0
    holdout = finite("holdout", holdout, above=0, most=1)
    trails, notes = trails_of(store)
    design = Design(
        store, names, claims, checked, statistics, holdout, samples, seed, leaked, trails, notes
    )
    if all(len(lesson.levels) < 2 for lesson in store.lessons):
        raise UsageError(f"no lesson of {store.name} has a shorter form: {MAKE_SHORTER}")
    if not design.tests:
        why = (
            "all of them leaked: a form of their lesson was made with them; run with leaks='keep'"
            if design.dropped
            else "give a larger one"
            if any(not case.leaked for case in design.cases)
            else "a larger one finds only episodes that the forms were made with: record more, or "
            "compress again with a larger holdout"
        )
        raise UsageError(
            f"no episode of a lesson with a shorter form is in the test half of holdout={holdout} "
            f"of {store.name}; {why}"
        )
    return design
