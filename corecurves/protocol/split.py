"""The held-out half, and episodes that a level was made with.

Both are rules about names and dates, so they say the same on every machine and as a store grows.
"""

from __future__ import annotations

import hashlib
from typing import Literal

from corecurves.arguments import finite
from corecurves.specs.dates import time_span
from corecurves.specs.lesson import Episode, Lesson, Level

__all__ = ["half", "leaks"]


def half(episode_id: str, holdout: float) -> Literal["test", "train"]:
    """Half that an episode is in.

    References
    ----------
    The rule is that of ROSE, so a store's own split is reproduced.

    Examples
    --------
    >>> half("handshake", 0.3), half("handshake", 0.4), half("handshake", 1)
    ('train', 'test', 'test')
    """
    holdout = finite("holdout", holdout, above=0, most=1)
    # An id may hold a lone surrogate, which JSON can write and UTF-8 cannot.
    digest = hashlib.sha256(episode_id.encode("utf-8", "surrogatepass")).hexdigest()
    return "test" if int(digest[:8], 16) % 1000 < 1000 * holdout else "train"


def leaks(lesson: Lesson, level: Level, episode: Episode) -> bool:
    """Whether a level may have been made with an episode in view.

    Examples
    --------
    >>> from corecurves.specs import Outcome
    >>> short = Level(1, "Wear gloves.", created="2025-03-01", covers=("spill",))
    >>> lesson = Lesson("gloves", "", "lab", "", (Level(0, "Wear gloves at work."), short))
    >>> told = Episode("spill", "Clean up.", Outcome(("Gloves on.",)), created="2025-02-01")
    >>> leaks(lesson, short, told)
    True
    """
    full = lesson.level(0)
    if any(episode.id in (part.shown or ()) for part in _made_from(lesson, level)):
        return True
    if level.shown is not None and level.depth and full is not None:
        return leaks(lesson, full, episode)
    # A level is made from its L0, whether or not the files name that edge.
    parts = [level] if full is None else [level, full]
    if any(episode.id in part.origins for part in parts):
        return True
    covered = any(episode.id in part.covers for part in parts)
    nodes = {name for part in parts for name in (part.node, *part.subtree) if name}
    used = not nodes.isdisjoint(episode.used)
    return (covered or used) and _existed(episode, level)


def _made_from(lesson: Lesson, level: Level) -> list[Level]:
    """A level, and those of its lesson that it was made from."""
    return [level, *(part for part in lesson.levels if part.node and part.node in level.subtree)]


def _existed(episode: Episode, level: Level) -> bool:
    recorded, made = time_span(episode.created), time_span(level.created)
    return recorded is None or made is None or recorded[0] <= made[1]
