"""Names that look the same are told apart, and nothing in a message is invisible."""

import json
import unicodedata

import pytest
from helpers import curriculum

import corecurves as cc
from corecurves.errors import UsageError, unknown
from corecurves.names import look, told_apart, visible

COMPOSED = "fj\xe4ll"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
ALIKE = [
    (DECOMPOSED, COMPOSED, "one is composed (NFC), the other decomposed"),
    ("retry\u200b", "retry", "they differ in U+200B (ZERO WIDTH SPACE)"),
    ("retry\xa0now", "retry now", "they differ in U+0020 (SPACE), U+00A0 (NO-BREAK SPACE)"),
    ("r\u0435try", "retry", "U+0435 (CYRILLIC SMALL LETTER IE) against U+0065"),
]


@pytest.mark.parametrize(("received", "there", "why"), ALIKE)
def test_what_looks_the_same_is_never_suggested_without_the_difference(received, there, why):
    message = unknown("lesson", received, ["other", there])
    assert why in message
    assert "did you mean" not in message


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\x00\ud800b", "a\\x00\\ud800b"),
        ("a\u200d\u200cb", "a\\u200d\\u200cb"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),  # a joiner that the script needs
        ("two\nlines\tand\xa0more", "two\nlines\tand\xa0more"),
    ],
)
def test_invisible_characters_are_shown(text, shown):
    assert visible(text) == shown
    assert str(UsageError(text)) == shown


def test_different_names_are_different():
    assert told_apart("retry", "retri") == told_apart("a", "b") == told_apart("a", "a") == ""
    assert look("L0") != look("L1")


def test_a_long_list_of_options_is_cut():
    assert "o39 and 60 more" in unknown("lesson", "x", [f"o{i}" for i in range(100)])


@pytest.mark.parametrize("pair", [("+", "-"), ("==", "!="), ("a+b", "a-b"), ("C", "C++")])
def test_concepts_that_differ_in_symbols_are_two(pair):
    kinds = [curriculum(name, ("judgment", "patience")) for name in pair]
    ds = cc.run_lane(kinds, "retrieval", ledger=False, progress=False)
    assert ds.concept.values.tolist() == list(pair)


@pytest.mark.parametrize("pair", [("+", " + "), ("Wisdom.", "wisdom"), (DECOMPOSED, COMPOSED)])
def test_concepts_that_do_not_are_one(pair):
    kinds = [curriculum(name, ("judgment", "patience")) for name in pair]
    with pytest.raises(cc.FileFaults, match="stands twice"):
        cc.load_curricula(kinds)


def lessons(folder, ids, **names):
    (folder / f"{names['file']}.md").write_text(f"# Snow\n\n{'Wear gloves in the yard. ' * 9}")
    (folder / f"{names['level']}.L1.md").write_text("Wear gloves.")
    (folder / "other.md").write_text(f"# Trucks\n\n{'Call the receiver first. ' * 9}")
    episodes = [
        {"id": ids[0], "lesson": names["lesson"], "task": "What first?", "good": "Gloves."},
        {"id": ids[1], "lesson": "other", "task": "And then?", "good": "A call."},
    ]
    (folder / "episodes.jsonl").write_text("\n".join(map(json.dumps, episodes)))
    return cc.open_store(folder)


@pytest.mark.parametrize("level", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("file", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("lesson", [COMPOSED, DECOMPOSED])
def test_files_and_references_match_in_any_normal_form(tmp_path, lesson, file, level):
    store = lessons(tmp_path, ("a", "b"), lesson=lesson, file=file, level=level)
    assert [len(one.levels) for one in store.lessons if one.id == COMPOSED] == [2]
    assert [one.id for one in store.episodes[COMPOSED]] == ["a"]


def test_ids_that_look_the_same_are_refused(tmp_path):
    with pytest.raises(cc.FileFaults, match=r"jsonl:2: the id .* jsonl|composed \(NFC\)") as caught:
        lessons(tmp_path, ("\xe9", "e\u0301"), lesson="snow", file="snow", level="snow")
    assert "the other decomposed" in str(caught.value)


def test_comparisons_name_what_differs_and_cannot_be_seen():
    runs = {
        name: cc.run_lane([curriculum(name, ("judgment", "patience"))], "retrieval",
                          ledger=False, progress=False)
        for name in (COMPOSED, DECOMPOSED)
    }  # fmt: skip
    with pytest.raises(cc.DatasetError, match="the other decomposed"):
        cc.compare_systems(runs)
