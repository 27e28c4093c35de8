"""What a lane can and cannot conclude."""

import pytest
from helpers import Rote, curriculum

import corecurves as cc
from corecurves.errors import DatasetError

WORDS = ("judgment", "patience", "doubt")


def several(n):
    return [curriculum(f"concept{i}", WORDS) for i in range(n)]


def run(n, system, **more):
    return cc.run_lane(several(n), system, **{"ledger": False, "progress": False, **more})


def said(n, system, **more):
    return cc.conclude_lane(cc.summarize_lane(run(n, system, **more)))


def test_the_control_comes_first_and_figures_follow_the_number_of_concepts():
    # Every concept has the same words, so the control, which hears other concepts', knows them too.
    many = said(8, "grounded")
    few = said(3, "grounded")
    assert many.can[0].startswith("Untaught (control), ")
    assert "over 8 concepts" in many.can[0]
    for text in few.can + few.cannot[:1]:
        assert "0." not in text
    assert any("a direction, not a decimal place" in text for text in few.cannot)
    assert not any("a direction" in text for text in many.cannot)


def test_learning_is_a_conclusion_only_where_the_interval_lies_above_zero():
    taught = cc.conclude_lane(cc.summarize_lane(cc.run_lane("public", "grounded", ledger=False,
                                                            progress=False)))  # fmt: skip
    assert taught.can[2].startswith("That the system learned (taught − control: +1.00 [+0.")
    assert taught.figures["learned"].startswith("+1.00 [")
    blank = said(8, "blank")
    assert not any("That" in text for text in blank.can)
    assert blank.cannot[0].startswith("Whether the system learned (taught − control: +0.00 [−"
                                      .replace("−0", "-0").replace("[−", "[-"))  # fmt: skip
    one = said(1, "blank")
    assert one.cannot[0] == "Whether the system learned: over 1 concept, there is no interval."
    assert one.figures["learned"] == "not known"


def test_what_was_not_run_is_not_concluded():
    alone = said(3, "blank", arms=("taught",), replays=1)
    assert any("without both arms" in text for text in alone.cannot)
    assert any("replays were not compared" in text for text in alone.cannot)


@pytest.mark.filterwarnings("ignore:.*no result")
def test_snapshots_without_a_result_are_named_with_their_bounds():
    fails = Rote(fails_at=lambda heard, text: len(heard) == 3 and text.endswith("?"))
    found = said(3, fails)
    assert any("snapshots of taught would have said" in text for text in found.cannot)


def test_systems_each_get_a_sentence():
    runs = {name: run(3, name) for name in ("grounded", "blank")}
    found = cc.conclude_systems(cc.compare_systems(runs))
    assert any(text.startswith("Whether blank learned") for text in found.cannot)
    assert set(found.figures) == {"grounded learned", "blank learned"}
    text = str(found)
    assert text.index("can be concluded:") < text.index("cannot be concluded:")


def test_other_datasets_are_refused():
    with pytest.raises(DatasetError, match="summarize_lane"):
        cc.conclude_lane(run(1, "blank"))
    with pytest.raises(DatasetError, match="compare_systems"):
        cc.conclude_systems(run(1, "blank"))
