import json
import re
from dataclasses import replace

import numpy as np
import pytest
from descent.world import BACK, Told, code, lesson, planted, store

import corecurves as cc
from corecurves.cli import main
from corecurves.errors import DatasetError, UsageError
from corecurves.text import count_tokens

STRATEGIES = ["delta-patch", "delta-jump", "stepwise"]


def everything(prompt):
    return " ".join(code(i) for i in range(9))


@pytest.fixture
def mixed(descend):
    """Two lessons that are rescued and one with a gap, two episodes each."""
    return descend(store(gaps=(1,)))


def spent(i):
    """Tokens to the rescue by each strategy, by hand."""
    level = [count_tokens(level.text) for level in lesson(i).levels]
    patch = count_tokens(f"{lesson(i).levels[3].text} {planted(i)}.")
    return [level[3] + patch, level[3] + level[1], level[3] + level[2] + level[1]]


def test_the_summary_by_hand(mixed):
    summary = cc.summarize_descent(mixed)
    np.testing.assert_allclose(summary.rescue_rate, 2 / 3)
    np.testing.assert_allclose(summary.early_rate, 2 / 3)
    np.testing.assert_allclose(summary.gap_rate, 1 / 3)
    expected = np.mean([spent(0), spent(2)], axis=0)
    np.testing.assert_allclose(summary.tokens_to_rescue, expected)
    assert summary.calls_to_rescue.values.tolist() == [2, 2, 3]
    assert summary.rescue_rate_n.values.tolist() == [3, 3, 3]
    assert summary.tokens_to_rescue_n.values.tolist() == [2, 2, 2]
    full = np.mean([count_tokens(lesson(i, gap=i == 1).levels[0].text) for i in range(3)])
    assert float(summary.full_tokens) == pytest.approx(full)
    assert float(summary.full_rate) == pytest.approx(2 / 3)
    difference = summary.tokens_difference.sel(strategy="delta-patch", against="stepwise")
    assert float(difference) == pytest.approx(expected[0] - expected[2])
    assert np.isnan(summary.tokens_difference.sel(strategy="stepwise", against="stepwise"))
    counts = {name: int(summary[name]) for name in ("lessons", "episodes", "failures", "tests")}
    assert counts == {"lessons": 3, "episodes": 6, "failures": 6, "tests": 6}
    assert summary.failures_gaps.values.tolist() == [2, 2, 2]
    low, high = summary.rescue_rate_ci.sel(strategy="stepwise").values
    assert 0 <= low < 2 / 3 < high <= 1


def test_a_loss_that_no_manifest_declares_is_found_at_l0_alone(descend):
    world = store(1)
    full, *shorter = lesson(0).levels
    silent = tuple(
        replace(level, text=level.text.replace(f" {planted(0)}.", ""), dropped=())
        for level in shorter
    )
    ds = descend(replace(world, lessons=(replace(lesson(0), levels=(full, *silent)),)))
    summary = cc.summarize_descent(ds)
    np.testing.assert_allclose(summary.rescue_rate, 1)
    np.testing.assert_allclose(summary.early_rate, 0)
    assert summary.calls_to_rescue.values.tolist() == [2, 2, 4]
    assert "0 of 2" in cc.table_descent(summary)["before L0"].tolist()


def test_a_lesson_counts_once_however_many_episodes_it_has(mixed):
    fewer = mixed.isel(episode=[0, 1, 2])  # two of the first lesson, one with the gap
    np.testing.assert_allclose(cc.summarize_descent(fewer).rescue_rate, 1 / 2)
    alone = cc.summarize_descent(mixed.isel(episode=[0, 1]))
    assert set(alone.rescue_rate_unit.values) == {"episode"}


def test_the_curve_is_a_step_function(mixed):
    curve = cc.summarize_descent(mixed).curve
    assert (curve.diff("spent") >= 0).all()
    np.testing.assert_allclose(curve.isel(spent=0), 0)
    np.testing.assert_allclose(curve.isel(spent=-1), 2 / 3)
    for i, strategy in enumerate(STRATEGIES):
        one = curve.sel(strategy=strategy)
        first = min(spent(0)[i], spent(2)[i])
        assert one.sel(spent=first) > 0
        assert (one.where(one.spent < first, 0) == 0).all()


