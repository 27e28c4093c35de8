"""Curves of compressors: the same lessons in every line, scissors at equal tokens."""

import pytest
from rose_data import rose

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.plots.compressors import common_lessons

ARMS = ("control", "ceiling", "treatment", "truncation")


def run_of(lessons, *, treatment=1, truncation=0, tokens=None):
    """Run in which each lesson has so many levels."""
    table = {}
    for name, depth in lessons.items():
        places = {"control": [0, 0], "ceiling": [1, 1]}
        for k in range(1, depth + 1):
            places[f"treatment L{k}"] = [treatment] * 2
            places[f"truncation L{k}"] = [truncation] * 2
        table[name] = places
    levels = tuple(f"L{k}" for k in range(1, max(lessons.values()) + 1))
    return rose(table, levels=levels, arms=ARMS, compressor="made", tokens=tokens)


def test_only_lessons_that_every_compressor_made_are_drawn():
    runs = {"a": run_of({"x": 2, "y": 2, "z": 1}), "b": run_of({"x": 2, "y": 2, "w": 2})}
    assert common_lessons(runs) == (["L1", "L2"], ["x", "y"])
    assert common_lessons(runs, ["L1"]) == (["L1"], ["x", "y"])


def test_a_lesson_that_lacks_a_level_between_is_in_no_line():
    whole = {"control": [0], "ceiling": [1], "treatment L1": [1], "treatment L2": [1]}
    gap = {key: value for key, value in whole.items() if key != "treatment L1"}
    run = rose({"x": whole, "y": whole, "z": gap}, levels=("L1", "L2"), arms=ARMS)
    assert common_lessons({"a": run}) == (["L1", "L2"], ["x", "y"])


def test_levels_that_few_lessons_reach_are_left_out_unless_asked_for():
    run = run_of({"v": 2, "w": 1, "x": 1, "y": 1})
    assert common_lessons({"a": run}) == (["L1"], ["v", "w", "x", "y"])
    assert common_lessons({"a": run}, ["L1", "L2"]) == (["L1", "L2"], ["v"])


def test_lines_are_drawn_at_their_tokens_and_labelled():
    runs = {
        "a": run_of({"x": 1, "y": 1}, tokens=[0, 100, 70]),
        "b": run_of({"x": 1, "y": 1}, treatment=0, truncation=1, tokens=[0, 100, 40]),
    }
    ax = cc.plot_compressors(runs)
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["a"] == [[100, 1], [70, 1]]
    assert lines["b"] == [[100, 1], [40, 0]]
    assert lines["scissors, as long as a"] == [[70, 0]]
    assert lines["scissors, as long as b"] == [[40, 1]]
    assert {"the full lesson", "no lesson"} <= set(lines)
    said = " ".join(text.get_text() for text in ax.texts).replace("\n", " ")
    assert "the same 2 of 2 lessons in every line" in said
    assert cc.describe_compressors(runs) == (
        "Transfer on unseen episodes against tokens served: 2 lessons; a L1 1.00 (scissors 0.00) "
        "at 70 tokens; b L1 0.00 (scissors 1.00) at 40 tokens."
    )


def test_a_simulation_is_said_to_be_one():
    run = run_of({"x": 1, "y": 1}).assign_attrs(simulated="yes")
    said = " ".join(text.get_text() for text in cc.plot_compressors({"a": run}).texts)
    assert "SIMULATED" in said


def test_what_cannot_be_drawn_is_said():
    one, other = run_of({"x": 1}), run_of({"y": 1})
    with pytest.raises(DatasetError, match="no lesson was run at these levels in every run"):
        cc.plot_compressors({"a": one, "b": other})
    with pytest.raises(UsageError, match="has no 'L7'"):
        cc.plot_compressors({"a": one}, levels=["L7"])
    with pytest.raises(DatasetError, match="no run is given"):
        cc.plot_compressors({})
    with pytest.raises(DatasetError, match="b: a Dataset of run_rose_eval is needed"):
        cc.plot_compressors({"a": one, "b": cc.summarize_rose(one)})
    with pytest.raises(DatasetError, match="the arm treatment is missing"):
        cc.plot_compressors({"a": one.drop_sel(arm="treatment")})
