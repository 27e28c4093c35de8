import numpy as np
import pytest
from recall_data import LESSONS, write_store

import corecurves as cc
from corecurves.errors import CellFailure, DatasetError, UsageError
from corecurves.selectors import Opinion
from corecurves.stats import wilson_rate
from corecurves.stats.shares import pooled_difference, pooled_rate

PICKS = {"Wash the cups.": ["cups"], "Clean the stove.": ["stove", "knives"],
         "Paint the door.": [], "Cut the bread.": []}  # fmt: skip


def pick(task, texts):
    return [name for name in PICKS[task] if name in texts]


def test_the_figures_by_hand(recall):
    ds = recall(pick)
    summary = cc.summarize_recall(ds)
    # hits 1, 1, 0, 0; kept 1, 2, 0, 0; useful 1, 2, 0, 1
    micro, episode = (summary.sel(average=name) for name in ("micro", "episode"))
    assert float(micro.precision) == pytest.approx(2 / 3)
    assert float(micro.recall) == pytest.approx(2 / 4)
    assert float(micro.f1) == pytest.approx(4 / 7)
    assert float(episode.precision) == pytest.approx((1 + 0.5) / 2)
    assert float(episode.recall) == pytest.approx((1 + 0.5 + 0) / 3)
    assert float(episode.f1) == pytest.approx((1 + 0.5 + 0) / 3)
    tokens = dict(zip(ds.lesson.values, ds.lesson_tokens.values, strict=True))
    assert float(summary.noise_tokens_total) == tokens["knives"]
    assert float(summary.noise_tokens) == tokens["knives"] / 4
    assert float(summary.useful_tokens_total) == tokens["cups"] + tokens["stove"]
    assert float(summary.served_tokens_total) == 2 * tokens["cups"] + 4 * tokens["knives"] + tokens[
        "stove"]  # fmt: skip
    counts = ("scored", "planned", "skipped", "nothing_kept", "nothing_useful", "failed")
    assert [int(summary[f"episodes_{n}"]) for n in counts] == [4, 4, 7, 2, 1, 0]
    missed = np.argwhere(summary.missed.values == 1)
    named = [(str(summary.episode.values[i]), str(summary.lesson.values[j])) for i, j in missed]
    assert named == [("e2", "cups"), ("e4", "knives")]


def test_nothing_kept_has_no_precision_and_recall_nothing(recall):
    summary = cc.summarize_recall(recall(lambda task, texts: []))
    micro = summary.sel(average="micro")
    assert np.isnan(float(micro.precision))
    assert float(micro.recall) == 0
    assert "–" in cc.table_recall(summary).precision.iloc[0]


def test_serve_all_recalls_all(recall):
    summary = cc.summarize_recall(recall())
    assert (summary.recall == 1).all()
    assert float(summary.kept_tokens) == float(summary.served_tokens)


def test_samples_are_averaged_within_an_episode(recall):
    class Turns:
        threshold, most_samples, concurrency = 0.5, None, None
        identity = cc.Identity("turns", "1")

        async def score(self, task, candidates, *, sample, seed):
            return {c.id: Opinion(float(c.id == "cups" or sample == 0)) for c in candidates}

    summary = cc.summarize_recall(recall(Turns(), samples=2))
    # e1: cups and knives, then cups alone
    one = summary.sel(episode="e1")
    assert float(one.episode_kept) == 1.5
    assert float(one.episode_precision) == pytest.approx((0.5 + 1) / 2)
    assert float(summary.missed.sel(episode="e4", lesson="knives")) == 0.5


