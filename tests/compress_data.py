"""A small lesson to compress: train episodes need two words of it, test episodes a third."""

from __future__ import annotations

from itertools import count, islice

from corecurves.errors import CellFailure
from corecurves.models.base import Completion, LogProb
from corecurves.models.simulated import SimulatedModel
from corecurves.protocol.split import half
from corecurves.specs import Dropped, Episode, Identity, Lesson, Level, Outcome, Store

FULL = (
    "In staging the broker listens on port 6112, because the sidecar came first. Every client "
    "shows a badge at the gate. On Sundays the host restarts at noon, so nobody should start a "
    "long job there before lunch. Ask the network team when in doubt."
)
BOTH = "Port 6112; badge."
"""A text with which both train episodes pass."""
KINDS = {
    "port": ("Which port in staging?", "Port 6112.", "Port 9000."),
    "gate": ("What is shown at the gate?", "A badge.", "A token."),
    "noon": ("When does the host restart on a Sunday?", "At noon.", "At dusk."),
}


def named(lesson, part):
    """Ids of episodes that are in a half at the usual holdout."""
    return (f"{lesson}/e{i}" for i in count() if half(f"{lesson}/e{i}", 0.3) == part)


def episode(name, kind, **more):
    task, good, trap = KINDS[kind]
    return Episode(name, task, Outcome((good,), (trap,)), **more)


def lesson_of(name="broker", full=FULL, **more):
    level = Level(0, full, f"{name}.L0", subtree=(f"{name}.L0",), **more)
    return Lesson(name, "The broker of staging", "messaging", "detail", (level,))


def store_of(*lessons, train=("port", "gate"), test=("noon", "noon")):
    lessons = lessons or (lesson_of(),)
    episodes = {}
    for lesson in lessons:
        halves = {"train": train, "test": test}
        episodes[lesson.id] = tuple(
            episode(name, kind, family="messaging")
            for part, kinds in halves.items()
            for name, kind in zip(islice(named(lesson.id, part), len(kinds)), kinds, strict=True)
        )
    return Store("small", lessons, episodes)


def drops(view, text, kind="rationale"):
    from corecurves.compress import Draft

    return Draft(text, (Dropped("the sidecar came first", kind, view.holder),))


class Scripted(SimulatedModel):
    """Scores as the simulation does, replies in turn, and fails on prompts that hold `breaks`."""

    def __init__(self, *replies, breaks=None):
        super().__init__()
        self.replies = list(replies)
        self.breaks = breaks
        self.asked = []
        self.scored = 0
        self.prompts = []

    @property
    def identity(self):
        return Identity("scripted", "1")

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        self.asked.append((messages[-1]["content"], temperature))
        return Completion(self.replies.pop(0), "stop", 1, 1)

    async def logprob(self, messages, text) -> LogProb:
        self.scored += 1
        self.prompts.append(str(messages))
        if self.breaks and self.breaks in str(messages):
            raise CellFailure("call_failed", "the line is dead")
        return await super().logprob(messages, text)
