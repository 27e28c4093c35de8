"""However the work is spread and whichever call ends first: one Dataset."""

from __future__ import annotations

import itertools
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
import xarray as xr
from faults.material import ARMS, Backwards, BackwardsModel, bench, concepts, results, told

import corecurves as cc

WIDTHS = (1, 8, 64)


def lane(system, **more):
    return cc.run_lane(
        concepts(3), system, samples=2, replays=2, ledger=False, progress=False, **more
    )


def rose(store, model, **more):
    return cc.run_rose_eval(
        store, model, grader="checklist", arms=ARMS, samples=2, ledger=False, progress=False,
        **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return cc.open_store(bench(tmp_path_factory.mktemp("bench"), lessons=4))


def reversals(order):
    """Share of neighbours that ended in the other order than they began."""
    pairs = list(itertools.pairwise(order))
    return sum(a > b for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("asynchronous", [True, False], ids=["awaited", "blocking"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_lane(width, asynchronous):
    expected = lane(Backwards(0, asynchronous=True), max_concurrency=1)
    system = Backwards(width, asynchronous=asynchronous)
    found = lane(system, max_concurrency=width)
    xr.testing.assert_identical(results(found), results(expected))
    told(
        f"order, lane, {'awaited' if asynchronous else 'blocking'}",
        {"concurrency": width, "calls": len(system.ended),
         "neighbours reversed": f"{reversals(system.ended):.2f}"},
    )  # fmt: skip
    assert width == 1 or reversals(system.ended) > 0.3


@pytest.mark.parametrize("width", WIDTHS)
def test_the_rose_eval(store, width):
    expected = rose(store, BackwardsModel(0), max_concurrency=1)
    model = BackwardsModel(width)
    found = rose(store, model, max_concurrency=width)
    xr.testing.assert_identical(results(found), results(expected))
    told(
        "order, rose",
        {"concurrency": width, "calls": len(model.ended),
         "neighbours reversed": f"{reversals(model.ended):.2f}"},
    )  # fmt: skip
    assert width == 1 or reversals(model.ended) > 0.3


@pytest.mark.parametrize("question", ["lane", "rose"])
def test_threads(store, question):
    with ThreadPoolExecutor(8) as executor:
        options = {"executor": executor, "max_concurrency": 8}
        if question == "lane":
            expected = lane(Backwards(0, asynchronous=True), max_concurrency=1)
            found = lane(Backwards(8, asynchronous=False), **options)
        else:
            expected = rose(store, BackwardsModel(0), max_concurrency=1)
            found = rose(store, BackwardsModel(8), **options)
    xr.testing.assert_identical(results(found), results(expected))
    told(f"order, {question}, threads", {"identical": "yes"})


@pytest.mark.slow
def test_processes(store):
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as executor:
        options = {"executor": executor, "max_concurrency": 4}
        pairs = {
            "lane": (lane(Backwards(0, asynchronous=True), max_concurrency=1),
                     lane(Backwards(4, asynchronous=False), **options)),
            "lane, grounded": (lane("grounded", max_concurrency=1), lane("grounded", **options)),
            "rose": (rose(store, BackwardsModel(0), max_concurrency=1),
                     rose(store, BackwardsModel(4), **options)),
            "rose, simulated": (rose(store, "simulated?slip=0.3", max_concurrency=1),
                                rose(store, "simulated?slip=0.3", **options)),
        }  # fmt: skip
    for name, (expected, found) in pairs.items():
        xr.testing.assert_identical(results(found), results(expected))
        told(f"order, {name}, processes", {"identical": "yes"})


def test_prefix_mode_in_any_order():
    expected = lane("grounded", mode="prefix", max_concurrency=1)
    for width in WIDTHS[1:]:
        found = lane("grounded", mode="prefix", max_concurrency=width)
        xr.testing.assert_identical(results(found), results(expected))