def test_failed_cells_leave_their_episode_out_and_bound_it(recall):
    class Fails:
        threshold, most_samples, concurrency = 0.5, None, None
        identity = cc.Identity("fails", "1")

        async def score(self, task, candidates, *, sample, seed):
            if "stove" in task:
                raise CellFailure("call_failed", "no")
            return {c.id: Opinion(1.0) for c in candidates}

    with pytest.warns(UserWarning, match="no result"):
        ds = recall(Fails())
    summary = cc.summarize_recall(ds)
    assert (int(summary.episodes_scored), int(summary.episodes_failed)) == (3, 1)
    # without e2: hits 1, 0, 1; kept 2, 1, 1; useful 1, 0, 1
    assert float(summary.precision.sel(average="micro")) == 0.5
    # e2 badly: 0 of 1 kept, 2 useful lost; well: 2 of 2
    assert summary.precision_bounds.values.tolist() == pytest.approx([2 / 5, 4 / 6])
    assert summary.recall_bounds.values.tolist() == pytest.approx([2 / 4, 4 / 4])
    assert "with them, precision is between 0.40 and 0.67" in cc.text_recall(summary)


def test_the_curve_of_a_sweep(recall):
    scores = {"cups": 0.9, "stove": 0.6, "knives": 0.3}
    ds = recall(lambda task, texts: {k: scores[k] for k in texts}, sweep=[0.0, 0.5, 0.8, 1.0])
    curve = cc.summarize_recall(ds)
    # useful: e1 cups, e2 stove and cups, e4 knives; candidates: 7
    assert curve.curve_recall.values.tolist() == pytest.approx([1, 3 / 4, 2 / 4, 0])
    assert curve.curve_precision.values[:3].tolist() == pytest.approx([4 / 7, 1, 1])
    assert np.isnan(curve.curve_precision.values[3])
    assert (np.diff(curve.curve_noise_tokens) <= 0).all()


# --- tables ---------------------------------------------------------------------------------------


def test_few_episodes_have_a_direction_and_no_decimals(recall):
    text = cc.text_recall(cc.summarize_recall(recall(pick)))
    assert "4 episodes: a direction, not a decimal place" in text
    row = cc.table_recall(cc.summarize_recall(recall(pick)))
    assert row.index.tolist() == [("pick", "micro")]
    assert row.precision.item() == "2 of 3"
    assert row.recall.item() == "2 of 4"
    assert not any("." in str(value) for value in row.iloc[0])


def many(tmp_path, n=12):
    rows = [
        {"id": f"e{i:02d}", "prompt": f"Wash the cups, {i}.", "served": ["cups", "knives", "stove"],
         "used": ["cups", "stove"] if i % 3 else ["cups"]}
        for i in range(n)
    ]  # fmt: skip
    return write_store(tmp_path / "many", LESSONS, rows)


def test_precision_is_never_printed_without_recall(recall, tmp_path):
    summary = cc.summarize_recall(recall("bm25", store=many(tmp_path)))
    table = cc.table_recall(summary)
    assert table.index.get_level_values("average").tolist() == ["micro", "episode"]
    assert all("[" in table[name].iloc[0] for name in ("precision", "recall", "F1"))
    columns = table.columns.tolist()
    assert columns.index("recall") == columns.index("precision") + 1


def test_seven_episodes_have_decimals_and_six_have_not(recall, tmp_path):
    for n, few in ((6, "yes"), (7, "no")):
        summary = cc.summarize_recall(recall("bm25", store=many(tmp_path / str(n), n)))
        assert summary.attrs["few"] == few


def test_served_and_whole_store_rows_say_so(recall):
    runs = {
        "served": cc.summarize_recall(recall("bm25")),
        "whole": cc.summarize_recall(recall("bm25", whole_store=True)),
    }
    text = cc.text_recall(runs)
    assert "face different candidate sets: do not compare them" in text
    assert "precision is a lower bound" in text
    assert cc.table_recall(runs).candidates.unique().tolist() == ["served", "whole-store"]
    assert "candidate sets" not in cc.text_recall({"served": runs["served"]})


def test_what_was_skipped_gone_and_silent_is_listed(recall):
    text = cc.text_recall(cc.summarize_recall(recall(lambda task, texts: {})))
    assert "skipped, 2: nothing was served (s3, s4)" in text
    assert "gone no longer exists, not scored (e4)" in text
    assert "silent on 7 candidates, counted as kept" in text


