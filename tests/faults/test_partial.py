"""One arm of four fails: the others are complete, and it is said what is missing."""

from __future__ import annotations

import re

import numpy as np
import pytest
import xarray as xr
from faults.material import ARMS, bench, concepts, results, told
from faults.servers import Endpoint, answer, refusal
from helpers import Rote

import corecurves as cc
from corecurves.cli import main
from corecurves.errors import CellFailure
from corecurves.models.base import Completion


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def store(folder):
    return cc.open_store(folder)


def arm_of(store, messages):
    """The arm that a prompt belongs to."""
    prompt = " ".join(message["content"] for message in messages)
    depths = {x.depth for lesson in store.lessons for x in lesson.levels if x.text in prompt}
    if depths:
        return "ceiling" if 0 in depths else "treatment"
    return "scrambled" if "roker" in prompt else "control"


class Model:
    concurrency = None

    def __init__(self, store, failing=None):
        self.identity = cc.Identity("partial", "1")
        self.store, self.failing = store, failing

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        if arm_of(self.store, messages) == self.failing:
            raise CellFailure("call_failed", "the endpoint is down")
        return Completion(" ".join(message["content"] for message in messages))


def rose(store, model):
    return cc.run_rose_eval(
        store, model, grader="checklist", arms=ARMS, samples=2, ledger=False, progress=False
    )


@pytest.mark.parametrize("failing", ARMS)
def test_the_other_arms_are_complete_and_the_rates_say_so(store, failing):
    whole = rose(store, Model(store))
    expected = cc.summarize_rose(whole)
    with pytest.warns(UserWarning, match=r"of 72 cells have no result \(call_failed \d+\)"):
        ds = rose(store, Model(store, failing))
    others = [arm for arm in ARMS if arm != failing]
    xr.testing.assert_identical(results(ds).sel(arm=others), results(whole).sel(arm=others))
    assert np.isnan(ds.passed.sel(arm=failing)).all()

    found = cc.summarize_rose(ds)
    names = ["transfer", "transfer_ci", "transfer_bounds", "transfer_n", "transfer_episodes",
             "cells_planned", "cells_judged", "cells_failed"]  # fmt: skip
    xr.testing.assert_identical(found[names].sel(arm=others), expected[names].sel(arm=others))
    one = found.sel(kind="all", arm=failing)
    planned = one.cells_planned.values > 0
    assert (one.cells_planned.values == expected.cells_planned.sel(kind="all", arm=failing)).all()
    assert (one.cells_judged.values == 0).all()
    assert (one.cells_failed.values == one.cells_planned.values).all()
    assert np.isnan(one.transfer).all()
    assert (one.transfer_bounds.values[planned] == [0, 1]).all()
    text = cc.text_rose(found)
    assert f"no result at all: {failing} at " in text
    assert "0/12, 12 failed: 0.00 to 1.00" in text
    assert text.count("12/12") == int((expected.cells_planned.sel(kind="all") > 0).sum()) - int(
        planned.sum()
    )
    assert "cells have no result and count neither way" in str(cc.verdict(found))
    told(
        f"partial failure, {failing}",
        {
            "planned": int(found.cells_planned.sel(kind="all").sum()),
            "judged": int(found.cells_judged.sel(kind="all").sum()),
            "failed": int(found.cells_failed.sel(kind="all").sum()),
            "rates of the others as without": f"{len(others)} of {len(others)} arms",
        },
    )


def test_a_few_failed_cells_widen_the_bounds_alone(store):
    model = Model(store)
    generate = model.generate

    async def fails_once(messages, *, seed, **options):
        if "worker 0 of line 0" in str(messages) and arm_of(store, messages) == "ceiling":
            raise CellFailure("call_failed", "no answer")
        return await generate(messages, seed=seed, **options)

    model.generate = fails_once
    with pytest.warns(UserWarning, match="2 of 72 cells have no result"):
        ds = rose(store, model)
    at = cc.summarize_rose(ds).sel(kind="all", level="L0", arm="ceiling")
    counts = [int(at[f"cells_{name}"]) for name in ("planned", "judged", "failed")]
    assert counts == [12, 10, 2]
    assert float(at.transfer) == 1
    np.testing.assert_allclose(at.transfer_bounds, [5 / 6, 1])
    assert "10/12, 2 failed: 0.83 to 1.00" in cc.text_rose(cc.summarize_rose(ds))


@pytest.mark.filterwarnings("default")  # the command line shows it on a line of its own
@pytest.mark.parametrize("failing", ["ceiling", "scrambled"])
def test_the_command_line_exits_3_and_says_so(store, folder, tmp_path, capsys, failing):
    pytest.importorskip("openai")

    def replies(call):
        if arm_of(store, call.messages) == failing:
            return refusal(400, "not this one", "content_filter")
        return answer(call.messages, call.body["seed"])

    arms = [word for arm in ARMS for word in ("--arm", arm)]
    with Endpoint(replies) as endpoint, pytest.raises(SystemExit) as stop:
        main(["rose", "eval", str(folder), "--model", endpoint.spec(), "--grader", "checklist",
              "--samples", "1", "--ledger", "none", "--quiet", "--out", str(tmp_path / "a.nc"),
              *arms])  # fmt: skip
    out, err = capsys.readouterr()
    assert stop.value.code == 3
    count = 12 if failing in ("treatment", "scrambled") else 6
    assert f"{count} of 36 cells have no result (call_failed {count})" in err
    assert "not this one" in err
    assert f"no result at all: {failing} at" in out
    saved = cc.load(tmp_path / "a.nc")
    assert int((saved.status == "call_failed").sum()) == count
    told(f"partial failure, command line, {failing}", {"exit code": 3, "failed cells": count})


@pytest.mark.filterwarnings("ignore:.*cells have no result")
@pytest.mark.parametrize("failing", ["taught", "control"])
def test_a_lane_whose_arm_fails_has_the_other(failing):
    def fails(heard, text):
        # The control is taught other concepts than the one that its opening names.
        asked = re.search(r"topic\d", (heard or [text])[0])[0]
        own = len(heard) < 2 or asked in heard[1]
        return len(heard) > 1 and own == (failing == "taught")

    options = {"replays": 2, "ledger": False, "progress": False}
    whole = cc.run_lane(concepts(3), Rote(), **options)
    ds = cc.run_lane(concepts(3), Rote(fails_at=fails), **options)
    other = "control" if failing == "taught" else "taught"
    xr.testing.assert_identical(results(ds).sel(arm=[other]), results(whole).sel(arm=[other]))
    bad = ds.status.sel(arm=failing).values
    assert set(bad[:, 1:].ravel()) == {"call_failed"}
    one, all_of_it = (
        cc.summarize_lane(each, contract=False).sel(arm=other) for each in (ds, whole)
    )
    for name, variable in all_of_it.data_vars.items():
        if variable.dtype.kind == "f":
            np.testing.assert_array_equal(one[name], variable, err_msg=str(name))
