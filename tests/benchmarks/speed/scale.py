"""Scale: a lane of a million cells, its peak memory, its Dataset against pandas.read_sql.

The plan, the ledger, the resume and the Dataset are the lane's own; only the answers are made up,
because a million of them would take an hour.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from corecurves.engine.ledger import Ledger, Record
from corecurves.engine.plan import Cell
from corecurves.engine.run import run
from corecurves.engine.sink import Sink
from corecurves.lane.plan import prepare
from corecurves.specs import Correction, Curriculum, Token
from tests.benchmarks.speed.common import Found, folder

CELLS = 1_000_000
MEMORY = 1500
GOAL = 3.0
CONCEPTS = ("wisdom", "courage", "justice", "honour", "mercy")
WORDS = ("judgment", "patience", "doubt", "listening")


class MadeUp:
    """Answers without a system; counts the cells that it was given."""

    def __init__(self) -> None:
        self.cells = 0

    def prepare(self) -> bool:
        # In batches, as of a system that computes.
        return True

    async def run(self, cells: Sequence[Cell], emit: Sink) -> None:
        self.cells += len(cells)
        emit(*(_record(cell) for cell in cells))


def _record(cell: Cell) -> Record:
    k = cell.index[1]
    values = {
        "replay_status": "ok", "hits": k, "token_hits": [int(i < k) for i in range(len(WORDS))],
        "vault_hits": k, "surface": f"{' and '.join(WORDS[:k])}, as {cell.key[:12]} has it",
        "walk_surface": "", "trace_hash": cell.key, "seconds": 0.001 * k + 1e-6 * cell.index[3],
    }  # fmt: skip
    if k:
        values |= {"accepted": 1, "review": "accepted"}
    return Record(cell.key, "ok", values)


def _curricula() -> list[Curriculum]:
    return [
        Curriculum(
            concept, f"What is {concept}?",
            tuple(Correction(f"No, {concept} needs {w}.", (Token(w),)) for w in WORDS),
            opening=f"Tell me about {concept}.",
        )
        for concept in CONCEPTS
    ]  # fmt: skip


def _lane(path: Path, cells: int) -> dict[str, float]:
    from corecurves.lane.dataset import lane_dataset

    clock = [time.perf_counter()]

    def lap() -> float:
        clock.append(time.perf_counter())
        return clock[-1] - clock[-2]

    samples = cells // (len(CONCEPTS) * (len(WORDS) + 1) * 2)
    arms = ("taught", "control")
    plan, work = prepare(_curricula(), "parrot", arms, samples, 1, 0, "prefix")
    found: dict[str, float] = {"cells": len(plan), "plan": lap()}
    answers = MadeUp()
    with Ledger(path, plan) as book:
        run(plan, answers, book, progress=False)
    found |= {"run": lap(), "bytes": path.stat().st_size}
    again = MadeUp()
    with Ledger(path, plan) as book:
        opened = lap()
        run(plan, again, book, progress=False)
        found["resume"] = lap()
        ds = lane_dataset(plan, work, book, texts=True)
        found["rebuild"] = opened + lap()
    rows = int((ds.status.values == "ok").sum())
    if answers.cells != len(plan) or rows != len(plan) or not ds.hits.notnull().all():
        raise RuntimeError(f"{answers.cells} answers and {rows} results for {len(plan)} cells")
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"touched": again.cells, "megabytes": megabytes}


def _read_sql(path: Path) -> dict[str, float]:
    import pandas as pd

    with closing(sqlite3.connect(path)) as db:
        pd.read_sql("SELECT * FROM cells LIMIT 10", db)
        started = time.perf_counter()
        rows = len(pd.read_sql("SELECT * FROM cells", db))
        return {"rows": rows, "seconds": time.perf_counter() - started}


def _child(step: str, path: Path, cells: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, step, str(path), str(cells)],
        check=True, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    return json.loads(done.stdout)


def measure(cells: int = CELLS) -> Found:
    with folder() as place:
        path = place / "run.sqlite"
        # Before and after, for what else the machine does.
        lane = _child("lane", path, cells)
        peer = min((_child("read_sql", path, cells) for _ in range(2)), key=lambda p: p["seconds"])
    ratio = lane["rebuild"] / peer["seconds"]
    return Found(
        f"{lane['cells']:,.0f} cells: peak memory {lane['megabytes']:.0f} MB; plan "
        f"{lane['plan']:.0f} s, run {lane['run']:.0f} s, ledger {lane['bytes'] / 1e6:.0f} MB; "
        f"resume of the complete ledger {lane['resume']:.1f} s, {lane['touched']:.0f} cells asked; "
        f"Dataset {lane['rebuild']:.1f} s, read_sql {peer['seconds']:.1f} s: {ratio:.2f} times",
        f"under {MEMORY} MB, at most {GOAL:.0f} times read_sql, nothing asked on resume",
        lane["megabytes"] < MEMORY and ratio <= GOAL and lane["touched"] == 0,
    )  # fmt: skip


if __name__ == "__main__":
    steps = {"lane": lambda: _lane(Path(sys.argv[2]), int(sys.argv[3])),
             "read_sql": lambda: _read_sql(Path(sys.argv[2]))}  # fmt: skip
    print(json.dumps(steps[sys.argv[1]]()))
