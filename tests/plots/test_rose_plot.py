"""The transfer figure: what stands beneath it, and where its labels stand."""

import matplotlib.pyplot as plt
import pytest
from rose_data import many, rose

import corecurves as cc


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def labels(ax):
    return {
        text.get_text().partition(",")[0]: text for text in ax.texts if ", n=" in text.get_text()
    }


def note(ax):
    return " ".join(text.get_text() for text in ax.figure.texts + ax.texts).replace("\n", " ")


def one_lesson(full, short, **more):
    places = {"control": [0] * 4, "ceiling": [1] * full + [0] * (4 - full),
              "treatment": [1] * short + [0] * (4 - short)}  # fmt: skip
    return rose({"a": places}, **more)


@pytest.mark.parametrize(("full", "short"), [(4, 1), (1, 4), (3, 2), (2, 3)])
def test_labels_stand_on_the_side_that_the_curve_is_not(full, short):
    ax = cc.plot_rose(one_lesson(full, short))
    found = labels(ax)
    # The curve runs from L1 at the left to L0 at the right.
    rises = full > short
    assert found["L1"].get_ha() == "left"
    assert found["L1"].get_va() == ("top" if rises else "bottom")
    assert found["L0"].get_ha() == "right"
    assert found["L0"].get_va() == ("bottom" if rises else "top")
    ax.figure.canvas.draw()
    curve = max(ax.lines, key=lambda line: len(line.get_xdata())).get_path()
    shown = ax.transData.transform_path(curve)
    for name in ("L0", "L1"):
        assert not shown.intersects_bbox(found[name].get_window_extent(), filled=False), name


def test_levels_that_are_not_drawn_have_labels_too():
    summary = cc.summarize_rose(many(3, levels=("L1", "L2", "L3")), levels=["L3"])
    assert {"L0", "L3"} <= set(labels(cc.plot_rose(summary)))


def test_what_failed_and_what_is_left_out_stands_beneath():
    lesson = {"control": [0, 0], "ceiling": [1, 1], "treatment": ["call_failed"] * 2}
    text = note(cc.plot_rose(rose({f"l{i}": lesson for i in range(4)})))
    assert "8 of 24 cells failed, all of them of treatment at L1" in text
    assert "all levels drawn" not in text
    whole = {**lesson, "treatment": [1, 1]}
    some = rose({"a": whole, "b": whole, "c": lesson})
    for plot in (cc.plot_rose, cc.plot_arms):
        text = note(plot(some))
        assert "1 of 3 lessons left out for want of a result; 2 of 18 cells failed;" in text
        assert "2 lessons with all levels drawn" in text


def test_beneath_the_figure():
    text = note(cc.plot_rose(one_lesson(4, 1)))
    assert "1 lesson with all levels drawn" in text
    planted = many(3, planted=[("lesson000", "L1")])
    assert "on purpose: 1 of 3 lessons at L1" in note(cc.plot_rose(planted))
    gone = rose({"a": {"control": [0, 0], "ceiling": [1, 1]}},
                leaked=[("a", 0, "L1"), ("a", 1, "L1")])  # fmt: skip
    text = note(cc.plot_rose(gone))
    assert "1 lesson with no shorter level drawn" in text
    assert "nothing is left of L1" in text
