import re

import bs4
import numpy as np
import pytest
from explore_data import PLANTED, shown

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.explore import recall_view, recall_widget
from corecurves.explore.recall_moved import Limits, curve_of, limits_of, moved, steps_of

pytestmark = pytest.mark.usefixtures("no_pictures")
DRAW = recall_view.draw_point


@pytest.fixture
def explorer(recall_run):
    return cc.explore_recall(recall_run)


def alt(explorer):
    return re.search('alt="([^"]*)"', explorer.figure.value)[1]


@pytest.fixture(scope="module")
def wide():
    """A run over the whole store, with lessons that were never in the pool."""
    common = {"ledger": False, "progress": False, "whole_store": True, "pool": 5}
    return cc.run_recall_eval("demo_store", "bm25", **common), common


@pytest.mark.parametrize(("threshold", "budget"), [(0.0, None), (1.5, None), (0.5, 60), (0.0, 25)])
def test_moving_gives_what_a_run_would_have(threshold, budget, wide):
    before, common = wide
    run = cc.run_recall_eval(
        "demo_store", "bm25", threshold=threshold, max_pack_tokens=budget, **common
    )
    here = moved(before, Limits(threshold, budget))
    for name in ("kept", "decision"):
        np.testing.assert_array_equal(here[name].values, run[name].values)
    assert limits_of(here) == limits_of(run) == Limits(threshold, budget)


def test_the_order_of_candidates_decides_ties():
    store = cc.open_store("demo_store")
    common = {"ledger": False, "progress": False, "max_pack_tokens": 60}
    run = cc.run_recall_eval(store, "serve-all", **common)
    np.testing.assert_array_equal(moved(run, limits_of(run)).kept.values, run.kept.values)


def test_the_curve_is_that_of_a_sweep():
    swept = cc.run_recall_eval("demo_store", "bm25", sweep=True, ledger=False, progress=False)
    own = curve_of(swept, tuple(swept.threshold.values.tolist()), None)
    np.testing.assert_array_equal(own.kept_at, swept.kept_at)


def test_steps_hold_what_the_run_had(recall_run):
    thresholds, budgets = steps_of(recall_run)
    assert 0.0 in thresholds
    assert list(thresholds) == sorted(thresholds)
    assert budgets[-1] is None
    most = moved(recall_run, Limits(-np.inf, budgets[-2]))
    assert not (most.decision == "outranked: others took the budget").any()


def test_sliders_move_the_point(explorer, recall_run):
    explorer.threshold.index = 5
    explorer.budget.index = 12
    limits = explorer.limits
    summary = cc.summarize_recall(moved(recall_run, limits))
    at = summary.sel(average="micro")
    assert f"precision {float(at.precision):.2f} and recall {float(at.recall):.2f}" in alt(explorer)
    assert f"threshold {limits.threshold:g}, a budget of {limits.budget} tokens" in alt(explorer)
    assert cc.table_recall(summary).precision.iloc[0] in explorer.figures.value


def test_no_selector_is_called(explorer, monkeypatch):
    monkeypatch.setattr("corecurves.selectors.bm25.Bm25.scores", None)
    explorer.threshold.index = 3
    assert explorer.fault.value == ""


def rows(explorer):
    soup = bs4.BeautifulSoup(explorer.lessons.value, "html.parser")
    return [
        tuple(c.get_text() for c in row.find_all(["th", "td"])[:4])
        for table in soup.find_all("table")
        for row in table.find_all("tr")[1:]
    ]


def test_nothing_is_lost_where_nothing_moved(explorer):
    assert rows(explorer) == []
    assert "0 lost that mattered; 0 gained that mattered" in shown(explorer)


def test_lessons_lost_and_gained(explorer, recall_run):
    explorer.threshold.index = 10
    here = moved(recall_run, explorer.limits)
    lost = (recall_run.kept == 1) & (here.kept == 0)
    expected = {
        ("lost", str(one.lesson.item()), str(one.episode.item()),
         {1: "yes", 0: "no"}[recall_run.used.sel(lesson=one.lesson, episode=one.episode).item()])
        for one in lost.stack(cell=("episode", "lesson", "sample")) if one
    }  # fmt: skip
    assert set(rows(explorer)) == expected
    explorer.threshold.index = 0
    assert {row[0] for row in rows(explorer)} == {"gained"}


