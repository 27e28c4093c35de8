"""The verdict: each of its words, and what may not enter it."""

import dataclasses
import re

import numpy as np
import pytest
from rose_data import many, rose

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.verdict import verdict


def test_holds():
    found = verdict(many(40, levels=("L1", "L2")))
    assert found.thesis == "holds"
    assert [one.verdict for one in found.levels] == ["holds", "holds"]
    assert found["L1"].token_ratio == 0.6
    assert found["L2"].kept == 80
    assert "these hand-written levels" in str(found)
    assert (found.lessons, found.episodes) == (40, 80)


def test_too_few_lessons_cannot_hold():
    # A loss that falls wholly on one lesson in ten would go unseen in 21 lessons too often.
    assert verdict(many(22)).thesis == "holds"
    found = verdict(many(21))
    assert found.thesis == found["L1"].verdict == "inconclusive"
    assert (found["L1"].needed_lessons, found["L1"].needed_episodes) == (22, 44)
    assert "About 22 lessons (44 episodes) would decide it" in found["L1"].reason


def test_refuted():
    found = verdict(many(20, levels=("L1", "L2"), lost={"L2": 10}, episodes=3))
    assert found["L1"].verdict == "inconclusive"
    assert found["L2"].verdict == found.thesis == "refuted"
    assert found["L2"].upper < -0.1
    assert (found["L2"].kept, found["L2"].lost) == (30, 30)


def test_degrades_within_margin():
    ds = many(200, lost={"L1": 8})
    found = verdict(ds)
    assert found["L1"].verdict == found.thesis == "degrades within margin"
    assert -0.1 < found["L1"].lower < found["L1"].upper < 0
    assert verdict(ds, margin=0.04).thesis == "inconclusive"


def test_untestable_where_the_lesson_never_helped():
    found = verdict(many(30, control=1))
    assert found.thesis == found["L1"].verdict == "untestable"
    # The lift must be at least twice the margin.
    lessons = {f"l{i}": {"control": [int(i % 2)], "ceiling": [1], "treatment": [1]}
               for i in range(60)}  # fmt: skip
    assert verdict(rose(lessons), margin=0.1).thesis == "holds"
    assert verdict(rose(lessons), margin=0.2).thesis == "untestable"
    assert verdict(rose(lessons), margin=0.2)["L1"].verdict == "untestable"
    assert "below twice the margin (0.4)" in str(verdict(rose(lessons), margin=0.2))


def test_untestable_without_a_control():
    ds = many(30)
    found = verdict(ds.sel(arm=["ceiling", "treatment"]))
    assert found.thesis == "untestable"
    assert "The lift is not known" in str(found)


def test_holding_needs_fewer_tokens():
    found = verdict(many(40, tokens=[0, 100, 100]))
    assert found.thesis == "inconclusive"
    assert "tokens do not fall" in found["L1"].reason
    assert found["L1"].needed_lessons is None


def test_holm_over_the_levels():
    # One level alone is refuted at 5 %; it is not among four.
    levels = ("L1", "L2", "L3", "L4")
    for lost in range(5, 20):
        alone = verdict(many(30, lost={"L1": lost}))
        if alone["L1"].verdict == "refuted":
            break
    assert alone.thesis == "refuted"
    assert alone["L1"].p < 0.025
    among = verdict(many(30, levels=levels, lost={"L1": lost}))
    assert among["L1"].verdict == "refuted"
    assert among.thesis == "inconclusive"
    assert "not after Holm" in str(among)
    assert verdict(many(30, levels=levels, lost={"L1": lost + 6})).thesis == "refuted"


