import asyncio
import itertools
import json
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import xarray as xr
from recall_data import EPISODES, LESSONS, write_store

import corecurves as cc
from corecurves.errors import CellFailure, LedgerError, UsageError
from corecurves.recall.material import read_material
from corecurves.recall.pack import pack, thresholds_of
from corecurves.schema import RECALL
from corecurves.selectors import Opinion
from corecurves.specs import Identity, Store


def cells(ds, name, episode):
    row = ds[name].sel(episode=episode)
    row = row.isel(sample=0) if "sample" in row.dims else row
    known = row.notnull()
    return dict(zip(row.lesson.values[known], row.values[known], strict=True))


class Named:
    """Scores from a table; counts its calls."""

    threshold, most_samples, concurrency = 0.5, None, None

    def __init__(self, scores, name="named", fails=()):
        self.identity = Identity(name, "1")
        self.scores, self.fails, self.asked = scores, fails, []

    async def score(self, task, candidates, *, sample, seed):
        self.asked.append((task, [c.id for c in candidates]))
        if task in self.fails:
            raise CellFailure("call_failed", "no answer")
        return {c.id: Opinion(self.scores[c.id]) for c in candidates if c.id in self.scores}


# --- what is replayed -----------------------------------------------------------------------------


def test_an_episode_is_replayed_against_exactly_what_it_was_served(recall):
    selector = Named({})
    recall(selector)
    assert selector.asked == [
        ("Wash the cups.", ["cups", "knives"]),
        ("Clean the stove.", ["stove", "cups", "knives"]),
        ("Paint the door.", ["knives"]),
        ("Cut the bread.", ["knives"]),
    ]


def test_what_cannot_be_replayed_is_counted_by_reason(recall):
    assert json.loads(recall().attrs["skipped"]) == {
        "it is not recorded what was used": ["s5", "s6"],
        "no prompt is recorded": ["s1", "s2"],
        "nothing that it was served still exists": ["s7"],
        "nothing was served": ["s3", "s4"],
    }


def test_a_lesson_that_is_gone_is_named_and_not_scored(recall):
    ds = recall()
    assert "gone" not in ds.lesson
    assert dict(zip(ds.episode.values, ds.gone.values, strict=True))["e4"] == "gone"
    assert cells(ds, "used", "e4") == {"knives": 1.0}


def test_used_needs_to_have_been_served(tmp_path, recall):
    row = {"id": "e", "prompt": "Wash.", "served": ["cups"], "used": ["stove", "cups"]}
    ds = recall(store=write_store(tmp_path / "s", LESSONS, [row]))
    assert cells(ds, "used", "e") == {"cups": 1.0}


def test_used_nothing_counts_and_used_missing_does_not(recall):
    ds = recall()
    assert cells(ds, "used", "e3") == {"knives": 0.0}
    assert not {"s5", "s6"} & set(ds.episode.values)


def test_the_store_is_left_as_it_is_and_no_ledger_goes_in(kitchen, recall):
    before = {p: p.read_bytes() for p in kitchen.rglob("*") if p.is_file()}
    with pytest.raises(UsageError, match=r"the ledger .* lies inside the store"):
        recall(ledger=kitchen / "r.sqlite")
    recall()
    assert {p: p.read_bytes() for p in kitchen.rglob("*") if p.is_file()} == before


# --- what is kept ---------------------------------------------------------------------------------


def test_silence_counts_as_kept_and_a_failed_call_as_nothing(recall):
    with pytest.warns(UserWarning, match="3 of 7 cells have no result"):
        ds = recall(Named({"knives": 0.1}, fails=["Clean the stove."]))
    assert cells(ds, "kept", "e1") == {"cups": 1.0, "knives": 0.0}
    assert cells(ds, "silent", "e1") == {"cups": 1.0, "knives": 0.0}
    assert cells(ds, "kept", "e2") == {}
    assert (ds.status.sel(episode="e2") == "call_failed").all()
    assert ds.decision.sel(episode="e1", lesson="cups").item() == "kept: the selector is silent"


def test_threshold_must_be_exceeded(recall):
    scores = {"cups": 0.7, "knives": 0.5, "stove": 0.2}
    assert cells(recall(Named(scores)), "kept", "e2") == {"cups": 1, "knives": 0, "stove": 0}
    low = recall(Named(scores), threshold=0.2)
    assert cells(low, "kept", "e2") == {"cups": 1, "knives": 1, "stove": 0}


