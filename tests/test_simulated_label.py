"""Whoever acts in a run, a simulation is labelled; and settings that change nothing are no part."""

import json
import warnings

import pytest

import corecurves as cc
from corecurves.models.base import Completion, LogProb
from corecurves.specs import Identity, is_simulated

QUIET = {"ledger": False, "progress": False}
DEMO = cc.open_store("rose_bench").demo()


class Real:
    """A model that nobody says is simulated; counts its calls."""

    identity = Identity("real", "1")
    concurrency = None

    def __init__(self):
        self.calls = 0

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        self.calls += 1
        return Completion("yes")

    async def logprob(self, messages, text):
        self.calls += 1
        return LogProb(-1.0 - len(text) % 3, 1)


class Feigned(Real):
    simulated = True


def rose(model, grader="contrast", store=DEMO):
    options = {"arms": ("control", "ceiling", "treatment"), "samples": 1, **QUIET}
    return cc.run_rose_eval(store, model, grader=grader, **options)


def served(model, grader="contrast"):
    return cc.run_served_cases("rose_bench", model, grader=grader, samples=1, **QUIET)


def descent(model, grader="contrast", **more):
    return cc.run_descent_eval(DEMO, model, grader=grader, **more, **QUIET)


def recall(selector, store="demo_store"):
    return cc.run_recall_eval(store, selector, **QUIET)


class Asks:
    """A selector with a model inside."""

    threshold, most_samples, concurrency = 0.5, 1, None

    def __init__(self, model):
        self.model = model
        self.identity = Identity("asks", "1")

    async def score(self, task, candidates, *, sample, seed):
        return {}


def lane(model):
    from corecurves.systems.in_context import InContextSystem

    return cc.run_lane("dev", InContextSystem(model), **QUIET)


def compressed(model):
    return cc.compress_store(DEMO, "prune", model=model, depths=1, progress=False)


@pytest.mark.filterwarnings("ignore:.*cells have no result")
@pytest.mark.parametrize(
    "run",
    [rose, served, descent, lane, lambda model: recall(Asks(model)),
     lambda model: descent(Real(), judge=Asks(model)),
     lambda model: rose(Real(), cc.graders.Judge(model))],
    ids=["rose", "served", "descent", "lane", "recall", "descent's judge", "rose's judge"],
)  # fmt: skip
def test_a_simulated_model_is_labelled_wherever_it_acts(run):
    assert run(Real()).attrs["simulated"] == "no"
    assert run(Feigned()).attrs["simulated"] == "yes"


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_a_real_model_judged_by_a_simulation_is_labelled():
    for run in (rose, served, descent):
        assert run(Real(), "judge:simulated").attrs["simulated"] == "yes"


def test_levels_that_a_simulation_made_are_labelled():
    found = compressed("simulated")
    assert all(one.simulated for one in found.compressions)
    options = {"holdout": 1, "leaks": "keep"}
    ds = cc.run_rose_eval(
        found.store, Real(), arms=("control", "ceiling", "treatment"), samples=1, **options, **QUIET
    )
    assert ds.attrs["simulated"] == "yes"


def test_who_is_simulated():
    nested = {"model": {"name": "simulated", "version": "1"}}
    assert is_simulated(Identity("judge", "1", nested))
    assert is_simulated("rewrite?model=simulated&max_tokens=9")
    assert not is_simulated(None, "", "prune", Identity("a simulated annealer"), Real())


@pytest.mark.parametrize("plan", [cc.plan_rose, cc.plan_descent])
def test_what_samples_nothing_has_no_sampling_in_its_plan(plan):
    usual = plan(DEMO, Real(), samples=1)
    with pytest.warns(UserWarning, match="`temperature` and `max_tokens` can change nothing"):
        warm = plan(DEMO, Real(), samples=1, temperature=1.5, max_tokens=9)
    assert warm.hash == usual.hash
    assert warm.keys == usual.keys
    assert not {"temperature", "max_tokens"} & set(usual.config)
    asked = [plan(DEMO, Real(), grader="judge", samples=1, temperature=t) for t in (0.7, 1.5)]
    assert asked[0].hash != asked[1].hash
    assert set(asked[0].keys).isdisjoint(asked[1].keys)


def test_a_scored_run_at_another_temperature_is_known_to_the_ledger(tmp_path):
    model, options = Real(), {"ledger": tmp_path / "rose.sqlite", "progress": False, "samples": 1}
    cc.run_rose_eval(DEMO, model, **options)
    calls = model.calls
    with pytest.warns(UserWarning, match="`temperature` can change nothing"):
        cc.run_rose_eval(DEMO, model, temperature=0.0, **options)
    assert model.calls == calls > 0


@pytest.mark.parametrize("ledger", [pytest.param("none", marks=pytest.mark.slow), "screen.sqlite"])
def test_screening_again_makes_no_call_again(tmp_path, monkeypatch, ledger):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *args, **more: tmp_path)
    kept = None if ledger == "none" else tmp_path / ledger
    model = Real()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = cc.run_screen("rose_bench", model, ledger=kept, progress=False)
        calls = model.calls
        again = cc.run_screen("rose_bench", model, ledger=kept, progress=False)
    assert (first.kind == "conflict").any()
    assert model.calls == calls > 1000
    assert again.equals(first)
    names = sorted(path.name for path in tmp_path.rglob("*.sqlite"))
    assert len(names) == 2
    assert kept is None or names == ["screen-served.sqlite", "screen.sqlite"]


def test_a_plan_that_was_calibrated_is_not_paid_for_again():
    model = Real()
    plan = cc.plan_rose(DEMO, model, samples=1, arms=("control",), calibrate=True)
    assert plan.cost["estimated_seconds"] >= 0
    calls = model.calls
    assert calls
    cc.run_rose_eval(DEMO, model, samples=1, arms=("control",), progress=False)
    assert model.calls == plan.cost["calls"]
    cc.plan_rose(DEMO, model, samples=1, arms=("control",), calibrate=True)
    assert model.calls == plan.cost["calls"]


@pytest.mark.parametrize("selector", ["bm25", "serve-all", "model:simulated"])
def test_a_seed_that_changes_no_score_is_no_part_of_the_plan(selector):
    plans = [cc.plan_recall("demo_store", selector, seed=seed) for seed in (0, 5)]
    assert plans[0].hash == plans[1].hash
    assert plans[0].keys == plans[1].keys
    judged = [cc.plan_recall("demo_store", "judge:simulated", seed=seed) for seed in (0, 5)]
    assert judged[0].hash != judged[1].hash
    ds = cc.run_recall_eval("demo_store", selector, seed=5, **QUIET)
    assert json.loads(ds.attrs["config"])["seed"] == 5
