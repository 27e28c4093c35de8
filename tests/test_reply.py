"""Reasoning never counts: in replies, grades, hits, verdicts and the conversation that goes on."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corecurves as cc
from corecurves.compress.rewrite import parse_draft
from corecurves.errors import CellFailure
from corecurves.graders import BlindCase, Checklist
from corecurves.graders.judge import parse_verdict
from corecurves.models.base import Completion
from corecurves.reply import judged
from corecurves.selectors.judge import parse_verdicts
from corecurves.specs import Checks, Identity, Outcome
from corecurves.systems.in_context import InContextSettings, InContextSystem


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<think>Not 3, it must be 7.</think>\nPut in roll 7.", "Put in roll 7."),
        ("\n <THINKING depth='2'>\nNot 3.\n</Thinking >\n\nRoll 7.", "Roll 7."),
        ("<seed:think>3</seed:think>7", "7"),
        ("[THINK]3[/THINK]7", "7"),
        ("\u25c1think\u25b73\u25c1/think\u25b77", "7"),
        ("<think>3 <think>4</think> 5</think> 7", "7"),
        ("<think>3</think>\n<think>4</think>\n7", "7"),
        ("<think>I may use <think> tags.</think> 7", "7"),
        ("<think>It ends with `</think>`, so 3.</think> 7", "7"),
        ("Roll 7.\n<think>Or 3?</think>\nYes, 7.", "Roll 7.\n\n\nYes, 7."),
        ("Not 3, it must be 7.\n</think>\n\nRoll 7.", "Roll 7."),
        ("<think></think>\n\nRoll 7.", "Roll 7."),
        ('<think>3</think>{"reason": "it says </think> 4"}', '{"reason": "it says </think> 4"}'),
    ],
)
def test_reasoning_is_taken_off(reply, answer):
    assert judged(reply) == answer
    assert judged(answer) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  Roll 7.\n",
        "Close it with `</think>`.",
        "Write `<think>why</think>` first.",
        'Use "<think>" and "</think>", or \u201c<thinking>\u201d.',
        "The <think> tag opens it.",
        "```xml\n<think>\n3\n</think>\n```\nThat is the form.",
        "I think <thinker>3</thinker> and <b>think</b>.",
        "<think/> is empty.",
        '{"passed": true, "reason": "it holds </think>"}',
    ],
)
def test_what_only_mentions_a_tag_stays_as_it_is(reply):
    assert judged(reply) == reply


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("<think>Not 3, it", "cut_off"),
        ("Roll 7.\n<think>Or is it", "cut_off"),
        ("<think>a</think> <think>b", "cut_off"),
        ("<think>It must be 7.</think>\n", "unparsable"),
        ("It must be 7.</think>", "unparsable"),
    ],
)
def test_reasoning_without_an_answer_neither_passes_nor_fails(reply, status):
    with pytest.raises(CellFailure, match="reasoning") as caught:
        judged(reply)
    assert caught.value.status == status


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="<>[]\u25c1\u25b7`~\"'{}")).filter(
    lambda text: text.strip()
)


@given(PLAIN, PLAIN, st.booleans(), st.sampled_from(["think", "thinking", "Think"]))
def test_the_answer_is_what_stands_behind_the_reasoning(reasoning, answer, opened, name):
    reply = f"<{name}>" * opened + f"{reasoning}</{name}>{answer}"
    assert judged(reply) == answer.strip()
    assert judged(answer) == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "a ", "\n", "`", '"', "{"])))
def test_an_answer_has_no_reasoning_left(pieces):
    try:
        answer = judged("".join(pieces))
    except CellFailure:
        return
    assert judged(answer) == answer


def test_a_verdict_or_a_draft_in_reasoning_is_none():
    assert parse_verdict('<think>maybe {"passed": true}</think> I cannot tell') is None
    assert parse_verdict('<think>maybe {"passed": true}') is None
    assert parse_verdict('{"passed": true}? No.</think>{"passed": false}') == (False, "")
    assert parse_verdicts('<think>{"1": true}</think> none', ("1",)) is None
    assert parse_draft('<think>{"text": "a", "dropped": []}</think> I cannot', "L0") is None


OUTCOME = Outcome(("Put in roll 7.",), checks=Checks(("7",), ("3",)))


def test_a_grader_sees_the_judged_text_alone():
    reply = "<think>Not roll 3, it must be 7.</think>\nPut in roll 7."
    case = BlindCase("Which roll?", OUTCOME, reply)
    assert asyncio.run(Checklist().grade(case)).passed is True
    assert case.content() == BlindCase("Which roll?", OUTCOME, "Put in roll 7.").content()


def run(model, grader="checklist"):
    store = cc.open_store("rose_bench").demo()
    return cc.run_rose_eval(
        store, model, grader=grader, arms=("control", "ceiling"), samples=1, ledger=False,
        progress=False,
    )  # fmt: skip


def test_the_raw_reply_is_kept_beside_and_equal_judged_texts_share_a_grade():
    asked, graded = [], []

    def model(messages):
        asked.append(messages)
        return f"<think>The {len(asked)}th time.</think>\nNo idea."

    ds = run(model, lambda case: graded.append(case.candidate) or True)
    assert "<think>" not in " ".join(graded)
    assert 0 < graded.count("No idea.") < len(asked)
    answers = ds.answer.values[ds.answer_recorded.values]
    assert len(set(answers)) == len(asked)
    assert all(answer.startswith("<think>The ") for answer in answers)
    assert set(ds.status.values.ravel()) == {"", "ok"}


@pytest.mark.parametrize(
    ("reply", "status"), [("<think>So I", "cut_off"), ("<think>So.</think>", "unparsable")]
)
def test_a_reply_without_an_answer_is_kept_and_not_judged(reply, status):
    with pytest.warns(UserWarning, match=f"{status} .*reasoning"):
        ds = run(lambda messages: reply)
    assert set(ds.status.values.ravel()) == {"", status}
    assert ds.passed.isnull().all()
    assert set(ds.answer.values[ds.answer_recorded.values]) == {reply}


def test_what_was_said_before_the_cut_is_kept():
    class Cut:
        identity = Identity("cut", "1")

        async def generate(self, messages, *, seed, temperature=0.0, max_tokens=512):
            return Completion("Roll", "length", 5, 1)

    with pytest.warns(UserWarning, match="cut_off"):
        ds = run(Cut())
    assert set(ds.answer.values[ds.answer_recorded.values]) == {"Roll"}
    assert ds.tokens_out.max() == 1


class Thinks:
    """A session that repeats what it was told, in its reasoning or in its answer."""

    def __init__(self, form):
        self.form, self.told = form, []

    def turn(self, text):
        self.told.append(text)
        return cc.Turn(self.form.format(" ".join(self.told[:-1])))


def lane(system, **more):
    return cc.run_lane("dev", system, arms="taught", replays=1, ledger=False, progress=False,
                       **more)  # fmt: skip


@pytest.mark.parametrize(
    "form", ["<think>{}</think>I do not know.", "{}\n</think>\nI do not know."]
)
def test_hits_in_the_reasoning_of_any_system_do_not_count(form):
    ds = lane(lambda: Thinks(form))
    planned = ds.k <= ds.curriculum_length
    assert (ds.hits.where(planned, 0) == 0).all()
    assert ds.surface.sel(concept="wisdom", k=2).item().endswith("I do not know.")
    assert "judgment" in ds.surface.sel(concept="wisdom", k=2).item()
    said = lane(lambda: Thinks("<think>Hm.</think>{}"))
    assert (said.hits.sel(concept="wisdom", arm="taught", sample=0)[:6] == range(6)).all()


def test_a_surface_within_reasoning_is_cut_off_and_kept():
    with pytest.warns(UserWarning, match="cut_off"):
        ds = lane(lambda: Thinks("<think>{}"))
    assert set(ds.status.values.ravel()) == {"", "cut_off"}
    assert ds.hits.isnull().all()
    assert "judgment" in ds.surface.sel(concept="wisdom", k=2).item()


@pytest.mark.parametrize(
    ("form", "status"), [("<think>{}", "cut_off"), ("<think>{}</think>", "unparsable")]
)
def test_what_a_model_in_context_said_without_an_answer_is_kept(form, status):
    system = InContextSystem(lambda messages: form.format(messages[-1]["content"]))
    curriculum = [cc.head(cc.load_curricula("dev")[-1], 2)]
    with pytest.warns(UserWarning, match=status):
        ds = cc.run_lane(curriculum, system, arms="taught", replays=1, ledger=False, progress=False)
    assert set(ds.status.values.ravel()) == {status}
    assert not (ds.token_hits == 1).any()
    assert ds.surface.str.startswith("<think>Tell").all()


def test_the_conversation_goes_on_without_the_reasoning():
    calls = []

    def model(messages):
        calls.append([m["content"] for m in messages])
        return f"<think>{len(calls)}: they said {messages[-1]['content']}</think>Understood."

    settings = InContextSettings(acknowledge="generated")
    session = InContextSystem(model, settings).start()

    async def talk():
        return [await session.turn(t) for t in ("Tell me about hope.", "Hope is joy.", "And?")]

    turns = asyncio.run(talk())
    assert calls[-1][2::2] == ["Understood.", "Understood."]
    assert turns[-1].surface.startswith("<think>3: they said And?")
    # Other reasoning is another session, though the answers are the same.
    calls.clear()
    calls.append([])
    session = InContextSystem(model, settings).start()
    assert asyncio.run(talk())[0].trace_hash != turns[0].trace_hash
