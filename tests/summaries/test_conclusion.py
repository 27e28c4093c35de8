"""What a lane can and cannot conclude."""

import itertools

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


def test_a_gap_is_a_conclusion_only_where_the_interval_lies_above_zero():
    taught = cc.conclude_lane(cc.summarize_lane(cc.run_lane("public", "grounded", ledger=False,
                                                            progress=False)))  # fmt: skip
    assert taught.can[2].startswith("That the system stands above its control (taught − control: "
                                    "+1.00 [+0.")  # fmt: skip
    assert taught.figures["above control"].startswith("+1.00 [")
    (alone,) = (text for text in taught.cannot if "parrot, the baseline that" in text)
    assert alone.endswith("was not run beside it, so learning cannot be told from repeating.")
    blank = said(8, "blank")
    assert not any("That" in text for text in blank.can)
    assert blank.cannot[0].startswith("Whether the system stands above its control (taught − "
                                      "control: +0.00 [-")  # fmt: skip
    one = said(1, "blank")
    assert one.cannot[0].endswith("above its control: over 1 concept, there is no interval.")
    assert one.figures["above control"] == "not known"


def test_what_was_not_run_is_not_concluded():
    alone = said(3, "blank", arms=("taught",), replays=1)
    assert any("without both arms" in text for text in alone.cannot)
    assert any("replays were not compared" in text for text in alone.cannot)


@pytest.mark.filterwarnings("ignore:.*no result")
def test_snapshots_without_a_result_are_named_with_their_bounds():
    fails = Rote(fails_at=lambda heard, text: len(heard) == 3 and text.endswith("?"))
    found = said(3, fails)
    assert any("snapshots of taught would have said" in text for text in found.cannot)


class Moody:
    """Answers alike, with a trace that no replay has again."""

    identity = cc.Identity("moody")
    count = itertools.count()

    def start(self):
        return self

    def turn(self, text):
        return cc.Turn(" ".join(WORDS), trace_hash=str(next(self.count)))


def test_where_the_gate_failed_nothing_is_concluded():
    moody = run(3, Moody())
    found = cc.conclude_lane(cc.summarize_lane(moody))
    assert found.can == ()
    assert "can be concluded:\n  Nothing.\n" in str(found)
    assert [text[:27] for text in found.cannot] == ["Anything from these curves:"]
    assert found.figures == {"gate": "failed"}
    runs = {"moody": moody, "parrot": run(3, "parrot")}
    both = cc.conclude_systems(cc.compare_systems(runs))
    assert any("the curves of moody" in text for text in both.cannot)
    assert "moody" not in "".join(both.can)
    assert not any("moody" in name for name in both.figures)


def compared(split, *names):
    runs = {
        f"my {name}": cc.run_lane(split, name, ledger=False, replays=1, progress=False)
        for name in names
    }
    return cc.conclude_systems(cc.compare_systems(runs))


def claims(found):
    """Who is said to have learned."""
    return [text.split("that ")[-1][:-9] for text in found.can if text.endswith(" learned.")]


def test_systems_each_get_a_sentence_and_a_baseline_has_never_learned():
    found = compared("dev", "grounded", "retrieval", "parrot", "blank")
    assert claims(found) == ["my grounded"]
    assert sum(text.startswith("That my parrot stands above its control") for text in found.can)
    for name in ("parrot", "blank"):
        assert any(text.startswith(f"That my {name} learned: it is a b") for text in found.cannot)
    (text,) = (text for text in found.cannot if text.startswith("Whether my retrieval learned"))
    assert "it is not shown to stand above my parrot and my blank" in text
    assert found.figures["my grounded above my parrot"] == "yes"
    assert found.figures["my parrot above control"] == "yes"
    assert not any("learned" in name for name in found.figures)
    text = str(found)
    assert text.index("can be concluded:") < text.index("cannot be concluded:")


def test_without_the_parrot_beside_it_nothing_is_said_to_have_learned():
    found = compared("dev", "grounded", "blank")
    assert claims(found) == []
    assert any("stands above its control, over 3 concepts." in text for text in found.can)
    assert any("parrot, the baseline that repeats" in text for text in found.cannot)


def test_over_more_concepts_retrieval_stands_above_the_parrot():
    found = compared("public", "retrieval", "parrot")
    assert claims(found) == ["my retrieval"]
    assert found.figures["my retrieval above my parrot"] == "+0.16 [+0.02, +0.29]"


def test_other_datasets_are_refused():
    with pytest.raises(DatasetError, match="summarize_lane"):
        cc.conclude_lane(run(1, "blank"))
    with pytest.raises(DatasetError, match="compare_systems"):
        cc.conclude_systems(run(1, "blank"))
