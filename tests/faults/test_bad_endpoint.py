"""An endpoint that fails in 30 % of calls: what passes is waited for, and nothing else is.

A reply that was cut off by its length is an answer that the model did not finish, so asking again
within the run is no mending: its cell is ``cut_off``, all others are what they are without faults,
and the same call, once more, asks for the cut-off ones alone and then equals the fault-free run.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import numpy as np
import pytest
import xarray as xr
from faults.material import ARMS, bench, concepts, results, told
from faults.servers import TEMPORARY, Endpoint, Faulty, Reply, answer, completion, refusal

import corecurves as cc
from corecurves.cli import main
from corecurves.errors import PermanentFailure

pytest.importorskip("openai")

PATIENT = {"timeout": 0.5, "attempts": 12, "first_wait": 0.02, "patience": 60}


@pytest.fixture
def endpoint():
    with Endpoint() as server:
        yield server


@pytest.fixture
def store(tmp_path):
    return bench(tmp_path / "bench")


def rose(endpoint, store, **more):
    options = {
        "grader": "judge", "arms": ARMS, "samples": 1, "ledger": False, "progress": False, **more,
    }  # fmt: skip
    settings = options.pop("settings", PATIENT)
    return cc.run_rose_eval(store, endpoint.spec(**settings), **options)


def lane(endpoint, **more):
    options = {"samples": 2, "replays": 1, "ledger": False, "progress": False, **more}
    settings = options.pop("settings", PATIENT)
    return cc.run_lane(concepts(5), f"in-context:{endpoint.spec(**settings)}", **options)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["rose", "lane"])
def test_what_passes_is_tried_again_and_the_dataset_is_the_fault_free_one(
    endpoint, store, question
):
    def run():
        return rose(endpoint, store, samples=2) if question == "rose" else lane(endpoint)

    expected = run()
    asked = len(endpoint.calls)
    endpoint.calls.clear()
    endpoint.replies = faulty = Faulty(stall=1.5, seed=6)
    began = time.monotonic()
    found = run()
    took = time.monotonic() - began
    told(
        f"bad endpoint, {question}",
        {
            "calls without faults": asked,
            "with faults": len(endpoint.calls),
            **{f"faults: {kind}": faulty.given[kind] for kind in TEMPORARY},
            "share": f"{faulty.given.total() / len(endpoint.calls):.2f}",
            "seconds": f"{took:.1f}",
            "failed cells": int(((found.status != "ok") & (found.status != "")).sum()),
        },
    )
    xr.testing.assert_identical(results(found), results(expected))
    assert all(faulty.given[kind] for kind in TEMPORARY)
    # Each fault costs one more call; a slow machine may time out once more.
    assert len(endpoint.calls) >= asked + faulty.given.total()


def test_a_reply_cut_off_by_length_is_no_answer_and_a_resume_asks_for_it_alone(
    endpoint, store, tmp_path
):
    ledger = tmp_path / "run.sqlite"
    expected = rose(endpoint, store)
    endpoint.calls.clear()
    endpoint.replies = faulty = Faulty(share=0.3, kinds=("cut off by length",))
    with pytest.warns(UserWarning, match=r"cells have no result \(cut_off \d+\)"):
        first = rose(endpoint, store, ledger=ledger)
    asked = Counter(call.name for call in endpoint.calls)
    cut = first.status == "cut_off"
    told("bad endpoint, cut off", {"replies": faulty.given.total(), "cells": int(cut.sum())})
    assert set(asked.values()) == {1}
    assert 0 < int(cut.sum()) == faulty.given.total()
    assert np.isnan(first.passed.values[cut.values]).all()
    rest = ~cut
    for name in ("passed", "status"):
        xr.testing.assert_identical(first[name].where(rest), expected[name].where(rest))
    endpoint.calls.clear()
    endpoint.replies = lambda call: answer(call.messages, call.body["seed"])
    again = rose(endpoint, store, ledger=ledger)
    xr.testing.assert_identical(results(again), results(expected))
    # The candidates that were cut off are asked for and graded; the cut-off grades are graded.
    assert len(endpoint.calls) <= 2 * faulty.given.total()


def test_attempts_are_bounded(endpoint, store):
    endpoint.replies = lambda call: refusal(503)
    with pytest.warns(UserWarning, match="cells have no result"):
        ds = rose(endpoint, store, settings={"attempts": 3, "first_wait": 0.01})
    seen = Counter(call.name for call in endpoint.calls)
    assert set(seen.values()) == {3}
    assert set(np.unique(ds.status)) == {"", "call_failed"}
    assert np.isnan(ds.passed).all()
    told("bad endpoint, attempts", {"cells": len(seen), "calls each": 3})


def test_total_time_is_bounded_whatever_the_attempts(endpoint, store):
    endpoint.replies = lambda call: Reply(after=10)
    began = time.monotonic()
    settings = {"timeout": 0.3, "attempts": 1000, "first_wait": 0.01, "patience": 1}
    with pytest.warns(UserWarning, match="12 of 12 cells have no result"):
        rose(endpoint, store, settings=settings, arms=("control", "ceiling"), max_concurrency=12)
    took = time.monotonic() - began
    seen = Counter(call.name for call in endpoint.calls)
    told("bad endpoint, time", {"seconds": f"{took:.2f}", "bound": 1, "calls": seen.total()})
    assert took < 10
    assert max(seen.values()) <= 4


def test_waits_double_and_are_drawn_apart(endpoint, store, monkeypatch):
    sleep, waits = asyncio.sleep, []

    async def at_once(seconds, *result):
        if seconds:
            waits.append(seconds)
        return await sleep(0, *result)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    endpoint.replies = lambda call: (
        refusal(500) if call.number <= 3 else answer(call.messages, call.body["seed"])
    )
    settings = {"attempts": 4, "first_wait": 0.1}
    rose(endpoint, store, settings=settings, grader="checklist")
    # 36 calls, each tried three times more: after half of the full wait, up to all of it.
    by_attempt = np.sort(waits).reshape(3, 36)
    for attempt, drawn in enumerate(by_attempt):
        assert ((0.05 * 2**attempt <= drawn) & (drawn <= 0.1 * 2**attempt)).all()
        assert np.ptp(drawn) > 0.03 * 2**attempt
    told("bad endpoint, waits", {"means": np.round(by_attempt.mean(axis=1), 3).tolist()})


PERMANENT = {
    "400": refusal(400, "no such parameter"),
    "401": refusal(401, "wrong key"),
    "quota by code": refusal(429, "pay first", "insufficient_quota"),
    "quota in words": refusal(429, "You exceeded your current quota, check your plan."),
}


@pytest.mark.parametrize("kind", PERMANENT)
def test_what_no_retry_can_mend_stops_the_run_at_once_and_keeps_what_is_done(
    endpoint, store, tmp_path, kind
):
    ledger, before = tmp_path / "run.sqlite", 20
    expected = rose(endpoint, store)
    whole = len(endpoint.calls)
    endpoint.calls.clear()
    endpoint.replies = lambda call: (
        PERMANENT[kind]
        if len(endpoint.calls) > before
        else answer(call.messages, call.body["seed"])
    )
    with pytest.raises(PermanentFailure) as caught:
        rose(endpoint, store, ledger=ledger, max_concurrency=4)
    stopped = len(endpoint.calls)
    assert "\n" not in str(caught.value)
    time.sleep(0.2)
    assert len(endpoint.calls) == stopped <= before + 4
    endpoint.replies = lambda call: answer(call.messages, call.body["seed"])
    endpoint.calls.clear()
    resumed = rose(endpoint, store, ledger=ledger, max_concurrency=4)
    xr.testing.assert_identical(results(resumed), results(expected))
    told(
        f"bad endpoint, {kind}",
        {"calls": whole, "before it stopped": stopped, "to finish": len(endpoint.calls)},
    )
    # Those in flight, at most one a worker, are all that is paid for twice.
    assert len(endpoint.calls) <= whole - before + 4


def test_the_command_line_says_it_in_one_line(endpoint, store, tmp_path, capsys):
    endpoint.replies = lambda call: PERMANENT["quota by code"]
    with pytest.raises(SystemExit) as stop:
        main(["rose", "eval", str(store), "--model", endpoint.spec(), "--grader", "checklist",
              "--ledger", str(tmp_path / "run.sqlite"), "--quiet"])  # fmt: skip
    _, err = capsys.readouterr()
    assert stop.value.code == 2
    assert err.splitlines() == ["corecurves: m: 429: pay first"]


def test_an_endpoint_that_answers_another_thing_fails_its_cell_alone(endpoint, store):
    endpoint.replies = lambda call: (
        completion("x", "tool_calls")
        if "line 1" in str(call.messages)
        else answer(call.messages, call.body["seed"])
    )
    with pytest.warns(UserWarning, match="12 of 36 cells have no result"):
        ds = rose(endpoint, store)
    assert set(np.unique(ds.status.sel(concept="line1"))) == {"", "call_failed"}
    assert set(np.unique(ds.status.sel(concept=["line0", "line2"]))) == {"", "ok"}
