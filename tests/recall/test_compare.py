import json

import numpy as np
import pytest
import xarray as xr
from recall_data import LESSONS, write_store

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.files.baselines import baseline_path


@pytest.fixture
def store(tmp_path):
    rows = [
        {"id": f"e{i}", "prompt": f"Do {i}.", "served": ["cups", "knives", "stove"],
         "used": ["cups", "stove"] if i < 3 else ["cups"]}
        for i in range(9)
    ]  # fmt: skip
    return write_store(tmp_path / "s", LESSONS, rows)


def only(*names):
    def chosen(task, texts):
        return [name for name in names if name in texts]

    return chosen


def test_a_gain_that_is_bought_is_said(recall, store):
    old, new = (recall(s, store=store) for s in ("serve-all", only("cups")))
    found = cc.compare_recall(new, old)
    micro = found.sel(average="micro")
    assert micro.precision.values.tolist() == pytest.approx([12 / 27, 1])
    assert float(micro.precision_change) == pytest.approx(1 - 12 / 27)
    assert float(micro.recall_change) == pytest.approx(9 / 12 - 1)
    low, high = micro.recall_change_ci.values
    assert low < float(micro.recall_change) < high
    assert float(found.noise_tokens_change) < 0
    assert found.attrs["bought"].startswith(
        "bought: 3 lessons that mattered and that the baseline served are dropped for higher "
        "precision and fewer noise tokens: stove in e0, stove in e1, stove in e2"
    )
    text = cc.text_recall(found)
    assert "bought: 3 lessons" in text
    assert ("change", "micro") in cc.table_recall(found).index


def test_a_gain_that_costs_nothing_is_not_bought(recall, store):
    old, new = (recall(s, store=store) for s in ("serve-all", only("cups", "stove")))
    assert cc.compare_recall(new, old).attrs["bought"] == ""
    worse = cc.compare_recall(old, new)
    assert worse.attrs["bought"] == ""
    back = cc.compare_recall(old, recall(only("cups"), store=store))
    assert int(back.restored.sum()) == 3
    assert "served again" in cc.text_recall(back)


def test_a_loss_without_any_gain_is_listed_too(recall, store):
    old, new = (recall(s, store=store) for s in (only("cups", "stove"), only("cups", "knives")))
    found = cc.compare_recall(new, old)
    assert found.attrs["bought"] == ""
    assert "dropped although it mattered: stove in e0" in cc.text_recall(found)


def test_episodes_are_paired_and_the_others_named(recall, store, tmp_path):
    old = recall(store=store)
    new = recall(only("cups"), store=store).isel(episode=slice(2, None))
    found = cc.compare_recall(new, old)
    assert found.attrs["episodes"] == 7
    assert int(found.recall_change_n.sel(average="episode")) == 7
    cautions = json.loads(found.attrs["cautions"])
    assert cautions == ["7 episodes are in both; the baseline has 9, the new run 7"]
    with pytest.raises(DatasetError, match="no episode was scored in both"):
        cc.compare_recall(new.isel(episode=[0]), old.isel(episode=[0]))


def test_few_episodes_have_directions(recall, store):
    pair = [recall(s, store=store).isel(episode=slice(5)) for s in (only("cups"), "serve-all")]
    text = cc.text_recall(cc.compare_recall(*pair))
    assert "5 episodes: a direction, not a decimal place" in text
    table = cc.table_recall(cc.compare_recall(*pair))
    row = table.loc[("change", "micro")]
    assert row.tolist()[1:5] == ["up", "down", "up", "down"]
    assert not any("." in value for value in table.astype(str).to_numpy().ravel())


def test_what_makes_runs_hard_to_compare_is_said(recall, store, tmp_path):
    def cautions(new, old):
        with pytest.warns(UserWarning, match="differ|changed") as warned:
            found = json.loads(cc.compare_recall(new, old).attrs["cautions"])
        assert [str(warning.message) for warning in warned] == found
        return found

    served, whole = (recall("bm25", store=store, whole_store=w) for w in (False, True))
    (caution,) = cautions(whole, served)
    assert caution.startswith("candidate sets differ")
    assert "(served, whole-store)" in caution
    changed = write_store(tmp_path / "t" / "s", {**LESSONS, "cups": "Other words."})
    rows = (store / "episodes").iterdir()
    (changed / "episodes").mkdir()
    for path in rows:
        (changed / "episodes" / path.name).write_bytes(path.read_bytes())
    (caution,) = cautions(recall(store=changed), served)
    assert caution.startswith("the store has changed")
    other = served.assign_attrs(store="t", token_counter="words")
    found = cautions(other, served)
    assert [text.split()[:3] for text in found] == [
        ["the", "stores", "differ"], ["tokens", "were", "counted"]]  # fmt: skip
    with pytest.warns(UserWarning, match="differ"):
        text = cc.text_recall(cc.compare_recall(other, served))
    assert "caution: the stores differ" in text


