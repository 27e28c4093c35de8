import pytest
from recall_data import write_store

import corecurves as cc
from corecurves.errors import UsageError

WORDS = ("amber", "birch", "cobalt", "dahlia", "ember", "fjord", "garnet", "heron", "indigo",
         "jasmine", "kelp", "lilac")  # fmt: skip
BUDGET, POOL = 16, 8
LONG = " ".join(f"step{i}" for i in range(30))


@pytest.fixture(scope="module")
def blind(tmp_path_factory):
    """26 lessons, 14 of them out of reach for BM25 with a budget of 16 tokens and a pool of 8."""
    lessons = {f"good-{word}": f"{word} rule: short." for word in WORDS}
    for word in WORDS[:4]:
        remark = f"A long remark in which {word} stands among other longer things."
        lessons[f"outranked-{word}"] = remark
    for word in WORDS[4:9]:
        lessons[f"large-{word}"] = f"{word} {LONG}"
    for i in range(3):
        lessons[f"zz-other-words-{i}"] = f"Nobody asks for quartz{i}."
    lessons["archived-kelp"] = {"text": "kelp rule.", "status": "archived"}
    lessons["superseded-lilac"] = {"text": "lilac rule.", "status": "superseded"}
    rows = [
        {"id": f"e{i:02d}", "prompt": f"How do we handle {word}?",
         "served": [f"good-{word}", f"good-{WORDS[i - 1]}"], "used": [f"good-{word}"]}
        for i, word in enumerate(WORDS)
    ]  # fmt: skip
    return write_store(tmp_path_factory.mktemp("stores") / "blind", lessons, rows)


def cover(store, selector="bm25", **more):
    return cc.run_coverage(store, selector, ledger=False, progress=False, **more)


def test_fourteen_of_twenty_six_lessons_hide_behind_a_healthy_precision(blind):
    ds = cc.run_recall_eval(blind, "bm25", max_pack_tokens=BUDGET, ledger=False, progress=False)
    summary = cc.summarize_recall(ds).sel(average="micro")
    assert (float(summary.precision), float(summary.recall)) == (1, 1)
    table = cover(blind, max_pack_tokens=BUDGET, pool=POOL)
    assert len(table) == 26
    lost = table[table.reached == 0]
    assert len(lost) == 14
    by_reason = {reason: sorted(rows.index) for reason, rows in lost.groupby("reason")}
    assert by_reason == {
        "never a candidate": ["archived-kelp", "superseded-lilac", *(f"zz-other-words-{i}"
                                                                   for i in range(3))],
        "over budget": [f"large-{word}" for word in WORDS[4:9]],
        "always outranked": [f"outranked-{word}" for word in WORDS[:4]],
    }  # fmt: skip
    assert (table[table.reached > 0].reason == "").all()
    assert table.why["archived-kelp"] == "its status is archived"
    assert table.why["zz-other-words-0"] == "no probe's pool holds it"
    assert table.why["large-ember"].endswith("tokens, the budget is 16")
    assert table.best_rank["outranked-amber"] == 2


def test_each_reason_goes_with_its_cause(blind):
    free = cover(blind)
    assert sorted(set(free.reason)) == ["", "always below the threshold", "never a candidate"]
    assert (free.reason == "never a candidate").sum() == 2
    assert cover(blind, "serve-all").reached.gt(0).sum() == 24


def test_more_probes_reach_more(blind):
    probes = ["quartz0", "quartz1", "quartz2"]
    table = cover(blind, probes=probes)
    assert table.reached[[f"zz-other-words-{i}" for i in range(3)]].tolist() == [1, 1, 1]
    assert table.attrs["probes"] == 3
    with pytest.raises(UsageError, match="there is no probe"):
        cover(blind, probes=[])


def test_a_lesson_is_reached_in_any_of_its_forms(tmp_path):
    lessons = {
        "full": {"text": "Rinse cups cold before the hot wash.", "parents": ["short"]},
        "short": {"text": "Cups: cold.", "level": 1, "parents": ["both"]},
        "other": {"text": "Sharpen knives.", "parents": ["both"]},
        "both": {"text": "Kitchen: careful.", "level": 2, "status": "merged"},
    }
    rows = [{"id": "e", "prompt": "In the kitchen?", "served": ["full"], "used": ["full"]}]
    table = cover(write_store(tmp_path / "s", lessons, rows))
    assert table.reached.to_dict() == {"full": 1, "other": 1}
    assert table.form.to_dict() == {"full": "short", "other": "other"}


def test_probes_are_prompts_of_episodes_that_cannot_be_scored_too(kitchen):
    assert cover(kitchen).attrs["probes"] == 4 + 5


def test_what_one_prompt_gets_and_why(blind):
    table = cc.explain_recall(blind, "How do we handle amber?", max_pack_tokens=BUDGET)
    assert table.index[:2].tolist() == ["good-amber", "outranked-amber"]
    assert table.decision.iloc[:2].tolist() == ["kept", "outranked: others took the budget"]
    assert table.says.iloc[0] == "shares amber"
    assert table.served.sum() == 1
    with pytest.raises(UsageError, match="the prompt is empty"):
        cc.explain_recall(blind, "  ")


def test_the_tree_draws_levels_status_and_dropped_claims():
    text = cc.store_tree("demo_store")
    assert "    csv-decimal-comma.l1  L1 active" in text
    assert "dropped edge-case: The department's budget file uses points" in text
    assert "(held by csv-decimal-comma)" in text
    assert "L1 archived" in text
    assert text.count("look-what-holds-it  L3 merged") == 2
    assert text.count("(drawn above)") == 1
    with pytest.raises(UsageError, match="has no nodes to draw"):
        cc.store_tree("rose_bench")


def test_a_tree_with_a_cycle_ends(tmp_path):
    lessons = {
        "a": {"parents": ["b"], "derived_from": ["c"]},
        "b": {"level": 1, "parents": ["a", "c"]},
        "c": {"level": 0, "parents": ["a"], "derived_from": ["a"]},
    }
    text = cc.store_tree(write_store(tmp_path / "s", lessons))
    assert [name for name in "abc" if f"  {name}  L" not in text] == []
    assert "note: node b: its edge up to a leads from level 1 to level 0" in text


@pytest.mark.filterwarnings("ignore:.*cells have no result")
def test_what_a_failed_call_leaves_open_is_not_said_to_be_rejected(kitchen):
    def picky(task, texts):
        if task == "Wash the cups.":
            raise RuntimeError("no answer")
        return {name: float(name == "knives") for name in texts}

    table = cover(kitchen, picky)
    assert table.loc["knives", ["reached", "reason"]].tolist()[1] == ""
    rest = table[(table.reached == 0) & (table.form != "")]
    assert len(rest)
    assert (rest.reason == "not known").all()
    assert (rest.undecided == 1).all()
    assert rest.why.iloc[0].startswith("calls failed for 1 of ")
    # Ranks are over the prompts with a score for every candidate.
    assert table.best_rank["knives"] == 1
    assert (rest.best_rank == 2).all()
