import asyncio
import pickle
import re
import warnings

import pytest

import corecurves as cc
from corecurves.errors import CellFailure, UsageError
from corecurves.models.base import Completion
from corecurves.models.weights import CACHE_VARIABLE, WEIGHTS, cache_folder
from corecurves.specs import Identity, is_simulated
from corecurves.systems.base import Session, System
from corecurves.systems.in_context import InContextSettings, InContextSystem
from corecurves.systems.resolve import as_system

REAL_CACHE = cache_folder()  # each test is given an empty one
OPENING, PROBE = "Tell me about wisdom.", "What is wisdom?"
TAUGHT = ["No, wisdom is judgment.", "Wisdom requires patience."]


class Recorder:
    """A model that keeps what it was called with, and repeats what the user said."""

    concurrency = None

    def __init__(self, finish="stop"):
        self.identity = Identity("recorder", "1")
        self.finish = finish
        self.calls = []

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        self.calls.append((list(messages), seed, temperature, max_tokens))
        await asyncio.sleep(0)
        *said, last = [m["content"] for m in messages if m["role"] == "user"]
        told = re.sub(r"What is \w+\?$", "", last) if last.endswith("?") else ""
        return Completion(" ".join([*said, told]).strip(), self.finish)


def say(session, *texts):
    async def talk():
        return [await session.turn(text) for text in texts]

    return asyncio.run(talk())


def test_it_satisfies_the_protocols():
    system = InContextSystem(Recorder())
    assert isinstance(system, System)
    assert isinstance(system.start(), Session)


def test_what_was_told_stands_before_the_question_in_one_message():
    model = Recorder()
    turns = say(InContextSystem(model).start(seed=7), OPENING, *TAUGHT, PROBE)
    assert [turn.surface for turn in turns[:3]] == ["", "", ""]
    ((messages, seed, temperature, max_tokens),) = model.calls
    assert (seed, temperature, max_tokens) == (7, 0.0, 256)
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[1]["content"] == " ".join([OPENING, *TAUGHT, PROBE])


def test_a_question_in_between_is_answered_and_stays_in_the_conversation():
    model = Recorder()
    say(InContextSystem(model).start(), OPENING, TAUGHT[0], PROBE, TAUGHT[1], PROBE)
    assert len(model.calls) == 2
    last = model.calls[1][0]
    assert [m["role"] for m in last] == ["system", "user", "assistant", "user"]
    assert last[-1]["content"] == f"{TAUGHT[1]} {PROBE}"


def test_a_fixed_acknowledgement_costs_no_call():
    model = Recorder()
    system = InContextSystem(model, InContextSettings(acknowledge="fixed"))
    turns = say(system.start(), OPENING, *TAUGHT, PROBE)
    assert [turn.surface for turn in turns[:3]] == ["Understood."] * 3
    assert turns[3].surface == " ".join([OPENING, *TAUGHT])
    ((messages, *_),) = model.calls
    assert [m["role"] for m in messages] == ["system"] + ["user", "assistant"] * 3 + ["user"]
    assert messages[-1]["content"] == PROBE


def test_generated_acknowledgements_are_the_models_own():
    model = Recorder()
    system = InContextSystem(model, InContextSettings(acknowledge="generated"))
    say(system.start(), OPENING, *TAUGHT, PROBE)
    assert len(model.calls) == 4
    assert model.calls[-1][0][4]["content"] == OPENING


def test_settings_reach_the_model():
    model = Recorder()
    say(InContextSystem(model, InContextSettings(temperature=0.5, max_tokens=9)).start(seed=3),
        OPENING, PROBE)  # fmt: skip
    assert model.calls[0][1:] == (3, 0.5, 9)


def test_a_reply_stopped_by_length_is_cut_off_and_no_part_of_the_conversation():
    model = Recorder(finish="length")
    session = InContextSystem(model).start()
    say(session, OPENING, *TAUGHT)
    with pytest.raises(CellFailure, match="cut off at 256 tokens") as caught:
        say(session, PROBE)
    assert caught.value.status == "cut_off"
    model.finish = "stop"
    say(session, PROBE)
    assert model.calls[-1] == model.calls[0]


def test_cut_off_cells_have_no_hits():
    with pytest.warns(UserWarning, match="cut_off"):
        ds = cc.run_lane("dev", InContextSystem(Recorder(finish="length")), arms="taught",
                         replays=1, ledger=False, progress=False)  # fmt: skip
    planned = ds.k <= ds.curriculum_length
    assert (ds.status.where(planned, "cut_off") == "cut_off").all()
    assert ds.hits.isnull().all()


