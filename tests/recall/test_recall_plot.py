import matplotlib.pyplot as plt
import numpy as np
import pytest

import corecurves as cc
from corecurves.errors import DatasetError, UsageError


def scored(task, texts):
    scores = {"cups": 0.9, "stove": 0.6, "knives": 0.3}
    return {name: scores[name] for name in texts}


def lines(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def beneath(ax):
    return next(text.get_text() for text in ax.texts if text.get_gid() == "beneath")


def test_the_point_stands_at_micro_recall_and_precision(recall):
    summary = cc.summarize_recall(recall(scored))
    ax = cc.plot_recall(summary)
    micro = summary.sel(average="micro")
    (container,) = ax.containers
    x, y = (float(v[0]) for v in container.lines[0].get_data())
    assert (x, y) == (float(micro.recall), float(micro.precision))
    vertical = container.lines[2][1].get_segments()[0][:, 1]
    np.testing.assert_allclose(vertical, micro.precision_ci.values)


def test_contours_join_points_of_equal_noise(recall):
    contours = lines(cc.plot_recall(recall(scored)), "noise")
    assert len(contours) == 5
    for line in contours:
        recall_, precision = line.get_data()
        noise = recall_ * (1 - precision) / precision
        np.testing.assert_allclose(noise, noise[0])


def test_the_curve_of_a_sweep_is_the_summary(recall):
    ds = recall(scored, sweep=True)
    (curve,) = lines(cc.plot_recall(ds), "curve")
    summary = cc.summarize_recall(ds)
    known = summary.curve_precision.notnull().values
    np.testing.assert_array_equal(curve.get_xdata(), summary.curve_recall.values[known])
    np.testing.assert_array_equal(curve.get_ydata(), summary.curve_precision.values[known])
    assert lines(cc.plot_recall(recall(scored)), "curve") == []


def test_an_arrow_leads_from_the_baseline(recall):
    old, new = cc.summarize_recall(recall()), cc.summarize_recall(recall(scored))
    ax = cc.plot_recall(new, baseline=old)
    (arrow,) = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert arrow.xy == tuple(float(new[n].sel(average="micro")) for n in ("recall", "precision"))
    assert arrow.xyann == tuple(
        float(old[n].sel(average="micro")) for n in ("recall", "precision"))  # fmt: skip
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["baseline: serve-all", "scored"]


def test_every_lesson_dropped_that_mattered_stands_beneath(recall):
    text = beneath(cc.plot_recall(recall(scored))).replace("\n", " ")
    assert "drops what mattered, 1: knives in e4" in text
    assert "a direction, not a decimal place" in text
    assert "drops what mattered, 0: none" in beneath(cc.plot_recall(recall()))


def test_a_run_that_keeps_nothing_has_no_point(recall):
    ax = cc.plot_recall({"none": recall(lambda task, texts: [])}, baseline=recall())
    assert len(ax.containers) == 1
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "none: no point, nothing is kept" in names


def test_several_runs_and_their_words(recall):
    runs = {"all": recall(), "scored": recall(scored)}
    ax = plt.subplots()[1]
    assert cc.plot_recall(runs, ax) is ax
    assert len(ax.containers) == 2
    words = cc.describe_recall(runs)
    assert words.startswith("Precision against recall: all has precision")
    assert "drops 1 lesson that mattered" in words


def test_refuses(recall):
    with pytest.raises(UsageError, match="draw them in two figures"):
        cc.plot_recall({"a": recall(), "b": recall("bm25", whole_store=True)})
    with pytest.raises(UsageError, match="there is no run"):
        cc.plot_recall({})
    with pytest.raises(DatasetError, match="run_recall_eval or summarize_recall"):
        cc.plot_recall(recall().assign_attrs(question="rose"))
