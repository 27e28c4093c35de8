"""Whatever takes a Dataset takes one that dask holds in pieces, and gives the same."""

import pandas as pd
import pytest
import xarray as xr

import corecurves as cc

pytest.importorskip("dask")
OFF = {"ledger": False, "progress": False}


@pytest.fixture(scope="module")
def runs():
    store = cc.open_store("rose_bench").demo()
    arms = ("control", "ceiling", "treatment", "truncation")
    found = {
        "lane": cc.run_lane("dev", **OFF),
        "rose": cc.run_rose_eval(store, "simulated", samples=1, arms=arms, **OFF),
        "recall": cc.run_recall_eval("demo_store", "bm25", sweep=True, **OFF),
        "descent": cc.run_descent_eval(store, "simulated", samples=1, **OFF),
    }
    made = cc.compress_store(store, "prune", model="simulated", depths=1, progress=False).store
    shown = {"arms": arms[:3], "holdout": 1, "leaks": "keep", "samples": 1}
    found["compressed"] = cc.run_rose_eval(made, "simulated", **shown, **OFF)
    return found | {
        "lane summary": cc.summarize_lane(found["lane"]),
        "systems": cc.compare_systems({"a": found["lane"], "b": found["lane"]}),
        "rose summary": cc.summarize_rose(found["rose"]),
        "recall summary": cc.summarize_recall(found["recall"]),
        "descent summary": cc.summarize_descent(found["descent"]),
        "memorisation": cc.memorisation(found["compressed"]),
    }


def two(call):
    return lambda ds: call({"a": ds, "b": ds})


CALLS = {
    "summarize_lane": ("lane", cc.summarize_lane),
    "compare_systems": ("lane", two(cc.compare_systems)),
    "provenance": ("lane", cc.provenance),
    "to_frame, lane": ("lane", cc.to_frame),
    "plot_lane": ("lane", cc.plot_lane),
    "plot_survival": ("lane", cc.plot_survival),
    "plot_systems": ("lane", two(cc.plot_systems)),
    "facet, lane": ("lane", lambda ds: cc.facet(cc.plot_lane, ds)),
    "plot_lane, summary": ("lane summary", cc.plot_lane),
    "plot_survival, summary": ("lane summary", cc.plot_survival),
    "facet, summary": ("lane summary", lambda ds: cc.facet(cc.plot_lane, ds)),
    "describe_lane": ("lane summary", cc.describe_lane),
    "describe_survival": ("lane summary", cc.describe_survival),
    "table_lane": ("lane summary", cc.table_lane),
    "aggregates_lane": ("lane summary", cc.aggregates_lane),
    "gate_line": ("lane summary", cc.gate_line),
    "text_lane": ("lane summary", cc.text_lane),
    "conclude_lane": ("lane summary", cc.conclude_lane),
    "plot_systems, summary": ("systems", cc.plot_systems),
    "describe_systems": ("systems", cc.describe_systems),
    "table_systems": ("systems", cc.table_systems),
    "conclude_systems": ("systems", cc.conclude_systems),
    "summarize_rose": ("rose", cc.summarize_rose),
    "memorisation": ("compressed", cc.memorisation),
    "verdict": ("rose", cc.verdict),
    "to_frame, rose": ("rose", cc.to_frame),
    "explore_rose": ("rose", cc.explore_rose),
    "plot_rose": ("rose", cc.plot_rose),
    "plot_arms": ("rose", cc.plot_arms),
    "plot_lessons": ("rose", cc.plot_lessons),
    "plot_compressors": ("rose", two(cc.plot_compressors)),
    "describe_compressors": ("rose", two(cc.describe_compressors)),
    "plot_rose, summary": ("rose summary", cc.plot_rose),
    "plot_lessons, summary": ("rose summary", cc.plot_lessons),
    "describe_rose": ("rose summary", cc.describe_rose),
    "table_rose": ("rose summary", cc.table_rose),
    "text_rose": ("rose summary", cc.text_rose),
    "verdict, summary": ("rose summary", cc.verdict),
    "table_memorisation": ("memorisation", two(cc.table_memorisation)),
    "summarize_recall": ("recall", cc.summarize_recall),
    "compare_recall": ("recall", lambda ds: cc.compare_recall(ds, ds)),
    "explore_recall": ("recall", cc.explore_recall),
    "plot_recall": ("recall", cc.plot_recall),
    "plot_recall, several": ("recall", two(cc.plot_recall)),
    "describe_recall": ("recall", cc.describe_recall),
    "plot_recall, summary": ("recall summary", cc.plot_recall),
    "table_recall": ("recall summary", cc.table_recall),
    "text_recall": ("recall summary", cc.text_recall),
    "summarize_descent": ("descent", cc.summarize_descent),
    "plot_descent": ("descent", cc.plot_descent),
    "describe_descent": ("descent", cc.describe_descent),
    "plot_descent, summary": ("descent summary", cc.plot_descent),
    "table_descent": ("descent summary", cc.table_descent),
    "text_descent": ("descent summary", cc.text_descent),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_dataset_in_pieces_gives_what_the_whole_gives(runs, call):
    of, function = CALLS[call]
    pieces = runs[of].chunk()
    want, got = function(runs[of]), function(pieces)
    if isinstance(want, xr.Dataset):
        assert not got.chunks
        xr.testing.assert_identical(got, want)
    elif isinstance(want, pd.DataFrame):
        pd.testing.assert_frame_equal(got, want)
    elif isinstance(want, str | dict):
        assert got == want
    else:
        assert str(got).split("at 0x")[0] == str(want).split("at 0x")[0]
    assert pieces.chunks, "the user's Dataset stays as it is"


@pytest.mark.parametrize("of", ["lane", "rose", "recall", "descent", "lane summary"])
def test_a_dataset_in_pieces_is_saved_and_loaded(runs, of, tmp_path):
    cc.save(runs[of].chunk(), tmp_path / "run.nc")
    xr.testing.assert_identical(cc.load(tmp_path / "run.nc"), runs[of])


def test_every_call_on_a_dataset_is_tried():
    verbs = ("summarize_", "plot_", "explore_", "compare_", "table_", "text_", "describe_")
    there = {name for name in cc.__all__ if name.startswith(verbs)}
    tried = {name.split(",")[0] for name in CALLS}
    assert there - tried <= {"table_compressions", "explore_lane"}  # which take no Dataset
