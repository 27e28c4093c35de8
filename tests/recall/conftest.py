from __future__ import annotations

import pytest
from recall_data import EPISODES, LESSONS, SKIPPED, write_store

import corecurves as cc


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory, monkeypatch):
    """A baseline of one test is never another's."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))


@pytest.fixture
def kitchen(tmp_path):
    return write_store(tmp_path / "kitchen", LESSONS, (*EPISODES, *SKIPPED))


@pytest.fixture
def recall(kitchen):
    """A recall run on the kitchen store, in memory."""

    def run(selector="serve-all", **more):
        options = {"ledger": False, "progress": False, **more}
        return cc.run_recall_eval(options.pop("store", kitchen), selector, **options)

    return run


@pytest.fixture(scope="session")
def smollm2():
    """The local model; without its weights the tests that need it fail, and say what to do."""
    from corecurves.models.llama import LlamaModel
    from corecurves.models.weights import weights_path

    try:
        path = weights_path("smollm2")
    except cc.UsageError as error:
        pytest.fail(str(error), pytrace=False)
    model = LlamaModel(path, name="smollm2")
    yield model
    model.close()