def test_against_a_baseline(recall_run, serve_all):
    explorer = cc.explore_recall(recall_run, serve_all)
    compared = cc.compare_recall(recall_run, serve_all)
    mattered = [row for row in rows(explorer) if row[3] == "yes"]
    assert len(mattered) == int(compared.dropped.sum() + compared.restored.sum()) > 0
    assert "against the baseline" in shown(explorer)
    assert "bought: " in shown(explorer)
    assert "baseline" in explorer.figures.value


def test_a_baseline_by_name(recall_run, serve_all, monkeypatch):
    kept = {"before": serve_all}
    monkeypatch.setattr("corecurves.files.baselines.load_baseline", kept.__getitem__)
    explorer = cc.explore_recall(recall_run, "before")
    assert "against the baseline" in shown(explorer)


def test_the_figure_has_the_curve_and_the_point(explorer):
    explorer.threshold.index = 5
    summary = cc.summarize_recall(moved(explorer._ds, explorer.limits))
    (ax,) = DRAW(summary, explorer._curves[None], None).axes
    (curve,) = [line for line in ax.lines if line.get_gid() == "curve"]
    at = summary.sel(average="micro")
    point = [at.recall.item(), at.precision.item()]
    assert point in [[x, y] for line in ax.lines for x, y in line.get_xydata().tolist()]
    assert point in curve.get_xydata().tolist()


def test_each_change_redraws_once(explorer, recall_run, monkeypatch):
    drawn = []
    draw = recall_widget.point_html
    monkeypatch.setattr(recall_widget, "point_html", lambda *args: drawn.append(1) or draw(*args))
    explorer.threshold.index = 2
    assert len(drawn) == 1
    explorer.budget.index = 2
    assert len(drawn) == 2
    cc.explore_recall(recall_run)
    explorer.threshold.index = 4
    assert len(drawn) == 4


def test_errors_are_shown_inside(explorer, monkeypatch):
    def broken(*_):
        raise RuntimeError("no point")

    monkeypatch.setattr(recall_widget, "point_html", broken)
    explorer.threshold.index = 4
    assert "RuntimeError: no point (broken)" in explorer.fault.value


def test_the_twin_has_figure_and_tables(explorer, recall_run):
    page = explorer._repr_mimebundle_()["text/html"]
    assert explorer.figure.value in page
    for cell in cc.table_recall(cc.summarize_recall(recall_run)).precision:
        assert f"<td>{cell}</td>" in page


def test_every_control_has_a_label(explorer, unlabelled):
    assert unlabelled(explorer) == []


def test_nothing_from_data_is_live(recall_run, live):
    ds = recall_run.copy()
    names = {dim: [f"{name} {PLANTED}" for name in ds[dim].values] for dim in ("episode", "lesson")}
    ds = ds.assign_coords(names).assign_attrs(selector=PLANTED, store=PLANTED, config="{}")
    explorer = cc.explore_recall(ds)
    explorer.threshold.index = 5
    assert explorer.fault.value == ""
    assert "planted()" in shown(explorer)
    assert live(explorer) == []


@pytest.mark.parametrize(
    ("empty", "why"),
    [
        (lambda ds: ds.isel(episode=slice(0)), "no candidate has a score"),
        (lambda ds: ds.assign(used=ds.used * np.nan), "nothing is known of what was used"),
    ],
)
def test_nothing_to_show(recall_run, empty, why):
    explorer = cc.explore_recall(empty(recall_run))
    assert why in shown(explorer)
    assert why in explorer._repr_mimebundle_()["text/html"]


def test_other_things_are_refused(recall_run):
    for wrong in ({}, cc.summarize_recall(recall_run)):
        with pytest.raises(DatasetError):
            cc.explore_recall(wrong)
        with pytest.raises(DatasetError):
            cc.explore_recall(recall_run, wrong)
