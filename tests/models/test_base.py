from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from corecurves.errors import CellFailure, PermanentFailure
from corecurves.models.base import (
    Completion,
    CutOff,
    LogProb,
    Model,
    ScoringModel,
    TemporaryFailure,
)
from corecurves.models.simulated import SimulatedModel


def test_failures_of_a_call_travel_between_processes():
    cut = pickle.loads(pickle.dumps(CutOff("cut", Completion("Onc", "length", 3, 1))))
    assert (cut.status, str(cut), cut.completion.text) == ("cut_off", "cut", "Onc")
    later = pickle.loads(pickle.dumps(TemporaryFailure("busy", 2.5)))
    assert (later.status, str(later), later.retry_after) == ("call_failed", "busy", 2.5)
    assert isinstance(cut, CellFailure)
    assert not isinstance(later, PermanentFailure)


def test_log_probability_a_token():
    assert LogProb(-6.0, 4).per_token == -1.5


def test_protocols_tell_a_model_that_scores():
    class Answers:
        identity = None
        concurrency = None

        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512): ...

    assert isinstance(SimulatedModel(), ScoringModel)
    assert isinstance(Answers(), Model)
    assert not isinstance(Answers(), ScoringModel)


@pytest.mark.parametrize("module", ["named", "resolve", "llama", "openai", "pull", "simulated"])
def test_importing_loads_no_extra(module):
    code = (
        f"import sys, corecurves.models.{module}\n"
        "found = {'xllamacpp', 'openai', 'bpe_openai', 'tqdm'} & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(found)}' if found else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
