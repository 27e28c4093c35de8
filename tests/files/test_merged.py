"""Two runs in one Dataset are refused wherever its attributes would speak of one of them."""

import numpy as np
import pytest
import xarray as xr

import corecurves as cc
from corecurves.errors import DatasetError

QUIET = {"ledger": False, "progress": False}
DEMO = cc.open_store("rose_bench").demo()
ARMS = ("control", "ceiling", "treatment")


@pytest.fixture(scope="module")
def lanes():
    return [cc.run_lane("dev", name, samples=2, replays=1, **QUIET) for name in ("parrot", "blank")]


@pytest.fixture(scope="module")
def roses():
    models = ("simulated", "simulated?slip=0.5")
    return [cc.run_rose_eval(DEMO, model, arms=ARMS, samples=1, **QUIET) for model in models]


def concat(runs, dim, **more):
    return xr.concat(runs, dim=dim, data_vars="all", coords="minimal", compat="override",
                     join="outer", combine_attrs="override", **more)  # fmt: skip


def refused(ds, match, tmp_path):
    uses = {
        "lane": (cc.summarize_lane, cc.plot_lane),
        "rose": (cc.summarize_rose, cc.plot_rose, cc.verdict),
        "recall": (cc.summarize_recall, cc.plot_recall),
        "descent": (cc.summarize_descent, cc.plot_descent),
    }[ds.attrs["question"]]
    for use in (*uses, cc.provenance, lambda of: cc.save(of, tmp_path / "x.nc")):
        with pytest.raises(DatasetError, match=match):
            use(ds)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dim", ["sample", "arm", "concept"])
def test_two_copies_on_a_dimension_are_refused(lanes, dim, tmp_path):
    refused(concat(lanes, dim), f"it has {dim} .* twice; give each run by itself, or give them by "
            "name: cc.compare_systems", tmp_path)  # fmt: skip


def test_labels_of_another_plan_are_refused(lanes, tmp_path):
    more = lanes[1].assign_coords(sample=[2, 3])
    refused(concat([lanes[0], more], "sample"), "sample 2 is not in the plan", tmp_path)
    other = cc.run_lane("public", "parrot", samples=2, replays=1, **QUIET)
    refused(concat([lanes[0], other], "concept"), "is not in the plan", tmp_path)


def test_a_dimension_of_runs_is_refused(lanes, roses, tmp_path):
    refused(concat(lanes, "run"), "the dimension 'run', which no run has", tmp_path)
    refused(concat(roses, "run"), "cc.plot_compressors", tmp_path)


def test_every_question_is_looked_at(roses, tmp_path):
    refused(concat(roses, "concept"), "twice", tmp_path)
    recalls = [cc.run_recall_eval("demo_store", s, **QUIET) for s in ("bm25", "serve-all")]
    refused(concat(recalls, "sample"), "sample 0 twice; .* cc.plot_recall", tmp_path)
    ladders = [cc.run_descent_eval(DEMO, "simulated", seed=seed, **QUIET) for seed in (0, 1)]
    refused(concat(ladders, "sample"), "sample 0 twice; give each run by itself$", tmp_path)


def test_a_part_of_a_run_is_none_of_these(lanes, roses, tmp_path):
    lane, rose = lanes[0], roses[0]
    halves = [lane.isel(concept=slice(0, 2)), lane.isel(concept=slice(2, None))]
    parts = [
        lane.isel(sample=[0]),
        lane.sel(arm=["taught"]),
        lane.isel(concept=[2, 0]),
        lane.assign_coords(sample=[10, 11]),
        lane.assign(mine=("else", np.zeros(3))),
        concat(halves, "concept"),
    ]
    for part in parts:
        cc.summarize_lane(part)
        assert cc.load(cc.save(part, tmp_path / "part.nc")).identical(part)
    cc.summarize_rose(rose.isel(concept=slice(0, 5)))
    cc.summarize_rose(rose.sel(level=["none", "L0", "L1"]))
    assert cc.save(cc.summarize_rose(rose).drop_encoding(), tmp_path / "summary.nc").is_file()


def test_a_flag_that_was_filled_up_is_no_flag(roses):
    filled = roses[0].assign_coords(leaked=roses[0].leaked.astype(float))
    with pytest.raises(DatasetError, match="`leaked` is not true or false throughout"):
        cc.summarize_rose(filled)