def test_the_trace_is_over_seed_identity_and_every_turn():
    def trace(*texts, seed=1, **settings):
        system = InContextSystem(Recorder(), InContextSettings(**settings))
        return say(system.start(seed=seed), *texts)[-1].trace_hash

    base = trace(OPENING, TAUGHT[0], PROBE)
    assert base == trace(OPENING, TAUGHT[0], PROBE)
    others = [trace(OPENING, TAUGHT[1], PROBE), trace(OPENING, TAUGHT[0], PROBE, seed=2),
              trace(OPENING, TAUGHT[0], PROBE, max_tokens=9), trace(OPENING, PROBE)]  # fmt: skip
    assert len({base, *others}) == 5


def test_turns_of_two_sessions_at_once_do_not_mix():
    async def both():
        system = InContextSystem(Recorder())
        one, two = system.start(), system.start()
        for a, b in zip([OPENING, *TAUGHT], [OPENING, *reversed(TAUGHT)], strict=True):
            await asyncio.gather(one.turn(a), two.turn(b))
        return [turn.surface for turn in await asyncio.gather(one.turn(PROBE), two.turn(PROBE))]

    assert asyncio.run(both()) == [
        " ".join([OPENING, *TAUGHT]), " ".join([OPENING, *reversed(TAUGHT)]),
    ]  # fmt: skip


def test_the_identity_holds_the_model_and_every_fixed_text():
    settings = InContextSystem(Recorder()).identity.settings
    assert settings["model"] == Recorder().identity.content()
    assert settings["acknowledge"] == "none"
    assert settings["acknowledgement"] == "Understood."
    assert settings["instruction"].startswith("You are being corrected.")


def test_prefix_and_fresh_give_the_same_traces():
    ds = cc.run_lane("dev", InContextSystem(Recorder()), mode="prefix", ledger=False,
                     progress=False)  # fmt: skip
    assert cc.summarize_lane(ds).gate.item() == "passed"
    assert (ds.hits.sel(concept="wisdom", arm="taught", sample=0)[:6] == range(6)).all()


def test_a_model_without_an_identity_makes_a_volatile_system():
    assert as_system(InContextSystem(lambda messages: "yes")).volatile
    assert not as_system(InContextSystem(Recorder())).volatile
    with pytest.raises(UsageError, match="ledger=False"):
        cc.run_lane("dev", InContextSystem(lambda messages: "yes"), ledger="x.sqlite")


def test_spec_strings_split_settings_between_the_two():
    adapter = as_system("in-context:simulated?slip=0.25&max_tokens=96&acknowledge=generated")
    settings = adapter.identity.settings
    assert (settings["max_tokens"], settings["acknowledge"]) == (96, "generated")
    assert settings["model"]["settings"]["slip"] == 0.25
    assert is_simulated(adapter)
    assert pickle.loads(pickle.dumps(adapter)).identity == adapter.identity


def test_a_model_may_have_marks_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "corecurves.systems.in_context.as_model", lambda spec: seen.append(spec) or Recorder()
    )
    base = "in-context:openai:m/x:7b@http://127.0.0.1:80/v1"
    for spec in (base, f"{base}?max_tokens=9", f"{base}?api-version=2 b&temperature=1&mark=%3F"):
        _ = as_system(spec).system
    model = base.removeprefix("in-context:")
    assert seen == [model, model, f"{model}?api-version=2+b&mark=%3F"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("in-context", "write in-context:MODEL"),
        ("in-context?max_tokens=9", "write in-context:MODEL"),
        ("in-context:simulatd", "did you mean 'simulated'"),
        ("in-context:simulated?max_tokens=0", "`max_tokens`"),
        ("in-context:simulated?temperature=-1", "`temperature`"),
        ("in-context:simulated?temperature=nan", "`temperature`"),
        ("in-context:simulated?acknowledge=no", "`acknowledge` must be none, fixed or generated"),
        ("in-context:simulated?slop=1", "'slop'"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(spec, message):
    with pytest.raises(UsageError, match=message) as caught:
        as_system(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_real_model_is_taught_and_replays_equal(monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(REAL_CACHE))
    if not WEIGHTS["smollm2"].there:
        pytest.fail("the weights are not on this machine: corecurves models pull smollm2")
    lessons = [cc.head(cc.load_curricula("dev")[-1], 2)]
    system = "in-context:smollm2?max_tokens=96"
    with warnings.catch_warnings():
        # So small a model may say the same without end.
        warnings.filterwarnings("ignore", message=".*cut_off")
        ds = cc.run_lane(lessons, system, mode="prefix", ledger=False, progress=False)
    ended = ds.status == "ok"
    assert ended.any()
    assert ds.status.isin(["ok", "cut_off"]).all()
    assert (ds.replay_match.where(ended, 1) == 1).all()
    assert (ds.surface.where(ended, "?") != "").all()
