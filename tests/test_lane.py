import asyncio
import itertools
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr
from helpers import Rote, RoteSession, curriculum

import corecurves as cc
from corecurves.engine.dataset import check_dataset
from corecurves.errors import CellFailure, DatasetError, LedgerError, PermanentFailure, UsageError
from corecurves.schema import LANE, STATUSES
from corecurves.specs import Identity
from corecurves.systems.base import Turn

TWO = [curriculum(), curriculum("play", ("joy", "rest"))]


def lane(curricula=TWO, system="grounded", **more):
    return cc.run_lane(curricula, system, **{"ledger": False, "progress": False, **more})


def same(left, right):
    """Equal results: costs vary from run to run."""
    costs = [v.name for v in LANE.variables if v.role == "cost"]
    xr.testing.assert_identical(left.drop_vars(costs), right.drop_vars(costs))


@pytest.mark.parametrize("split", ["public", "holdouts", "dev"])
def test_contract_figures_on_the_embedded_system(split):
    ds = lane(split)
    summary = cc.summarize_lane(ds)
    for concept in ds.concept.values:
        one = ds.sel(concept=concept, arm="taught", sample=0)
        n = int(one.curriculum_length)
        assert one.hits.values[: n + 1].tolist() == list(range(n + 1))
        assert one.accepted.values[1 : n + 1].tolist() == [1.0] * n
        assert np.isnan(one.hits.values[n + 1 :]).all()
    taught = summary.sel(arm="taught")
    assert (taught.corrections_to_first_hit == 1).all()
    assert (taught.corrections_to_saturation[:, 0] == summary.curriculum_length).all()
    assert summary.replay_determinism == 1
    assert summary.gate.item() == "passed"
    assert ds.hits.sel(arm="control").max() == 0


def test_fewer_hops_stop_the_curve_on_chains():
    ds = lane("public", "grounded?max_hops=2")
    chains = ds.isel(concept=(ds["shape"] == "chain").values).sel(arm="taught", sample=0)
    assert (chains.hits.max("k") == 2).all()


def test_a_small_vault_forgets():
    forgetful = lane("public", "grounded?vault_capacity=2").sel(arm="taught")
    assert forgetful.hits.max() == 2


def test_what_the_dataset_holds():
    ds = lane(samples=2, seed=3)
    check_dataset(ds, LANE, *(v.name for v in LANE.variables))
    assert dict(ds.sizes) == {"concept": 2, "k": 4, "arm": 2, "sample": 2, "replay": 2, "token": 3}
    assert set(np.unique(ds.status.values)) <= {*STATUSES, ""}
    assert ds.correction.sel(concept="play", k=1, arm="taught").item() == "No, play needs joy."
    assert ds.adds.sel(concept="play").values.tolist() == ["", "joy", "rest", ""]
    assert not ds.surface_recorded.sel(concept="play", k=3).any()
    for name, variable in ds.data_vars.items():
        assert {"long_name", "units", "role"} <= variable.attrs.keys(), name
    assert ds.attrs["plan_hash"] == cc.plan_lane(TWO, samples=2, seed=3).hash


def test_hits_are_read_from_surface_or_walk():
    class Both:
        identity = Identity("both")

        def start(self):
            return self

        def turn(self, text):
            return Turn("Judgments.", walk_surface="wisdom -needs-> patience", trace_hash="x")

    ds = lane([curriculum()], Both())
    assert ds.token_hits.sel(k=0, arm="taught").values.ravel().tolist() == [0, 1, 0]
    assert np.isnan(ds.vault_hits).all()


def test_control_teaches_other_things_after_the_same_opening(rote):
    lane(system=rote, arms="control", replays=1)
    assert set(rote.turns[:1]) <= {"Tell me about wisdom.", "Tell me about play."}
    turns = "\n".join(rote.turns)
    assert turns.count("Tell me about wisdom.") == 4
    ds = lane(arms="control")
    assert "wisdom" not in ds.correction.sel(concept="wisdom", arm="control", k=1).item()


