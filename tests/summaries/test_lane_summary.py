import numpy as np
import pytest
from helpers import Rote, curriculum

import corecurves as cc
from corecurves.errors import DatasetError
from corecurves.specs import Identity
from corecurves.systems.base import Turn

WORDS = ("judgment", "patience", "doubt", "time")


class Scripted:
    """Answers the probe with a given text after k corrections; None fails."""

    identity = Identity("scripted")

    def __init__(self, answers):
        self.answers = answers

    def start(self):
        heard = []

        def turn(text):
            heard.append(text)
            if not text.endswith("?"):
                return Turn("noted")
            answer = self.answers[len(heard) - 2]
            if answer is None:
                raise RuntimeError("no answer")
            return Turn(answer, trace_hash=f"hash of {answer}")

        return type("Session", (), {"turn": staticmethod(turn)})()


def summary(*answers, concepts=1, warns=False, **more):
    curricula = [curriculum(f"concept{i}", WORDS) for i in range(concepts)]
    arguments = {"arms": "taught", "ledger": False, "progress": False, **more}
    if warns:
        with pytest.warns(UserWarning, match="no result"):
            ds = cc.run_lane(curricula, Scripted(answers), **arguments)
    else:
        ds = cc.run_lane(curricula, Scripted(answers), **arguments)
    return cc.summarize_lane(ds).sel(arm="taught").squeeze("sample")


def test_hand_computed_curve():
    found = summary("", "judgment", "judgment", "judgment doubt", "judgment patience doubt time")
    one = found.isel(concept=0)
    assert one.cumulative_token_hit_count.values.tolist() == [0, 1, 1, 2, 4]
    assert one.gain.values[1:].tolist() == [1, 0, 1, 2]
    assert np.isnan(one.gain.values[0])
    assert one.corrections_to_first_hit == 1
    assert one.corrections_to_saturation == 4
    assert one.saturation_score == 1
    assert one.delay.values.tolist() == [0, 2, 0, 0]
    assert found.mean_delay == 0.5


def test_never_is_missing_not_zero():
    found = summary("", "", "", "", "")
    assert found.first_hit_state.item() == found.saturation_state.item() == "never"
    assert np.isnan(found.corrections_to_first_hit).all()
    assert np.isnan(found.mean_corrections_to_first_hit)
    assert found.first_hit_rate == found.saturation_rate == 0
    assert found.mean_saturation_score == 0
    assert found.tokens_censored == 4
    assert found.delay.values.ravel().tolist() == [3, 2, 1, 0]


def test_prior_knowledge_is_a_negative_delay():
    found = summary("time", "time", "time", "time", "time")
    assert found.corrections_to_first_hit == 0
    assert found.delay.values.ravel()[-1] == -4
    assert found.delay_k.values.min() == -5
    assert found.survival.sel(delay_k=-5) == 1
    assert found.survival.sel(delay_k=-4) == 0.75


def test_forgetting_lowers_the_score_but_not_the_saturation():
    found = summary("", "judgment patience doubt time", "", "", "judgment")
    assert found.corrections_to_saturation == 1
    assert found.saturation_score == 0.25


def test_a_missing_snapshot_leaves_the_figure_undecided():
    found = summary("", None, "judgment", "judgment", "judgment", warns=True)
    assert found.first_hit_state.item() == "undecided"
    assert np.isnan(found.corrections_to_first_hit).all()
    assert found.first_hit_undecided == 1
    assert np.isnan(found.first_hit_rate)
    # Its k is not known; that it was reached is.
    assert found.first_hit_rate_bounds.values.tolist() == [1, 1]
    assert found.cells_failed == 1
    none = summary("", None, "", "", "", warns=True)
    assert none.first_hit_rate_bounds.values.tolist() == [0, 1]
    late = summary("", "judgment", None, "judgment", "judgment", warns=True)
    assert late.corrections_to_first_hit == 1
    assert late.saturation_state.item() == "undecided"


def test_a_missing_last_snapshot_has_no_score():
    found = summary("", "judgment", "judgment", "judgment", None, warns=True)
    assert np.isnan(found.saturation_score).all()
    assert found.mean_saturation_score_n == 0


def test_rates_have_wilson_intervals_of_some_width():
    found = summary("", "judgment", "x", "x", "judgment patience doubt time", concepts=12)
    low, high = found.saturation_rate_ci.values
    assert found.saturation_rate == 1
    assert (round(low, 4), high) == (0.7575, 1.0)


