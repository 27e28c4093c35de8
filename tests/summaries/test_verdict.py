"""The verdict: each of its words, and what may not enter it."""

import dataclasses
import re

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from rose_data import many, rose
from scipy.stats import binom

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.verdict import verdict
from corecurves.summaries.verdict_text import level_reason


def test_holds():
    found = verdict(many(40, levels=("L1", "L2")))
    assert found.thesis == "holds"
    assert [one.verdict for one in found.levels] == ["holds", "holds"]
    assert found["L1"].token_ratio == 0.6
    assert found["L2"].kept == 80
    assert "these hand-written levels" in str(found)
    assert (found.lessons, found.episodes) == (40, 80)


def test_too_few_lessons_cannot_hold():
    # A loss that falls wholly on one lesson in ten would go unseen in 28 lessons too often.
    assert verdict(many(29)).thesis == "holds"
    found = verdict(many(28))
    assert found.thesis == found["L1"].verdict == "inconclusive"
    assert (found["L1"].needed_lessons, found["L1"].needed_episodes) == (29, 58)
    assert "It cannot hold below n = 29 lessons" in found["L1"].reason
    assert "About 29 lessons (58 episodes) would decide it" in found["L1"].reason
    assert "It cannot hold below n = 59 lessons" in verdict(many(30), margin=0.05)["L1"].reason
    # From there on it can, and nothing is said where it could.
    assert "cannot hold" not in str(verdict(many(40, lost={"L1": 2})))


@pytest.mark.parametrize(
    ("margin", "lessons", "exact"),
    [(0.05, 45, 0), (0.05, 59, 4.85), (0.1, 22, 0), (0.1, 29, 4.71), (0.2, 11, 0), (0.2, 14, 4.40)],
)
def test_a_loss_of_the_margin_holds_in_five_percent_of_stores_at_most(margin, lessons, exact):
    """Each lesson is lost wholly with probability `margin`; every such store by the binomial."""
    holds, levels = 0.0, ("L1", "L2")
    for lost in range(lessons + 1):
        word = verdict(many(lessons, levels=levels, lost={"L2": lost}), margin=margin).thesis
        if word == "inconclusive":
            break
        assert word == "holds"
        holds += 100 * binom.pmf(lost, lessons, margin)
    assert holds == pytest.approx(exact, abs=0.01)
    assert holds <= 5


def test_without_a_shorter_level_it_says_how_to_make_one():
    full = {"control": [0, 0], "ceiling": [1, 1]}
    ds = rose({"a": full, "b": full}).sel(level=["none", "L0"])
    found = str(verdict(ds))
    assert "There is no shorter level to judge: write `name.L1.md`" in found
    assert "0 lessons" not in found
    assert "hand-written" not in found


def test_without_a_control_its_lessons_are_counted():
    ds = many(3).isel(arm=[1, 2])
    assert "; 3 lessons, 6 episodes)" in str(verdict(ds))


def test_an_end_near_a_limit_has_a_decimal_more():
    one = verdict(many(40))["L1"]
    near = dataclasses.replace(one, lower=-0.0996, upper=0.0996)
    assert "[-0.100, +0.10]" in level_reason(near, 0.1, few=False)
    near = dataclasses.replace(one, lower=-0.0961, upper=-0.0041)
    assert "[-0.096, -0.004]" in level_reason(near, 0.1, few=False)
    low = dataclasses.replace(one, verdict="untestable", lift_lower=0.1961)
    assert "lower end 0.196, needed 0.2" in level_reason(low, 0.1, few=False)


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
    assert found["L1"].needed_episodes == 29
    assert "cannot hold below n = 29 episodes" in found["L1"].reason


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


def forty(**places):
    """40 lessons of one episode by 4 samples."""
    cells = {"control": 0, "ceiling": 1, "treatment": 1} | places
    lesson = {place: [found] for place, found in cells.items()}
    return rose({f"l{i:02d}": lesson for i in range(40)}, samples=4)


CUT = ["cut_off"] * 2


@pytest.mark.parametrize(
    ("places", "word", "counts"),
    [
        ({"treatment": [1, 1, *CUT]}, "holds", "80 of 160 cells at L1"),
        ({"ceiling": [0, 0, *CUT], "treatment": [0, 0, 1, 1]}, "untestable", ""),
        ({"ceiling": [1, 1, *CUT], "treatment": [0, 1, 1, 1]}, "refuted", "80 of 160 cells at L0"),
        ({"control": [0, *CUT, "call_failed"]}, "holds", "120 of 160 cells without a lesson"),
    ],
)
def test_failed_cells_are_no_evidence(places, word, counts):
    ds = forty(**places)
    found = verdict(ds)
    assert found["L1"].as_judged == word
    if word == "untestable":
        assert found.thesis == found["L1"].verdict == "untestable"
        return
    if "control" in places:
        # A prior of 0.75 would leave a lift of 0.25: enough for a margin of 0.1.
        assert found.thesis == "holds"
        found = verdict(ds, margin=0.15)
        assert "is open: 120 of 160 cells without a lesson have no result" in str(found)
    assert found.thesis == found["L1"].verdict == "inconclusive"
    assert f"{counts} have no result" in found["L1"].reason
    assert found["L1"].needed_lessons is None
    assert str(verdict(summarize_rose(ds))) == str(verdict(ds))


