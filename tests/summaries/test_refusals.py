from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import corecurves as cc
from corecurves.protocol.reviewed import check_reviewed, refusal_notes
from corecurves.summaries.refusals import refusals

WORDS = {
    "concept": "sourdough", "probe": "What is sourdough?", "contract": False,
    "corrections": [
        {"text": "Bread requires flour.", "adds": "flour"},
        {"text": "Sourdough requires acidity.", "adds": "acidity"},
        {"text": "Sourdough requires fervour.", "adds": "fervour"},
    ],
}  # fmt: skip


def test_a_flat_curve_says_what_was_refused_and_why():
    ds = cc.run_lane(WORDS, "grounded", samples=2, ledger=False, progress=False)
    summary = cc.summarize_lane(ds, contract=False)
    said = "2 of 3 corrections refused, the first at k = 2: neither side in the pack: sourdough"
    assert summary.refusals.sel(concept="sourdough", arm="taught").item().startswith(said)
    assert summary.refusals.sel(arm="control").item() == ""
    assert f"sourdough, taught: {said}" in cc.text_lane(summary)


def test_a_system_without_a_review_refuses_nothing():
    ds = cc.run_lane(WORDS, "parrot", ledger=False, progress=False)
    assert (refusals(ds) == "").all()
    assert "refused" not in cc.text_lane(cc.summarize_lane(ds, contract=False))


CLUSTER = {
    "concept": "kubernetes", "probe": "What do you do with a node?", "contract": False,
    "corrections": [
        {"text": "Before an upgrade, drain the node, then cordon it.", "adds": ["drain", "cordon"]},
        {"text": "Set requests and limits, or the scheduler guesses.", "adds": "requests"},
        {"text": "Kubernetes requires etcd.", "adds": "etcd"},
    ],
}  # fmt: skip


def test_where_all_is_refused_nothing_reads_as_success_and_each_reason_is_explained_once():
    ds = cc.run_lane([CLUSTER, WORDS], ledger=False, progress=False)
    summary = cc.summarize_lane(ds, contract=False)
    *_, last = cc.text_lane(summary).splitlines()
    assert last.startswith("gate: passed")
    ds = cc.run_lane(CLUSTER, ledger=False, progress=False)
    summary = cc.summarize_lane(ds, contract=False)
    text = cc.text_lane(summary)
    lines = text.splitlines()
    assert sum(line.startswith("compound: it is no single plain claim") for line in lines) == 1
    assert sum(line.startswith("neither side in the pack: no side of it") for line in lines) == 1
    assert lines[-1].startswith("nothing was taught: grounded refused all 3 corrections")
    assert "retrieval or in-context:MODEL" in lines[-1]
    assert any("refused all 3" in line for line in cc.conclude_lane(summary).cannot)
    ds = cc.run_lane(CLUSTER, "retrieval", ledger=False, progress=False)
    retrieved = cc.summarize_lane(ds, contract=False)
    assert "nothing was taught" not in cc.text_lane(retrieved)
    assert float(retrieved.saturation_score.sel(arm="taught").max()) > 0


def test_a_run_that_taught_nothing_exits_1(tmp_path, capsys):
    import yaml

    from corecurves.cli import main

    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump(CLUSTER))
    for system, code in (("grounded", 1), ("retrieval", 0)):
        with pytest.raises(SystemExit) as end:
            main(["lane", str(path), "--system", system, "--ledger", "none", "--quiet"])
        assert end.value.code == code
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["check", str(path)])
    assert end.value.code == 0
    err = capsys.readouterr().err
    assert "note: " in err
    assert "'kubernetes': grounded would refuse 3 of 3 corrections (2 as compound: it is no" in err


def test_notes_are_of_what_makes_no_promise_and_not_of_repetition():
    assert refusal_notes(cc.load_curricula("public")) == []
    assert refusal_notes(cc.load_curricula("stress")) == []  # it repeats itself on purpose
    (note,) = refusal_notes(cc.load_curricula(WORDS))
    assert note.startswith(
        "curriculum: 'sourdough': grounded would refuse 2 of 3 corrections (2 as neither side"
    )


PACK = """\
pack: bakery
relations:
- {name: requires, base: require, third: requires, gloss: it cannot do without it}
lemmas:
- {lemma: sourdough, pos: noun, gloss: a leaven}
- {lemma: acidity, pos: noun, gloss: a taste}
- {lemma: fervour, pos: noun, gloss: a heat}
- {lemma: bread, pos: noun, gloss: a food}
- {lemma: flour, pos: noun, gloss: a powder}
"""


def test_a_curriculum_brings_its_own_pack(tmp_path):
    (tmp_path / "bakery.yaml").write_text(PACK)
    own = WORDS | {"pack": str(tmp_path / "bakery.yaml"), "contract": True}
    both = [own, cc.load_curricula("dev")[0]]
    for more in ({}, {"executor": ThreadPoolExecutor(2)}, {"mode": "prefix"}):
        ds = cc.run_lane(both, "grounded", ledger=False, progress=False, **more)
        # No word leads from sourdough to the flour of bread.
        scores = cc.summarize_lane(ds).saturation_score.sel(arm="taught").values.ravel()
        assert scores == pytest.approx([2 / 3, 1])
        assert (ds.accepted.sel(arm="taught") == 0).sum() == 0
        assert cc.summarize_lane(ds).gate.item() == "passed"
    curriculum = cc.load_curricula(own)
    assert check_reviewed(curriculum) == refusal_notes(curriculum) == []
    # A pack that is named for the system is the pack of every session.
    ds = cc.run_lane(own, "grounded?pack=en_core_cognition_v1", ledger=False, progress=False)
    assert (ds.accepted.sel(arm="taught") == 0).sum() == 2

    keys = set(cc.plan_lane(own).keys)
    (tmp_path / "bakery.yaml").write_text(PACK.replace("a heat", "a fever"))
    assert not keys & set(cc.plan_lane(own).keys)
    dev = cc.load_curricula("dev")
    bare = [replace(one, pack_source="") for one in dev]
    assert cc.plan_lane(dev).keys == cc.plan_lane(bare).keys
