import numpy as np
import pytest
from helpers import Rote, curriculum

import corecurves as cc
from corecurves.errors import DatasetError, UsageError
from corecurves.specs import Identity
from corecurves.stats import t_interval
from corecurves.summaries.systems import compare_systems
from corecurves.systems.base import Turn

FOUR = ("judgment", "patience", "doubt", "time")
PAIR = [curriculum("wisdom", FOUR), curriculum("courage", ("resolve", "fear", "action"))]


def run(system, curricula=PAIR, **more):
    return cc.run_lane(curricula, system, **{"ledger": False, "progress": False, **more})


class Knows:
    """Knows one word from the start, and learns nothing; fails where it is told to."""

    def __init__(self, word, fails=()):
        self.identity = Identity("knows", "1", {"word": word})
        self.word, self.fails = word, fails

    def start(self):
        heard = []

        def turn(text):
            heard.append(text)
            if (text, len(heard) - 2) in self.fails:
                raise RuntimeError("no answer")
            return Turn(self.word, trace_hash="x")

        return type("Session", (), {"turn": staticmethod(turn)})()


def test_shares_are_of_the_tokens_of_the_shortest_curriculum():
    found = compare_systems({"rote": run(Rote()), "knows": run(Knows("judgment"))})
    assert found.attrs["last"] == 3
    assert found.k.values.tolist() == [0, 1, 2, 3]
    taught = found.share.sel(arm="taught")
    np.testing.assert_allclose(taught.sel(system="rote"), [0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(found.ideal, [0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(taught.sel(system="knows"), 1 / 6)
    np.testing.assert_allclose(found.share_of.sel(system="knows", concept="wisdom"), 1 / 3)
    assert found.used.all()


def test_a_token_after_the_last_k_is_not_counted():
    found = compare_systems({"knows": run(Knows("time"))})
    assert (found.share == 0).all()
    whole = compare_systems({"knows": run(Knows("time"))}, last=4)
    assert whole.concept.values.tolist() == ["wisdom"]
    assert whole.attrs["too_short"] == 1
    assert (whole.share == 0.25).all()


def test_what_stands_above_the_control_arm_and_above_a_baseline_is_paired_by_concept():
    found = compare_systems(
        {"rote": run(Rote()), "knows": run(Knows("judgment")), "echo": run("parrot")}
    )
    np.testing.assert_allclose(found.above_control.sel(system="rote"), [0, 1 / 3, 2 / 3, 1])
    assert (found.above_control.sel(system="knows") == 0).all()
    assert (found.above_control_ci.sel(ci_bound="upper") > found.above_control).sel(k=0).all()
    assert found.baseline.values.tolist() == ["echo"]
    np.testing.assert_allclose(found.above_baseline.sel(system="rote"), [[0, 0, 1 / 3, 2 / 3]])
    assert (found.above_baseline.sel(system="echo") == 0).all()
    assert (found.above_baseline_ci.sel(ci_bound="lower") < found.above_baseline).all()


def test_intervals_are_t_over_concepts_with_a_floor():
    curricula = [curriculum(f"c{i}", FOUR) for i in range(6)]

    class Some(Knows):
        def start(self):
            def turn(text):
                return Turn("judgment" if "c0" in text or "c1" in text else "", trace_hash="x")

            return type("Session", (), {"turn": staticmethod(turn)})()

    found = compare_systems({"some": run(Some("x"), curricula, arms="taught")})
    mean, _, high, _ = t_interval([0.25, 0.25, 0, 0, 0, 0])
    at = found.sel(system="some", arm="taught", k=0)
    assert at.share == pytest.approx(mean)
    assert at.share_ci.sel(ci_bound="lower") == 0
    assert at.share_ci.sel(ci_bound="upper") >= high
    flat = compare_systems({"rote": run(Rote(), curricula, arms="taught")}).share_ci.sel(k=2)
    assert (flat.sel(ci_bound="upper") - flat.sel(ci_bound="lower") > 0.2).all()
    assert "above_control" not in found
    assert "without both arms" in str(
        cc.conclude_systems(compare_systems({"rote": run(Rote(), curricula, arms="taught")}))
    )


def test_a_concept_without_a_result_leaves_every_curve_and_is_counted():
    fails = {("What is courage?", 2)}
    with pytest.warns(UserWarning, match="no result"):
        partly = run(Knows("judgment", fails), arms="taught")
    found = compare_systems({"rote": run(Rote()), "partly": partly})
    assert found.used.values.tolist() == [True, False]
    np.testing.assert_allclose(found.share.sel(system="rote", arm="taught"), [0, 1 / 3, 2 / 3, 1])
    one = found.sel(system="partly", arm="taught")
    np.testing.assert_allclose(one.share, 1 / 3)
    np.testing.assert_allclose(one.share_bounds.sel(k=2), [1 / 6, 4 / 6])
    np.testing.assert_allclose(one.share_bounds.sel(k=1), [1 / 6, 1 / 6])
    assert (one.cells_planned, one.cells_judged, one.cells_failed) == (8, 7, 1)
    missing = found.sel(system="partly", arm="control")
    assert missing.share.isnull().all()
    assert missing.cells_planned == 0


def test_with_no_concept_left_the_curves_are_missing():
    with pytest.warns(UserWarning, match="no result"):
        ds = run(Knows("", {("What is wisdom?", 1)}), [PAIR[0]], arms="taught")
    found = compare_systems({"knows": ds})
    assert found.share.isnull().all()
    assert found.share_bounds.sel(k=1).values.ravel().tolist() == [0, 1]


def test_samples_are_averaged_within_a_concept():
    found = compare_systems({"rote": run(Rote(), samples=3)})
    np.testing.assert_allclose(found.share.sel(arm="taught").squeeze(), [0, 1 / 3, 2 / 3, 1])


def test_different_curricula_are_refused():
    other = [curriculum("wisdom", (*FOUR[:3], "age")), PAIR[1]]
    with pytest.raises(DatasetError, match="same curriculum of 'wisdom'"):
        compare_systems({"a": run(Rote()), "b": run(Rote(), other)})
    with pytest.raises(DatasetError, match="courage is in one of them only"):
        compare_systems({"a": run(Rote()), "b": run(Rote(), [PAIR[0]])})
    assert compare_systems({"a": run(Rote()), "b": run(Rote(), PAIR[::-1])}).used.all()


@pytest.mark.parametrize("wrong", [{}, None, {"a": 3}])
def test_what_is_no_lane_is_refused(wrong):
    with pytest.raises(DatasetError):
        compare_systems(wrong)


@pytest.mark.parametrize("last", [0, 5, 2.0, True])
def test_a_last_k_that_is_not_there_is_refused(last):
    with pytest.raises(UsageError, match="whole number from 1 to 4"):
        compare_systems({"rote": run(Rote())}, last=last)


def test_stress_is_compared_by_itself():
    ds = cc.run_lane("stress", "parrot", ledger=False, progress=False)
    with pytest.raises(DatasetError, match="contract=False"):
        compare_systems({"parrot": ds.isel(concept=~ds.contract.values)}, contract=True)
    free = compare_systems({"parrot": ds.isel(concept=~ds.contract.values)})
    assert free.attrs["aggregates_over"] == "not contract"
    assert compare_systems({"parrot": ds}, contract=False).share.max() > 0


def test_a_simulation_is_named():
    ds = cc.run_lane("dev", "in-context:simulated", ledger=False, progress=False)
    assert compare_systems({"sim": ds, "rote": cc.run_lane("dev", Rote(), ledger=False,
                            progress=False)}).attrs["simulated"] == "sim"  # fmt: skip


def test_it_saves_and_loads(tmp_path):
    found = compare_systems({"rote": run(Rote()), "knows": run(Knows("judgment"))})
    assert cc.load(cc.save(found, tmp_path / "x.nc")).identical(found)
