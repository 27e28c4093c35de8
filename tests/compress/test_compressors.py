"""The compressors that come with the library, and how claims are derived."""

import asyncio
import json
from dataclasses import replace

import pytest
from compress_data import BOTH, FULL, Scripted, store_of
from hypothesis import given
from hypothesis import strategies as st

import corecurves as cc
from corecurves.compress import Extractive, Prune, Rewrite, TrainEpisode, TrainView
from corecurves.compress.claims import claims_of, derived_claims, kind_of
from corecurves.compress.cuts import by_word
from corecurves.compress.prune import _guards
from corecurves.compress.resolve import as_compressor, label
from corecurves.compress.rewrite import parse_draft
from corecurves.compress.units import Note
from corecurves.errors import CellFailure
from corecurves.models.base import LogProb
from corecurves.models.resolve import as_model
from corecurves.specs import DROPPED_KINDS, Identity
from corecurves.text import count_tokens

SIMULATED = as_model("simulated")


def view_of(before=FULL, budget=None, **more):
    episodes = tuple(TrainEpisode(x.task, x.outcome) for x in store_of().episodes["broker"][:2])
    budget = int(0.75 * count_tokens(before)) if budget is None else budget
    return TrainView("broker", "The broker", FULL, before, "L0", 1, budget, episodes, **more)


def draft_of(compressor, view):
    return asyncio.run(compressor.compress(view))


# --- extractive ---------------------------------------------------------------------------------


def test_extractive_keeps_what_the_train_episodes_need():
    for budget in (40, 30, 23):
        draft = draft_of(Extractive(SIMULATED), view_of(budget=budget))
        assert "6112" in draft.text
        assert "badge" in draft.text
        assert count_tokens(draft.text) <= budget
        assert {claim.holder for claim in draft.dropped} == {"L0"}
        assert {claim.kind for claim in draft.dropped} <= {"", *DROPPED_KINDS}


def test_a_span_that_did_work_goes_last():
    span = "long job"
    free = draft_of(Extractive(SIMULATED), view_of(budget=24))
    held = draft_of(Extractive(SIMULATED), view_of(budget=24, load_bearing=(span,)))
    assert span not in free.text
    assert span in held.text


def test_a_hint_protects_the_clauses_that_share_its_words():
    view = view_of(budget=38)
    assert "restarts at noon" not in draft_of(Extractive(SIMULATED), view).text
    hint = "What does the host do?"
    hinted = draft_of(Extractive(SIMULATED), replace(view, preserve=(hint,)))
    assert "restarts at noon" in hinted.text
    assert "6112" in hinted.text, "a hint does not cost what another episode needs"


def test_a_subordinate_clause_goes_with_what_it_belongs_to():
    text = "Use port 6112 because the sidecar holds the other one. A badge opens the gate."
    draft = draft_of(Extractive(SIMULATED), view_of(text, budget=8))
    assert draft.text in ("Use port 6112.", "A badge opens the gate.")


def test_the_number_of_scored_texts_is_a_parameter():
    few, many = Scripted(), Scripted()
    draft_of(Extractive(as_model(few), units=4, again=1), view_of(budget=25))
    draft_of(Extractive(as_model(many), units=12, again=12), view_of(budget=25))
    assert few.scored < many.scored / 2


def test_without_a_trap_the_known_good_alone_counts():
    episodes = (TrainEpisode("Which port?", cc.specs.Outcome(("Port 6112.",))),)
    view = TrainView("broker", "", FULL, FULL, "L0", 1, 20, episodes)
    assert "6112" in draft_of(Extractive(SIMULATED), view).text


# --- prune --------------------------------------------------------------------------------------


class Surprised:
    """Each word costs as many nats as it has letters."""

    identity = Identity("surprised", "1")
    concurrency = 1

    def __init__(self):
        self.scored = 0

    async def generate(self, messages, **options):
        raise AssertionError

    async def logprob(self, messages, text):
        self.scored += 1
        return LogProb(-float(sum(map(len, text.split()))), len(text.split()))


def test_prune_drops_the_words_with_the_least_self_information():
    model = Surprised()
    prune = Prune(as_model(model))
    view = view_of("aaaa b cccccc dd eeeee f", budget=count_tokens("aaaa cccccc dd eeeee"))
    assert draft_of(prune, view).text == "aaaa cccccc dd eeeee"
    assert model.scored == 6
    draft_of(prune, view)
    assert model.scored == 6, "a later try scores nothing anew"


def test_prune_keeps_spans_and_hinted_words_longer():
    words = Note("use the broker on the port now", by_word)
    view = view_of(load_bearing=("the broker",), preserve=("Which port?",))
    assert _guards(words, view, frozenset({"now"})) == [0, 2, 2, 0, 0, 1, 1]
    held = draft_of(
        Prune(as_model(Surprised())),
        view_of("it is a long sentence so words go", budget=5, load_bearing=("is a",)),
    )
    assert "is a" in held.text


def test_prune_keeps_negations_longer_unless_told_otherwise():
    view = view_of("do not rerun anything before evening", budget=4)
    assert "not" in draft_of(Prune(as_model(Surprised())), view).text.split()
    plain = draft_of(Prune(as_model(Surprised()), negations=False), view)
    assert "not" not in plain.text.split()
    assert any("not" in claim.claim.split() for claim in plain.dropped), "it is declared"
    assert as_compressor("prune?negations=false", SIMULATED).negations is False


def test_prune_keeps_negations_of_scripts_without_spaces_longer():
    text = "请在测试环境中使用端口，不要重启服务，然后继续等待通知。"
    assert "不要" in draft_of(Prune(as_model(Surprised())), view_of(text, budget=14)).text
    free = draft_of(Prune(as_model(Surprised()), negations=False), view_of(text, budget=14))
    assert "不要" not in free.text


