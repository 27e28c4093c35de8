"""Prompts with the lessons that may be served for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corecurves.errors import UsageError
from corecurves.recall.material import Material
from corecurves.selectors.bm25 import Bm25

__all__ = ["Probe", "probes_of"]


@dataclass(frozen=True)
class Probe:
    """A prompt with its candidates.

    Parameters
    ----------
    id, task : str
        Label and prompt.
    candidates : tuple of str
        Lessons that may be served, in order.
    served : tuple of str
        Lessons that were served, as far as they exist.
    used : tuple of str
        Candidates that are known to bear on the task.
    lost : tuple of str
        Lessons that bore on it and that no candidate stands for.
    judged : bool
        Whether it is known what bears on it.
    gone : tuple of str
        Lessons that were served and no longer exist.
    outcome, created : str
        As recorded.
    """

    id: str
    task: str
    candidates: tuple[str, ...]
    served: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    judged: bool = True
    gone: tuple[str, ...] = ()
    outcome: str = ""
    created: str = ""


def probes_of(
    material: Material, whole_store: bool, pool: int | None, probes: Mapping[str, str] | None
) -> tuple[Probe, ...]:
    """What is asked, with the candidates of each."""
    if probes is not None:
        blank = [key for key, task in probes.items() if not task.strip()]
        if blank:
            raise UsageError(f"the prompt {blank[0]!r} is empty; write what would be asked")
        shown = [(key, task, _pooled(material, task, pool)) for key, task in probes.items()]
        return tuple(Probe(key, task, found, judged=False) for key, task, found in shown)
    found = []
    for replay in material.replays:
        candidates = replay.served
        used = tuple(name for name in candidates if name in replay.used)
        lost = tuple(name for name in replay.used if name not in candidates)
        if whole_store:
            candidates = _pooled(material, replay.task, pool)
            stand_ins = {name: material.stand_in(name) for name in replay.used}
            used = tuple(dict.fromkeys(n for names in stand_ins.values() for n in names))
            lost = tuple(name for name, names in stand_ins.items() if not names)
        found.append(
            Probe(replay.id, replay.task, candidates, replay.served, used, lost, True, replay.gone,
                  replay.outcome, replay.created)
        )  # fmt: skip
    return tuple(found)


def _pooled(material: Material, task: str, pool: int | None) -> tuple[str, ...]:
    """Candidates of the whole store, or the best of them by BM25, in order of id."""
    if pool is None or pool >= len(material.whole):
        return material.whole
    ranker = Bm25(corpus=material.texts)
    scores = ranker.scores(task, material.whole)
    best = sorted(material.whole, key=lambda name: (-scores[name], name))[:pool]
    return tuple(sorted(best))
