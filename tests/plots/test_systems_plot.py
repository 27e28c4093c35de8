import numpy as np
import pytest

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.plots.systems import plot_systems
from corecurves.specs import Identity
from corecurves.summaries.systems import compare_systems
from corecurves.systems.base import Turn


class Prior:
    """Says one expected token of wisdom whatever it is taught."""

    identity = Identity("prior")

    def start(self):
        turn = Turn("judgment", trace_hash="x")
        return type("Session", (), {"turn": staticmethod(lambda text: turn)})()


def runs(*systems):
    return {getattr(s, "identity", Identity(str(s))).name:
            cc.run_lane("dev", s, ledger=False, progress=False) for s in systems}  # fmt: skip


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


def note(ax):
    return "\n".join(t.get_text() for t in ax.texts)


def test_lines_are_what_the_summary_says():
    summary = compare_systems(runs("grounded", "parrot", Prior()))
    ax = plot_systems(summary)
    drawn = lines(ax)
    assert list(drawn) == [
        "all that was taught", "grounded", "parrot", "prior", "prior: control",
    ]  # fmt: skip
    for name in ("grounded", "parrot", "prior"):
        want = summary.share.sel(system=name, arm="taught").values
        np.testing.assert_array_equal(drawn[name].get_ydata(), want)
    control = summary.share.sel(system="prior", arm="control").values
    np.testing.assert_array_equal(drawn["prior: control"].get_ydata(), control)
    np.testing.assert_array_equal(drawn["all that was taught"].get_ydata(), summary.ideal)
    bars = [segment[:, 1].tolist() for segment in ax.collections[1].get_segments()]
    assert bars == summary.share_ci.sel(system="parrot", arm="taught").values.tolist()
    assert ax.get_ylabel() == "share of the first 5 tokens in the answer"


def test_the_note_tells_what_is_not_drawn():
    ax = plot_systems(runs("grounded", "blank", Prior()))
    text = note(ax)
    assert "the same 3 concepts at every point" in text
    assert "control arm 0 throughout: grounded, blank" in text
    assert "without a result" not in text
    assert "simulated" not in text


def test_a_simulation_and_missing_cells_are_named():
    data = runs("in-context:simulated", "grounded")
    short = data["grounded"].copy(deep=True)
    short.status[1, 2, 0, 0] = "cut_off"
    short.token_hits[1, 2, 0, 0] = np.nan
    text = note(plot_systems({**data, "grounded": short}))
    assert "the same 2 concepts of 3" in text
    assert "snapshots without a result: grounded 1" in text
    assert "simulated, no real model: in-context:simulated" in text


def test_the_axes_given_are_used_and_systems_differ():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert plot_systems(runs("grounded", "parrot", "blank"), ax) is ax
    styles = {(line.get_color(), line.get_marker()) for line in ax.lines[1:]}
    assert len(styles) == 3


def test_what_is_no_comparison_is_refused():
    with pytest.raises(DatasetError, match="compare_systems"):
        plot_systems(cc.run_lane("dev", ledger=False, progress=False))
