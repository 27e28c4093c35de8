import pytest

import corecurves as cc
from corecurves.errors import UsageError
from corecurves.systems.base import Session, System
from corecurves.systems.baselines import BlankSystem, ParrotSystem
from corecurves.systems.resolve import as_system, system_names
from corecurves.systems.told import asks
from corecurves.text import words

OPENING, PROBE = "Tell me about wisdom.", "What is wisdom?"
TAUGHT = ["No, wisdom is judgment.", "Wisdom requires patience.", "Patience supports action."]


def said(system, *texts):
    session = system.start()
    return [session.turn(text).surface for text in texts][-1]


def test_the_systems_that_can_be_named():
    assert system_names()[:5] == ["grounded", "in-context", "retrieval", "parrot", "blank"]


@pytest.mark.parametrize("system", [ParrotSystem(), BlankSystem()])
def test_they_satisfy_the_protocols(system):
    assert isinstance(system, System)
    assert isinstance(system.start(), Session)


def test_a_parrot_repeats_the_last_correction_and_nothing_else():
    for k, text in enumerate(TAUGHT, start=1):
        assert said(ParrotSystem(), OPENING, *TAUGHT[:k], PROBE) == text
    assert said(ParrotSystem(), OPENING, PROBE) == "I have nothing to say."


@pytest.mark.parametrize(
    "probe", [PROBE, "Describe wisdom.", "Sag, was Weisheit ist.", "智慧是什么？"]
)
def test_a_probe_may_have_any_wording(probe):
    assert said(ParrotSystem(), OPENING, *TAUGHT, probe) == TAUGHT[-1]


def test_a_question_is_not_taken_for_a_correction():
    assert said(ParrotSystem(), OPENING, TAUGHT[0], PROBE, "Tell me more.", PROBE) == TAUGHT[0]


def test_the_first_turn_is_no_correction():
    assert said(ParrotSystem(), TAUGHT[0], PROBE) == "I have nothing to say."


def test_a_blank_never_learns_and_says_no_word_of_a_pack_or_curriculum():
    sentence = said(BlankSystem(), PROBE)
    assert said(BlankSystem(), OPENING, *TAUGHT, PROBE) == sentence
    curricula = [c for split in ("public", "holdouts", "dev", "stress")
                 for c in cc.load_curricula(split)]  # fmt: skip
    taken = set(cc.load_pack().by_form) | {c.concept for c in curricula}
    taken |= {w for c in curricula for t in c.tokens for form in t.forms for w in words(form)}
    assert taken.isdisjoint(words(sentence))


def test_their_curves():
    runs = {s: cc.run_lane("public", s, ledger=False, progress=False) for s in ("parrot", "blank")}
    taught = runs["parrot"].hits.sel(arm="taught", k=slice(1, 5))
    assert set(taught.values.ravel().tolist()) == {1, 2}
    chains = taught.sel(concept=runs["parrot"]["shape"] == "chain", k=slice(2, 5))
    assert (chains == 2).all()
    assert runs["parrot"].hits.sel(k=0).max() == 0
    assert runs["parrot"].hits.sel(arm="control").max() == 0
    assert runs["blank"].hits.max() == 0
    for ds in runs.values():
        assert cc.summarize_lane(ds).gate.item() == "passed"
        assert ds.vault_hits.isnull().all()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("parrot?top=3", "`setting` has no 'top'; it has none"),
        ("blank?x=1", "`setting` has no 'x'"),
        ("parrot:loud", "'parrot' takes nothing after ':'"),
    ],
)
def test_they_have_no_settings(spec, message):
    with pytest.raises(UsageError, match=message):
        as_system(spec)


@pytest.mark.parametrize(
    "text", ["What is it?", "Is it so? ", "Tell me.", "它是什么？", "Explain it."]
)
def test_what_asks(text):
    assert asks(text)


@pytest.mark.parametrize("text", ["", "?!", "No, it is so.", "Telling tales is play.", "It is."])
def test_what_does_not_ask(text):
    assert not asks(text)
