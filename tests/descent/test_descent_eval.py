import asyncio
import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from descent.world import BACK, DECOY, LATE, Told, code, lesson, named, planted, store

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.errors import UsageError
from corecurves.schema import DESCENT
from corecurves.text import count_tokens


def rungs(ds, episode=0, sample=0):
    """Rungs tried of one episode, by strategy."""
    one = ds.isel(episode=episode, sample=sample)
    return {
        str(name): [str(r) for r in one.rung.sel(strategy=name).values if r]
        for name in ds.strategy.values
    }


def last(ds, name):
    """Value of a variable at the last step tried, over (episode, strategy)."""
    at = (ds.tried == 1).sum("step") - 1
    return ds[name].isel(step=at).isel(sample=0)


def test_each_strategy_goes_its_own_way_to_the_planted_claim(descend):
    ds = descend()
    # The train half has shown that claim 2 rescues: it is tried first.
    assert rungs(ds) == {
        "delta-patch": ["L3", "L3 + claim 2"],
        "delta-jump": ["L3", "L1"],
        "stepwise": ["L3", "L2", "L1"],
    }
    assert (ds.fault == "rescued").all()
    levels = [count_tokens(level.text) for level in lesson(0).levels]
    patch = count_tokens(f"{lesson(0).levels[3].text} {planted(0)}.")
    spent = [levels[3] + patch, levels[3] + levels[1], levels[3] + levels[2] + levels[1]]
    assert last(ds, "tokens_spent").isel(episode=0).values.tolist() == spent
    assert spent == sorted(spent)
    assert (last(ds, "calls") == [2, 2, 3]).all()
    assert (last(ds, "rescued") == 1).all()
    assert (ds.rescued.isel(step=0) == 0).all()


def test_what_was_not_reached_is_not_tried(descend):
    ds = descend()
    beyond = ds.tried == 0
    assert beyond.any()
    for name in ("passed", "rescued", "tokens_spent", "calls", "seconds"):
        assert np.isnan(ds[name].where(beyond)).all(), name
    assert (ds.status.where(beyond, "") == "").all()
    for variable in DESCENT.variables:
        assert variable.name in ds, variable.name


def test_a_short_form_that_passes_needs_no_way_back(descend):
    ds = descend(model=Told(knows=lambda prompt: code(0)))
    first = ds.sel(episode=ds.concept == "valve0")
    assert (first.fault == "none").all()
    assert first.tried.sum("step").max() == 1
    assert np.isnan(first.rescued).all()
    assert np.isnan(first.ceiling).all()


def test_a_gap_is_a_gap_and_ends_at_l0(descend):
    ds = descend(store(gaps=(1,)))
    gap = ds.sel(episode=ds.concept == "valve1")
    assert (gap.fault == "knowledge gap").all()
    assert (gap.ceiling == 0).all()
    assert (last(gap, "rung") == "L0").all()
    assert (last(gap, "rescued") == 0).all()
    assert rungs(gap)["delta-patch"][-2].startswith("L3 + claims ")
    assert (ds.sel(episode=ds.concept == "valve0").fault == "rescued").all()


def test_one_text_is_one_call_but_each_strategy_pays(descend):
    model = Told()
    ds = descend(store(1, tests=1, trains=0, gaps=(0,)), model, claims=1)
    full = lesson(0, gap=True).levels[0].text
    assert sum(full in prompt for prompt in model.prompts) == 1
    assert len(model.prompts) == len(set(model.prompts)) == ds.attrs["cells"]
    assert (last(ds, "rung") == "L0").all()
    # By token share alone the shortest claim goes first, and its holder with it.
    assert rungs(ds)["delta-jump"] == ["L3", "L2", "L1", "L0"]
    assert last(ds, "calls").values.ravel().tolist() == [3, 4, 4]


def test_the_control_stands_beside(descend):
    # Without a lesson it knows; with one it is led astray.
    model = Told(knows=lambda prompt: "" if "Open valve" in prompt else f"{code(0)}")
    ds = descend(model=model)
    assert (ds.control_passed.sel(episode=ds.concept == "valve0") == 1).all()
    assert (ds.control_passed.sel(episode=ds.concept == "valve1") == 0).all()
    assert (ds.fault == "rescued").all()
    assert not any("Open valve" in p for p in model.prompts if "no note" in p)


