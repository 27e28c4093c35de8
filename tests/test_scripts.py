"""Scripts that do not write their words apart: groups for retrieval, pieces for shuffling."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corecurves as cc
from corecurves.compress.claims import telling
from corecurves.protocol.rose_arms import fit, served_text, within_length
from corecurves.scripts import grams, joined, pieces
from corecurves.specs import Lesson, Level
from corecurves.text import count_tokens, words

CHINESE = (
    "在部署之前，请先检查代理端口是否为6112，而不是5672。如果端口不对，先停止服务，再修改配置文件，"
    "然后重新启动。日志写在/var/log里。"
)
JAPANESE = (
    "デプロイの前に、ブローカーのポートが6112であることを確認してください。違う場合は、"
    "まずサービスを止めて設定ファイルを直し、それから再起動します。"
)


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("courage", ["courage"]),
        ("6112", ["6112"]),
        ("勇气是决心", ["勇气", "气是", "是决", "决心"]),
        ("猫", ["猫"]),
        ("ました", []),
        ("포트는", ["포트"]),
        ("컵", ["컵"]),
        ("입니다", []),
        ("ล้างถ้วย", ["ล้าง", "้างถ", "างถ้", "งถ้ว", "ถ้วย"]),
    ],
)
def test_groups_of_a_run(run, found):
    assert grams(run) == found


@given(st.text())
def test_words_of_other_scripts_are_their_own_groups(text):
    for word in words(text):
        if word.isascii():
            assert grams(word) == [word]


@given(st.text(st.characters(codec="latin-1")))
def test_pieces_of_a_text_with_spaces_are_what_stands_between_them(text):
    assert pieces(text) == text.split()
    assert joined(pieces(text)) == " ".join(text.split())


@given(st.text("決意勇気はポート6112a、。「」ถ้วย용기 ", max_size=30))
def test_no_piece_is_lost(text):
    assert "".join("".join(pieces(text)).split()) == "".join(text.split())
    shuffled = pieces(text)
    random.Random(0).shuffle(shuffled)
    assert sorted("".join(joined(shuffled).split())) == sorted("".join(text.split()))


@pytest.mark.parametrize("text", [CHINESE, JAPANESE])
def test_arms_of_a_lesson_without_spaces_have_its_length(text):
    assert joined(pieces(text)) == text
    tokens = count_tokens(text)
    lesson = Lesson("a", "a", "f", "", (Level(0, text + text), Level(1, text)))
    for seed in range(5):
        scrambled = served_text("scrambled", lesson, lesson.levels[1], [], seed)
        assert sorted(scrambled.replace(" ", "")) == sorted(text)
        assert scrambled != text
        assert within_length(scrambled, tokens)
    assert (text + text).startswith(served_text("truncation", lesson, lesson.levels[1], [], 0))
    assert within_length(fit([text], tokens // 2), tokens // 2)


def test_words_that_tell_a_text_from_others_are_groups():
    assert telling("决心需要勇气") & telling("勇气是决心") == {"决心", "勇气"}
    assert telling("です") == frozenset()


def test_curricula_and_stores_of_these_scripts_load(tmp_path):
    taught = ["勇気は決意です。", "勇気には忍耐が必要です。"]
    rows = [{"text": taught[0], "adds": "決意"}, {"text": taught[1], "adds": "忍耐"}]
    (courage,) = cc.load_curricula(
        [{"concept": "勇気", "probe": "それは何ですか?", "corrections": rows, "contract": False}]
    )
    ds = cc.run_lane([courage], "parrot", arms="taught", ledger=False, progress=False)
    assert ds.hits.sel(arm="taught", sample=0).values.tolist() == [[0, 1, 1]]

    (tmp_path / "port.md").write_text(
        "# ポート\n\nブローカーはポート6112を使います。\n", encoding="utf-8"
    )
    (tmp_path / "episodes.jsonl").write_text(
        '{"id": "a", "lesson": "port", "task": "どのポート?", "good": ["ポート6112を使います。"], '
        '"checks": {"must": ["6112", "ポート"], "must_not": ["112"]}}\n',
        encoding="utf-8",
    )  # fmt: skip
    store = cc.open_store(tmp_path)
    ds = cc.run_rose_eval(
        store, lambda messages: "<think>5672?</think>ポート6112です。", grader="checklist",
        arms=("ceiling",), samples=1, ledger=False, progress=False,
    )  # fmt: skip
    assert ds.passed.max() == 1