def test_the_budget_goes_to_the_best(recall):
    ds = recall(Named({"cups": 0.6, "knives": 0.9, "stove": 0.8}), max_pack_tokens=24)
    tokens = dict(zip(ds.lesson.values, ds.lesson_tokens.values, strict=True))
    assert tokens["knives"] + tokens["stove"] <= 24 < sum(tokens.values())
    assert cells(ds, "kept", "e2") == {"cups": 0, "knives": 1, "stove": 1}
    assert ds.decision.sel(episode="e2", lesson="cups").item().startswith("outranked")


def test_pack_by_hand():
    nan = np.nan
    scores, known = np.array([0.9, nan, 0.4, 0.8, 0.7]), np.ones(5, dtype=bool)
    tokens = np.array([50.0, 10, 5, 30, 20])
    found = pack(scores, known, tokens, threshold=0.5, budget=40)
    assert found.kept.tolist() == [0, 1, 0, 1, 0]
    assert [d.split()[0] for d in found.decision] == ["over", "kept:", "below", "kept",
                                                      "outranked:"]  # fmt: skip
    assert found.order.tolist() == [0, 3, 4, 2, 1]
    known[3] = False
    partly = pack(scores, known, tokens, threshold=0.5, budget=40)
    assert np.isnan(partly.kept[[1, 3, 4]]).all()
    assert partly.kept[[0, 2]].tolist() == [0, 0]
    free = pack(scores, known, tokens, threshold=0.5, budget=None)
    np.testing.assert_array_equal(free.kept, [1, 1, 0, nan, 1])


def test_equal_scores_keep_the_order_given():
    tokens = np.full(3, 10.0)
    found = pack(np.zeros(3), np.ones(3, dtype=bool), tokens, threshold=-1, budget=20)
    assert found.kept.tolist() == [1, 1, 0]


def test_a_sweep_costs_one_scoring_pass_and_agrees_with_single_runs(recall):
    scores = {"cups": 0.7, "knives": 0.5, "stove": 0.2}
    selector = Named(scores)
    swept = recall(selector, sweep=True, max_pack_tokens=25)
    assert len(selector.asked) == 4
    assert swept.threshold.values.tolist() == [-0.8, 0.2, 0.5, 0.7]
    for level in swept.threshold.values:
        single = recall(Named(scores), threshold=float(level), max_pack_tokens=25)
        np.testing.assert_array_equal(swept.kept_at.sel(threshold=level), single.kept)
    own = recall(Named(scores), sweep=[0.6, 0.1])
    assert own.threshold.values.tolist() == [0.1, 0.6]


def test_a_sweep_over_many_scores_is_thinned():
    found = thresholds_of(np.linspace(0, 1, 5000))
    assert found.size == 101
    assert found[0] < 0
    assert found[-1] == 1
    assert thresholds_of(np.array([np.nan])).tolist() == [0]


# --- the run --------------------------------------------------------------------------------------


def test_the_dataset_follows_the_schema_and_saves(recall, tmp_path):
    ds = recall("bm25", sweep=True)
    assert {v.name for v in RECALL.variables} <= set(ds.variables)
    xr.testing.assert_identical(cc.load(cc.save(ds, tmp_path / "r.nc")), ds)
    assert "lesson_text" not in recall("bm25", texts=False)
    assert cc.provenance(ds)["question"] == "recall"
    assert set(cc.to_frame(recall("bm25")).status) == {"ok"}


def test_threshold_and_budget_reuse_the_scores_of_a_ledger(recall, tmp_path):
    ledger = tmp_path / "r.sqlite"
    first, again = Named({"cups": 0.7}), Named({"cups": 0.7})
    one = recall(first, ledger=ledger)
    two = recall(again, ledger=ledger, threshold=0.9, max_pack_tokens=30, sweep=True)
    assert (len(first.asked), len(again.asked)) == (4, 0)
    assert one.kept.sum() > two.kept.sum()
    with pytest.raises(LedgerError, match="belongs to another plan"):
        recall(Named({}, name="other"), ledger=ledger)


def test_a_resume_asks_only_what_is_missing(recall, tmp_path):
    ledger = tmp_path / "r.sqlite"
    with pytest.warns(UserWarning, match="no result"):
        recall(Named({"cups": 1.0}, fails=["Clean the stove."]), ledger=ledger)
    rest = Named({"cups": 1.0})
    resumed = recall(rest, ledger=ledger)
    assert [task for task, _ in rest.asked] == ["Clean the stove."]
    whole = recall(Named({"cups": 1.0}))
    xr.testing.assert_identical(resumed.drop_vars("seconds"), whole.drop_vars("seconds"))


