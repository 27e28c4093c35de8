"""The curricula that come with the library keep what the README promises of them."""

import pytest

import corecurves as cc
from corecurves.files.curricula import check_curricula, load_filler, splits
from corecurves.protocol.arms import control_corrections
from corecurves.protocol.reviewed import check_reviewed
from corecurves.systems.grounded import GroundedSystem

SPLITS = {"public": 16, "holdouts": 12, "dev": 2, "stress": 8}


def test_everything_is_valid_together_and_splits_are_disjoint():
    found, faults = check_curricula([*splits(), "curricula/examples/cases.jsonl"])
    assert faults == ()
    counts = {split: sum(c.split == split for c in found) for split in SPLITS}
    assert all(counts[split] >= least for split, least in SPLITS.items()), counts


def test_the_pack():
    pack = cc.load_pack()
    assert pack.edition == "corecurves"
    assert "not comparable" in pack.note
    assert len(pack.lemmas) >= 150
    assert all(lemma.gloss and "\n" not in lemma.gloss for lemma in pack.lemmas)
    assert len(pack.relations) >= 4


@pytest.mark.parametrize("split", ["public", "holdouts", "dev"])
def test_contract_splits(split):
    curricula = cc.load_curricula(split)
    assert all(c.contract and c.pack == "en_core_cognition_v1" for c in curricula)
    assert all(5 <= len(c) <= 8 for c in curricula)
    assert {c.shape for c in curricula} >= ({"chain", "branch"} if split == "dev" else {
        "chain", "branch", "mixed"})  # fmt: skip
    assert check_reviewed(curricula) == []


def test_relations_besides_is():
    relations = {r.third for r in cc.load_pack().relations} - {"is"}
    texts = " ".join(c.text for u in cc.load_curricula("public") for c in u.corrections)
    assert sum(f" {third} " in texts for third in relations) >= 3


def test_stress_is_outside_the_contract():
    assert not any(c.contract for c in cc.load_curricula("stress"))


@pytest.mark.parametrize("split", SPLITS)
def test_control_is_possible_alone_and_in_company(split):
    curricula = cc.load_curricula(split)
    filler = load_filler()
    for target in curricula:
        for pool in ((), curricula):
            texts = [c.text for c in control_corrections(target, pool, filler)]
            assert len(texts) == len(target)
            assert not any(any(target.hits(text)) for text in texts)


def test_filler_is_accepted():
    session = GroundedSystem().start()
    session.turn("Tell me about wisdom.")
    refused = [c.text for c in load_filler() if not session.turn(c.text).accepted]
    assert refused == []
