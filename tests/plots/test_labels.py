"""Names from data stand in every figure as they are: seen, literal, drawable, and not on a bar."""

import io
import warnings

import numpy as np
import pytest
import recall_data
from helpers import Rote, curriculum
from matplotlib.text import Text
from rose_data import many, rose

import corecurves as cc
from corecurves.plots.style import label, legible

QUIET = {"ledger": False, "progress": False}
HOSTILE = {
    "_mine": "_mine",
    "costs $5 or $6": r"costs \$5 or \$6",
    "$\\frac$": r"\$\frac\$",
    "a\u202eb\u200bc": r"a\u202eb\u200bc",
    "a\x07\ud800b": r"a\x07\ud800b",
    "\u52c7\u6c17": r"\u52c7\u6c17",
    "two\nlines": "two lines",
    "n" * 60: "n" * 15 + "…" + "n" * 16,
}
"""Names, and what a figure shows of them where no installed font has Han."""


RUNS = {"dev": cc.run_lane("dev", "parrot", **QUIET)}


def lane(name):
    kinds = [curriculum(name, ("judgment", "patience")), curriculum("courage", ("hope", "rest"))]
    ds = cc.run_lane(kinds, Rote(), **QUIET)
    return ds.assign_coords(arm=np.array(["taught", name], dtype=object))


def recall(name, tmp_path):
    root = recall_data.write_store(tmp_path / "s", recall_data.LESSONS, recall_data.EPISODES)
    ds = cc.run_recall_eval(root, "bm25", **QUIET)
    ds.attrs |= {"selector": name, "store": name}
    return ds.assign_coords(lesson=[f"{name}{i}" for i in range(ds.sizes["lesson"])])


def transfer(name):
    places = {"control": [0, 0], "ceiling": [1, 1], f"treatment {name}": [1, 0]}
    ds = rose({f"{name}": places, "b": places}, levels=(name,), kinds=[name, name])
    ds.attrs |= {"model": name, "grader": name}
    return ds


FIGURES = {
    "plot_lane": lambda n, _: cc.plot_lane(lane(n)),
    "plot_lane, one": lambda n, _: cc.plot_lane(lane(n), concepts=[n]),
    "facet": lambda n, _: cc.facet(cc.plot_lane, lane(n)).axes[0],
    "plot_survival": lambda n, _: cc.plot_survival(lane(n)),
    "plot_systems": lambda n, _: cc.plot_systems({n: RUNS["dev"]}),
    "plot_rose, kind": lambda n, _: cc.plot_rose(transfer(n), kinds=n),
    "plot_arms": lambda n, _: cc.plot_arms(transfer(n)),
    "plot_lessons": lambda n, _: cc.plot_lessons(transfer(n)),
    "plot_compressors": lambda n, _: cc.plot_compressors({n: transfer("L1")}),
    "plot_recall": lambda n, tmp: cc.plot_recall({n: recall(n, tmp)}),
    "plot_recall, selector": lambda n, tmp: cc.plot_recall(recall(n, tmp)),
}  # fmt: skip


def texts(figure):
    """Everything that is written in a figure, drawn, so that ticks have their labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), dpi=50)
    return [text.get_text().replace("\n", " ") for text in figure.findobj(Text)]


@pytest.mark.filterwarnings("ignore:no installed font")
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("plot", FIGURES)
def test_every_name_is_seen_as_it_is(plot, name, tmp_path):
    ax = FIGURES[plot](name, tmp_path)
    shown = HOSTILE[name][:8]
    assert any(shown in text for text in texts(ax.get_figure(root=True))), texts(ax.figure)


def test_a_legend_shows_names_that_begin_with_an_underscore():
    runs = dict.fromkeys(("_mine", "_theirs"), RUNS["dev"])
    ax = cc.plot_systems(runs)
    found = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"_mine", "_theirs"} <= set(found)
    ax.legend()  # a legend of the user's own has them too
    assert sum("_mine" in text.get_text() for text in ax.get_legend().get_texts()) == 1


def test_one_warning_a_figure_for_characters_that_no_font_has():
    kinds = [curriculum(f"\u52c7\u6c17 {i}", ("judgment",)) for i in range(6)]
    ds = cc.run_lane(kinds, Rote(), **QUIET)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cc.facet(cc.plot_lane, ds).savefig(io.BytesIO())
    assert [str(one.message).split(" in the labels")[0] for one in caught] == [
        "no installed font has the characters of CJK"
    ]


def test_a_font_that_has_the_characters_is_used():
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    ax.set_title("a \u2a7d \U0001d504 b")  # Matplotlib's own STIX has the second
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        legible(ax)
        ax.figure.savefig(io.BytesIO())
    assert ax.get_title() == "a \u2a7d \U0001d504 b"


def test_labels_are_short_and_in_one_line():
    assert label("x" * 100) == "x" * 15 + "…" + "x" * 16
    assert label("a\n b\tc") == "a b c"


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_no_label_stands_on_an_error_bar_or_another_label(levels):
    names = tuple(f"L{i}" for i in range(1, levels))
    ax = cc.plot_rose(many(6, levels=names))
    ax.figure.canvas.draw()
    boxes = [
        text.get_window_extent()
        for text in ax.texts
        if ", n=" in text.get_text() or "margin" in text.get_text()
    ]
    assert len(boxes) == levels + 2
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        for container in ax.containers:
            for bar in container.lines[2]:
                path = bar.get_transform().transform_path(bar.get_paths()[0])
                assert not path.intersects_bbox(box, filled=False)


def test_an_arm_that_equals_the_treatment_is_seen_beside_it():
    arms = ("control", "ceiling", "treatment", "scrambled")
    places = {"control": 0, "ceiling": 1, "treatment L1": 1, "scrambled L1": 1}
    lessons = {f"l{i}": {at: [v, v] for at, v in places.items()} for i in range(4)}
    ax = cc.plot_rose(rose(lessons, arms=arms))
    of = {c.get_label(): c.lines[0] for c in ax.containers}
    apart = np.diff([ax.transData.transform(of[a].get_xydata()[0])[0] for a in arms[2:]])[0]
    assert abs(apart) > 4
    assert of["scrambled"].get_zorder() > of["treatment"].get_zorder()
    assert of["scrambled"].get_markerfacecolor() == "white"