def test_fresh_starts_one_session_a_snapshot_and_replay(rote):
    plan = cc.plan_lane(TWO, rote)
    lane(system=rote)
    assert plan.cost["probes"] == len(plan) == 28
    assert rote.starts == len(plan) + 1  # and one to look at
    assert len(rote.turns) == plan.cost["teaching_turns"] + plan.cost["probes"]


def test_prefix_is_the_same_and_teaches_once(rote):
    system = Rote()
    same_as = lane(system=rote, mode="fresh")
    prefix = lane(system=system, mode="prefix")
    assert (prefix.trace_hash.values == same_as.trace_hash.values).all()
    assert (prefix.hits.fillna(-1) == same_as.hits.fillna(-1)).all()
    assert (prefix.replay_match.fillna(1) == 1).all()
    plan = cc.plan_lane(TWO, system, mode="prefix")
    assert len(system.turns) == plan.cost["teaching_turns"] + plan.cost["probes"]
    fresh = cc.plan_lane(TWO, system)
    assert plan.cost["teaching_turns"] < fresh.cost["teaching_turns"]


@pytest.mark.parametrize("mode", ["fresh", "prefix"])
def test_the_grounded_system_forks_into_the_same_traces(mode):
    ds = lane("stress", mode=mode)
    assert (ds.replay_match.fillna(1) == 1).all()


def test_prefix_without_fork_falls_back_and_says_so_once():
    with pytest.warns(UserWarning, match="cannot fork") as caught:
        ds = lane(system=lambda: str.upper, mode="prefix")
    assert len(caught) == 1
    same_hits = lane(system=lambda: str.upper)
    assert (ds.hits.fillna(-1) == same_hits.hits.fillna(-1)).all()


def test_a_replay_that_differs_or_fails_does_not_match():
    count = itertools.count()

    class Moody:
        identity = Identity("moody")

        def start(self):
            return self

        def turn(self, text):
            return Turn("x", trace_hash=str(next(count)))

    summary = cc.summarize_lane(lane(system=Moody()))
    assert summary.replay_determinism == 0
    assert summary.gate.item() == "failed"
    assert cc.summarize_lane(lane(replays=1)).gate.item() == "not measured"


def test_a_system_without_a_trace_has_that_of_its_transcript():
    class Plain:
        identity = Identity("plain")

        def __init__(self, *answers):
            self.answers = itertools.cycle(answers)

        def start(self):
            return self

        def turn(self, text):
            return Turn(next(self.answers))

    assert (lane(system=Plain("x")).replay_match.fillna(1) == 1).all()
    assert (lane(system=Plain("x", "y", "z")).replay_match.fillna(0) == 0).any()


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), RuntimeError("x")])
@pytest.mark.parametrize("asynchronous", [True, False])
def test_whatever_a_system_raises_fails_its_cell_and_no_other_run(error, asynchronous):
    def answer(text):
        if "patience" in text:
            raise error
        return text

    async def later(text):
        return answer(text)

    with pytest.warns(UserWarning, match="call_failed 4"):
        ds = lane([curriculum()], later if asynchronous else answer, arms="taught")
    assert ds.status.values.ravel().tolist() == ["ok", "ok", "call_failed", "call_failed"]
    assert (lane(system="grounded").status != "call_failed").all()


def test_sessions_that_cannot_start_or_close():
    count = itertools.count()

    class Bad(Rote):
        def start(self):
            if next(count) % 3 == 0:
                raise ConnectionError("no line")
            return super().start()

    with pytest.warns(UserWarning, match="ConnectionError: no line"):
        ds = lane(system=Bad(), max_concurrency=1)
    assert set(ds.status.values.ravel()) == {"ok", "call_failed", ""}

    class Stuck(RoteSession):
        def close(self):
            raise OSError("busy")

    class Sticky(Rote):
        def start(self):
            return Stuck(self)

    with pytest.warns(UserWarning, match="could not be closed: OSError: busy"):
        ds = lane(system=Sticky())
    same(ds, lane(system=Rote("rote")))


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (Turn("x", vault_hits=float("nan")), "`vault_hits` of the turn is nan"),
        (Turn(None), "`surface` of the turn is None"),
        (Turn("x", trace_hash=b"1"), "`trace_hash` of the turn"),
    ],
)
def test_a_turn_with_wrong_parts_fails_its_cell(turn, message):
    with pytest.warns(UserWarning, match=message):
        ds = lane([curriculum()], lambda: lambda text: turn)
    assert (ds.status.sel(k=0) == "call_failed").all()