def test_a_call_that_fails_ends_its_ladder_and_is_no_fail(descend):
    def fails(prompt):
        return planted(0) in prompt and BACK not in prompt

    model = Told(fails=fails)
    with pytest.warns(UserWarning, match="call_failed"):
        ds = descend(model=model, statistics="none", weights=(0, 0, 1), claims=2)
    hit = ds.sel(episode=ds.concept == "valve0")
    assert set(hit.fault.sel(strategy="delta-patch").values.ravel()) == {"not judged"}
    assert np.isnan(last(hit, "passed").sel(strategy="delta-patch")).all()
    assert np.isnan(last(hit, "rescued").sel(strategy="delta-patch")).all()
    assert set(last(hit, "status").sel(strategy="delta-patch").values) == {"call_failed"}
    assert (hit.fault.sel(strategy=["delta-jump", "stepwise"]) == "rescued").all()
    assert (ds.sel(episode=ds.concept != "valve0").fault == "rescued").all()
    assert ds.attrs["cells_failed"] == 2
    # A failed call is made once a run.
    assert sum(map(fails, model.prompts)) == 2


def test_nothing_is_asked_beyond_a_call_that_failed(descend):
    model = Told(fails=lambda p: DECOY in p and BACK not in p)
    with pytest.warns(UserWarning, match="call_failed"):
        ds = descend(model=model, strategies="stepwise")
    assert (ds.fault == "not judged").all()
    assert rungs(ds) == {"stepwise": ["L3", "L2"]}
    assert not any(BACK in prompt and LATE not in prompt for prompt in model.prompts)


def test_a_short_form_without_a_result_is_not_judged(descend):
    short = lesson(0).levels[3].text
    with pytest.warns(UserWarning, match="no result"):
        ds = descend(model=Told(fails=lambda p: short in p and DECOY not in p and code(0) not in p))
    hit = ds.sel(episode=ds.concept == "valve0")
    assert (hit.fault == "not judged").all()
    assert np.isnan(hit.passed).all()


def test_resuming_asks_nothing_again(descend, tmp_path):
    ledger = tmp_path / "descent.sqlite"
    model = Told()
    ds = descend(model=model, ledger=ledger)
    asked = len(model.prompts)
    again = Told()
    assert same(descend(model=again, ledger=ledger), ds)
    assert again.prompts == []
    # Other strategies and weights choose among the replays that are there.
    descend(model=again, ledger=ledger, strategies="stepwise", weights=(0, 1, 0))
    assert again.prompts == []
    assert asked == ds.attrs["cells"]


def test_resuming_runs_what_failed(descend, tmp_path):
    ledger = tmp_path / "descent.sqlite"
    whole = descend()
    with pytest.warns(UserWarning, match="no result"):
        descend(model=Told(fails=lambda p: planted(1) in p and BACK not in p), ledger=ledger)
    model = Told()
    assert same(descend(model=model, ledger=ledger), whole)
    assert all(planted(1) in p for p in model.prompts)


def test_results_are_the_same_for_every_concurrency(descend):
    alone = descend(store(gaps=(2,)), Told(), max_concurrency=1, samples=2)
    assert same(descend(store(gaps=(2,)), Told(late=True), samples=2), alone)


def test_the_awaitable_twin(descend):
    found = asyncio.run(
        cc.arun_descent_eval(
            store(), Told(), grader="checklist", holdout=0.5, ledger=False, progress=False
        )
    )
    assert same(found, descend())


def test_grading_is_blind_and_shared(descend):
    seen = []

    def grader(case):
        seen.append(case)
        return planted(0) in case.candidate

    class Same(Told):
        async def generate(self, messages, **more):
            found = await super().generate(messages, **more)
            return replace(found, text="the same answer")

    ds = descend(store(1, tests=1, trains=0), Same(), grader=grader)
    assert [case.candidate for case in seen] == ["Use K70.", "the same answer"]  # planted, all
    assert (ds.fault == "knowledge gap").all()


def test_a_store_is_not_written_to(descend, tmp_path):
    source = bundled_path("episodes", "demo_store")
    root = tmp_path / "demo_store"
    shutil.copytree(source, root)
    before = content(root)
    descend(root, "simulated", grader=lambda case: "drain" in case.candidate, holdout=1.0)
    assert content(root) == before
    with pytest.raises(UsageError, match="store"):
        descend(root, "simulated", ledger=root / "descent.sqlite")
    assert content(root) == before


