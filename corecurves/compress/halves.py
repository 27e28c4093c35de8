"""Episodes that a compressor is shown, and those that are left to evaluate what it made."""

from __future__ import annotations

from collections.abc import Mapping

from corecurves.protocol.split import half
from corecurves.specs import Episode, Lesson, Store

__all__ = ["halves_of", "untestable"]


def halves_of(
    store: Store, lesson: Lesson, holdout: float
) -> tuple[tuple[Episode, ...], tuple[Episode, ...]]:
    """Train and test episodes of the whole subtree: those that used it, and those it covered."""
    covered = {name for level in lesson.levels for name in level.covers}
    found = {episode.id: episode for episode in store.episodes.get(lesson.id, ())}
    for episodes in store.episodes.values():
        found.update({x.id: x for x in episodes if x.id in covered and x.id not in found})
    train = tuple(x for x in found.values() if half(x.id, holdout) == "train")
    return train, tuple(x for x in found.values() if half(x.id, holdout) == "test")


def untestable(
    store: Store,
    halves: Mapping[str, tuple[tuple[Episode, ...], tuple[Episode, ...]]],
    holdout: float,
) -> str:
    """Lessons that will have no episode to be evaluated with, and what to give instead."""
    own = {name: [x.id for x in store.episodes.get(name, ())] for name in halves}
    trained = {name: [x.id for x in (*a, *b)] for name, (a, b) in halves.items() if a}
    empty = [name for name in trained if all(half(x, holdout) == "train" for x in own[name])]
    if not empty:
        return ""
    shares = (n / 20 for n in range(1, 20) if n / 20 > holdout)
    better = [
        share
        for share in shares
        if all(any(half(x, share) == "test" for x in own[name]) for name in empty)
        and all(any(half(x, share) == "train" for x in ids) for ids in trained.values())
    ]
    instead = f"give --holdout {better[0]:g}, or record" if better else "record"
    return (
        f"no episode is held out at --holdout {holdout:g}, so that nothing can evaluate what is "
        f"made, of {', '.join(empty)}; {instead} more episodes"
    )
