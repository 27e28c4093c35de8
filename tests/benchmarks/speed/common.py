"""What the figures share: a result, and models that cost nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from corecurves.graders import BlindCase, Grade
from corecurves.models.base import Completion
from corecurves.specs import Identity


@dataclass(frozen=True)
class Found:
    """One figure: what was measured, the goal, and whether it is met (None: nothing to say)."""

    text: str
    goal: str
    met: bool | None


class InstantModel:
    """Answers after a delay, always the same, on the event loop; counts its calls."""

    concurrency = None
    simulated = True

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.calls = 0
        self.identity = Identity("instant", "1", {"seconds": seconds})

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512) -> Completion:
        self.calls += 1
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return Completion("The answer is 6112.", "stop", 20, 6)


class InstantGrader:
    """Passes every answer that names the port."""

    wants = "answer"
    identity = Identity("instant", "1")

    async def grade(self, case: BlindCase) -> Grade:
        return Grade("6112" in str(case.candidate), reason="instant")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for ledgers, on a disk."""
    with TemporaryDirectory(prefix="speed-", dir=os.environ.get("TMPDIR")) as name:
        yield Path(name)
