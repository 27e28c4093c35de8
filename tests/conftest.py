"""Shared by all tests: a cache of their own, no figures on screen."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from helpers import Rote

mpl.use("agg")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """A ledger of one test is never another's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(autouse=True)
def runs_on(monkeypatch, request):
    """Many tests are of runs whose every cell fails; `test_first_cells` is of the stop."""
    if not request.module.__name__.endswith("test_first_cells"):
        monkeypatch.setattr("corecurves.engine.failures._FIRST", 10**9)


@pytest.fixture
def rote():
    return Rote()
