from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.errors import UsageError
from corecurves.models.base import CutOff
from corecurves.models.simulated import SimulatedModel
from corecurves.text import contains

from .conftest import run, user

LESSON = "Staging uses port 6112.\nProduction uses port 5672.\nRestart the worker last."
ASK = user(f"{LESSON}\n\nWhich port does staging use?")


def answer(model, messages, seed=0, **options):
    return run(model.generate(messages, seed=seed, **options)).text


def test_answer_holds_every_fact_and_no_question():
    text = answer(SimulatedModel(), ASK)
    assert contains(text, "6112")
    assert contains(text, "5672")
    assert not contains(text, "which")


def test_answer_holds_no_fact_that_was_not_given():
    assert answer(SimulatedModel(), user("Which port does staging use?")) == (
        "I was told nothing about it."
    )


def test_facts_are_not_taken_from_its_own_answers():
    talk = [
        *user("No, wisdom is judgment."),
        {"role": "assistant", "content": "Wisdom is folly."},
        *user("What is wisdom?"),
    ]
    text = answer(SimulatedModel(), talk)
    assert contains(text, "judgment")
    assert not contains(text, "folly")


def test_slips_are_seeded():
    model = SimulatedModel(slip=0.5)
    facts = user("\n".join(f"Shelf {i} holds item {i * i}." for i in range(100)))
    first, again, other = (answer(model, facts, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert answer(SimulatedModel(slip=0.5, seed=9), facts, 1) != first
    assert 30 < first.count("Shelf") < 70


@given(st.floats(0, 1), st.integers(0, 10))
def test_slips_take_sentences_out_and_change_none(slip, seed):
    kept = answer(SimulatedModel(slip), ASK, seed)
    facts = LESSON.split("\n")
    rebuilt = " ".join(fact for fact in facts if fact in kept)
    assert kept in (rebuilt, "I was told nothing about it.")


def test_a_slip_of_one_forgets_everything():
    assert answer(SimulatedModel(slip=1.0), ASK) == "I was told nothing about it."


def test_prefers_the_text_whose_words_the_lesson_holds():
    model = SimulatedModel()

    def score(prompt, text):
        return run(model.logprob(prompt, text)).per_token

    assert score(ASK, "Set the port to 6112.") > score(ASK, "Set the port to 7000.")
    swapped = user(f"{LESSON.replace('6112', '7000')}\n\nWhich port does staging use?")
    assert score(swapped, "Set the port to 6112.") < score(swapped, "Set the port to 7000.")
    bare = user("Which port does staging use?")
    assert score(bare, "Set the port to 6112.") == score(bare, "Set the port to 7000.")


def test_a_long_reply_is_cut_off():
    with pytest.raises(CutOff) as caught:
        answer(SimulatedModel(), ASK, max_tokens=3)
    assert caught.value.status == "cut_off"
    assert caught.value.completion.finish == "length"


def test_says_that_it_is_a_simulation():
    model = SimulatedModel(0.25, 7)
    assert model.simulated
    assert model.identity.content() == {
        "name": "simulated",
        "version": "2",
        "settings": {"slip": 0.25, "seed": 7},
    }


def test_slip_out_of_range():
    with pytest.raises(UsageError, match="slip"):
        SimulatedModel(1.5)


def test_empty_text_has_no_score():
    with pytest.raises(UsageError, match="empty"):
        run(SimulatedModel().logprob(ASK, ""))


def test_it_tells_facts_apart_in_scripts_without_spaces():
    ask = user("端口是6112。先停止服务。哪个端口？")
    assert run(SimulatedModel().generate(ask, seed=0)).text == "端口是6112。 先停止服务。"
    right, wrong = (
        run(SimulatedModel().logprob(ask, text)).per_token for text in ("端口6112", "端口5672")
    )
    assert right > wrong
