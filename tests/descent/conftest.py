from __future__ import annotations

import pytest
from descent.world import Told, store

import corecurves as cc


@pytest.fixture
def descend():
    """A descent run over the valves, in memory."""

    def run(of=None, model=None, **more):
        options = {"grader": "checklist", "holdout": 0.5, "ledger": False, "progress": False}
        return cc.run_descent_eval(of or store(), model or Told(), **{**options, **more})

    return run