def test_samples_are_averaged_within_a_concept_first():
    ds = cc.run_lane([curriculum(words=WORDS)], Rote(), samples=3, ledger=False, progress=False)
    found = cc.summarize_lane(ds)
    assert found.mean_corrections_to_first_hit_n.sel(arm="taught") == 1
    assert found.samples_judged.sel(arm="taught", k=2).item() == 3
    assert found.n_concepts == 1


def test_stress_never_enters_the_contracts_aggregates():
    ds = cc.run_lane(["dev", "stress"], ledger=False, progress=False)
    alone = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    both = cc.summarize_lane(ds)
    names = [n for n in both.data_vars if str(n).startswith("mean_corr") and "ci" not in str(n)]
    for name in [*names, "saturation_rate", "n_concepts", "replay_determinism"]:
        taught = {"arm": "taught"} if "arm" in both[name].dims else {}
        assert both[name].sel(taught) == alone[name].sel(taught), name
    other = cc.summarize_lane(ds, contract=False)
    assert other.n_concepts == (~ds.contract).sum()
    free = cc.summarize_lane(ds.isel(concept=~ds.contract.values))
    assert free.attrs["aggregates_over"] == "not contract"
    assert free.n_concepts == other.n_concepts, "the call chooses as the command does"


def test_saturation_outside_the_contract_is_all_expected_tokens():
    ds = cc.run_lane("stress", ledger=False, progress=False)
    found = cc.summarize_lane(ds, contract=False).sel(concept="gratitude", arm="taught")
    tokens = int(ds.expected_recorded.sel(concept="gratitude").sum())
    assert tokens < int(found.curriculum_length)
    assert found.saturation_state.item() == "reached"
    assert found.saturation_score == 1


def test_tables_say_never_and_undecided():
    curricula = [curriculum("never", WORDS)]
    ds = cc.run_lane(curricula, Scripted([""] * 5), arms="taught", ledger=False, progress=False)
    table = cc.table_lane(cc.summarize_lane(ds))
    assert table.loc[("never", "taught"), "first hit"] == "never"
    assert table.loc[("never", "taught"), "hits by k"] == "0 0 0 0 0"
    text = cc.text_lane(cc.summarize_lane(ds))
    assert "gate: passed" in text
    assert "0.0 (n 1)" in text
    with pytest.warns(UserWarning, match="no result"):
        missing = cc.run_lane(curricula, Scripted(["", None, "", "", ""]), arms="taught",
                              ledger=False, progress=False)  # fmt: skip
    table = cc.table_lane(cc.summarize_lane(missing))
    assert table.loc[("never", "taught"), "hits by k"] == "0 – 0 0 0"
    assert table.loc[("never", "taught"), "first hit"] == "undecided"


def test_tables_want_a_summary():
    ds = cc.run_lane("dev", ledger=False, progress=False)
    with pytest.raises(DatasetError, match="summarize_lane"):
        cc.table_lane(ds)


def test_a_summary_saves_and_loads(tmp_path):
    found = cc.summarize_lane(cc.run_lane("dev", ledger=False, progress=False))
    loaded = cc.load(cc.save(found, tmp_path / "summary.nc"))
    assert loaded.gate.item() == "passed"
    assert cc.text_lane(loaded) == cc.text_lane(found)


def test_provenance_names_what_was_run():
    ds = cc.run_lane("dev", "grounded?max_hops=2", ledger=False, progress=False)
    box = cc.provenance(ds)
    assert box["plan hash"] == ds.attrs["plan_hash"]
    assert box["cells"] == "80 planned, 80 judged, 0 without a result"
    assert '"max_hops":2' in box["identity"]
    assert len(box["digest of en_core_cognition_v1"]) == 64
    with pytest.raises(DatasetError):
        cc.provenance(cc.summarize_lane(ds))


def test_datasets_that_were_selected_turned_or_renamed():
    ds = cc.run_lane("dev", ledger=False, progress=False)
    whole = cc.text_lane(cc.summarize_lane(ds))
    assert cc.text_lane(cc.summarize_lane(ds.transpose())) == whole
    with pytest.raises(cc.DatasetError, match="has no `concept` left"):
        cc.summarize_lane(ds.isel(concept=slice(0, 0)))
    with pytest.raises(cc.DatasetError, match=r"`concept` was renamed.*ds.rename\(c='concept'\)"):
        cc.summarize_lane(ds.rename(concept="c"))
    blank = cc.summarize_lane(ds.where(ds.concept == "wisdom")).sel(concept="hope")
    assert blank.corrections_to_saturation.isnull().all()
    assert (blank.saturation_state == "undecided").all()
    assert blank.saturation_score.isnull().all()