def test_an_identity_that_cannot_be_kept_is_refused(rote):
    rote.identity = Identity("x", settings={"a": float("nan")})
    with pytest.raises(UsageError, match=r"identity .* cannot be kept: .*nan"):
        lane(system=rote)


def test_a_secret_in_an_error_is_not_written(monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_API_KEY", "sk-test-0123456789")

    def leaks(text):
        raise RuntimeError("denied for sk-test-0123456789")

    with pytest.warns(UserWarning, match="denied for") as caught:
        ds = lane(system=leaks)
    cc.save(ds, tmp_path / "lane.nc")
    assert "sk-test" not in str(caught[0].message) + str(ds.reason.values)
    assert b"sk-test-0123456789" not in (tmp_path / "lane.nc").read_bytes()


def test_a_curriculum_without_expected_tokens_has_no_curve():
    empty = cc.Curriculum("wisdom", "What is wisdom?", (cc.Correction("Wisdom is old."),))
    with pytest.raises(UsageError, match="'wisdom' adds an expected token"):
        lane([empty])


def failing_at(k):
    return Rote(fails_at=lambda heard, text: text.endswith("?") and len(heard) == k + 1)


def test_a_failed_snapshot_is_missing_and_the_rest_stands():
    with pytest.warns(UserWarning, match=r"8 of 28 cells have no result \(call_failed 8\)"):
        ds = lane(system=failing_at(1))
    assert ds.hits.sel(concept="wisdom", arm="taught").values.ravel()[[0, 2, 3]].tolist() == [
        0,
        2,
        3,
    ]
    assert np.isnan(ds.hits.sel(k=1)).all()
    assert (ds.status.sel(k=1) == "call_failed").all()
    assert (ds.reason.sel(k=1) == "RuntimeError: no answer").all()
    assert (ds.replay_match.sel(k=1) == 0).all()


@pytest.mark.parametrize("mode", ["fresh", "prefix"])
def test_a_correction_that_raises_costs_its_k_and_all_later_ones(mode):
    system = Rote(fails_at=lambda heard, text: text == "No, wisdom needs patience.")
    with pytest.warns(UserWarning, match=r"4 of 14 cells have no result"):
        ds = lane(system=system, mode=mode, arms="taught")
    status = ds.status.sel(concept="wisdom", arm="taught", sample=0)
    assert status.values.tolist() == ["ok", "ok", "call_failed", "call_failed"]
    assert (ds.reason.sel(concept="wisdom", arm="taught")[2:] == "RuntimeError: no answer").all()
    others = ds.status.values.ravel().tolist()
    assert others.count("call_failed") == 2  # the replays failed alike, and nothing else did


class Narrow:
    identity, concurrency, context = Identity("narrow", "1"), None, 90

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        raise CellFailure("call_failed", "it is not asked")


def test_a_plan_foresees_the_prompts_beyond_the_context(capsys):
    from corecurves.cli import main
    from corecurves.systems.in_context import INSTRUCTION, InContextSettings, InContextSystem
    from corecurves.text import count_tokens

    def beyond(model, **settings):
        system = InContextSystem(model, InContextSettings(max_tokens=20, **settings))
        plan = cc.plan_lane([curriculum()], system, arms="taught", replays=2)
        return plan.cost.get("prompts_beyond_context")

    said = ["Tell me about wisdom.", "No, wisdom needs judgment.", "No, wisdom needs patience.",
            "No, wisdom needs doubt.", "What is wisdom?"]  # fmt: skip
    full = count_tokens(INSTRUCTION) + sum(map(count_tokens, said)) + 20
    narrow = Narrow()
    for narrow.context, expected in ((full, 0), (full - 1, 2), (full - 12, 4), (10, 8)):
        assert beyond(narrow) == expected
    assert beyond(narrow, acknowledge="generated") == 8
    narrow.context = full
    assert beyond(narrow, acknowledge="fixed") == 4  # three more tokens a turn
    assert beyond("simulated") is None
    assert "prompts_beyond_context" not in cc.plan_lane([curriculum()]).cost

    with pytest.raises(SystemExit) as end:
        main(["lane", "dev", "--dry-run"])
    assert end.value.code == 0
    assert "probes: 80" in capsys.readouterr().out


def test_a_status_of_the_systems_own():
    with pytest.warns(UserWarning, match="cut_off 28"):
        ds = lane(system=_Starts())
    assert set(ds.status.values.ravel()) == {"cut_off", ""}
    assert set(ds.reason.values.ravel()) == {"ended by length", ""}


class _Starts:
    """The first session is only looked at; the others are cut off."""

    identity = Identity("cut")

    def __init__(self):
        self._first = True

    def start(self):
        if self._first:
            self._first = False
            return RoteSession(Rote())
        raise CellFailure("cut_off", "ended by length")


def test_a_permanent_failure_stops_and_a_resume_goes_on(tmp_path):
    ledger = tmp_path / "lane.sqlite"
    system = Rote()
    calls = itertools.count()

    def fails(heard, text):
        if next(calls) > 30:
            raise PermanentFailure("the quota is used up")

    system.fails_at = fails
    with pytest.raises(PermanentFailure, match="quota"):
        lane(system=system, ledger=ledger, max_concurrency=1)
    done = system.starts - 1
    whole = Rote()
    resumed = lane(system=whole, ledger=ledger)
    assert whole.starts < done + 28 - 2
    same(resumed, lane(system=Rote()))


def test_a_complete_ledger_touches_no_system(tmp_path):
    ledger = tmp_path / "lane.sqlite"
    first = lane(system=Rote(), ledger=ledger)
    again = Rote()
    found = lane(system=again, ledger=ledger, max_concurrency=1)
    same(found, first)
    assert found.seconds.equals(first.seconds)
    assert again.starts == 0
    without = lane(system=again, ledger=ledger, texts=False)
    assert "surface" not in without
    assert again.starts == 0


def test_another_system_or_correction_is_another_plan(tmp_path):
    ledger = tmp_path / "lane.sqlite"
    lane(system="grounded", ledger=ledger)
    with pytest.raises(LedgerError, match=r"system\.settings\.max_hops: 16 → 2"):
        lane(system="grounded?max_hops=2", ledger=ledger)
    with pytest.raises(LedgerError, match=r"curricula\[0\]\.corrections\[2\]\.text"):
        lane([curriculum(words=("judgment", "patience", "doubts")), TWO[1]], ledger=ledger)


def test_every_part_of_a_cell_is_in_its_key():
    base = {"curricula": TWO, "system": "grounded", "samples": 1, "replays": 1, "seed": 0}
    changes = {
        "seed": 1,
        "system": "grounded?seed=1",
        "curricula": [curriculum(words=("judgment", "patience", "doubts")), TWO[1]],
        "mode": "prefix",
    }
    keys = set(cc.plan_lane(**base).keys)
    assert len(keys) == 14
    for name, value in changes.items():
        other = set(cc.plan_lane(**base | {name: value}).keys)
        assert other != keys, name
    assert keys < set(cc.plan_lane(**base | {"samples": 2, "replays": 2}).keys)


def test_keys_are_the_same_in_another_interpreter_under_another_hash_seed():
    code = (
        "import corecurves as cc; from corecurves.canonical import digest;"
        "p = cc.plan_lane('dev', 'grounded?max_hops=3', samples=2);"
        "ds = cc.run_lane('dev', ledger=False, progress=False);"
        "print(p.hash, digest(list(p.keys)), digest(ds.trace_hash.values.ravel().tolist()))"
    )
    from corecurves.canonical import digest

    plan = cc.plan_lane("dev", "grounded?max_hops=3", samples=2)
    here = [plan.hash, digest(list(plan.keys)),
            digest(lane("dev").trace_hash.values.ravel().tolist())]  # fmt: skip
    found = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "7"},
        capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    assert found.stdout.split() == here


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor, ProcessPoolExecutor])
@pytest.mark.parametrize("concurrency", [1, 5])
def test_the_same_results_however_it_is_run(pool, concurrency):
    expected = lane("dev", samples=2)
    executor = pool(2) if pool else None
    found = lane("dev", samples=2, executor=executor, max_concurrency=concurrency)
    if executor:
        executor.shutdown()
    same(found, expected)