def test_any_concurrency_gives_the_same(recall):
    class Slow(Named):
        async def score(self, task, candidates, *, sample, seed):
            await asyncio.sleep(0.02 * (len(task) % 3))
            return await super().score(task, candidates, sample=sample, seed=seed)

    scores = {"cups": 0.7, "knives": 0.5}
    one, many = (recall(Slow(scores), max_concurrency=n, samples=2) for n in (1, 8))
    xr.testing.assert_identical(one.drop_vars("seconds"), many.drop_vars("seconds"))


def test_the_awaitable_twin_inside_a_running_loop(kitchen, recall):
    async def notebook():
        return await cc.arun_recall_eval(kitchen, "bm25", ledger=False, progress=False), recall()

    one, two = asyncio.run(notebook())
    assert one.kept.sum() < two.kept.sum()


@pytest.mark.slow
def test_on_another_process(recall):
    with ProcessPoolExecutor(1) as pool:
        found = recall("bm25", executor=pool)
    xr.testing.assert_identical(found.drop_vars("seconds"), recall("bm25").drop_vars("seconds"))


@pytest.mark.parametrize(
    ("selector", "more", "message"),
    [
        ("bm25", {"samples": 2}, "`samples` is 2, and bm25 has one answer"),
        ("bm25", {"samples": 0}, "`samples` is 0"),
        ("bm25", {"max_pack_tokens": 0}, "`max_pack_tokens` is 0"),
        ("bm25", {"max_pack_tokens": 2.5}, "`max_pack_tokens` is 2.5"),
        ("bm25", {"threshold": float("nan")}, "`threshold` is nan"),
        ("bm25", {"threshold": True}, "`threshold` is True"),
        ("bm25", {"sweep": []}, "`sweep` is empty"),
        ("bm25", {"sweep": "0.5"}, "`sweep` is '0.5'"),
        ("bm25", {"pool": 3}, "give whole_store=True"),
        ("bm52", {}, "did you mean 'bm25'"),
    ],
)
def test_wrong_arguments_are_named(recall, selector, more, message):
    with pytest.raises(UsageError, match=message):
        recall(selector, **more)


def test_a_bench_and_an_empty_store_say_what_to_give(tmp_path):
    with pytest.raises(UsageError, match="is a bench: it records no episode that was served"):
        cc.run_recall_eval("rose_bench", ledger=False, progress=False)
    with pytest.raises(UsageError, match="records no episode that was served"):
        read_material(Store("made", (), {}))
    bare = write_store(tmp_path / "s", LESSONS, [{"id": "e", "prompt": "Wash.", "served": []}])
    with pytest.raises(UsageError, match=r"no episode of s can be replayed \(1: nothing was serve"):
        cc.run_recall_eval(bare, ledger=False, progress=False)


# --- the whole store ------------------------------------------------------------------------------

LEVELS = {
    **LESSONS,
    "cups": {"text": LESSONS["cups"], "parents": ["cups.l1"]},
    "cups.l1": {"text": "Rinse cups cold.", "level": 1, "parents": ["cups.l2"]},
    "cups.l2": {"text": "Cups: cold first.", "level": 2, "parents": ["both"]},
    "both": {"text": "Cold water first.", "level": 3, "status": "merged",
             "derived_from": ["cups.l2", "stove"]},
    "old": {"text": "Wash by hand.", "status": "archived"},
}  # fmt: skip


def test_whole_store_candidates_are_the_shortest_forms(tmp_path, recall):
    row = {"id": "e", "prompt": "Wash the cups.", "served": ["cups.l1", "old"],
           "used": ["cups.l1", "old"]}  # fmt: skip
    store = write_store(tmp_path / "s", LEVELS, [row])
    material = read_material(store)
    assert material.whole == ("both", "cups.l2", "knives", "stove")
    ds = recall(store=store, whole_store=True)
    assert cells(ds, "used", "e") == {"both": 0, "cups.l2": 1, "knives": 0, "stove": 0}
    assert ds.lost.values.tolist() == ["old"]
    assert ds.attrs["candidates"] == "whole-store"
    served = recall(store=store)
    assert cells(served, "used", "e") == {"cups.l1": 1, "old": 1}


