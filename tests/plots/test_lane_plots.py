import itertools

import numpy as np
import pytest
from helpers import Rote, curriculum
from matplotlib.colors import to_rgb

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.plots.style import arm_style


def lane(**more):
    return cc.run_lane("dev", **{"ledger": False, "progress": False, **more})


def curves(ax):
    return [line for line in ax.lines if line.get_linestyle() not in ("None", "none")]


def test_a_curve_is_what_the_summary_says():
    summary = cc.summarize_lane(lane())
    ax = cc.plot_lane(summary, concepts="wisdom", arms="taught")
    (line,) = curves(ax)
    assert line.get_xydata().tolist() == [[k, k] for k in range(6)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("corrections given (k)", "expected tokens hit")


def test_a_run_is_summarised_and_the_axes_given_are_used():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert cc.plot_lane(lane(), ax) is ax
    assert cc.plot_survival(lane(), ax) is ax


def test_the_line_breaks_at_a_missing_k():
    system = Rote(fails_at=lambda heard, text: text.endswith("?") and len(heard) in (2, 3))
    with pytest.warns(UserWarning, match="no result"):
        ds = cc.run_lane([curriculum(words=("joy", "rest", "calm"))], system, arms="taught",
                         ledger=False, progress=False)  # fmt: skip
    ax = cc.plot_lane(ds)
    (line,) = curves(ax)
    y = line.get_ydata()
    assert np.isnan(y[[1, 2]]).all()
    assert y[[0, 3]].tolist() == [0, 3]
    assert [t.get_text() for t in ax.texts if t.get_text().startswith("n=")] == ["n=0", "n=0"]


def test_the_note_says_what_was_compared_and_stays_within_its_axes():
    import matplotlib.pyplot as plt

    edited = cc.drop(cc.load_curricula("dev")[0], 2)
    ds = cc.run_lane(edited, ledger=False, progress=False)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for ax in axes:
        cc.plot_lane(ds, ax)
    figure.draw_without_rendering()
    for ax in axes:
        note = ax.texts[-1]
        assert "replay determinism 1.00" in " ".join(note.get_text().split())
        assert note.get_window_extent().x1 <= ax.get_window_extent().x1
        assert ax.get_position().width > 0.3


def test_markers_tell_whether_replays_agree():
    filled = cc.plot_lane(lane(), concepts="wisdom", arms="taught").lines[1]
    hollow = cc.plot_lane(lane(replays=1), concepts="wisdom", arms="taught").lines[1]
    assert to_rgb(filled.get_markerfacecolor()) == to_rgb(arm_style("taught").colour)
    assert hollow.get_markerfacecolor() == "white"


def test_arms_differ_in_colour_dash_and_lightness():
    arms = ["taught", "control", "ceiling", "placebo", "scrambled", "truncation"]
    styles = [arm_style(arm) for arm in arms]
    assert len({s.colour for s in styles}) == len({s.marker for s in styles}) == len(arms)
    assert len({str(s.dash) for s in styles}) == len(arms)


def test_facets_share_axes_colours_and_one_legend():
    ds = cc.run_lane("public", ledger=False, progress=False)
    figure = cc.facet(cc.plot_lane, ds, col="concept")
    assert len(figure.axes) == ds.sizes["concept"]
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    assert figure.axes[0].get_xlim()[1] > ds.curriculum_length.max()
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["taught", "control"]
    for ax in figure.axes:
        assert [line.get_color() for line in curves(ax)] == [
            arm_style("taught").colour, arm_style("control").colour,
        ]  # fmt: skip


def test_facets_by_arm_and_with_their_own_axes():
    ds = cc.run_lane("stress", ledger=False, progress=False)
    assert len(cc.facet(cc.plot_lane, ds, col="arm").axes) == 2
    own = cc.facet(cc.plot_lane, ds, share=False)
    assert len({ax.get_xlim() for ax in own.axes}) > 1
    with pytest.raises(UsageError, match="`col` has no 'sample'"):
        cc.facet(cc.plot_lane, ds, col="sample")


def test_titles_of_facets_stay_within_their_panels():
    ds = cc.run_lane([curriculum("W" * 59 + str(i)) for i in range(6)], Rote(), ledger=False,
                     progress=False)  # fmt: skip
    figure = cc.facet(cc.plot_lane, ds)
    figure.canvas.draw()
    top = sorted((ax.title.get_window_extent() for ax in figure.axes[:5]), key=lambda box: box.x0)
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(top))
    assert top[-1].x1 < figure.bbox.x1