def test_failures_that_the_control_passes_are_left_out_and_counted(descend):
    def knows(prompt):
        return "" if "Open valve" in prompt else code(0)

    ds = descend(store(gaps=(1,)), Told(knows=knows))
    dropped = cc.summarize_descent(ds)
    kept = cc.summarize_descent(ds, controls="keep")
    np.testing.assert_allclose(dropped.rescue_rate, 1 / 2)
    np.testing.assert_allclose(kept.rescue_rate, 2 / 3)
    assert (int(dropped.failures), int(kept.failures), int(dropped.control_passes)) == (4, 6, 2)
    assert "2 failures that the control passes: left out" in cc.text_descent(dropped)
    assert "2 failures that the control passes: kept" in cc.text_descent(kept)


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_a_failure_whose_control_failed_is_open_and_counted(descend):
    ds = descend(store(gaps=(1,)), Told(fails=lambda p: "Open valve" not in p and "valve 0" in p))
    dropped = cc.summarize_descent(ds)
    assert (int(dropped.failures), int(dropped.controls_unknown)) == (4, 2)
    assert "2 failures whose control has no result: left out" in cc.text_descent(dropped)
    kept = cc.summarize_descent(ds, controls="keep")
    assert int(kept.failures) == 6
    assert "2 failures whose control has no result: kept" in cc.text_descent(kept)


def test_what_was_not_judged_is_neither_rescued_nor_lost(descend):
    with pytest.warns(UserWarning, match="no result"):
        ds = descend(
            store(gaps=(1,)), Told(fails=lambda p: planted(0) in p and BACK not in p),
            statistics="none", weights=(0, 0, 1),
        )  # fmt: skip
    summary = cc.summarize_descent(ds)
    patch = summary.sel(strategy="delta-patch")
    assert (int(patch.failures_judged), int(patch.failures_failed)) == (4, 2)
    assert float(patch.rescue_rate) == pytest.approx(1 / 2)
    np.testing.assert_allclose(patch.rescue_bounds, [1 / 3, 2 / 3])
    step = summary.sel(strategy="stepwise")
    np.testing.assert_allclose(step.rescue_bounds, 2 / 3)
    assert "4/6, 2 not judged" in cc.text_descent(summary)
    assert "2 of " in cc.text_descent(summary)


def test_six_episodes_have_no_decimals(mixed, descend):
    summary = cc.summarize_descent(mixed)
    text = cc.text_descent(summary)
    assert "6 episodes: a direction, not a decimal place" in text
    assert not re.search(r"\d\.\d", cc.table_descent(summary).to_string())
    assert "delta-patch − stepwise, paired: fewer tokens" in text
    assert cc.table_descent(summary).loc["stepwise", "rescued"] == "4 of 6"
    many = cc.summarize_descent(descend(store(4, gaps=(1,))))
    assert many.attrs["few"] == "no"
    assert cc.table_descent(many).loc["stepwise", "rescued"].startswith("0.75 [")
    assert "direction" not in cc.text_descent(many)


def test_the_text_says_whether_there_was_a_judge(mixed, descend):
    summary = cc.summarize_descent(mixed)
    assert "no judge: claims are ranked by rescue rate and token share alone" in cc.text_descent(
        summary
    )
    judged = cc.text_descent(cc.summarize_descent(descend(judge="model:simulated")))
    assert "judge of usefulness: model:simulated (the logistic function" in judged
    assert "SIMULATED" in judged
    assert "tokens of its own a failed episode" in judged
    assert "rescue rates: 6 train episodes" in judged


def test_nothing_to_rescue_is_said(descend):
    summary = cc.summarize_descent(descend(model=Told(knows=everything)))
    assert int(summary.failures) == 0
    assert "nothing to rescue" in cc.text_descent(summary)
    assert np.isnan(summary.rescue_rate).all()
    labels = [text.get_text() for text in cc.plot_descent(summary).get_legend().get_texts()]
    assert labels == [f"{name}: none judged" for name in STRATEGIES]
    assert "no failure that was judged" in cc.describe_descent(summary)


