"""Replays in another interpreter, under another hash seed, however a run is made."""

import asyncio
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest
from engine.elsewhere_systems import Dies, Hashed, Says, Slow, Stays
from helpers import curriculum

import corecurves as cc
from corecurves.bundled import bundled_path
from corecurves.engine import elsewhere
from corecurves.engine.ledger import Ledger
from corecurves.errors import UsageError

TWO = [curriculum(), curriculum("play", ("joy", "rest"))]
ELSEWHERE = "another interpreter, another hash seed"


def run(system, curricula=TWO, **more):
    return cc.run_lane(curricula, system, **{"ledger": False, "progress": False, **more})


def determinism(ds):
    return float(cc.summarize_lane(ds).replay_determinism)


POOLS = {
    "none": lambda: None,
    "threads": lambda: ThreadPoolExecutor(2),
    "forked": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
    "spawned": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("spawn")),
}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("pool", POOLS)
def test_a_trace_that_depends_on_the_hash_seed_never_matches(pool):
    executor = POOLS[pool]()
    ds = run(Hashed(), executor=executor)
    if executor:
        executor.shutdown()
    assert determinism(ds) == 0
    assert ds.attrs["replay_process"] == ELSEWHERE
    assert ELSEWHERE in cc.gate_line(cc.summarize_lane(ds))
    assert (ds.replay_status.sel(k=slice(0, 2)) == "ok").all()


def test_the_seed_is_another_one_and_so_is_the_process(monkeypatch):
    for here, there in (("1", "2"), ("7", "1"), ("random", "1")):
        monkeypatch.setenv("PYTHONHASHSEED", here)
        found = run(Says(), arms="taught").trace_hash.isel(concept=0).values.reshape(-1, 2)
        assert set(found[:, 0]) == {f"{os.getpid()} {here}"}
        (replay,) = set(found[:, 1])
        assert replay.split()[1] == there
        assert replay.split()[0] != str(os.getpid())


def test_what_cannot_travel_is_replayed_here_and_says_so():
    class Local(Hashed):
        pass

    for system in (Stays(), Local(), lambda: Hashed().start()):
        ds = run(system)
        assert determinism(ds) == 1
        assert ds.attrs["replay_process"] == "same process"
        summary = cc.summarize_lane(ds)
        assert cc.gate_line(summary).endswith("replays: same process)")
        assert any("same process" in text for text in cc.conclude_lane(summary).cannot)
        beside = cc.table_systems(cc.compare_systems({"a": ds}))
        assert beside.reproduced["a"] == "1.00 (same process)"
    assert run(Stays(), replays=1).attrs["replay_process"] == ""


def test_large_systems_and_local_weights_stay():
    heavy = Hashed()
    heavy.weights = bytes(elsewhere._LARGEST)
    assert elsewhere.frozen(heavy) is None

    class Weights:
        identity, concurrency = cc.Identity("weights", "1"), 1

        async def generate(self, messages, **options):
            raise NotImplementedError

    from corecurves.systems.in_context import InContextSystem

    assert not InContextSystem(Weights()).travels
    assert InContextSystem("simulated").travels


def test_both_ways_have_keys_of_their_own():
    there, here = (cc.plan_lane(TWO, system) for system in (Hashed(), Stays()))
    first = there.index[:, 4] == 0
    same = [a == b for a, b in zip(there.keys, here.keys, strict=True)]
    assert same == first.tolist()
    assert there.hash != here.hash


def test_inside_a_running_loop():
    async def notebook():
        return run(Hashed()), await cc.arun_lane(TWO, Hashed(), ledger=False, progress=False)

    for ds in asyncio.run(notebook()):
        assert determinism(ds) == 0


def test_no_interpreter_outlives_its_run_and_a_shared_one_serves_the_next():
    run(Hashed())
    run("grounded")
    (kept,) = (worker for key, worker in elsewhere._workers.items() if key[0] == os.getpid())
    run("parrot")
    assert elsewhere._workers[(os.getpid(), "")] is kept
    assert set(elsewhere._workers) == {(os.getpid(), "")}
    kept.end()
    assert kept._process.returncode is not None
    assert determinism(run("grounded")) == 1


def test_an_interpreter_that_dies_is_one_line_and_loses_nothing(tmp_path):
    ledger = tmp_path / "lane.sqlite"
    with pytest.raises(UsageError, match="replays are run, died; `travels = False`"):
        run(Dies(), ledger=ledger, max_concurrency=1)
    plan = cc.plan_lane(TWO, Dies())
    with Ledger(ledger, plan) as book:
        assert book.done()
    assert not any(key[1] for key in elsewhere._workers)


def test_a_system_that_the_other_interpreter_cannot_import_is_one_line(monkeypatch):
    module = ModuleType("made_at_run_time")
    module.__spec__ = ModuleSpec("made_at_run_time", None, origin="memory")
    system = type("Made", (Hashed,), {"__module__": module.__name__, "__qualname__": "Made"})
    module.Made = system
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(UsageError, match=r"cannot import the system .*made_at_run_time"):
        run(system())


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_cancelled_run_makes_no_call_there_either(tmp_path, asynchronous):
    log = tmp_path / "calls"
    log.touch()

    def there():
        return [line for line in log.read_text().split() if line != str(os.getpid())]

    async def cancelled():
        system = Slow(log, asynchronous)
        task = asyncio.create_task(cc.arun_lane(TWO, system, ledger=False, progress=False))
        end = time.monotonic() + 30
        while len(there()) < 4 and time.monotonic() < end:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    time.sleep(0.3)
    calls = len(there())
    assert 4 <= calls < 60
    time.sleep(0.3)
    assert len(there()) == calls
    assert not any(key[1] for key in elsewhere._workers)


def test_sampled_replies_have_seed_reproducibility_and_a_spread():
    spec = "in-context:simulated?slip=0.3&temperature=0.7"
    one, three = (cc.summarize_lane(run(spec, "dev", samples=n)) for n in (1, 3))
    assert "seed reproducibility 1.00" in cc.gate_line(one)
    assert "run with samples=2 or more" in cc.gate_line(one)
    hits = three.hits.sel(arm="taught").std("sample", ddof=1)
    expected = float(hits.mean())
    assert expected > 0
    assert f"between seeds hits differ by {expected:.2f} tokens" in cc.gate_line(three)
    plain = cc.gate_line(cc.summarize_lane(run("grounded", "dev", samples=2)))
    assert "replay determinism" in plain
    assert "between seeds" not in plain


def test_a_replay_has_the_folder_and_the_environment_of_its_run(tmp_path, monkeypatch):
    """Also where its interpreter was started for an earlier run."""
    pytest.importorskip("openai")
    pack = bundled_path("curricula", "packs", "en_core_cognition_v1.yaml").read_text()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.yaml").write_text(pack)
        monkeypatch.chdir(tmp_path / name)
        ds = run(f"grounded?pack={name}.yaml", "dev", arms="taught")
        assert determinism(ds) == 1
    # Nobody listens there: what is tested is that the replay gets as far as the first run.
    spec = "in-context:openai:m@http://127.0.0.1:9/v1?key_env=TEST_LATE_KEY&attempts=1"
    monkeypatch.setenv("TEST_LATE_KEY", "sk-test-000")
    with pytest.warns(UserWarning, match="cells have no result"):
        ds = run(spec, TWO[:1], arms="taught")
    assert set(np.unique(ds.replay_status)) <= {"", "call_failed"}