def test_stepwise_walks_each_child_of_a_merged_level(descend):
    ds = descend("demo_store", "simulated", grader=lambda case: False, holdout=1.0)
    one = ds.sel(episode="drain-before-restart/2025-06-26-worker-update").isel(sample=0)
    tried = {s: [r for r in one.rung.sel(strategy=s).values if r] for s in ds.strategy.values}
    assert tried["stepwise"] == [
        "L3", "L2", "truncate-open-log.l2", "L1", "truncate-open-log.l1", "L0",
    ]  # fmt: skip
    assert set(tried["delta-jump"][1:-1]) == {"L2", "truncate-open-log.l2", "L1"}
    assert tried["delta-jump"][-1] == tried["delta-patch"][-1] == "L0"


def test_leaked_episodes_are_left_out_and_named(descend):
    ds = descend("demo_store", "simulated", grader=lambda case: False, holdout=1.0)
    kept = descend("demo_store", "simulated", grader=lambda case: False, holdout=1.0, leaks="keep")
    assert not ds.leaked.any()
    assert kept.leaked.sum() == kept.sizes["episode"] - ds.sizes["episode"] > 0
    assert "csv-decimal-comma/2025-01-14-finance-import" in ds.attrs["left_out"]


def test_only_the_test_half_is_evaluated(descend):
    ds = descend()
    tests = {name for i in range(3) for name in named(i, "test", 2)}
    assert set(ds.episode.values) == tests
    assert ds.attrs["train_episodes"] == 6
    by_hand = cc.plan_descent(store(), Told(), grader="checklist").config
    assert by_hand["holdout"] == 0.5
    alone = cc.plan_descent(store(), Told(), grader="checklist", statistics="none").config
    assert alone["holdout"] == 1
    made = tuple(
        replace(x, levels=(x.levels[0], *(replace(v, compressor="cut") for v in x.levels[1:])))
        for x in store().lessons
    )
    several = replace(store(tests=9), lessons=made)
    assert cc.plan_descent(several, Told(), grader="checklist").config["holdout"] == 0.3


def test_a_plan_says_what_it_may_cost(descend):
    model = Told()
    cost = cc.plan_descent(store(), model, grader="checklist", holdout=0.5).cost
    assert model.prompts == []
    descend(model=model)
    assert cost["calls_at_least"] <= len(model.prompts) <= cost["calls_at_most"]
    gaps = Told()
    descend(store(gaps=(0, 1, 2)), gaps)
    most = cc.plan_descent(store(gaps=(0, 1, 2)), gaps, grader="checklist", holdout=0.5).cost
    assert len(gaps.prompts) <= most["calls_at_most"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"strategies": "delta-pach"}, "did you mean 'delta-patch'"),
        ({"strategies": ()}, "one at all"),
        ({"claims": 0}, "`claims` is 0"),
        ({"samples": True}, "`samples` is True"),
        ({"weights": (1, 2)}, "three numbers"),
        ({"weights": (1, -1, 0)}, "`weights` is -1"),
        ({"holdout": 0}, "`holdout` is 0"),
        ({"leaks": "no"}, "`leaks`"),
        ({"statistics": "test"}, "`statistics`"),
        ({"grader": "gain", "model": "simulated"}, "passes nothing"),
        ({"judge": "bm52"}, "did you mean 'bm25'"),
        ({"holdout": 0.001}, "give a larger one"),
    ],
)
def test_one_line_says_what_is_wrong(descend, more, said):
    with pytest.raises(UsageError, match=said) as raised:
        descend(**more)
    assert "\n" not in str(raised.value)


def test_it_needs_a_shorter_form(descend):
    one = lesson(0)
    only = replace(store(1), lessons=(replace(one, levels=one.levels[:1]),))
    with pytest.raises(UsageError, match=r"has a shorter form: write `name\.L1\.md`"):
        descend(only)


def same(left, right):
    """Equal results; costs may differ."""
    costs = [v.name for v in DESCENT.variables if v.role == "cost"]
    return left.drop_vars(costs).identical(right.drop_vars(costs))


def content(root):
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(root).rglob("*"))
        if path.is_file()
    }
