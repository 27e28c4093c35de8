"""The rose summary: answers by hand, and what must not be mixed or hidden."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from rose_data import many, rose

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.stats import change_interval, difference_interval, nested_rate, t_interval
from corecurves.summaries.rose import summarize_rose
from corecurves.summaries.tables_rose import table_rose, text_rose


def place(summary, name, level="L1", arm="treatment", **more):
    return float(summary[name].sel(kind="all", level=level, arm=arm, **more))


def test_samples_then_episodes_then_lessons():
    # Lesson a: episodes 2/3 and 0 of one judged sample -> 1/3. Lesson b: one episode, 1 -> 1.
    # A mean over cells would be 5/7, over episodes 5/9.
    summary = summarize_rose(
        rose(
            {
                "a": {"control": [0, 0], "ceiling": [1, 1],
                      "treatment": [[1, 1, 0], [0, "call_failed", "cut_off"]]},
                "b": {"control": [0], "ceiling": [1], "treatment": [[1, 1, 1]]},
            }
        )
    )  # fmt: skip
    assert place(summary, "transfer") == pytest.approx(2 / 3)
    assert place(summary, "transfer_n") == 2
    assert place(summary, "transfer_episodes") == 3
    expected = nested_rate([1 / 3, 1], [2, 1])
    found = summary.transfer_ci.sel(kind="all", level="L1", arm="treatment")
    assert found.values.tolist() == pytest.approx(expected[1:3])
    assert summary.transfer_ci.attrs["ci_prob"] == 0.95
    change = summary.change.sel(kind="all", part="all", level="L1")
    assert float(change) == pytest.approx(((-1 / 3 - 1) / 2 + 0) / 2)


def test_change_is_paired_by_episode():
    # The second episode has no L0: its pass at L1 is in the transfer, not in the change.
    ds = rose(
        {
            "a": {"control": [0, 0], "ceiling": [1, "call_failed"], "treatment": [0, 1]},
            "b": {"control": [0, 0], "ceiling": [1, 1], "treatment": [1, 0]},
        }
    )
    summary = summarize_rose(ds)
    at = {"kind": "all", "part": "all", "level": "L1"}
    assert float(summary.change.sel(at)) == (-1 - 0.5) / 2
    assert float(summary.change_episodes.sel(at)) == 3
    interval = change_interval([-1, -0.5])
    assert summary.change_ci.sel(at).values.tolist() == pytest.approx(interval[1:3])
    assert place(summary, "transfer") == 0.5


def test_lift_and_retained():
    lessons = {
        f"l{i}": {"control": [0, 0, 0, 0], "ceiling": [1] * 4, "treatment": [1, 1, 1, i % 2]}
        for i in range(12)
    }
    summary = summarize_rose(rose(lessons)).sel(kind="all")
    assert float(summary.lift) == 1
    assert summary.lift_ci.values.tolist() == pytest.approx(difference_interval([1.0] * 12)[1:3])
    one = summary.sel(part="all", level="L1")
    assert float(one.retained) == pytest.approx(0.875)
    lower, upper = one.retained_ci.values
    assert lower < 0.875 < upper
    assert lower <= 1 + float(one.change_ci[0])


def test_retained_is_missing_without_a_lift():
    lessons = {f"l{i}": {"control": [1, 0], "ceiling": [1, 0], "treatment": [1, 1]}
               for i in range(6)}  # fmt: skip
    one = summarize_rose(rose(lessons)).sel(kind="all", part="all", level="L1")
    assert np.isnan(one.retained)
    assert np.isnan(one.retained_ci).all()


def test_every_place_without_cells_is_missing():
    summary = summarize_rose(many(3))
    assert np.isnan(place(summary, "transfer", "L1", "control"))
    assert np.isnan(place(summary, "transfer", "none", "ceiling"))
    assert place(summary, "transfer", "none", "control") == 0
    assert place(summary, "transfer_n", "none", "ceiling") == 0


def test_the_common_set_is_the_same_at_every_level():
    ds = many(5, levels=("L1", "L2"))
    # Lesson 0 has no L2, and it fails at L1: were it in, L1 would be lower than L2.
    at = {"concept": "lesson000", "arm": "treatment"}
    ds.passed.loc[{**at, "level": "L1"}] = 0
    ds.passed.loc[{**at, "level": "L2"}] = np.nan
    ds.status.loc[{**at, "level": "L2"}] = ""
    summary = summarize_rose(ds)
    one = summary.sel(kind="all")
    assert one.transfer.sel(arm="treatment", level=["L1", "L2"]).values.tolist() == [1, 1]
    assert one.transfer_n.sel(arm="treatment", level=["L1", "L2"]).values.tolist() == [4, 4]
    assert int(one.transfer_n.sel(arm="ceiling", level="L0")) == 4
    assert (int(one.lessons_common), int(one.lessons_in_kind)) == (4, 5)
    assert str(summary.left_out.sel(concept="lesson000").item()) == "not run at L2"
    # With fewer levels drawn there are more lessons.
    one = summarize_rose(ds, levels=["L1"]).sel(kind="all")
    assert float(one.transfer.sel(arm="treatment", level="L1")) == pytest.approx(0.8)
    assert np.isnan(one.change.sel(part="all", level="L2"))


def test_failed_calls_do_not_hide_by_leaving_the_set():
    ds = many(4)
    where = {"concept": "lesson001", "level": "L1", "arm": "treatment"}
    ds.passed.loc[where] = np.nan
    ds.status.loc[where] = "call_failed"
    summary = summarize_rose(ds)
    assert place(summary, "transfer") == 1
    assert place(summary, "transfer_n") == 3
    assert summary.transfer_bounds.sel(kind="all", level="L1", arm="treatment").values.tolist() == [
        0.75,
        1,
    ]
    assert place(summary, "cells_planned") == 8
    assert place(summary, "cells_judged") == 6
    assert place(summary, "cells_failed") == 2
    assert place(summary, "cells", status="call_failed") == 2
    assert str(summary.left_out.sel(concept="lesson001").item()) == "no judged cell at L1"


def test_only_held_out_episodes_count():
    lessons = {name: {"control": [0, 0], "ceiling": [1, 1], "treatment": [1, 0]} for name in "ab"}
    half = {("a", 1): "train", ("b", 1): "train"}
    summary = summarize_rose(rose(lessons, half=half))
    assert place(summary, "transfer") == 1
    assert place(summary, "cells_planned") == 2
    half = {(name, e): "train" for name in "ab" for e in (0, 1)}
    with pytest.raises(DatasetError, match="4 are in the train half and 0 leaked"):
        summarize_rose(rose(lessons, half=half))


def test_leaked_episodes_are_left_out_at_every_level_and_counted():
    lessons = {name: {"control": [0, 0], "ceiling": [1, 1], "treatment L1": [1, 1],
                      "treatment L2": [0, 1]} for name in "ab"}  # fmt: skip
    leaked = [("a", 0, "L2"), ("b", 0, "L2")]
    ds = rose(lessons, levels=("L1", "L2"), leaked=leaked)
    summary = summarize_rose(ds)
    assert place(summary, "transfer", "L2") == 1
    assert place(summary, "transfer_episodes", "L1") == 2
    assert place(summary, "cells_leaked", "L1") == 2
    # Where the level is not drawn it does not matter; and a run may keep leaks.
    assert place(summarize_rose(ds, levels=["L1"]), "transfer_episodes", "L1") == 4
    kept = summarize_rose(ds.assign_attrs(leaks="keep"))
    assert place(kept, "transfer", "L2") == 0.5
    assert place(kept, "cells_leaked", "L2") == 0
    assert kept.attrs["leaks"] == "keep"
    everything = [(name, e, "L0") for name in "ab" for e in (0, 1)]
    with pytest.raises(DatasetError, match="0 are in the train half and 4 leaked"):
        summarize_rose(rose(lessons, levels=("L1", "L2"), leaked=everything))


def test_one_lesson_has_its_episodes_as_units():
    summary = summarize_rose(rose({"a": {"control": [0] * 5, "ceiling": [1] * 5,
                                         "treatment": [1, 1, 1, 0, 0]}}))  # fmt: skip
    one = summary.sel(kind="all", part="all", level="L1")
    assert str(one.change_unit.item()) == "episode"
    assert one.change_ci.values.tolist() == pytest.approx(change_interval([0, 0, 0, -1, -1])[1:3])
    assert (int(one.change_n), int(one.change_episodes)) == (1, 5)
    assert str(summary.transfer_unit.sel(kind="all", level="L1", arm="treatment").item()) == (
        "episode"
    )


def test_one_episode_has_no_interval():
    summary = summarize_rose(many(1, episodes=1)).sel(kind="all")
    assert np.isnan(summary.transfer_ci).all()
    assert np.isnan(summary.change_ci).all()
    assert np.isnan(summary.lift_ci).all()
    assert float(summary.transfer.sel(level="L1", arm="treatment")) == 1


def test_shift_is_paired_by_sample():
    lessons = {
        "a": {"control": [[(0, 1.0), (0, 2.0)]], "treatment": [[(1, 1.5), "call_failed"]],
              "ceiling": [[(1, 3.0), (1, 3.0)]]},
        "b": {"control": [[(0, 0.0), (0, 0.0)]], "treatment": [[(1, 1.0), (1, 2.0)]],
              "ceiling": [[(1, 3.0), (1, 4.0)]]},
    }  # fmt: skip
    summary = summarize_rose(rose(lessons))
    assert place(summary, "shift") == pytest.approx((0.5 + 1.5) / 2)
    found = summary.shift_ci.sel(kind="all", level="L1", arm="treatment").values
    assert found.tolist() == pytest.approx(t_interval([0.5, 1.5])[1:3])
    assert place(summary, "shift", "L0", "ceiling") == pytest.approx((1.5 + 3.5) / 2)
    assert np.isnan(place(summary, "shift", "none", "control"))


def test_a_grader_that_only_scores_still_has_a_shift():
    lessons = {
        name: {"control": [(np.nan, 0.0)] * 2, "ceiling": [(np.nan, 1.0)] * 2,
               "treatment": [(np.nan, 0.5)] * 2}
        for name in "abc"
    }  # fmt: skip
    summary = summarize_rose(rose(lessons))
    assert place(summary, "shift") == 0.5
    assert np.isnan(place(summary, "transfer"))
    assert np.isnan(summary.change.sel(kind="all")).all()


def test_advantage_over_the_other_arms():
    lessons = {
        name: {"control": [0, 0], "ceiling": [1, 1], "treatment": [1, 1], "scrambled": [1, 0],
               "placebo": [0, 0]}
        for name in "abcd"
    }  # fmt: skip
    arms = ("control", "ceiling", "treatment", "placebo", "scrambled")
    summary = summarize_rose(rose(lessons, arms=arms))
    assert place(summary, "advantage", "L1", "scrambled") == 0.5
    assert place(summary, "advantage", "L1", "placebo") == 1
    assert place(summary, "advantage", "L1", "control") == 1
    assert place(summary, "advantage", "L1", "ceiling") == 0
    assert np.isnan(place(summary, "advantage", "L1", "treatment"))


def test_kinds_have_their_own_rows():
    ds = many(6, lost={"L1": 2}, kinds=["detail"] * 2 + ["trap"] * 3 + [""])
    summary = summarize_rose(ds)
    assert summary["kind"].values.tolist() == ["all", "detail", "trap"]
    at = {"part": "all", "level": "L1"}
    assert summary.change.sel(at).values.tolist() == pytest.approx([-1 / 3, -1, 0])
    assert summary.change_n.sel(at).values.tolist() == [6, 2, 3]


def test_planted_losses_stand_apart():
    ds = many(6, lost={"L1": 2}, planted=[("lesson000", "L1"), ("lesson001", "L1")])
    one = summarize_rose(ds).sel(kind="all", level="L1")
    assert one.change.values.tolist() == pytest.approx([-1 / 3, 0, -1])
    assert one.change_n.values.tolist() == [6, 4, 2]
    assert one.part.values.tolist() == ["all", "thesis", "planted"]


def test_a_shorter_level_inherits_a_planted_loss():
    ds = many(4, levels=("L1", "L2", "L3"), planted=[("lesson000", "L2")])
    summary = summarize_rose(ds)
    counts = summary.change_n.sel(kind="all", level=["L1", "L2", "L3"])
    assert counts.sel(part="planted").values.tolist() == [0, 1, 1]
    assert counts.sel(part="thesis").values.tolist() == [4, 3, 3]
    assert (summary.planted != "").sum() == 1


def test_the_thesis_is_about_compressor_made_levels_where_there_are_any():
    ds = many(4)
    assert summarize_rose(ds).attrs["thesis_about"] == "hand-written levels"
    ds.compressor.loc[{"concept": "lesson000", "level": "L1"}] = "shortener"
    summary = summarize_rose(ds)
    assert summary.attrs["thesis_about"] == "compressor-made levels"
    assert int(summary.change_n.sel(kind="all", part="thesis", level="L1")) == 1
    without = ds.drop_vars("compressor")
    assert summarize_rose(without).attrs["thesis_about"] == "hand-written levels"


def test_fates_of_episodes():
    # Episodes pass where most samples do: 2 of 3 passes, 1 of 2 does not.
    lessons = {
        "a": {"control": [0] * 4, "ceiling": [[1, 1, 0], 1, 0, 0],
              "treatment": [1, [1, 0, "cut_off"], 1, 0]},
        "b": {"control": [0], "ceiling": [1], "treatment": ["call_failed"]},
        "c": {"control": [0], "ceiling": [1], "treatment": [1]},
    }  # fmt: skip
    summary = summarize_rose(rose(lessons))
    one = summary.sel(kind="all", part="all", level="L1")
    names = ("kept", "lost", "gained", "failed_at_both")
    assert [int(one[f"episodes_{name}"]) for name in names] == [2, 1, 1, 1]
    assert int(one.episodes_undecided) == 0, (
        "b has no judged cell at L1, and is left out as a whole"
    )
    assert summary.fate.sel(concept="a", level="L1").values.tolist() == list(names)
    assert summary.fate.sel(concept="b", level="L1").values[0] == ""


def test_an_episode_of_which_a_side_failed_is_undecided_and_counted():
    lessons = {
        "a": {"control": [0] * 3, "ceiling": [1, "call_failed", 1],
              "treatment": [1, 1, "cut_off"]},
        "b": {"control": [0], "ceiling": [1], "treatment": [1]},
    }  # fmt: skip
    summary = summarize_rose(rose(lessons))
    one = summary.sel(kind="all", part="all", level="L1")
    assert (int(one.episodes_kept), int(one.episodes_undecided)) == (2, 2)
    assert "2 kept, 0 lost, 0 gained, 0 failed at both, 2 undecided" in str(cc.verdict(summary))


def test_tokens_and_their_ratio():
    ds = many(2, tokens=[0, 100, 40])
    ds.lesson_tokens.loc[{"concept": "lesson001", "level": "L0"}] = 300
    ds.lesson_tokens.loc[{"concept": "lesson001", "level": "L1"}] = 60
    summary = summarize_rose(ds)
    assert place(summary, "tokens") == 50
    assert place(summary, "tokens", "L0", "ceiling") == 200
    assert np.isnan(place(summary, "tokens", "L0", "treatment"))
    assert float(summary.token_ratio.sel(kind="all", part="thesis", level="L1")) == 0.25


def test_order_of_lessons_and_dims_does_not_matter():
    ds = many(7, levels=("L1", "L2"), lost={"L2": 3}, samples=2)
    ds.passed[0, 0, 2, 2, 0] = 0
    one = summarize_rose(ds)
    other = summarize_rose(ds.isel(concept=slice(None, None, -1)).transpose(..., "concept"))
    for name in ("transfer", "transfer_ci", "change_ci", "retained_ci", "lift_ci", "cells"):
        xr.testing.assert_equal(one[name], other[name])


def test_refuses():
    with pytest.raises(DatasetError, match="has no `passed`"):
        summarize_rose(many(2).drop_vars("passed"))
    with pytest.raises(DatasetError, match="has no 'L7'; it has L1"):
        summarize_rose(many(2), levels=["L7"])
    with pytest.raises(ValueError, match="confidence"):
        summarize_rose(many(2), confidence=95)


def test_confidence_widens():
    ds = many(10, lost={"L1": 2})
    narrow, wide = (summarize_rose(ds, confidence=c).sel(kind="all") for c in (0.8, 0.99))
    for name in ("transfer_ci", "lift_ci"):
        widths = [np.diff(s[name].values, axis=-1) for s in (narrow, wide)]
        assert np.nanmin(widths[1] - widths[0]) > 0
    assert wide.attrs["ci_prob"] == 0.99


def leaked_whole(*levels, of=("L1", "L2"), **more):
    """Two lessons; into the levels named every episode leaked, and they were not run, as in a run
    that leaves leaks out."""
    lessons = {}
    for name in "ab":
        kept = {f"treatment {level}": [1, 1] for level in of if level not in levels}
        lessons[name] = {"control": [0, 0], "ceiling": [1, 1], **kept}
    leaked = [(name, e, level) for name in "ab" for e in (0, 1) for level in levels]
    return rose(lessons, levels=of, leaked=leaked, **more)


def test_levels_of_which_nothing_is_left_are_named():
    ds = leaked_whole("L1", "L2", compressor="shortener")
    summary = summarize_rose(ds)
    assert table_rose(summary).index.tolist() == [("none", "control"), ("L0", "ceiling")]
    assert summary.leaked_pair.sum() == summary.pair.sum() == 8
    assert summary.nothing_left.values.tolist() == [False, False, True, True]
    assert summary.attrs["thesis_about"] == "compressor-made levels"
    text = text_rose(summary)
    assert "2 lessons with no shorter level drawn" in text
    assert (
        "8 of 8 episode-level pairs leaked and are left out (a/0, a/1, b/0, b/1); nothing is left "
        "of L1, L2"
    ) in text
    # Asked for alone it is named too, and no error says that there is no such level.
    assert "4 of 4 episode-level pairs" in text_rose(summarize_rose(ds, levels=["L2"]))


def test_one_level_is_left_of_two():
    summary = summarize_rose(leaked_whole("L2"))
    assert place(summary, "transfer") == 1
    assert "4 of 8 episode-level pairs" in text_rose(summary)
    assert text_rose(summary).endswith("nothing is left of L2")
    # Of a level that was not asked for nothing is said, nor of leaks that were kept.
    assert "leaked" not in text_rose(summarize_rose(leaked_whole("L2"), levels=["L1"]))
    kept = many(2, leaked=[("lesson000", 0, "L1")], leaks="keep")
    assert "leaked" not in text_rose(summarize_rose(kept))
    assert "leaked" not in text_rose(summarize_rose(many(2)))


def test_pairs_are_of_held_out_episodes():
    lessons = {name: {"control": [0, 0], "ceiling": [1, 1], "treatment": [1, 1]} for name in "ab"}
    summary = summarize_rose(
        rose(lessons, half={("a", 1): "train"}, leaked=[("a", 1, "L1"), ("b", 1, "L1")])
    )
    assert "1 of 3 episode-level pairs leaked and is left out (b/1)" in text_rose(summary)


def test_planted_levels_are_marked_in_the_text():
    planted = [("lesson000", "L1"), ("lesson001", "L2"), ("lesson002", "L2")]
    text = text_rose(summarize_rose(many(6, levels=("L1", "L2"), planted=planted)))
    # A shorter level inherits the loss of a longer one.
    assert (
        "made to lose what matters, on purpose: 1 of 6 lessons at L1, 3 of 6 lessons at L2; the "
        "verdict sets these apart"
    ) in text
    assert "on purpose" not in text_rose(summarize_rose(many(6)))


def test_one_is_in_the_singular_and_minus_is_one_sign():
    text = text_rose(summarize_rose(many(1, episodes=3, ceiling=0)))
    assert "1 lesson with every level drawn" in text
    assert "[-" in text
    assert "−0" not in text


@pytest.mark.parametrize(
    ("chosen", "hint"),
    [
        ({"arm": "control"}, r"ds.sel\(arm=\['control'\]\)"),
        ({"sample": 0}, r"ds.sel\(sample=\[0\]\)"),
        ({"level": "L1", "arm": "treatment"}, r"ds.sel\(arm=\['treatment'\], level=\['L1'\]\)"),
    ],
)
def test_a_lost_dimension_is_named_with_what_was_selected(chosen, hint):
    with pytest.raises(DatasetError, match=hint):
        summarize_rose(many(2).sel(chosen))


def test_a_dimension_that_was_averaged_away_has_another_hint():
    ds = many(2)
    ds["passed"] = ds.passed.mean("sample")
    with pytest.raises(DatasetError, match="lost the dimension sample; ") as told:
        summarize_rose(ds.drop_vars("sample"))
    assert "ds.sel" not in str(told.value)


PRIORS = st.sampled_from([6, 6, 10, 1]).flatmap(
    lambda n: st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n)
)
LESSONS = st.tuples(PRIORS, st.sampled_from([3, 3, 2]), st.sampled_from([0, 0, 1]))


@settings(deadline=None, max_examples=40)
@given(st.lists(LESSONS, min_size=10, max_size=20))
def test_rounding_is_no_fault(found):
    """Lessons of up to 6 episodes by 3 samples: passes of 3 without a lesson, at L0, at L1."""
    three = {k: [1] * k + [0] * (3 - k) for k in range(4)}
    lessons = {
        f"l{i}": {
            "control": [three[k] for k in priors],
            "ceiling": [three[full]] * len(priors),
            "treatment": [three[short]] * len(priors),
        }
        for i, (priors, full, short) in enumerate(found)
    }
    ds = rose(lessons, samples=3)
    summary = summarize_rose(ds)
    for name in ("transfer", "transfer_ci", "change", "change_ci"):
        assert (np.abs(summary[name].fillna(0)) <= 1).all()
    assert cc.verdict(summary, margin=0.2).thesis


def test_a_strong_prior_is_summarized():
    """Lift that is left minus lift is -1.0000000000000002 here, of a lesson that lost all."""
    hard = {
        "control": [[0, 0, 0]] * 2 + [[1, 0, 0]] * 4,
        "ceiling": [[1, 1, 1]] * 6,
        "treatment": [[0, 0, 0]] * 6,
    }
    easy = {"control": [[0, 0, 0]], "ceiling": [[1, 1, 1]], "treatment": [[1, 1, 1]]}
    ds = rose({"hard": hard} | {f"easy{i}": easy for i in range(9)}, samples=3)
    change = summarize_rose(ds).change.sel(kind="all", part="all", level="L1")
    assert float(change) == -0.1
    assert cc.verdict(ds)["L1"].lost == 6