def test_prune_of_the_simulation_fits_every_budget():
    for budget in range(3, 50, 7):
        draft = draft_of(Prune(SIMULATED), view_of(budget=budget))
        assert count_tokens(draft.text) <= budget
        assert draft.dropped


# --- rewrite ------------------------------------------------------------------------------------

GOOD = json.dumps({"text": BOTH, "dropped": [{"claim": "the host restarts", "kind": "edge-case"}]})


def test_a_rewrite_in_any_wrapping_is_accepted():
    for reply in (GOOD, f"Here it is:\n```json\n{GOOD}\n```\nDone.", f"{GOOD}\n{GOOD}"):
        model = Scripted(reply)
        found = cc.compress_lesson(
            store_of(), "broker", Rewrite(as_model(model)), model="simulated", depths=1,
            progress=False,
        )  # fmt: skip
        assert found.levels[0].text == BOTH
        assert found.levels[0].dropped[0].holder == "L0"
    prompt, temperature = model.asked[0]
    assert "Which port in staging?" in prompt
    assert "When does the host restart" not in prompt
    assert temperature == 0


@pytest.mark.parametrize(
    "reply",
    ["", "Port 6112.", '{"text": "Port 6112."}', '{"text": 3, "dropped": []}',
     '{"text": "a", "dropped": ["b"]}', '{"text": "a", "dropped": []} {"text": "b", "dropped": []}',
     GOOD[:-1]],
)  # fmt: skip
def test_an_unreadable_reply_is_a_refused_try(reply):
    found = cc.compress_lesson(
        store_of(), "broker", "rewrite", model=Scripted(reply, GOOD), depths=1, progress=False
    )
    assert "unparsable" in found.tries[0].refusal
    assert found.tries[0].calls == 1
    assert [x.accepted for x in found.tries] == [False, True]


def test_a_rewrite_that_declares_nothing_is_refused():
    reply = json.dumps({"text": BOTH, "dropped": []})
    found = cc.compress_lesson(
        store_of(), "broker", "rewrite", model=Scripted(reply), depths=1, tries=1, progress=False
    )
    assert "declares nothing" in found.refusal


def test_calls_of_a_writer_of_its_own_are_counted_too():
    found = cc.compress_lesson(
        store_of(), "broker", "rewrite:simulated", model="simulated", depths=1, tries=1,
        progress=False,
    )  # fmt: skip
    assert "unparsable" in found.refusal
    assert found.tries[0].calls == 1


@given(st.text())
def test_any_reply_is_a_draft_or_none(reply):
    parse_draft(reply, "L0")


# --- names and claims ---------------------------------------------------------------------------


def test_names_and_labels():
    assert as_compressor("extractive?wordings=2", SIMULATED).wordings == 2
    writer = as_compressor("rewrite:simulated?slip=0.5&max_tokens=9", SIMULATED)
    assert (writer.max_tokens, writer.model.identity.settings["slip"]) == (9, 0.5)
    assert label(as_compressor("extractive", SIMULATED)) == (
        "extractive?wordings=1&units=12&again=4&model=simulated"
    )
    assert label(as_compressor(draft_of, SIMULATED)) == "draft_of"


@pytest.mark.parametrize(
    ("span", "kind"),
    [
        ("e.g. port 6112", "example"),
        ("because it has 3", "rationale"),
        ("except on Sundays", "edge-case"),
        ("When a job fails", "precondition"),
        ("on port 6112", "parameter"),
        ("takes nine gigabytes", "parameter"),
        ("set LINK_JOBS", "parameter"),
        ("The reason is that the sidecar owns it", "rationale"),
        ("which have twice taken the site down", ""),
        ("Nested", ""),
        ("rinse the cup", ""),
    ],
)
def test_kinds_of_spans(span, kind):
    assert kind_of(span) == kind


@given(st.lists(st.sampled_from(("the", "port", "is", "6112", "because", "acid"))), st.data())
def test_a_shorter_text_always_has_claims(words, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    text = " ".join(word for word, keep in zip(words, kept, strict=True) if keep)
    claims = derived_claims(" ".join(words), text, "L0")
    assert bool(claims) == (not all(kept))
    assert all(claim.kind in (*DROPPED_KINDS, "") and claim.claim.strip() for claim in claims)


def test_spans_without_a_telling_word_are_one_claim():
    assert [claim.claim for claim in claims_of(["of the", "is"], "L0")] == ["of the … is"]


@pytest.mark.parametrize(
    "draft",
    [cc.Draft(5), cc.Draft("x", (("a", "step", "L0"),)), cc.Draft("x", "a"), cc.Draft("x", None)],
)
def test_a_draft_of_something_else_is_a_refused_try_and_no_crash(draft):
    store = cc.open_store("rose_bench").demo()
    lesson = store.lessons[0].id
    found = cc.compress_lesson(
        store, lesson, lambda view: draft, model="simulated", depths=1, holdout=0.3, progress=False
    )
    assert found.levels == ()
    assert "a Draft has a text, and claims that are cc.Dropped" in found.refusal


def test_what_could_not_be_judged_is_not_said_to_fail():
    def undecided(case):
        raise CellFailure("unparsable", "who can say")

    store = cc.open_store("own_notes")
    found = cc.compress_lesson(
        store, store.lessons[0].id, "prune", model="simulated", grader=undecided,
        holdout=0.3, progress=False,
    )  # fmt: skip
    assert "could not be judged" in found.refusal
    assert found.not_demanded == ()
