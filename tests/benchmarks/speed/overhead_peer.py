"""Samples a second of inspect_ai with a model that answers at once, its log on.

Run by overhead.py, in the interpreter that has the peer: overhead_peer.py SAMPLES LOGS
"""

from __future__ import annotations

import json
import sys
import time

try:
    import inspect_ai
except ImportError:
    sys.exit(3)

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
from inspect_ai.scorer import includes


@modelapi(name="instant")
class Instant(ModelAPI):
    """Answers at once, always the same."""

    async def generate(self, *asked: object, **more: object) -> ModelOutput:
        return ModelOutput.from_content(self.model_name, "The answer is 6112.")

    def max_connections(self) -> int:
        return 50


def run(samples: int, logs: str) -> float:
    """Seconds of the whole call."""
    data = MemoryDataset(
        [Sample(input=f"Question {i}: which port?", target="6112") for i in range(samples)]
    )
    started = time.perf_counter()
    (log,) = evaluate(
        Task(dataset=data, scorer=includes()), model=get_model("instant/model"), log_dir=logs,
        max_samples=50, display="none",
    )  # fmt: skip
    seconds = time.perf_counter() - started
    if log.status != "success" or len(log.samples or ()) != samples:
        sys.exit(f"{log.status}: {log.error}")
    return seconds


def main() -> None:
    samples, logs = int(sys.argv[1]), sys.argv[2]
    run(20, logs)
    rate = samples / run(samples, logs)
    print(json.dumps({"version": inspect_ai.__version__, "rate": rate, "samples": samples}))


if __name__ == "__main__":
    main()
