"""Overhead: samples a second of a model that answers at once, the durable ledger on."""

from __future__ import annotations

import json
import math
import subprocess
import time
from pathlib import Path

import corecurves as cc
from tests.benchmarks.speed.common import Found, InstantGrader, InstantModel, folder

CELLS = 5000
PEER_SAMPLES = 1000
GOAL = 20.0


def ours(store: object, samples: int, path: Path) -> tuple[int, float]:
    """Cells, and seconds of the whole call: plan, calls, grades, ledger, Dataset."""
    model = InstantModel()
    started = time.perf_counter()
    ds = cc.run_rose_eval(
        store, model, grader=InstantGrader(), samples=samples, max_concurrency=50, ledger=path,
        progress=False,
    )  # fmt: skip
    seconds = time.perf_counter() - started
    cells = int((ds.status == "ok").sum())
    if model.calls != cells:
        raise RuntimeError(f"{model.calls} calls for {cells} cells")
    return cells, seconds


def measure(peer_python: str) -> Found:
    store = cc.open_store("rose_bench").demo()
    with folder() as place:
        each, _ = ours(store, 1, place / "warm.sqlite")
        cells, seconds = ours(store, math.ceil(CELLS / each), place / "run.sqlite")
        rate = cells / seconds
        text = f"{rate:.0f} cells/s ({cells} cells, {seconds:.2f} s)"
        peer = _peer(peer_python, place)
    goal = f"at least {GOAL:.0f} times the samples per second of inspect_ai"
    if peer is None:
        return Found(f"{text}; inspect_ai: not installed, skipped", goal, None)
    ratio = rate / peer["rate"]
    text += f"; inspect_ai {peer['version']}: {peer['rate']:.0f}/s ({peer['samples']} samples)"
    return Found(f"{text}; {ratio:.1f} times", goal, ratio >= GOAL)


def _peer(python: str, place: Path) -> dict | None:
    script = Path(__file__).with_name("overhead_peer.py")
    done = subprocess.run(
        [python, script, str(PEER_SAMPLES), place / "logs"],
        capture_output=True, text=True, timeout=300, cwd=place,
    )  # fmt: skip
    if done.returncode == 3:
        return None
    if done.returncode:
        raise RuntimeError(f"the peer failed: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])