def test_refuses(recall):
    with pytest.raises(DatasetError, match="has no `kept`"):
        cc.summarize_recall(recall().drop_vars("kept"))
    with pytest.raises(ValueError, match="confidence"):
        cc.summarize_recall(recall(), confidence=95)
    with pytest.raises(DatasetError, match="summarize_recall or compare_recall"):
        cc.table_recall(recall())
    with pytest.raises(UsageError, match="no summary"):
        cc.text_recall({})


# --- kernels --------------------------------------------------------------------------------------


def test_pooled_rate_by_hand():
    rate, lower, upper, units = pooled_rate([1, 0, 2], [1, 0, 4])
    assert (rate, units) == (3 / 5, 2)
    assert 0 <= lower < rate < upper <= 1


@pytest.mark.parametrize("n", range(2, 40))
def test_all_and_nothing_have_a_width_and_no_overshoot(n):
    for part in (np.zeros(n), np.full(n, 2.0)):
        rate, lower, upper, _ = pooled_rate(part, np.full(n, 2.0))
        assert 0 <= lower <= rate <= upper <= 1
        assert upper - lower > 0
    wide, narrow = (np.diff(pooled_rate(np.ones(m), np.ones(m))[1:3]) for m in (n, n + 1))
    assert narrow < wide


def test_units_that_do_not_differ_count_once_each():
    lower, upper = wilson_rate(0.5, 4)
    assert pooled_rate(np.full(4, 2.0), np.full(4, 4.0))[1:3] == (lower, upper)


def test_one_unit_none_and_a_wrong_part():
    nan = float("nan")
    assert np.isnan(pooled_rate([], [])[0])
    assert np.isnan(pooled_rate([1, nan], [2, 3])[1])
    assert pooled_rate([1, nan], [2, 3])[0] == 0.5
    with pytest.raises(ValueError, match="`part` exceeds `whole`"):
        pooled_rate([2], [1])
    with pytest.raises(ValueError, match="of one length"):
        pooled_rate([2, 1], [1])
    with pytest.raises(ValueError, match="two shares are of shapes"):
        pooled_difference([1], [1], [1, 1], [1, 1])


def test_pooled_difference_is_paired():
    rng = np.random.default_rng(0)
    whole = rng.integers(1, 5, 40).astype(float)
    part = rng.binomial(whole.astype(int), 0.6).astype(float)
    same = pooled_difference(part, whole, part, whole)
    assert same.mean == 0
    assert 0 < same.upper < 0.06  # the floor alone: what they share does not widen it
    loose = pooled_rate(part, whole)
    assert same.upper - same.lower < loose.upper - loose.lower
    order = rng.permutation(40)
    assert pooled_rate(part[order], whole[order]) == loose
    assert pooled_difference([1, 1], [1, 1], [0, 0], [0, 0])[0] != 0  # NaN: nothing to compare


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_lessons_whose_fate_failed_calls_leave_open_are_counted(recall):
    def picky(task, texts):
        if task == "Wash the cups.":
            raise RuntimeError("no answer")
        return []

    ds = recall(picky)
    summary = cc.summarize_recall(ds)
    failed = ds.used.where((ds.status == "call_failed").isel(sample=0))
    assert int(summary.missed_undecided) == int((failed == 1).sum()) > 0
    assert int(summary.missed_undecided) + int((summary.missed > 0).sum()) == int(ds.used.sum())
    said = f"not known whether dropped: {int(summary.missed_undecided)} lesson"
    assert said in cc.text_recall(summary)
    beneath = [t.get_text() for t in cc.plot_recall(ds).texts if t.get_gid() == "beneath"]
    assert "not known of" in beneath[0]
    whole = cc.summarize_recall(recall(lambda task, texts: []))
    assert int(whole.missed_undecided) == 0
