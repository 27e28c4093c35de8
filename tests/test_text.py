import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corecurves.text import contains, count_tokens, hits, normalise, words


@pytest.mark.parametrize(
    ("token", "text", "expected"),
    [
        ("ion", "an onion", False),
        ("cell", "excellent cellar", False),
        ("cell", "two cells", False),
        ("cell", "the cell's wall", True),
        ("cell", "the cell\u2019s wall", True),
        ("Cell", "CELL.", True),
        ("10", "110", False),
        ("10", "10.5", False),
        ("10", "10,500", False),
        ("10", "-10", False),
        ("10", "10.5a", False),
        ("10", "It is 10.", True),
        ("10", "5-10", True),
        ("-10", "at -10 degrees", True),
        ("6112", "BROKER_PORT=6112", True),
        ("C#", "use C++ or C", False),
        ("C++", "use C++.", True),
        ("C", "C# and C++", False),
        ("can", "I can't", False),
        ("can\u2019t", "I can't", True),
        ("well", "well-being", True),
        ("good judgment", "good, judgment", True),
        ("good judgment", "good sound judgment", False),
        ("na\u00efve", "NAI\u0308VE", True),
        ("stra\u00dfe", "STRASSE", True),
        ("\u0915\u094d\u0937\u093f", "\u0915\u094d\u0937\u093f \u0939\u0948", True),
        ("\u0915", "\u0915\u094d\u0937\u093f", False),
        ("patience", "_patience_ and __doubt__", True),
        ("__init__", "the init", True),
        ("_", "_", False),
        ("zero\u200bwidth", "zerowidth", True),
        ("...", "...", False),
        ("", "", False),
    ],
)
def test_token_is_hit_as_whole_words_only(token, text, expected):
    assert contains(text, token) is expected


def test_variants_are_listed_not_guessed():
    assert hits([["judgment"], ["cell", "cells"]], "judgments of two cells") == (False, True)


def test_no_hit_spans_two_texts():
    assert hits([["good judgment"]], "good", "judgment") == (False,)


@given(st.text())
def test_normal_form_is_stable(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_a_token_with_words_matches_itself_inside_other_text(text):
    if words(text):
        assert contains(f"before {text} after", text)


@settings(deadline=None)  # the first call reads the tokenizer's table
@given(st.text(alphabet=st.characters(codec="utf-8")), st.sampled_from(["\ud800", "", "\x00"]))
def test_any_text_has_a_token_count(text, extra):
    assert count_tokens(text + extra) >= 0