def test_async_sessions_and_the_awaitable_twin():
    class Later(Rote):
        def start(self):
            return _AsyncSession(RoteSession(self))

    async def notebook():
        inside = lane(system=Later())
        return inside, await cc.arun_lane(TWO, Later(), ledger=False, progress=False)

    expected = lane(system=Rote())
    for found in asyncio.run(notebook()):
        same(found, expected)


class _AsyncSession:
    def __init__(self, session):
        self.session = session

    async def turn(self, text):
        await asyncio.sleep(0)
        return self.session.turn(text)

    async def close(self):
        pass


def test_samples_have_seeds_of_their_own_and_arms_and_replays_share_them():
    seen = []

    class Seeded:
        identity = Identity("seeded")

        def start(self, *, seed):
            seen.append(seed)
            return str.upper

    lane([curriculum()], Seeded(), samples=3)
    assert len(set(seen[1:])) == 3
    assert len(seen) == 1 + 3 * 2 * 2 * 4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"samples": 0}, "`samples` is 0"),
        ({"replays": 1.5}, "`replays` is 1.5"),
        ({"samples": True}, "`samples` is True"),
        ({"seed": "x"}, "`seed` is 'x'"),
        ({"mode": "frehs"}, "did you mean 'fresh'"),
        ({"arms": ["taught", "plcebo"]}, "`arm` has no 'plcebo'; it has taught, control"),
        ({"max_concurrency": 0}, "`max_concurrency` is 0"),
        ({"max_concurrency": "8"}, "`max_concurrency` is '8'"),
        ({"executor": "threads"}, "`executor` is 'threads'"),
        ({"ledger": 3}, "`ledger` is 3"),
        ({"ledger": ""}, "`ledger` is ''"),
        ({"curricula": ""}, "the name of the curricula is empty"),
    ],
)
def test_wrong_arguments_are_named(more, message):
    with pytest.raises(UsageError, match=message):
        lane(**more)


