"""Start-up: importing the library, against importing xarray and pandas."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from tests.benchmarks.speed.common import Found

RUNS = 5
GOAL = 1.2


def seconds(*arguments: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, timeout=60)
    return time.perf_counter() - started


def measure() -> Found:
    commands = {
        "peer": ("-c", "import xarray, pandas"),
        "lazy": ("-c", "import corecurves"),
        # What the first evaluation loads, besides xarray and pandas themselves.
        "used": ("-c", "import corecurves as cc; cc.run_lane, cc.run_rose_eval, cc.load"),
        "help": ("-m", "corecurves", "--help"),
    }
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(RUNS):
        for name, command in commands.items():
            best[name] = min(best[name], seconds(*command))
    show = "import runpy, sys; sys.argv = ['corecurves', '--help']\n" \
           "try: runpy.run_module('corecurves', run_name='__main__')\n" \
           "except SystemExit: pass\n" \
           "print(*sys.modules, file=sys.stderr)"  # fmt: skip
    loaded = subprocess.run(
        [sys.executable, "-c", show], check=True, capture_output=True, text=True, timeout=60,
        env={**os.environ},
    ).stderr.split()  # fmt: skip
    heavy = sorted({"xarray", "pandas"} & set(loaded))
    ratio = best["lazy"] / best["peer"]
    return Found(
        f"import corecurves {ratio:.2f} times import xarray, pandas ({best['lazy']:.2f} s, "
        f"{best['peer']:.2f} s); with both runners used {best['used'] / best['peer']:.2f} times; "
        f"corecurves --help {best['help']:.2f} s, loads {', '.join(heavy) or 'neither'}",
        f"at most {GOAL} times, --help loads neither", ratio <= GOAL and not heavy,
    )  # fmt: skip
