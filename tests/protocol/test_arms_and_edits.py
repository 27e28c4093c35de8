import pytest
from helpers import curriculum
from hypothesis import given
from hypothesis import strategies as st

import corecurves as cc
from corecurves.errors import UsageError
from corecurves.files.curricula import load_filler
from corecurves.protocol.arms import LANE_ARMS, check_arms, control_corrections
from corecurves.protocol.edits import drop, head, insert, reorder, shuffle, with_distractors
from corecurves.specs import Correction, Token

TARGET = curriculum()
DONORS = [curriculum("play", ("joy", "rest")), curriculum("sleep", ("night", "dark", "calm"))]


def test_control_shares_no_token_and_does_not_name_the_concept():
    near = curriculum("trust", ("doubt", "time"))
    named = curriculum("age", ("wisdom",))
    texts = [c.text for c in control_corrections(TARGET, [TARGET, near, named, *DONORS], ())]
    assert len(texts) == 3
    assert not any("trust" in text or "age" in text for text in texts)


def test_the_donor_does_not_depend_on_who_else_is_there():
    alone = control_corrections(TARGET, DONORS, (), 2)
    assert (
        control_corrections(TARGET, [*reversed(DONORS), curriculum("age", ("doubt",))], (), 2)
        == alone
    )


def test_donors_follow_one_another_then_filler_then_an_error():
    filler = [Correction("A river is water."), Correction("A wisdom is water.")]
    found = control_corrections(TARGET, DONORS, filler, 6)
    assert found[-1].text == "A river is water."
    with pytest.raises(UsageError, match=r"'wisdom' needs 7 corrections .* there are 6"):
        control_corrections(TARGET, DONORS, filler, 7)


def test_what_two_donors_hold_is_said_where_the_first_says_it():
    # Later it would leave a hole in the chain of the donor that is taught first.
    shared = Correction("Recognition is naming.")
    donors = [
        cc.Curriculum(name, f"What is {name}?", (before, shared, after))
        for name, before, after in (
            ("light", Correction("Light is recognition."), Correction("Naming is speech.")),
            ("memory", Correction("Memory is recognition."), Correction("Naming is order.")),
        )
    ]
    found = [c.text for c in control_corrections(TARGET, donors, (), 5)]
    first, second = sorted(donors, key=lambda donor: found.index(donor.corrections[0].text))
    assert found[:3] == [c.text for c in first.corrections]
    assert found[3:] == [second.corrections[0].text, second.corrections[2].text]
    with pytest.raises(UsageError, match="there are 5"):
        control_corrections(TARGET, donors, (), 6)


def test_arms_are_checked_by_name():
    assert check_arms(["control", "control"], LANE_ARMS) == ("control",)
    with pytest.raises(UsageError, match="did you mean 'control'"):
        check_arms(["contrl"], LANE_ARMS)
    with pytest.raises(UsageError, match="`arms` is empty"):
        check_arms([], LANE_ARMS)


def test_edits_return_new_curricula_outside_the_contract():
    edited = drop(TARGET, 2)
    assert [t.text for t in edited.tokens] == ["judgment", "doubt"]
    assert TARGET.contract
    assert not edited.contract
    assert head(TARGET, 2).contract
    assert [t.text for t in head(TARGET, 2).tokens] == ["judgment", "patience"]


def test_insert_takes_a_place_and_a_token():
    edited = insert(TARGET, 2, "Wisdom needs times.", adds=Token("time", ("times",)))
    assert [c.text for c in edited.corrections].index("Wisdom needs times.") == 1
    assert "time" in [t.text for t in edited.tokens]
    assert insert(TARGET, 4, "A river is water.").corrections[-1].adds == ()


@given(st.integers(0, 1000), st.integers(0, 20))
def test_distractors_keep_order_and_tokens(seed, n):
    edited = with_distractors(TARGET, n, seed)
    assert [c for c in edited.corrections if c.adds] == list(TARGET.corrections)
    assert len(edited) == len(TARGET) + n
    assert edited.tokens == TARGET.tokens
    assert with_distractors(TARGET, n, seed) == edited


def test_the_seed_decides_which_distractors_of_a_pool():
    pool = [*DONORS, curriculum("age", ("moss", "dust", "rust"))]
    chosen = {
        frozenset(c.text for c in with_distractors(TARGET, 3, seed, pool=pool).corrections)
        for seed in range(8)
    }
    assert len(chosen) > 2


def test_distractors_differ_by_seed():
    assert len({with_distractors(TARGET, 4, seed).corrections for seed in range(8)}) > 4


@given(st.integers(0, 1000))
def test_shuffles_keep_the_corrections(seed):
    edited = shuffle(TARGET, seed)
    assert sorted(c.text for c in edited.corrections) == sorted(c.text for c in TARGET.corrections)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: drop(c, 4), "`k` is 4; 'wisdom' has 1 to 3"),
        (lambda c: drop(c, 0), "`k` is 0"),
        (lambda c: drop(c, 1, 2, 3), "would remain"),
        (lambda c: insert(c, 5, "x"), "`k` is 5; 'wisdom' takes 1 to 4"),
        (lambda c: insert(c, 1, "Wisdom is old.", adds="age"), "does not contain 'age'"),
        (lambda c: reorder(c, [1, 2]), "give each of 1 to 3 exactly once"),
        (lambda c: reorder(c, [1, 1, 2]), "exactly once"),
        (lambda c: head(c, 0), "`n` is 0"),
        (lambda c: head(insert(c, 1, "A river is water."), 1), "would remain"),
        (lambda c: insert(c, 1, " "), "the correction is empty"),
        (lambda c: insert(c, 1, "Tell it.", adds="tell"), "already contains 'tell'"),
        (lambda c: with_distractors(c, -1), "`n` is -1"),
        (lambda c: with_distractors(c, 10_000), "there are"),
    ],
)
def test_impossible_edits_are_refused(edit, message):
    with pytest.raises(UsageError, match=message):
        edit(TARGET)


def test_every_bundled_curriculum_takes_distractors():
    assert len(load_filler()) >= 24
    for each in cc.load_curricula("public"):
        assert len(with_distractors(each, 8, 3)) == len(each) + 8