def test_the_figure_draws_the_summary(mixed):
    summary = cc.summarize_descent(mixed)
    ax = cc.plot_descent(mixed)
    lines = {line.get_gid(): line for line in ax.get_lines()}
    for strategy in STRATEGIES:
        drawn = lines[strategy]
        assert drawn.get_drawstyle() == "steps-post"
        assert drawn.get_xdata()[:-1].tolist() == summary.spent.values.tolist()
        np.testing.assert_allclose(drawn.get_ydata()[:-1], summary.curve.sel(strategy=strategy))
        assert drawn.get_label() == f"{strategy} (n = 6)"
    assert lines["L0"].get_xdata()[0] == pytest.approx(float(summary.full_tokens))
    beneath = " ".join(text.get_text() for text in ax.texts).replace("\n", " ")
    assert "knowledge gaps (L0 fails too): delta-patch 2, delta-jump 2, stepwise 2" in beneath
    assert "no judge" in beneath
    assert "a direction, not a decimal place" in beneath
    said = cc.describe_descent(mixed)
    assert "delta-patch rescues 4 of 6 failures" in said
    assert "2 are knowledge gaps" in said


def test_save_and_load(mixed, tmp_path):
    assert cc.load(cc.save(mixed, tmp_path / "d.nc")).identical(mixed)
    short = cc.load(cc.save(mixed.drop_vars("rung_text"), tmp_path / "e.nc"))
    assert "rung_text" not in short


def test_long_texts_may_stay_in_the_ledger(descend, mixed):
    ds = descend(store(gaps=(1,)), texts=False)
    assert {"answer", "rung_text"} & set(ds) == set()
    assert mixed.rung_text.values[0, 0, 1, 0].endswith(f"{planted(0)}.")
    assert cc.summarize_descent(ds).rescue_rate.equals(cc.summarize_descent(mixed).rescue_rate)


@pytest.mark.parametrize("call", [cc.text_descent, cc.table_descent, cc.plot_descent,
                                  cc.describe_descent, cc.summarize_descent])  # fmt: skip
def test_another_dataset_is_refused(call, mixed):
    with pytest.raises(DatasetError, match="descent"):
        call(mixed.assign_attrs(question="rose"))
    with pytest.raises(DatasetError):
        call(None)


def test_a_lost_dimension_is_named(mixed):
    with pytest.raises(DatasetError, match="lost the dimension strategy"):
        cc.summarize_descent(mixed.sel(strategy="stepwise"))
    one = cc.summarize_descent(mixed.sel(strategy=["stepwise"]))
    assert one.sizes["strategy"] == 1
    assert "rescue rates" not in cc.text_descent(one)


def test_arguments_of_the_summary(mixed):
    with pytest.raises(ValueError, match="controls"):
        cc.summarize_descent(mixed, controls="maybe")
    with pytest.raises((ValueError, UsageError), match="confidence"):
        cc.summarize_descent(mixed, confidence=2)


def run(capsys, *args):
    with pytest.raises(SystemExit) as stop:
        main(["rose", "descend", *(str(arg) for arg in args), "--quiet", "--ledger", "none"])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_the_command(capsys, tmp_path):
    out, plot = tmp_path / "a" / "d.nc", tmp_path / "b" / "d.png"
    code_, text, err = run(
        capsys, "rose_bench", "--model", "simulated", "--strategy", "stepwise", "--strategy",
        "delta-patch", "--judge", "bm25", "--weights", 1, 0, 0, "--holdout", 0.05,
        "--statistics", "none", "--out", out,
        "--plot", plot,
    )  # fmt: skip
    assert code_ == 0
    assert [row.split()[0] for row in text.splitlines()[:3]] == [
        "strategy", "stepwise", "delta-patch",
    ]  # fmt: skip
    assert "judge of usefulness: bm25" in text
    assert cc.load(out).attrs["weights"] == "[1.0,0.0,0.0]"
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert str(plot) in err


def test_the_command_says_what_it_would_cost(capsys):
    code_, text, _ = run(capsys, "--model", "simulated", "--holdout", 0.05, "--dry-run")
    assert code_ == 0
    assert "calls at most: " in text


@pytest.mark.filterwarnings("always")
def test_the_command_in_json_and_with_cells_that_failed(capsys):
    code_, text, err = run(
        capsys, "demo_store", "--model", "simulated", "--grader", "checklist", "--holdout", 1,
        "--json",
    )  # fmt: skip
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found["attrs"]["question"] == "descent"
    # Some recorded episodes have no checklist: they are not judged.
    assert code_ == 3
    assert "cells have no result" in err


def test_the_command_refuses_in_one_line(capsys):
    code_, _, err = run(capsys, "--model", "simulated", "--strategy", "jump")
    assert code_ == 2
    assert len(err.strip().splitlines()) == 1
