"""What utterances say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corecurves.files.packs import load_pack
from corecurves.systems.grounded.parse import Proposition, Question, Unparsed, parse

PACK = load_pack()


def proposition(text: str) -> Proposition:
    parsed = parse(text, PACK)
    assert isinstance(parsed, Proposition), parsed
    return parsed


@pytest.mark.parametrize(
    ("text", "triple", "denies", "kind", "said"),
    [
        ("Wisdom is judgment.", "wisdom is judgment", False, "assertion", "wisdom is judgment"),
        ("wisdom is judgment", "wisdom is judgment", False, "assertion", "wisdom is judgment"),
        ("NO, WISDOM IS OPEN!", "wisdom is open", False, "correction", "wisdom is open"),
        ("Not quite: wisdom is not haste.", "wisdom is haste", True, "correction",
         "wisdom is not haste"),
        ("Wisdom isn’t haste.", "wisdom is haste", True, "assertion", "wisdom isn't haste"),
        ("An act does not require haste.", "act requires haste", True, "assertion",
         "an act does not require haste"),
        ("Haste doesn't lead to wisdom.", "haste leads_to wisdom", True, "assertion",
         "haste doesn't lead to wisdom"),
        ("More precisely, wisdom depends on the good memories.", "wisdom depends_on memory", False,
         "correction", "wisdom depends on the good memories"),
        ("wis\u200bdom i\u00ads judgment", "wisdom is judgment", False, "assertion",
         "wisdom is judgment"),
        ("Ｗｉｓｄｏｍ　ｉｓ　ｊｕｄｇｍｅｎｔ．", "wisdom is judgment", False, "assertion",
         "wisdom is judgment"),
    ],
)  # fmt: skip
def test_propositions(text: str, triple: str, denies: bool, kind: str, said: str) -> None:
    parsed = proposition(text)
    assert " ".join(parsed.triple) == triple
    assert (parsed.denies, parsed.kind, parsed.text) == (denies, kind, said)


def test_the_head_is_kept_as_said_and_the_lemmas_as_the_pack_has_them() -> None:
    phrase = proposition("Wisdom requires the good memories.").object
    assert phrase.text == "the good memories"
    assert phrase.head == "memories"
    assert phrase.lemmas == ("good", "memory")


@pytest.mark.parametrize(
    ("text", "subject", "relation", "content"),
    [
        ("What is wisdom?", "wisdom", "", ("wisdom",)),
        ("what is wisdom", "wisdom", "", ("wisdom",)),
        ("Tell me about wisdom.", "wisdom", "", ("wisdom",)),
        ("What do you know about wisdom?", "wisdom", "", ("wisdom",)),
        ("Explain wisdom.", "wisdom", "", ("wisdom",)),
        ("And wisdom?", "wisdom", "", ("wisdom",)),
        ("In one line, what is wisdom’s use?", "wisdom", "", ("wisdom",)),
        ("What are memories?", "memories", "", ("memory",)),
        ("What does wisdom require?", "wisdom", "requires", ("wisdom", "require")),
        ("What does good wisdom lead to?", "wisdom", "leads_to", ("good", "wisdom", "lead")),
        ("Does wisdom prevent haste?", "wisdom", "prevents", ("wisdom", "prevent", "haste")),
        ("What requires wisdom?", "wisdom", "", ("require", "wisdom")),
        ("What is open?", "open", "", ("open",)),
        ("What is a zorp?", "", "", ()),
        ("?", None, "", ()),
    ],
)
def test_questions(text: str, subject: str | None, relation: str, content: tuple[str, ...]) -> None:
    parsed = parse(text, PACK)
    if subject is None:
        assert isinstance(parsed, Unparsed)
        return
    assert isinstance(parsed, Question)
    assert (parsed.subject, parsed.relation, parsed.content) == (subject, relation, content)


NOUNS = sorted(lemma.text for lemma in PACK.lemmas if lemma.pos == "noun")
ADJECTIVES = sorted(lemma.text for lemma in PACK.lemmas if lemma.pos == "adjective")


@given(
    st.sampled_from(["", "No, ", "in fact: ", "ALSO, "]),
    st.sampled_from(["", "a ", "an ", "the "]),
    st.lists(st.sampled_from(ADJECTIVES), max_size=3),
    st.sampled_from(NOUNS),
    st.sampled_from(PACK.relations),
    st.booleans(),
    st.sampled_from(NOUNS),
)
def test_every_sentence_of_the_grammar_is_parsed_as_meant(
    marker, article, adjectives, subject, relation, denies, object_
):
    verb = relation.third
    if denies:
        verb = "isn't" if verb == "is" else f"does not {relation.base}"
    text = f"{marker}{article}{' '.join([*adjectives, subject])} {verb} {object_}."
    parsed = proposition(text)
    assert parsed.triple == (subject, relation.name, object_)
    assert parsed.denies is denies
    assert parsed.subject.lemmas == (*adjectives, subject)
    assert parsed.kind == ("correction" if marker else "assertion")
    assert parse(parsed.text, PACK).triple == parsed.triple


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    parsed = parse(text, PACK)
    assert isinstance(parsed, Question | Proposition | Unparsed)
    assert parse(text, PACK) == parsed


@given(st.lists(st.sampled_from([*NOUNS[:40], "is", "requires", "not", "the", "a", ".", "?"])))
def test_a_proposition_has_nothing_but_pack_words(parts: list[str]) -> None:
    parsed = parse(" ".join(parts), PACK)
    if isinstance(parsed, Proposition):
        said = [*parsed.subject.text.split(), *parsed.object.text.split()]
        assert set(said) <= PACK.by_form.keys() | {"a", "an", "the"}
        assert " ".join(parts).rstrip(" .") == parsed.text


@pytest.mark.parametrize(
    "unit", ["no, ", "is ", "open ", ". ", ",", "?", "ignore ", "\0", "ü", "'"]
)
def test_very_long_texts_are_rejected_in_no_time(unit: str) -> None:
    parsed = parse(f"wisdom is {unit * 20_000}", PACK)
    assert isinstance(parsed, Unparsed | Question)
    if isinstance(parsed, Unparsed):
        assert len(parsed.detail) <= 200
