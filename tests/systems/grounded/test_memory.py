"""Retrieval by vector, and the walk."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from corecurves.files.packs import load_pack
from corecurves.systems.grounded import memory as module
from corecurves.systems.grounded.memory import Fact, Memory
from corecurves.systems.grounded.parse import Proposition, parse

PACK = load_pack()


def remembered(*texts: str, capacity: int | None = None, seed: int = 0) -> Memory:
    memory = Memory(seed, capacity)
    for turn, text in enumerate(texts, start=2):
        said = parse(text, PACK)
        assert isinstance(said, Proposition), text
        memory = memory.taught(Fact(said, turn, text))
    return memory


def walked(memory: Memory, subject: str, relation: str = "", hops: int = 16) -> list[str]:
    return [" ".join(fact.said.triple) for fact in memory.walk(subject, relation, hops)]


def signs(seed: int, word: str) -> np.ndarray:
    number = module._bits(seed, word)
    return np.array([1 if number >> i & 1 else -1 for i in range(256)])


WORDS = st.lists(st.sampled_from(["wisdom", "judgment", "require", "practice"]), max_size=4).map(
    tuple
)


@given(st.integers(0, 50), WORDS, WORDS)
def test_dot_products_are_those_of_the_sign_vectors(seed, left, right):
    zero = np.zeros(256, dtype=int)
    expected = sum((signs(seed, x) for x in left), zero) @ sum(
        (signs(seed, x) for x in right), zero
    )
    assert module._dot(seed, left, right) == expected


def test_a_word_has_one_vector_on_every_machine() -> None:
    assert module._bits(0, "wisdom") >> 192 == 0xF6B51421346ADCF8
    assert module._bits(1, "wisdom") != module._bits(0, "wisdom")


@given(st.floats(0.01, 1.0), st.integers(0, 30))
def test_hits_are_the_cosines_that_reach_the_threshold(threshold, seed):
    memory = remembered(
        "Wisdom is judgment.", "Haste is open.", "Haste requires practice.", seed=seed
    )
    probe = ("wisdom",)
    cosines = []
    for fact in memory.facts:
        a, b = signs(seed, "wisdom"), sum(signs(seed, word) for word in fact.content)
        cosines.append(float(a @ b) / math.sqrt(float(a @ a) * float(b @ b)))
    clear = [c for c in cosines if abs(c - threshold) > 1e-9]
    assert len([c for c in clear if c > threshold]) <= memory.hits(probe, threshold)
    assert memory.hits(probe, threshold) <= len([c for c in cosines if c > threshold - 1e-9])


def test_a_threshold_that_is_met_exactly_is_a_hit() -> None:
    memory = remembered("Wisdom is wisdom.")
    assert memory.hits(("wisdom",), 1.0) == 1
    assert memory.hits(("judgment",), 1.0) == 0
    assert memory.hits((), 0.1) == 0


def test_the_copula_is_no_content_and_other_verbs_are() -> None:
    facts = remembered("Wisdom is sound judgment.", "Wisdom does not lead to haste.").facts
    assert facts[0].content == ("wisdom", "sound", "judgment")
    assert facts[1].content == ("wisdom", "lead", "haste")
    assert remembered("Haste requires practice.").hits(("require",), 0.3) == 1


def test_provenance() -> None:
    facts = remembered("No, wisdom is judgment.", "Wisdom isn't haste.").facts
    assert [(fact.turn, fact.text) for fact in facts] == [
        (2, "No, wisdom is judgment."),
        (3, "Wisdom isn't haste."),
    ]


def test_the_walk_is_breadth_first_in_the_order_taught() -> None:
    memory = remembered(
        "Wisdom is judgment.",
        "Judgment is discernment.",
        "Wisdom requires patience.",
        "Patience requires practice.",
        "Haste is waste.",
    )
    assert walked(memory, "wisdom") == [
        "wisdom is judgment",
        "wisdom requires patience",
        "judgment is discernment",
        "patience requires practice",
    ]
    assert walked(memory, "wisdom", "requires") == [
        "wisdom requires patience",
        "patience requires practice",
    ]
    assert walked(memory, "wisdom", hops=1) == ["wisdom is judgment", "wisdom requires patience"]
    assert walked(memory, "wisdom", "causes") == []
    assert walked(memory, "practice") == []
    assert walked(memory, "") == []


def test_cycles_end_and_each_triple_is_met_once() -> None:
    memory = remembered("Wisdom is judgment.", "Judgment is wisdom.", "Wisdom requires wisdom.")
    assert walked(memory, "judgment", hops=99) == [
        "judgment is wisdom",
        "wisdom is judgment",
        "wisdom requires wisdom",
    ]


def test_of_contradicting_facts_the_last_holds() -> None:
    yes, no = "Wisdom is judgment.", "Wisdom is not judgment."
    assert walked(remembered(yes, no), "wisdom") == []
    assert walked(remembered(no, yes), "wisdom") == ["wisdom is judgment"]
    assert walked(remembered(yes, no, yes), "wisdom") == ["wisdom is judgment"]
    assert remembered(no).held == {("wisdom", "is", "judgment"): False}
    again = remembered(yes, "Wisdom requires practice.", no, yes)
    assert walked(again, "wisdom") == ["wisdom requires practice", "wisdom is judgment"]


def test_the_oldest_is_forgotten_and_then_neither_held_nor_walked() -> None:
    memory = remembered("Wisdom is judgment.", "Judgment is patience.", capacity=1)
    assert list(memory.held) == [("judgment", "is", "patience")]
    assert walked(memory, "wisdom") == []
    assert memory.hits(("wisdom",), 0.3) == 0
    # A denial that is forgotten no longer denies, nor does it bring back what it denied.
    memory = remembered(
        "Wisdom is judgment.", "Wisdom isn't judgment.", "Haste is waste.", capacity=1
    )
    assert list(memory.held) == [("haste", "is", "waste")]


@given(st.integers(1, 12), st.integers(1, 12))
def test_a_chain_is_walked_up_to_the_hops(length, hops):
    nouns = [lemma.text for lemma in PACK.lemmas if lemma.pos == "noun"][: length + 1]
    memory = remembered(*(f"{a} is {b}." for a, b in pairwise(nouns)))
    assert len(walked(memory, nouns[0], hops=hops)) == min(length, hops)
