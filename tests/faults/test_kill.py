"""``kill -9`` at random moments of a lane run, and of a rose run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.killed import CONCURRENCY
from faults.material import told

KILLS = int(os.environ.get("KILLS", "20"))  # the published count is of 50


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("question", ["lane", "rose"])
def test_a_killed_run_loses_nothing_and_calls_nothing_finished_again(tmp_path, question):
    program = Path(__file__).with_name("killed.py")
    # Threads that a library starts by itself would be in nobody's hands after a fork.
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(program), question, str(KILLS), "4", str(tmp_path)],
        capture_output=True, text=True, timeout=240, env={**os.environ, **alone}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    count = json.loads(done.stdout)
    told(f"kill -9, {question}", count)
    assert count["kills"] == KILLS
    assert count.get("results_differ", 0) == 0
    assert count.get("finished_called_again", 0) == 0
    assert count.get("finished_lost", 0) == 0
    assert 0 <= count["repeated_in_flight"] <= KILLS * CONCURRENCY
    # Most moments are in the middle of a run, or the test would show little.
    assert count["kills_between"] >= KILLS // 2
