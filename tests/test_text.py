import re
import unicodedata

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


@pytest.mark.parametrize(
    ("token", "text", "expected"),
    [
        ("6112", "ポート6112を使います。", True),
        ("6112", "포트는 6112입니다.", True),
        ("6112", "使用端口6112。", True),
        ("6112", "พอร์ต6112ครับ", True),
        ("6112", "ພອດ6112ແລະ", True),
        ("6112", "ច្រក6112នេះ", True),
        ("6112", "ဆိပ်ကမ်း6112ကို", True),
        ("10", "第110回", False),
        ("10", "110を", False),
        ("10", "第10回", True),
        ("10", "10.5度", False),
        ("10", "温度は-10度です", False),
        ("-10", "温度は−10度です", True),
        ("10", "1月-10月", True),
        ("enzyme", "これはenzymeです", True),
        ("C#", "C#を使う", True),
        ("C", "C#を使う", False),
        ("決意", "勇気は決意です。", True),
        ("決心", "勇气是决心。", False),
        ("决心", "勇气是决心。", True),
        ("決意", "決。意", False),
        ("ポート番号", "ポート番号は6112", True),
        ("ポート6112", "このポート6112です", True),
        ("ポート", "このポートを", True),
        ("ポート", "サポートします", False),
        ("ポート番号", "サポート番号", False),
        ("ﾎﾟｰﾄ", "ポート", True),
        ("辻さん", "辻\U000e0100さん", True),
        ("용기", "용기는 결심이다.", True),
        ("용기", "사용기는", False),
        ("포트", "新포트를", True),
        ("결심 이다", "결심 이다.", True),
        ("ถ้วย", "ล้างถ้วยด้วยน้ำ", True),
        ("น", "น้ำ", False),
    ],
)
def test_edges_of_a_token_may_lie_inside_a_script_without_spaces(token, text, expected):
    assert contains(text, token) is expected


@pytest.mark.parametrize(
    ("token", "text", "expected"),
    [
        *(("-10", f"at {dash}10 degrees", True) for dash in "‐‑‒–—―"),
        *(("-10", f"({dash}10)", True) for dash in "−﹣－➖˗﹘"),
        *(("10", f"at {dash}10 degrees", False) for dash in "‑−－"),
        *(("-10", f"pages 5{dash}10", False) for dash in "‐‑‒–—−"),
        *(("10", f"pages 5{dash}10", True) for dash in "‐–−－"),
        ("-10", "5%–10%", False),
        ("-10", "5°–10°", False),
        ("10", "1月–10月", True),
        ("19", "COVID‑19", True),
    ],
)
def test_a_dash_before_a_number_is_a_minus_but_not_in_a_range(token, text, expected):
    assert contains(text, token) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İzmir", "izmir"),
        ("İzmir", "İZMİR"),
        ("kısır", "KISIR"),
        ("ſo", "SO"),
        ("straße", "STRAẞE"),
        ("λόγος", "ΛΌΓΟΣ"),
        ("ﬁnal", "FINAL"),
        ("ᾳ", "ᾼ"),
    ],
)
def test_case_pairs_meet_in_one_form(one, other):
    assert contains(f"see {one} now", other)
    assert contains(f"see {other} now", one)
    assert normalise(one) == normalise(other)


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


SCRIPTS = st.text(
    st.sampled_from("ab C1209-+.,'#_\n \u2013\u0301\u0130\u0131決意はで\u3099ポート용기는ถ้วยំក")
)


@given(SCRIPTS, SCRIPTS)
def test_both_unicode_forms_give_one_answer(text, token):
    forms = [[unicodedata.normalize(f, x) for f in ("NFC", "NFD")] for x in (text, token)]
    assert len({contains(t, k) for t in forms[0] for k in forms[1]}) == 1


@given(SCRIPTS)
def test_a_token_of_any_script_matches_itself(text):
    assert contains(text, text) is bool(words(text))


@given(st.text(st.characters(codec="ascii")), st.text(st.characters(codec="ascii"), max_size=6))
def test_ascii_is_read_as_it_always_was(text, token):
    """The rules written down once more, for what needs none of those about scripts."""

    def read(text):
        pattern = (
            r"(?<![\w.,\x01])[+-]\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)+[\w\x01]*"
            r"|[\w\x01]+(?:'[\w\x01]+)*(?:\#|\+\+)?(?![\w\x01])"
        )
        found = (word.removesuffix("'s").strip("_") for word in re.findall(pattern, text.lower()))
        return [word for word in found if word]

    needle, hay = read(token), read(text)
    assert list(words(text)) == hay
    size = len(needle)
    stands = any(hay[i : i + size] == needle for i in range(len(hay))) if needle else False
    assert contains(text, token) is stands
    assert contains(f"{text} {token} {text}", token) is bool(needle)
