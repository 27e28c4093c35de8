import corecurves as cc
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
