"""The seven speed figures, each against a peer or a bound that is measured in the same run.

    python -m tests.benchmarks.speed [FIGURE ...] [--peer-python PATH]

From the repository's root. Figures: overhead, latency, prefix, cache, startup, scale, cores; none
means all. `moved` prints what a cell costs in bytes on an executor; it has no bound. A peer that is
not installed is named and skipped. Exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import importlib
import sys

FIGURES = ("overhead", "latency", "prefix", "cache", "startup", "scale", "cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument(
        "--peer-python", default=sys.executable, help="an interpreter that has inspect_ai"
    )
    arguments = parser.parse_args()
    for name in arguments.figures:
        if name not in (*FIGURES, "moved"):
            parser.error(f"there is no figure {name}; there are {', '.join(FIGURES)}, moved")
    missed = False
    for name in arguments.figures or FIGURES:
        print(f"{name}: ", end="", flush=True)
        module = importlib.import_module(f"tests.benchmarks.speed.{name}")
        found = module.measure(arguments.peer_python) if name == "overhead" else module.measure()
        missed |= found.met is False
        verdict = {True: "met", False: "MISSED", None: "no goal to hold it to"}[found.met]
        print(f"{found.text}\n    goal: {found.goal}: {verdict}", flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
