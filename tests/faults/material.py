"""A small bench on disk, small curricula, and what two Datasets are compared by."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path

import yaml
from helpers import curriculum

import corecurves as cc
from corecurves.canonical import digest
from corecurves.models.base import Completion
from corecurves.schema import LANE, ROSE

ARMS = ("control", "ceiling", "treatment", "scrambled")
_ITEM = """\
the staging broker of line {i} listens on port {port}, because a sidecar holds the usual one on \
every staging host; set PORT={port} before a worker is started there, and unset it afterwards
"""


def bench(folder: Path, lessons: int = 3, episodes: int = 2) -> Path:
    """Folder of a bench: each lesson names a port, its L1 too, and its L2 has lost it."""
    folder.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(
        {"family": "lines", "lessons": [_lesson(i, episodes) for i in range(lessons)]},
        sort_keys=False,
    )
    (folder / "lines.yaml").write_text(text)
    return folder


def port_of(i: int) -> str:
    return f"61{i:02d}"


def _lesson(i: int, episodes: int) -> dict:
    port = port_of(i)
    levels = [
        {"text": _ITEM.format(i=i, port=port).strip().capitalize() + "."},
        {
            "text": f"Broker of line {i}: port {port}; set PORT={port} before starting a worker.",
            "dropped": [{"claim": "unset it afterwards", "kind": "edge-case", "holder": "L0"}],
        },
        {
            "text": f"The broker of line {i} has an unusual port.",
            "dropped": [{"claim": f"the port is {port}", "kind": "parameter", "holder": "L1"}],
            "planted": "loses-the-detail",
        },
    ]
    return {
        "id": f"line{i}",
        "title": f"Port of line {i}",
        "kind": "detail",
        "levels": levels,
        "episodes": [
            {
                "id": f"start{j}",
                "task": f"Start worker {j} of line {i}.",
                "good": [f"PORT={port} worker"],
                "trap": ["PORT=5672 worker"],
                "checks": {"must": [port], "must_not": ["5672"]},
            }
            for j in range(episodes)
        ],
    }


def concepts(count: int, words: int = 6):
    """Curricula whose corrections each add one word that no other has."""
    syllables = ("ba", "de", "fi", "go", "lu", "ma", "ne", "po", "ri", "su")
    found = []
    for i in range(count):
        names = [
            f"{syllables[i % 10]}{syllables[j % 10]}{syllables[(i + j) % 10]}r"
            for j in range(words)
        ]
        found.append(curriculum(f"topic{i}", names))
    return found


def results(ds):
    """Dataset without what varies from run to run."""
    costs = {v.name for schema in (LANE, ROSE) for v in schema.variables if v.role == "cost"}
    return ds.drop_vars([name for name in costs if name in ds])


def told(what: str, counts: Mapping[str, object]) -> None:
    """Print counts on one line, to be shown with ``pytest -s``."""
    print(f"\n[{what}] " + "; ".join(f"{name}: {count}" for name, count in counts.items()))


class Backwards:
    """A system whose calls, `width` at once, end in the order opposite to their beginning."""

    def __init__(self, width: int, *, asynchronous: bool):
        self.identity = cc.Identity("backwards", "1")
        self.width, self.asynchronous = width, asynchronous
        self.begun = 0
        self.ended: list[int] = []

    def start(self):
        return (_Awaited if self.asynchronous else _Blocking)(self)

    def begin(self) -> tuple[int, float]:
        number = self.begun
        self.begun += 1
        # The first of each group of `width` waits for the longest.
        return number, 0.0 if self.width < 2 else 0.002 + 0.0015 * (
            self.width - 1 - number % self.width
        )


class _Blocking:
    def __init__(self, system: Backwards):
        self.system, self.heard = system, []

    def turn(self, text):
        if not text.endswith("?"):
            return self.noted(text)
        number, seconds = self.system.begin()
        time.sleep(seconds)
        return self.answered(text, number)

    def noted(self, text):
        self.heard.append(text)
        return cc.Turn("noted")

    def answered(self, text, number):
        self.system.ended.append(number)
        self.heard.append(text)
        return cc.Turn(" ".join(self.heard), trace_hash=digest(self.heard))


class _Awaited(_Blocking):
    async def turn(self, text):
        if not text.endswith("?"):
            return self.noted(text)
        number, seconds = self.system.begin()
        await asyncio.sleep(seconds)
        return self.answered(text, number)


class BackwardsModel(Backwards):
    """The same, for a model: it answers with its prompt."""

    concurrency = None

    def __init__(self, width: int):
        super().__init__(width, asynchronous=True)

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        number, seconds = self.begin()
        await asyncio.sleep(seconds)
        self.ended.append(number)
        told = " ".join(message["content"] for message in messages)
        return Completion(f"{told} {digest([messages, seed])[:8]}")