def test_planted_losses_never_enter_the_thesis():
    planted = [(f"lesson{i:03d}", "L2") for i in range(9)]
    ds = many(40, levels=("L1", "L2"), lost={"L2": 9}, planted=planted)
    found = verdict(ds)
    assert found.thesis == "holds"
    assert found["L2"].lessons == 31
    assert [(check.level, check.detected, check.lessons) for check in found.planted] == [
        ("L2", True, 9)
    ]
    assert "the instrument detects the planted loss at L2: yes" in str(found)
    # The same losses, not planted, refute or at least do not hold.
    assert verdict(many(40, levels=("L1", "L2"), lost={"L2": 9})).thesis == "inconclusive"
    missed = verdict(many(40, levels=("L1", "L2"), planted=planted))
    assert "the instrument detects the planted loss at L2: no" in str(missed)
    assert missed.thesis == "holds"


def test_all_planted_leaves_no_level():
    found = verdict(many(8, lost={"L1": 8}, planted=[(f"lesson{i:03d}", "L1") for i in range(8)]))
    assert found.levels == ()
    assert found.thesis == "untestable"
    assert "Every loss was planted by hand" in str(found)


def test_compressor_made_levels():
    found = verdict(many(40, compressor="shortener"))
    assert found.about == "compressor-made levels"
    assert "about compressor-made levels" in str(found)
    assert "hand-written" not in str(found)


@pytest.mark.parametrize("lessons", [1, 2, 3])
@pytest.mark.parametrize("lost", [0, 1])
def test_six_episodes_or_fewer_have_no_decimals(lessons, lost):
    text = str(verdict(many(lessons, lost={"L1": lost}, samples=3)))
    assert "a direction, not a decimal place" in text
    assert not re.search(r"\d[.,]\d", text)
    text = str(verdict(many(4, lost={"L1": lost})))
    assert "a direction" not in text
    assert re.search(r"\d\.\d", text)


def test_an_episode_under_two_lessons_counts_once():
    ids = [[f"e{e}" for e in range(3)]] * 3
    found = verdict(many(3, episodes=3, ids=ids))
    assert found.episodes == 3
    assert found.direction_only


def test_one_lesson_claims_nothing_about_others():
    found = verdict(many(1, episodes=30))
    assert found.thesis == "holds"
    assert found["L1"].unit == "episode"
    assert "nothing is claimed about other lessons" in str(found)
    found = verdict(many(1, episodes=12))
    assert found["L1"].needed_lessons == 1
    assert found["L1"].needed_episodes == 22


def test_one_episode_has_the_words():
    found = verdict(many(1, episodes=1))
    assert found.thesis == "untestable"
    assert np.isnan(found.lift_lower)
    assert "one episode has no interval" in str(found)


def test_a_score_without_passes_is_untestable():
    lessons = {
        name: {"control": [(np.nan, 0.0)], "ceiling": [(np.nan, 1.0)],
               "treatment": [(np.nan, 0.5)]}
        for name in "abcdefgh"
    }  # fmt: skip
    found = verdict(rose(lessons))
    assert found.thesis == "untestable"
    assert "a score alone has a shift, and no verdict" in str(found)


def test_too_near_to_the_margin():
    lessons = {}
    for i in range(20):
        lessons[f"l{i:02d}"] = {
            "control": [0] * 10, "ceiling": [1] * 10, "treatment": [0] + [1] * 9,
        }  # fmt: skip
    lessons["l00"]["treatment"] = [1] * 10
    lessons["l01"]["treatment"] = [0, 0] + [1] * 8
    found = verdict(rose(lessons))
    assert found["L1"].verdict == "inconclusive"
    assert found["L1"].needed_lessons is None
    assert "too near to the margin" in found["L1"].reason


def test_a_dataset_and_its_summary_agree():
    ds = many(25, levels=("L1", "L2"), lost={"L2": 4})
    assert str(verdict(ds)) == str(verdict(summarize_rose(ds)))
    # The summary's own confidence does not decide the verdict's.
    assert str(verdict(summarize_rose(ds, confidence=0.8))) == str(verdict(ds))
    one = verdict(ds)
    summary = summarize_rose(ds).sel(kind="all", part="thesis", level="L2")
    assert (one["L2"].lower, one["L2"].upper) == tuple(summary.change_ci.values)