def test_a_band_is_mentioned_only_where_one_is_drawn():
    for n, drawn in ((1, False), (3, True)):
        ds = cc.run_lane([curriculum(f"c{i}") for i in range(n)], Rote(), ledger=False,
                         progress=False)  # fmt: skip
        told = any("band:" in text.get_text() for text in cc.plot_survival(ds).texts)
        assert told == drawn


def test_survival_draws_what_the_summary_says():
    summary = cc.summarize_lane(lane())
    ax = cc.plot_survival(summary)
    line = ax.lines[0]
    assert line.get_drawstyle() == "steps-post"
    drawn = dict(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))
    assert drawn[-1] == 1
    assert drawn[0] == 0
    assert str(int(summary.survival_at_risk.sel(arm="taught", delay_k=0))) in [
        t.get_text() for t in ax.texts
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_figures_of_little_data_draw(n, tmp_path):
    ds = cc.run_lane([curriculum(words=("joy",) * 1)], Rote(), samples=n, ledger=False,
                     progress=False)  # fmt: skip
    cc.plot_lane(ds).figure.savefig(tmp_path / "a.png")
    cc.plot_survival(ds).figure.savefig(tmp_path / "b.png")


@pytest.mark.parametrize("concept", ["$x$ and $\\frac{$", "a\ud800b"])
def test_names_are_drawn_as_they_are(concept, tmp_path):
    ds = cc.run_lane([curriculum(concept, ("joy",))], Rote(), ledger=False, progress=False)
    cc.plot_lane(ds).figure.savefig(tmp_path / "a.png")
    cc.facet(cc.plot_lane, ds).savefig(tmp_path / "b.png")


def test_names_that_are_not_there_are_refused():
    with pytest.raises(UsageError, match="did you mean 'wisdom'"):
        cc.plot_lane(lane(), concepts=["wisdon"])
    with pytest.raises(DatasetError, match="run_lane or summarize_lane"):
        cc.plot_lane({})


def test_words_stand_for_the_figure():
    summary = cc.summarize_lane(lane())
    assert "taught goes from 0.0 to 5.7 tokens on average, 3 of 3 curves saturate" in (
        cc.describe_lane(summary)
    )
    assert "control: 0 of 17 tokens are heard" in cc.describe_survival(summary)


def failing(concepts, length, **more):
    words = tuple(f"word{i}" for i in range(length))
    with pytest.warns(UserWarning, match="no result"):
        return cc.run_lane([curriculum(f"c{i}", words) for i in range(concepts)],
                           Rote(fails_at=lambda heard, text: True), ledger=False, progress=False,
                           **more)  # fmt: skip


@pytest.mark.parametrize(("concepts", "length"), [(1, 5), (5, 5), (30, 5), (1, 24), (3, 24)])
def test_counts_of_missing_results_do_not_overprint(concepts, length):
    ax = cc.plot_lane(failing(concepts, length))
    ax.figure.canvas.draw()
    boxes = [
        t.get_window_extent() for t in ax.texts if "n=0" in t.get_text() and t is not ax.texts[-1]
    ]
    assert boxes
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_one_panel_is_large_enough_to_read():
    ds = lane()
    one = cc.facet(cc.plot_lane, ds.sel(concept=["wisdom"])).get_size_inches()
    assert one[0] >= 4.5
    assert one[1] >= 4
    three = cc.facet(cc.plot_lane, ds).get_size_inches()
    assert three[0] == pytest.approx(6)


def test_a_row_of_many_steps_is_no_bar():
    words = tuple(f"word{i}" for i in range(24))
    ds = cc.run_lane([curriculum(f"c{i}", words) for i in range(3)], Rote(), ledger=False,
                     progress=False)  # fmt: skip
    figure = cc.facet(cc.plot_lane, ds)
    figure.canvas.draw()
    ax = figure.axes[0]
    (x, _), (after, _) = ax.transData.transform([(0, 0), (1, 0)])
    for line in ax.lines:
        if line.get_marker() not in ("None", "none", "", None):
            assert line.get_markersize() * figure.dpi / 72 < 0.7 * (after - x)