def test_the_whole_store_takes_what_was_served_nothing(tmp_path, recall):
    rows = [{"id": "e", "prompt": "Wash the cups.", "served": [], "used": []},
            {"id": "f", "prompt": "Wash the cups.", "served": ["gone"], "used": ["gone"]},
            {"id": "g", "prompt": "Wash the cups.", "served": ["stove"],
             "used": ["stove", "cups.l1"]},
            {"id": "h", "prompt": "Wash the cups.", "served": []}]  # fmt: skip
    store = write_store(tmp_path / "s", LEVELS, rows)
    ds = recall(store=store, whole_store=True)
    assert ds.episode.values.tolist() == ["e", "f", "g"]
    assert ds.used.sel(episode="e").sum() == 0
    assert cells(ds, "used", "g") == {"both": 0, "cups.l2": 1, "knives": 0, "stove": 1}
    assert ds.gone.sel(episode="f").item() == "gone"
    served = recall(store=store)
    assert served.episode.values.tolist() == ["g"]
    assert cells(served, "used", "g") == {"stove": 1}
    assert served.lost.sel(episode="g").item() == "cups.l1", "used, not served: named"


def test_a_demoted_form_stands_where_there_is_no_other(tmp_path):
    lessons = {
        **LESSONS,
        "cups": {"text": LESSONS["cups"], "parents": ["cups.l1"]},
        "cups.l1": {"text": "Rinse cups cold.", "level": 1, "status": "demoted"},
        "knives": {"text": LESSONS["knives"], "status": "demoted"},
    }
    store = write_store(tmp_path / "s", lessons, [{"id": "e", "prompt": "Wash.", "served": []}])
    assert read_material(store).whole == ("cups", "knives", "stove")


def test_what_the_pool_leaves_out_was_not_retrieved(tmp_path, recall):
    rows = [{"id": "e", "prompt": "Clean the stove.", "served": ["cups"], "used": ["cups"]}]
    ds = recall(store=write_store(tmp_path / "s", LESSONS, rows), whole_store=True, pool=1)
    assert cells(ds, "kept", "e") == {"cups": 0, "stove": 1}
    assert ds.decision.sel(episode="e", lesson="cups").item().startswith("never a candidate")
    summary = cc.summarize_recall(ds)
    assert summary.recall.sel(average="micro") == 0
    assert int(summary.cells_planned) == 1


def test_random_stores_keep_the_definitions(tmp_path):
    rng = np.random.default_rng(3)
    names = [f"n{i}" for i in range(6)]
    for trial in range(5):
        rows = []
        for e in range(5):
            served = [n for n in (*names, "gone") if rng.random() < 0.6]
            used = [n for n in (*names, "gone") if rng.random() < 0.4]
            rows.append({"id": f"e{e}", "prompt": f"Do {e}.", "served": served, "used": used})
        picks = {f"Do {e}.": [n for n in names if rng.random() < 0.5] for e in range(5)}
        store = write_store(tmp_path / str(trial), dict.fromkeys(names, "Some words."), rows)
        if not any(set(row["served"]) & set(names) for row in rows):
            continue

        def pick(task, texts, picks=picks):
            return [name for name in picks[task] if name in texts]

        ds = cc.run_recall_eval(store, pick, ledger=False, progress=False)
        summary = cc.summarize_recall(ds)
        hits = kept_all = useful_all = 0
        for row in rows:
            served = set(row["served"]) & set(names)
            if not served:
                continue
            kept, useful = set(picks[row["prompt"]]) & served, set(row["used"]) & served
            hits += len(kept & useful)
            kept_all += len(kept)
            useful_all += len(useful)
            own = summary.sel(episode=row["id"])
            assert own.episode_noise_tokens == 3 * len(kept - useful)
            for name, part in (("precision", kept), ("recall", useful)):
                value = float(own[f"episode_{name}"])
                assert np.isnan(value) if not part else value == len(kept & useful) / len(part)
        micro = summary.sel(average="micro")
        assert float(micro.precision) == pytest.approx(hits / kept_all)
        assert float(micro.recall) == pytest.approx(hits / useful_all)


def test_episodes_are_listed_once(recall):
    ds = recall()
    assert ds.episode.values.tolist() == [row["id"] for row in EPISODES]
    pairs = itertools.pairwise(ds.lesson.values)
    assert all(a < b for a, b in pairs)
