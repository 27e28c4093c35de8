import subprocess
import sys

import pytest

import corecurves as cc
from corecurves.errors import UsageError
from corecurves.systems.base import Session, System
from corecurves.systems.resolve import as_system
from corecurves.systems.retrieval import RetrievalSettings, RetrievalSystem

pytest.importorskip("bm25s")

OPENING = "Tell me about courage."
TAUGHT = [
    "No, courage is steady resolve.",
    "Courage requires patience.",
    "Resolve supports action.",
    "Courage prevents surrender.",
    "Courage reveals character.",
]


def ask(probe, *taught, **settings):
    session = RetrievalSystem(RetrievalSettings(**settings)).start()
    for text in (OPENING, *taught):
        session.turn(text)
    return session.turn(probe)


def test_it_satisfies_the_protocols():
    assert isinstance(RetrievalSystem(), System)
    assert isinstance(RetrievalSystem().start(), Session)


def test_the_best_are_said_as_they_were_taught_best_first():
    found = ask("Which resolve supports courage?", *TAUGHT, top=2)
    assert found.surface == f"{TAUGHT[2]} {TAUGHT[0]}"
    assert found.vault_hits == 2


def test_scores_are_those_of_bm25():
    import math

    docs = [["rain", "rain", "falls"], ["snow", "falls"], ["rain", "stops"]]
    from corecurves.lexical import bm25_index

    index = bm25_index(docs, k1=1.5, b=0.75)
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    mean = 7 / 3
    by_hand = [idf * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * len(d) / mean))
               for d, tf in zip(docs, (2, 0, 1), strict=True)]  # fmt: skip
    assert index.get_scores(["rain"]).tolist() == pytest.approx(by_hand, rel=1e-5)


def test_equal_scores_go_to_the_later_one():
    found = ask("What is courage?", TAUGHT[1], TAUGHT[3], TAUGHT[4], top=2)
    assert found.surface == f"{TAUGHT[4]} {TAUGHT[3]}"


def test_a_probe_without_a_match_says_so():
    for found in (ask("What is rain?", *TAUGHT), ask("What is courage?")):
        assert found.surface == "I was told nothing that fits."
        assert found.vault_hits == 0


@pytest.mark.parametrize("texts", [["?!"], ["No."], ["", "."], ["It is."]])
@pytest.mark.parametrize("probe", ["", "Is it?", "What is courage?"])
def test_texts_without_a_word_to_find_are_no_trouble(texts, probe):
    assert ask(probe, *texts).vault_hits == 0
    assert ask("Of courage?", *texts, TAUGHT[0]).vault_hits == 1


def test_stop_words_alone_are_no_match():
    assert ask("What is it?", *TAUGHT).vault_hits == 0


def test_a_correction_taught_twice_counts_once():
    assert ask("What is courage?", TAUGHT[0], TAUGHT[0]).surface == TAUGHT[0]


def test_questions_and_the_opening_are_not_retrieved():
    session = RetrievalSystem().start()
    for text in (OPENING, "What is courage?", TAUGHT[0], "What is courage?"):
        found = session.turn(text)
    assert found.surface == TAUGHT[0]


def test_no_more_than_top_are_said():
    assert ask("What is courage?", *TAUGHT).vault_hits == 3
    assert ask("What is courage?", *TAUGHT, top=9).vault_hits == 4


def test_nothing_is_printed_logged_or_warned_of():
    code = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from corecurves.systems.resolve import as_system\n"
        "session = as_system('retrieval').start(0)\n"
        f"for text in {[OPENING, *TAUGHT, 'What is courage?']}: found = session.turn(text)\n"
        "assert found.vault_hits == 3"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_curves_by_shape():
    ds = cc.run_lane("public", "retrieval", arms="taught", ledger=False, progress=False)
    last = ds.hits.max("k").squeeze()
    assert (last[ds["shape"] == "chain"] == 1).all()
    assert (last[ds["shape"] == "branch"] == 3).all()
    assert cc.summarize_lane(ds).gate.item() == "passed"


def test_spec_strings():
    settings = as_system("retrieval?top=2&k1=1&b=0").identity.settings
    assert (settings["top"], settings["k1"], settings["b"]) == (2, 1.0, 0.0)
    assert settings["bm25s"] == sys.modules["bm25s"].__version__


@pytest.mark.parametrize(
    "setting", ["top=0", "top=1.5", "k1=-1", "k1=inf", "k1=nan", "b=2", "b=-1", "n=1"]
)
def test_wrong_settings_are_refused_in_one_line(setting):
    with pytest.raises(UsageError, match=f"`{setting.split('=')[0]}`|`setting`") as caught:
        as_system(f"retrieval?{setting}")
    assert "\n" not in str(caught.value)


def test_without_bm25s_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(UsageError, match=r"pip install 'corecurves\[recall\]'") as caught:
        as_system("retrieval")
    assert "\n" not in str(caught.value)
