"""Arguments that are numbers: each wrong one gets one clear line, in every call that takes it."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import corecurves as cc
from corecurves.arguments import finite, whole
from corecurves.engine.executors import calls_at_once

QUIET = {"ledger": False, "progress": False}
NAN = float("nan")


@pytest.fixture(scope="module")
def store():
    return cc.open_store("rose_bench").demo()


@pytest.mark.parametrize("value", [True, None, 1.5, "2", 0, -1, NAN])
def test_no_whole_number_from_1(value):
    with pytest.raises(cc.UsageError, match=r"`samples` is .*; give a whole number from 1"):
        whole("samples", value)


def test_numbers_of_numpy_are_numbers():
    assert type(whole("samples", np.int32(3))) is int
    assert type(finite("margin", np.float32(0.5), above=0, below=1)) is float


@pytest.mark.parametrize("value", [True, None, "0.5", NAN, float("inf"), [0.5], 1, 2])
def test_no_number_above_0_and_below_1(value):
    with pytest.raises(cc.UsageError, match="give a number above 0 and below 1"):
        finite("confidence", value, above=0, below=1)


@pytest.mark.parametrize("value", [0, -0.1, 1.01, NAN])
def test_ends_that_are_taken_and_ends_that_are_not(value):
    assert finite("holdout", 1, above=0, most=1) == 1
    with pytest.raises(cc.UsageError, match="above 0 and at most 1"):
        finite("holdout", value, above=0, most=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", None), ("seed", 1.5), ("samples", True), ("temperature", -1), ("temperature", NAN),
     ("max_tokens", 0), ("levels", []), ("holdout", "x"), ("max_concurrency", None)],
)  # fmt: skip
def test_rose(store, name, value):
    with pytest.raises(cc.UsageError, match=f"`{name}` is"):
        cc.run_rose_eval(store, "simulated", **QUIET, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", None), ("samples", 0), ("max_tokens", 0), ("temperature", NAN),
     ("max_concurrency", None)],
)  # fmt: skip
def test_served(name, value):
    with pytest.raises(cc.UsageError, match=f"`{name}` is"):
        cc.run_served_cases("rose_bench", "simulated", **QUIET, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", None),
        ("threshold", NAN),
        ("max_pack_tokens", 0),
        ("pool", 0),
        ("max_concurrency", None),
    ],
)
def test_recall(name, value):
    with pytest.raises(cc.UsageError, match=f"`{name}` is"):
        cc.run_recall_eval("demo_store", "bm25", whole_store=True, **QUIET, **{name: value})


def test_summaries(store):
    ds = cc.run_rose_eval(store, "simulated", samples=1, **QUIET)
    for wrong in (0, 1, 2, None, "x", NAN):
        with pytest.raises(cc.UsageError, match="`confidence` is"):
            cc.summarize_rose(ds, confidence=wrong)
        with pytest.raises(cc.UsageError, match="`margin` is"):
            cc.verdict(ds, margin=wrong)


def test_a_blank_prompt_is_no_prompt():
    with pytest.raises(cc.UsageError, match=r"the prompt .* is empty"):
        cc.run_coverage("demo_store", "bm25", probes=[" "])


def test_a_dataset_of_another_question(store):
    ds = cc.run_rose_eval(store, "simulated", samples=1, **QUIET)
    recall = cc.run_recall_eval("demo_store", "bm25", **QUIET)
    with pytest.raises(cc.DatasetError, match="a served Dataset is needed; this one is of rose"):
        cc.join_recall_transfer(recall, ds)
    with pytest.raises(cc.DatasetError, match="a rose Dataset is needed; this one is of recall"):
        cc.summarize_rose(recall)


def test_things_that_are_no_dataset_and_no_store(tmp_path):
    with pytest.raises(cc.DatasetError, match="a Dataset of a run or a summary is needed, not"):
        cc.to_frame(5)
    with pytest.raises(cc.DatasetError, match="a Dataset is needed to save, not"):
        cc.save(5, tmp_path / "x.nc")
    with pytest.raises(cc.UsageError, match="`store` is 3; give a name, a folder or a Store"):
        cc.open_store(3)


def test_the_margin_of_an_explorer(store):
    ds = cc.run_rose_eval(store, "simulated", samples=1, **QUIET)
    with pytest.raises(cc.UsageError, match=r"`margin` is 'a'; give a number from 0.01"):
        cc.explore_rose(ds, margin="a")


@pytest.mark.parametrize("value", [None, 0, True])
def test_descent(store, value):
    with pytest.raises(cc.UsageError, match="`max_concurrency` is"):
        cc.run_descent_eval(store, "simulated", samples=1, max_concurrency=value, **QUIET)


def test_who_takes_few_calls_at_once_is_asked_no_more():
    few = SimpleNamespace(concurrency=1)
    inside = SimpleNamespace(model=few)
    for who in (few, inside, SimpleNamespace(system=inside)):
        work = SimpleNamespace(actor="who", who=who)
        assert calls_at_once(work, None, 8) == 1
        assert calls_at_once(work, "pool", 8) == 8, "one in each process"
        with ThreadPoolExecutor(1) as threads:
            assert calls_at_once(work, threads, 8) == 1, "threads share it"
    assert calls_at_once(object(), None, 8) == 8


def test_a_function_is_called_one_at_a_time_unless_it_says_otherwise():
    def model(messages):
        return "PORT=6101"

    async def waits(messages):
        return "PORT=6101"

    def many(messages):
        return "PORT=6101"

    many.concurrency = 4
    store = cc.open_store("rose_bench").demo()
    plans = set()
    for given, asked, expected in ((model, 8, 1), (waits, 8, 8), (many, 8, 4), (many, 2, 2)):
        ds = cc.run_rose_eval(
            store, given, grader=lambda case: True, arms=("control",), samples=1,
            max_concurrency=asked, **QUIET,
        )  # fmt: skip
        assert ds.seconds.attrs["max_concurrency"] == expected
        plans.add((given, ds.attrs["plan_hash"]))
    assert len(plans) == 3, "it is no part of the plan"
    assert cc.provenance(ds)["max_concurrency"] == "2 at work at once"