def filled(ds, level, arm, value):
    """The same with the failed cells of one place judged."""
    ds = ds.copy(deep=True)
    at = {"level": level, "arm": arm}
    ds.passed.loc[at] = ds.passed.loc[at].where(ds.status.loc[at] != "call_failed", value)
    ds.status.loc[at] = ds.status.loc[at].where(ds.status.loc[at] != "call_failed", "ok")
    return ds


@settings(deadline=None, max_examples=15)
@given(st.sampled_from([0, 1, 12, 20]), *[st.integers(0, 4)] * 3)
def test_what_is_concluded_survives_every_filling(lost, failed, full, prior):
    ds = many(40, lost={"L1": lost})
    for level, arm, count in (("L1", "treatment", failed), ("L0", "ceiling", full),
                              ("none", "control", prior)):  # fmt: skip
        at = {"concept": ds.concept[40 - count :].values, "level": level, "arm": arm}
        ds.status.loc[at], ds.passed.loc[at] = "call_failed", np.nan
    found = verdict(ds)
    if found.thesis == "inconclusive":
        return
    for values in ((0, 1, 1), (1, 0, 1), (0, 0, 1)):
        ended = ds
        places = (("L1", "treatment"), ("L0", "ceiling"), ("none", "control"))
        for place, value in zip(places, values, strict=True):
            ended = filled(ended, *place, value)
        word = verdict(ended).thesis
        if found.thesis == "holds":
            assert word in ("holds", "degrades within margin")
        elif found.thesis in ("degrades within margin", "refuted"):
            assert word == found.thesis


def test_lessons_that_failed_as_a_whole_are_filled_too():
    ds = many(60)
    at = {"concept": ds.concept[:10].values, "level": "L1", "arm": "treatment"}
    ds.status.loc[at], ds.passed.loc[at] = "call_failed", np.nan
    found = verdict(ds)
    assert (found["L1"].lessons, found["L1"].as_judged) == (50, "holds")
    assert found.thesis == "inconclusive"
    assert "20 of 120 cells at L1 have no result" in str(found)


def test_a_level_of_which_every_cell_failed_does_not_vanish():
    ds = many(40, levels=("L1", "L2"))
    at = {"level": "L2", "arm": "treatment"}
    ds.status.loc[at], ds.passed.loc[at] = "cut_off", np.nan
    found = verdict(ds)
    assert found["L1"].verdict == "holds"
    assert found.thesis == found["L2"].verdict == "inconclusive"
    assert "80 of 80 cells at L2 have no result" in found["L2"].reason


def test_a_planted_loss_is_not_detected_by_failed_cells():
    planted = [(f"lesson{i:03d}", "L1") for i in range(20)]
    ds = many(40, lost={"L1": 5}, episodes=4, planted=planted)
    at = {"concept": ds.concept[:5].values, "level": "L1", "arm": "treatment", "episode": [1, 2, 3]}
    ds.status.loc[at], ds.passed.loc[at] = "call_failed", np.nan
    (check,) = verdict(ds).planted
    assert check.upper < 0
    assert not check.detected
    assert "not known, for 15 of 80 cells at L1 have no result" in check.reason
    assert verdict(many(40, lost={"L1": 15}, episodes=4, planted=planted)).planted[0].detected


def test_refuted_must_survive_too():
    ds = forty(treatment=[0, 1, *CUT])
    assert verdict(ds).thesis == "refuted"  # at most three of four pass
    found = verdict(ds, margin=0.3)
    assert (found["L1"].as_judged, found.thesis) == ("refuted", "inconclusive")
    assert "judged it is refuted, but 80 of 160 cells at L1 have no result" in str(found)


def test_episodes_that_a_grader_skips_are_no_failures():
    ds = many(40, episodes=3)
    ds.status.loc[{"episode": 2}] = xr.where(ds.status.loc[{"episode": 2}] != "", "skipped", "")
    ds.passed.loc[{"episode": 2}] = np.nan
    assert verdict(ds).thesis == "holds"
    # One that is skipped at a level alone is.
    ds = many(40, episodes=3)
    at = {"episode": 2, "level": "L1", "arm": "treatment"}
    ds.status.loc[at], ds.passed.loc[at] = "skipped", np.nan
    assert verdict(ds).thesis == "inconclusive"
