"""The gap between the episodes that a compressor was shown and the others."""

import numpy as np
import pytest
from rose_data import rose

import corecurves as cc
from corecurves.errors import DatasetError


def dataset(treatment, *, ceiling=(1, 1, 1, 1), lessons=3, shown=(0, 1), **more):
    """Lessons of four episodes; a compressor made L1 and was shown some of them."""
    names = [f"l{i}" for i in range(lessons)]
    table = {
        name: {"control": [0] * 4, "ceiling": list(ceiling), "treatment": list(treatment)}
        for name in names
    }
    options = {"compressor": "prune", "leaks": "keep", **more}
    leaked = [(name, e, "L1") for name in names for e in shown]
    return rose(table, leaked=leaked + list(options.pop("also", ())), **options)


def at(found, name):
    return float(found[name].sel(level="L1"))


def test_the_gap_is_shown_minus_unseen():
    found = cc.memorisation(dataset((1, 1, 0, 1)))
    assert (at(found, "shown"), at(found, "unseen"), at(found, "gap")) == (1, 0.5, 0.5)
    assert (at(found, "full_gap"), at(found, "net_gap")) == (0, 0.5)
    assert (at(found, "gap_n"), at(found, "shown_episodes"), at(found, "unseen_episodes")) == (
        3, 6, 6)  # fmt: skip
    low, high = found.gap_ci.sel(level="L1").values
    assert low < 0.5 < high
    assert found.gap_unit.sel(level="L1").item() == "lesson"


def test_a_gap_that_l0_has_too_is_no_memorisation():
    found = cc.memorisation(dataset((1, 1, 0, 0), ceiling=(1, 1, 0, 0)))
    assert (at(found, "gap"), at(found, "full_gap"), at(found, "net_gap")) == (1, 1, 0)


def test_the_net_gap_may_leave_the_range_of_a_gap():
    found = cc.memorisation(dataset((1, 1, 0, 0), ceiling=(0, 0, 1, 1)))
    assert at(found, "net_gap") == 2
    assert found.net_gap_ci.sel(level="L1").values[1] == 2


def test_episodes_that_l0_was_written_from_are_neither():
    ds = dataset((0, 1, 0, 1), shown=(1,), also=[(f"l{i}", 0, x) for i in range(3)
                                                 for x in ("L0", "L1")])  # fmt: skip
    found = cc.memorisation(ds)
    assert (at(found, "shown"), at(found, "unseen")) == (1, 0.5)
    assert (at(found, "shown_episodes"), at(found, "unseen_episodes")) == (3, 6)


def test_lessons_with_one_kind_alone_and_cells_without_a_result_are_left_out():
    ds = dataset((1, 1, 0, 0))
    ds.leaked[0] = False
    ds.passed[1, 2:, 2, 2] = np.nan
    found = cc.memorisation(ds)
    assert (at(found, "gap"), at(found, "gap_n")) == (1, 1)
    assert np.isnan(found.gap_ci.sel(level="L1").values).all()
    assert "1.0" in cc.table_memorisation(found)["gap"].iloc[0]


def test_the_gap_is_a_mean_over_lessons_not_over_episodes():
    ds = dataset((1, 1, 0, 0))
    ds.passed[0, 2:, 2, 2] = 1
    assert at(cc.memorisation(ds), "gap") == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("ds", "message"),
    [
        (dataset((1, 1, 0, 1), shown=()), "holdout=1 and leaks='keep'"),
        (dataset((1, 1, 0, 1), shown=(0, 1, 2, 3)), "holdout=1 and leaks='keep'"),
        (dataset((1, 1, 0, 1), compressor=None), "no level was made by a compressor"),
        (dataset((1, 1, 0, 1)).drop_sel(arm="ceiling"), "treatment and ceiling are needed"),
    ],
)
def test_what_shows_nothing_is_refused(ds, message):
    with pytest.raises(DatasetError, match=message):
        cc.memorisation(ds)


def test_the_table_names_compressors_and_what_it_is_over():
    found = cc.memorisation(dataset((1, 1, 0, 1), lessons=4))
    table = cc.table_memorisation({"prune": found, "other": found})
    assert table.index.tolist() == [("prune", "L1"), ("other", "L1")]
    row = table.loc[("prune", "L1")]
    assert row["episodes"] == "8 shown, 8 not"
    assert row["gap"].startswith("+0.50 [")
    assert row["lessons"] == 4
    with pytest.raises(DatasetError, match="a Dataset of memorisation is needed"):
        cc.table_memorisation({"x": dataset((1, 1, 0, 1))})
