"""A store whose right way back to detail is known, and a model that says what it was told."""

from __future__ import annotations

import asyncio

from corecurves.errors import CellFailure
from corecurves.models.base import Completion
from corecurves.protocol.split import half
from corecurves.specs import (
    Checks,
    Dropped,
    Episode,
    Identity,
    Lesson,
    Level,
    Outcome,
    Store,
)

DECOY = "Wipe the bench afterwards"
LATE = "It was last checked by hand"
BACK = "The valve is the third from the door, beside the blue cabinet."
LONG = (
    "Nobody remembers who chose it, and the label fell off in the flood, so it is written here "
    "and nowhere else in the building."
)


def code(i):
    return f"K{70 + i}"


def planted(i):
    return f"The code is {code(i)}"


def lesson(i, *, gap=False):
    """L1 holds the planted claim, which L2 drops; where there is a gap, no level holds it."""
    told = "The code is not known." if gap else f"{planted(i)}."
    texts = (
        f"Open valve {i} by its code. {told} {BACK} {DECOY}. {LATE}. {LONG}",
        f"Open valve {i} by its code. {told} {BACK} {DECOY}.",
        f"Open valve {i} by its code. {DECOY}.",
        f"Open valve {i} by its code.",
    )
    claim = "The code is written somewhere" if gap else planted(i)
    dropped = (
        (),
        (Dropped(LATE, "example", "L0"),),
        (Dropped(claim, "parameter", "L1"),),
        (Dropped(DECOY, "step", "L2"),),
    )
    levels = tuple(
        Level(k, t, dropped=d) for k, (t, d) in enumerate(zip(texts, dropped, strict=True))
    )
    return Lesson(f"valve{i}", f"Valve {i}", "plant", "detail", levels)


def named(i, wanted, n):
    """Ids of so many episodes that fall into a half of 0.5."""
    ids = (f"valve{i}/{wanted}{j}" for j in range(100))
    return [name for name in ids if half(name, 0.5) == wanted][:n]


def episode(i, name):
    outcome = Outcome((f"Use {code(i)}.",), checks=Checks((code(i),)))
    return Episode(name, f"Please see to valve {i}, as {name.partition('/')[2]}.", outcome)


def store(n=3, *, tests=2, trains=2, gaps=(), **more):
    lessons = tuple(lesson(i, gap=i in gaps) for i in range(n))
    episodes = {
        x.id: tuple(
            episode(i, name) for name in (*named(i, "test", tests), *named(i, "train", trains))
        )
        for i, x in enumerate(lessons)
    }
    return Store("valves", lessons, episodes, **more)


class Told:
    """Repeats its prompt, so it passes where the prompt holds the code; counts its calls."""

    concurrency = None

    def __init__(self, *, fails=None, knows=None, late=False):
        self.identity = Identity("told", "1")
        self.fails, self.knows, self.late = fails, knows, late
        self.prompts = []

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        prompt = " ".join(message["content"] for message in messages)
        self.prompts.append(prompt)
        if self.late:
            await asyncio.sleep(0.001 * (len(self.prompts) * 7 % 5))
        if self.fails is not None and self.fails(prompt):
            raise CellFailure("call_failed", "no answer")
        more = self.knows(prompt) if self.knows is not None else ""
        return Completion(f"{prompt} {more}", tokens_in=1, tokens_out=1)