def test_what_is_left_out_is_said():
    ds = many(30)
    ds.status.loc[{"concept": "lesson003", "level": "L1", "arm": "treatment"}] = "call_failed"
    ds.passed.loc[{"concept": "lesson003", "level": "L1", "arm": "treatment"}] = np.nan
    text = str(verdict(ds))
    assert "Left out: 1 of 30 lessons (lesson003)." in text
    assert "2 of 180 cells have no result" in text
    kept = many(30, leaked=[("lesson000", 0, "L1")], leaks="keep")
    assert "were kept" in str(verdict(kept))
    dropped = many(30, leaked=[("lesson000", 0, "L1")])
    assert "1 of 60 episode-level pairs leaked and is left out (lesson000/0)." in str(
        verdict(dropped)
    )
    assert "Left out with the episodes that leaked: 3 cells." in str(verdict(dropped))


def test_refuses():
    with pytest.raises(DatasetError, match="run_rose_eval"):
        verdict(many(2).assign_attrs(question="lane"))
    for margin in (0, -0.1, 0.5, float("nan")):
        with pytest.raises(ValueError, match="margin"):
            verdict(many(2), margin=margin)
    with pytest.raises(ValueError, match="confidence"):
        verdict(many(2), confidence=95)


def test_is_frozen_and_names_its_levels():
    found = verdict(many(22))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.thesis = "refuted"
    with pytest.raises(KeyError, match="L9"):
        found["L9"]


def leaked_whole(n, level, **more):
    """Lessons whose level was not run, for every episode leaked into it."""
    ds = many(n, leaked=[(f"lesson{i:03d}", e, level) for i in range(n) for e in (0, 1)], **more)
    at = {"level": level, "arm": "treatment"}
    ds.status.loc[at], ds.passed.loc[at] = "", np.nan
    return ds


def test_nothing_is_concluded_about_levels_that_all_leaked():
    found = verdict(leaked_whole(40, "L1", compressor="shortener"))
    assert (found.thesis, found.about) == ("untestable", "compressor-made levels")
    assert (found.levels, found.nothing_left) == ((), ("L1",))
    text = str(found)
    assert "hand-written" not in text
    assert "a score alone" not in text
    assert "Nothing can be concluded about L1" in text
    assert "80 of 80 episode-level pairs leaked and are left out" in text
    assert "and 75 more); nothing is left of L1." in text


def test_the_thesis_does_not_hold_where_a_level_all_leaked():
    ds = leaked_whole(40, "L2", levels=("L1", "L2"))
    found = verdict(ds)
    assert found["L1"].verdict == "holds"
    assert found.thesis == "inconclusive"
    assert "within the margin at every level that was judged" in str(found)
    assert "Nothing can be concluded about L2" in str(found)
    # Of the levels that are asked for it holds; and a loss at one of them refutes it.
    assert verdict(summarize_rose(ds, levels=["L1"])).thesis == "holds"
    lost = leaked_whole(40, "L2", levels=("L1", "L2"), lost={"L1": 30})
    assert verdict(lost).thesis == "refuted"


def test_signs_are_those_of_the_tables():
    text = str(verdict(many(20, lost={"L1": 10})))
    assert "change -0.50 [-0.7" in text
    assert "−" not in text.replace("ceiling − control", "")


def test_few_episodes_are_told_plainly():
    lessons = {"a": {"control": [1, 0, 0], "ceiling": [1, 1, 0], "treatment": [1, 1, 0]}}
    text = str(verdict(rose(lessons)))
    assert "The full lesson does not help surely enough for a loss to be seen." in text


def test_the_episodes_of_lessons_that_are_left_out_do_not_count():
    """The store's merged levels leave two lessons of four episodes; the others have eight more."""
    with pytest.warns(UserWarning, match="no checklist"):
        ds = cc.run_rose_eval(
            "demo_store", "simulated", grader="checklist", samples=1, ledger=False, progress=False
        )
    found = cc.verdict(ds)
    assert found.episodes <= max(level.episodes for level in found.levels)
    assert found.direction_only