def test_other_thresholds_and_budgets_are_what_is_compared(recall, store):
    old = recall("bm25", store=store)
    new = recall("bm25", store=store, threshold=0.5, max_pack_tokens=20)
    assert json.loads(cc.compare_recall(new, old).attrs["cautions"]) == []


def test_a_comparison_saves(recall, store, tmp_path):
    found = cc.compare_recall(recall(only("cups"), store=store), recall(store=store))
    xr.testing.assert_identical(cc.load(cc.save(found, tmp_path / "c.nc")), found)
    assert np.isfinite(found.precision_change_ci).any()


# --- kept runs ------------------------------------------------------------------------------------


def test_a_kept_run_comes_back_with_its_identity(recall, store):
    ds = recall("bm25?k1=1.1", store=store, sweep=True)
    cc.save_baseline(ds, "before")
    found = cc.load_baseline("before")
    xr.testing.assert_identical(found, ds)
    assert json.loads(found.attrs["identity"])["selector"]["settings"]["k1"] == 1.1
    assert cc.baseline_names() == ["before"]
    assert cc.compare_recall(ds, "before").attrs["episodes"] == 9


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "/etc/x", "~x", ".hidden", "x.", "a b", "x\n", "x\0",
     "é", "con", "NUL.txt", "x" * 65, "-x", None],
)  # fmt: skip
def test_names_that_are_none(name, recall, store, tmp_path):
    for use in (
        lambda: cc.load_baseline(name, folder=tmp_path / "b"),
        lambda: cc.save_baseline(recall(store=store), name, folder=tmp_path / "b"),
    ):
        with pytest.raises(UsageError, match="is no name for a baseline"):
            use()
    assert not (tmp_path / "b").exists()


def test_names_that_are_some(tmp_path):
    for name in ("a", "A-1_b.c", "x" * 64, "console", "2025-06-01"):
        assert baseline_path(name, tmp_path).parent == tmp_path


def test_a_missing_baseline_names_those_there(recall, store):
    cc.save_baseline(recall(store=store), "before")
    with pytest.raises(UsageError, match="did you mean 'before'"):
        cc.load_baseline("befor")


def test_a_failed_save_leaves_the_old_one(recall, store):
    ds = recall(store=store)
    path = cc.save_baseline(ds, "before")
    whole = path.read_bytes()
    broken = ds.copy()
    broken["reason"].values[0, 0, 0] = None
    with pytest.raises(DatasetError, match="`reason` holds None"):
        cc.save_baseline(broken, "before")
    assert path.read_bytes() == whole
    assert [p.name for p in path.parent.iterdir()] == ["before.nc"]


def test_another_store_does_not_take_a_name(recall, store, kitchen):
    cc.save_baseline(recall(store=store), "before")
    with pytest.raises(UsageError, match="is a run on s, and this one is on kitchen"):
        cc.save_baseline(recall(), "before")
    cc.save_baseline(recall("bm25", store=store), "before")
    assert cc.load_baseline("before").attrs["selector"] == "bm25"


def test_a_damaged_baseline_is_refused_and_can_be_replaced(recall, store):
    path = cc.save_baseline(recall(store=store), "before")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(DatasetError):
        cc.load_baseline("before")
    cc.save_baseline(recall(store=store), "before")
    assert cc.load_baseline("before").attrs["selector"] == "serve-all"


def test_not_into_the_store_and_not_anything(recall, store, tmp_path):
    with pytest.raises(UsageError, match="lies inside the store"):
        cc.save_baseline(recall(store=store), "x", folder=store / "kept")
    (tmp_path / "link").symlink_to(store)
    with pytest.raises(UsageError, match="lies inside the store"):
        cc.save_baseline(recall(store=store), "x", folder=tmp_path / "link")
    with pytest.raises(DatasetError, match="is kept as a baseline"):
        cc.save_baseline(cc.summarize_recall(recall(store=store)), "x")
