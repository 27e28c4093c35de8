import asyncio
import pickle
import re
import warnings

import numpy as np
import pytest
from helpers import curriculum

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

    def __init__(self, finish="stop", reply=None):
        self.identity = Identity("recorder", "1")
        self.finish, self.reply = finish, reply
        self.calls = []

    async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
        self.calls.append((list(messages), seed, temperature, max_tokens))
        await asyncio.sleep(0)
        if self.reply is not None:
            return Completion(self.reply, self.finish)
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


def chatty(tokens):
    """Says all that it was told, then talks on; stopped after so many words."""

    async def generate(messages, *, seed, max_tokens, **options):
        said = f"You said: {messages[-1]['content']} And that is all of it."
        words = said.split()
        cut = len(words) > tokens
        return Completion(" ".join(words[:tokens]), "length" if cut else "stop")

    model = Recorder()
    model.generate = generate
    return InContextSystem(model)


@pytest.mark.parametrize("mode", ["fresh", "prefix"])
@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_what_was_said_before_the_cut_is_certain_and_the_rest_unknown(mode):
    two = [curriculum(), curriculum("play", ("joy", "rest"))]
    ds = cc.run_lane(two, chatty(18), mode=mode, ledger=False, progress=False)
    one = ds.sel(concept="wisdom", arm="taught", sample=0)
    # "You said: Tell me about wisdom. No, wisdom needs judgment. No, wisdom needs patience. …"
    assert one.status.values.tolist() == ["ok", "cut_off", "cut_off", "cut_off"]
    assert one.hits.values[0] == 0
    assert np.isnan(one.hits.values[1:]).all()
    said = one.token_hits.values[1:]
    assert (said == 1).tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert np.isnan(said[said != 1]).all()
    assert one.surface.values[3].startswith("You said: Tell me")
    assert "`in-context:MODEL?max_tokens=` gives it more room" in one.reason.values[3]

    found = cc.summarize_lane(ds)
    taught = found.sel(concept="wisdom", arm="taught", sample=0)
    assert taught.first_hit_state.item() == "reached"
    assert taught.corrections_to_first_hit == 1
    assert taught.saturation_state.item() == "undecided"
    assert np.isnan(taught.cumulative_token_hit_count[1:]).all()
    assert np.isnan(taught.saturation_score)
    assert taught.delay_observed.values[0] == 1
    assert found.gate.item() == "failed"
    text = cc.text_lane(found)
    assert "≥1" in text
    assert "answers were cut off: the tokens that they had said are hits" in text
    assert "snapshots have no full result (cut_off " in cc.gate_line(found)
    assert any("have no full result (cut_off" in line for line in cc.conclude_lane(found).cannot)


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_saturation_before_the_cut_is_certain():
    for tokens, state in ((23, "reached"), (20, "undecided")):
        ds = cc.run_lane([curriculum()], chatty(tokens), arms="taught", ledger=False,
                         progress=False)  # fmt: skip
        found = cc.summarize_lane(ds)
        assert ds.status.sel(k=3).item() == "cut_off"
        assert found.saturation_state.item() == state  # of the latter k = 2 is not known
        assert found.saturation_rate_bounds.values.tolist() == [[1, 1]]
        assert found.hits_at_least.sel(k=3).item() == 3


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_half_a_word_and_reasoning_are_no_hits():
    def hits(said):
        model = Recorder(finish="length", reply=said)
        ds = cc.run_lane([curriculum()], InContextSystem(model), arms="taught", replays=1,
                         ledger=False, progress=False)  # fmt: skip
        return ds.token_hits.sel(k=0, arm="taught", sample=0).fillna(0).values.ravel().tolist()

    assert hits("It needs judgment and doubt") == [1, 0, 0]
    assert hits("It needs judgment and doubt ") == [1, 0, 1]
    assert hits("<think>It needs judgment and") == [0, 0, 0]
    assert hits("<think>It needs doubt</think>It needs judgment and") == [1, 0, 0]


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