def test_a_single_curriculum_has_a_control_from_filler():
    ds = lane([curriculum()])
    assert ds.correction_recorded.sel(arm="control").sum() == 3


def test_whole_numbers_of_any_kind_are_taken():
    assert lane(samples=np.int64(2), seed=np.int32(1)).sizes["sample"] == 2


def test_numbers_and_booleans_of_numpy_are_such():
    class Session(Rote):
        def start(self):
            return self

        def turn(self, text):
            return Turn("x", vault_hits=np.int64(2), accepted=np.True_)

    ds = lane(system=Session(), arms=("taught",), replays=1)
    assert set(ds.vault_hits.values[ds.status.values == "ok"]) == {2}
    assert float(ds.accepted.max()) == 1


def test_a_turn_of_another_type_is_a_failure_not_an_answer():
    class Wrong:
        identity = Identity("wrong")

        def start(self):
            return self

        def turn(self, text):
            return "text"

    with pytest.warns(UserWarning, match="must return a Turn"):
        assert (lane(system=Wrong()).hits.notnull().sum()) == 0


def test_a_dataset_of_another_kind_is_refused():
    with pytest.raises(DatasetError, match="no `hits`"):
        cc.summarize_lane(xr.Dataset())
    with pytest.raises(DatasetError, match="got list"):
        cc.summarize_lane([])
