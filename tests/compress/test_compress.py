"""Acceptance: what is refused, what is tried again, and what a compressor cannot see."""

import gc
from dataclasses import fields, is_dataclass, replace

import pytest
from compress_data import BOTH, FULL, Scripted, drops, episode, lesson_of, named, store_of

import corecurves as cc
from corecurves.cli.main import main
from corecurves.compress import Draft, Try
from corecurves.errors import Interrupted, UsageError
from corecurves.protocol.framings import EVALUATION
from corecurves.specs import Dropped, Level, Store
from corecurves.text import count_tokens


def compress(compressor, store=None, **more):
    options = {"model": "simulated", "depths": 1, "progress": False, **more}
    return cc.compress_lesson(store or store_of(), "broker", compressor, **options)


# --- acceptance ---------------------------------------------------------------------------------


def test_a_draft_that_keeps_every_train_episode_is_a_level():
    found = compress(lambda view: drops(view, BOTH))
    (level,) = found.levels
    assert (level.depth, level.text, level.node) == (1, BOTH, "broker.L1")
    assert level.dropped == (Dropped("the sidecar came first", "rationale", "L0"),)
    assert level.shown == found.train == tuple(e.id for e in store_of().episodes["broker"][:2])
    assert level.subtree == ("broker.L0", "broker.L1")
    assert level.created.endswith("Z")
    assert [x.refusal for x in found.tries] == [""]
    assert found.tries[0].calls == 4
    assert found.calls == 8
    assert "L1 " in repr(found)
    assert "SIMULATED" in repr(found)


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (Draft(""), "the draft is empty"),
        (Draft(" \n "), "the draft is empty"),
        (Draft(BOTH), "it shrank and declares nothing that it dropped"),
        (Draft(FULL, (Dropped("x", "step", "L0"),)), "tokens; at most"),
        (Draft(BOTH, (Dropped("x", "opinion", "L0"),)), "`kind` has no 'opinion'"),
        (Draft(BOTH, (Dropped("x", "step", "L1"),)), "`holder` has no 'L1'"),
        (Draft(BOTH, (Dropped("x", "step"),)), "`holder` has no ''"),
        (Draft(BOTH, (Dropped(" ", "step", "L0"),)), "declares an empty claim"),
        (Draft(BOTH + "\ud800", (Dropped("x", "step", "L0"),)), "no file can hold"),
        (None, "must return a Draft or text"),
    ],
)
def test_what_is_refused_without_a_replay(draft, why):
    found = compress(lambda view: draft, tries=1)
    assert found.levels == ()
    assert why in found.refusal
    assert found.tries[0].calls == 0


def test_a_compressor_that_raises_is_refused():
    found = compress(lambda view: 1 / 0, tries=2)
    assert [x.attempt for x in found.tries] == [1, 2]
    assert "call_failed): ZeroDivisionError" in found.refusal


def test_a_text_alone_has_its_claims_derived():
    (level,) = compress(lambda view: "Port 6112 for staging, and a badge.").levels
    assert {claim.holder for claim in level.dropped} == {"L0"}
    assert any("nobody should start a long job" in claim.claim for claim in level.dropped)


def test_lost_episodes_come_back_as_hints_and_tries_are_bounded():
    seen = []

    def draft(view):
        seen.append(view)
        return drops(view, f"Port 6112, number {view.attempt}.")

    found = compress(draft, tries=3)
    assert found.levels == ()
    assert len(found.tries) == 3
    gate = store_of().episodes["broker"][1].id
    assert found.tries[0].failing == (gate,)
    assert f"train episodes fail that pass with L0: {gate}" in found.refusal
    assert [view.attempt for view in seen] == [0, 1, 2]
    assert seen[0].preserve == ()
    assert seen[1].preserve == ("A badge.", "What is shown at the gate?")
    assert len({view.seed for view in seen}) == 3


def test_hints_lead_to_a_better_draft():
    found = compress(lambda view: drops(view, " ".join(["Port 6112.", *view.preserve])))
    assert [bool(x.refusal) for x in found.tries] == [True, False]
    assert "badge" in found.levels[0].text


def test_the_same_draft_again_is_not_replayed_again():
    found = compress(lambda view: drops(view, "Port 6112."), tries=3)
    assert [x.calls for x in found.tries] == [4, 0, 0]
    assert "the same draft was refused before: train episodes fail" in found.refusal


def test_a_replay_that_cannot_be_judged_refuses():
    model = Scripted(breaks=BOTH)
    found = compress(lambda view: drops(view, BOTH), model=model, tries=1)
    assert found.levels == ()
    assert "could not be judged" in found.refusal
    assert "the line is dead" in found.refusal
    assert found.tries[0].failing == ()


def test_nothing_is_tried_where_l0_cannot_be_judged():
    found = compress(lambda view: pytest.fail("asked"), model=Scripted(breaks="sidecar"))
    assert found.tries == ()
    assert "the replay of L0 could not be judged" in found.refusal


def test_a_grader_without_a_verdict_refuses():
    found = compress(
        lambda view: drops(view, BOTH),
        grader=lambda case: cc.Grade(None, 0.5),
        model=lambda messages: "6112",
    )
    assert "no verdict" in found.refusal


def test_episodes_that_l0_fails_are_not_demanded():
    store = store_of(lesson_of(full=FULL.replace("a badge", "something")))
    found = compress(lambda view: drops(view, "Port 6112."), store)
    assert found.not_demanded == (store.episodes["broker"][1].id,)
    assert [level.name for level in found.levels] == ["L1"]


def test_where_l0_passes_nothing_nothing_is_accepted():
    store = store_of(lesson_of(full="Wear gloves when you pour acid, for it burns."))
    found = compress(lambda view: pytest.fail("asked"), store)
    assert "L0 passes no train episode" in found.refusal


def test_a_lesson_without_a_train_episode_is_refused():
    found = compress(lambda view: pytest.fail("asked"), store_of(train=()))
    assert found.levels == ()
    assert "no train episode to be checked with" in found.refusal
    assert "no L1: it has no train episode" in repr(found)


def test_covered_episodes_of_other_lessons_are_demanded_too():
    other = lesson_of("other", full="A badge is shown at the gate.")
    store = store_of(lesson_of(), other, train=("port",))
    covered = next(named("elsewhere", "train"))
    store = replace(
        store,
        lessons=(lesson_of(covers=(covered,)), other),
        episodes={**store.episodes, "other": (episode(covered, "gate"),)},
    )
    found = compress(lambda view: drops(view, "Port 6112."), store, tries=1)
    assert found.tries[0].failing == (covered,)


def test_every_framing_asked_for_is_replayed_fresh():
    model = Scripted()
    options = {"model": model, "samples": 3, "tries": 1}
    assert compress(lambda view: drops(view, BOTH), **options).levels
    first = model.scored
    assert first == 2 * 2 * 2 * 3  # L0 and the draft, two episodes, good and trap, framings
    assert len(set(model.prompts)) == 2 * 2 * 3, "each sample has a framing of its own"
    evaluated = {
        str(framing.messages(task, text))
        for framing in EVALUATION
        for task in (x.task for x in store_of().episodes["broker"])
        for text in (FULL, BOTH)
    }
    assert evaluated.isdisjoint(model.prompts)
    compress(lambda view: drops(view, BOTH), **options)
    assert model.scored == 2 * first


def test_deeper_levels_are_made_from_accepted_ones():
    holders = []

    def draft(view):
        holders.append((view.holder, view.before, view.budget))
        return drops(view, {1: "Port 6112, and every client shows a badge.", 2: BOTH}[view.depth])

    found = compress(draft, depths=2)
    assert [level.name for level in found.levels] == ["L1", "L2"]
    assert holders[1][:2] == ("L1", found.levels[0].text)
    assert [budget for *_, budget in holders] == [
        int(0.75 * count_tokens(text)) for text in (FULL, found.levels[0].text)
    ]
    assert found.levels[1].subtree == ("broker.L0", "broker.L1", "broker.L2")


def test_nothing_is_made_from_a_level_that_was_refused():
    found = compress(lambda view: drops(view, "Port 6112."), depths=3, tries=1)
    assert {x.depth for x in found.tries} == {1}


# --- the train-only view ------------------------------------------------------------------------


def reachable(start):
    """Every text that can be reached from an object, over what it refers to."""
    waiting, seen, texts = [start], {id(start)}, []
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, str):
            texts.append(thing)
        inner = gc.get_referents(thing)
        if is_dataclass(thing) and not isinstance(thing, type):
            inner = [getattr(thing, field.name) for field in fields(thing)]
        for other in inner:
            # Classes and modules lead to the interpreter, not to data of this run.
            if id(other) not in seen and not isinstance(other, type) and not callable(other):
                seen.add(id(other))
                waiting.append(other)
    return texts


def test_no_test_episode_can_be_reached_from_the_view():
    leaky = ("When does the host restart on a Sunday?", "restart on a", "Every client shows")
    store = store_of(lesson_of(preserve=leaky, load_bearing=("port 6112", "At dusk. At noon.")))
    views = []

    def draft(view):
        views.append(view)
        return drops(view, f"Port 6112, {view.attempt}.")

    compress(draft, store)
    assert len(views) == 3
    hidden = [x for x in store.episodes["broker"] if x.id not in compress(draft, store).train]
    assert len(hidden) == 2
    for view in views:
        texts = reachable(view)
        assert view.full in texts
        for secret in hidden:
            words = (secret.id, secret.task, *secret.outcome.good, *secret.outcome.trap)
            assert not [text for text in texts for word in words if word in text]
    assert views[0].preserve == ("Every client shows",)
    assert views[0].load_bearing == ("port 6112",)


# --- a compressor that memorises ----------------------------------------------------------------


def memorise(view):
    answers = [good for x in view.episodes for good in x.outcome.good]
    return drops(view, " ".join(answers))


def test_a_memorising_compressor_is_accepted_and_its_gap_shows():
    lessons = [lesson_of(name) for name in ("broker", "relay", "gateway")]
    store = cc.compress_store(
        store_of(*lessons), memorise, model="simulated", depths=1, progress=False
    ).store
    assert all(len(lesson.levels) == 2 for lesson in store.lessons)
    ds = cc.run_rose_eval(
        store, "simulated", arms=("control", "ceiling", "treatment"), samples=1, holdout=1,
        leaks="keep", ledger=False, progress=False,
    )  # fmt: skip
    assert int(ds.leaked.sel(level="L1").sum()) == 6
    found = cc.memorisation(ds)
    assert float(found.shown.sel(level="L1")) == 1
    assert float(found.unseen.sel(level="L1")) == 0
    assert float(found.gap.sel(level="L1")) == 1
    assert float(found.full_gap.sel(level="L1")) == 0
    assert float(found.net_gap.sel(level="L1")) == 1
    assert int(found.gap_n.sel(level="L1")) == 3
    low, high = found.gap_ci.sel(level="L1").values
    assert 0 < low < 1 <= high


def test_the_usual_evaluation_leaves_out_what_was_shown():
    store = cc.compress_store(
        store_of(), memorise, model="simulated", depths=1, progress=False
    ).store
    ds = cc.run_rose_eval(
        store, "simulated", arms=("control", "ceiling", "treatment"), samples=1, ledger=False,
        progress=False,
    )  # fmt: skip
    ran = (ds.status.sel(level="L1", arm="treatment") != "").values.squeeze()
    assert ran.tolist() == [False, False, True, True]
    assert float(ds.passed.sel(level="L1", arm="treatment").mean()) == 0


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("train", "instead"),
    [(("port", "gate") * 3, "; give --holdout 0."), (("port",), "of broker; record more")],
)
def test_a_holdout_that_leaves_nothing_to_evaluate_is_said_before_the_first_call(
    train, instead, tmp_path, monkeypatch, capsys
):
    def stop(*args, **options):
        raise UsageError("the first call")

    monkeypatch.setattr(cc, "open_store", lambda path: store_of(train=train, test=()))
    monkeypatch.setattr(cc, "compress_store", stop)
    with pytest.raises(SystemExit):
        main(["rose", "compress", "x", "-o", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert said.startswith("warning: no episode is held out at --holdout 0.3")
    assert instead in said.split("the first call")[0]


def test_an_evaluation_of_what_was_wholly_shown_says_so():
    found = cc.compress_store(store_of(test=()), memorise, model="simulated", progress=False)
    with pytest.raises(UsageError, match="finds only episodes that its levels were made with"):
        cc.plan_rose(found.store, "simulated")
    with pytest.raises(UsageError, match="give a larger one"):
        cc.plan_rose(store_of(test=()), "simulated", holdout=0.3)
    with pytest.raises(UsageError, match="finds only episodes that the forms were made with"):
        cc.plan_descent(found.store, "simulated")


def test_a_lesson_without_a_held_out_episode_is_named():
    store = store_of(lesson_of(), lesson_of("relay"))
    store.episodes["relay"] = store.episodes["relay"][:2]
    ds = cc.run_rose_eval(store, "simulated", holdout=0.3, samples=1, ledger=False, progress=False)
    told = cc.text_rose(cc.summarize_rose(ds))
    assert "no episode in the test half of holdout=0.3: relay" in told


def test_an_interrupted_compression_says_that_it_starts_anew(monkeypatch):
    def stop(work):
        work.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(cc.engine.loop, "wait", stop)
    with pytest.raises(Interrupted, match="as a whole: the same call starts anew") as end:
        cc.compress_store(store_of(), memorise, model="simulated", progress=False)
    assert not end.value.resumes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depths": 0}, "`depths` is 0"),
        ({"samples": True}, "`samples` is True"),
        ({"tries": 0}, "`tries` is 0"),
        ({"samples": 7}, "there are 6 framings"),
        ({"ratio": 0.8}, "at most 0.75"),
        ({"ratio": 0}, "`ratio` is 0"),
        ({"holdout": 1}, "leaves no train episode"),
        ({"holdout": 0}, "`holdout` is 0"),
        ({"grader": "gain"}, "says neither passed nor failed"),
        ({"compressor": "extractiv"}, "did you mean 'extractive'?"),
        ({"compressor": "extractive?word=2"}, "`setting` has no 'word'"),
        ({"compressor": "extractive?model=x"}, "cannot be set here"),
        ({"compressor": "extractive?units=0"}, "`units` is 0"),
        ({"compressor": "prune:smollm2"}, "takes nothing after ':'"),
        ({"compressor": 3}, "`compressor` is an int"),
        ({"compressor": Draft}, "give an instance of it"),
        ({"lesson": "brokr"}, "did you mean 'broker'?"),
        (
            {"model": lambda messages: "x", "grader": lambda case: True},
            "needs a model that can be scored",
        ),
    ],
)
def test_wrong_arguments_are_said_before_a_call(options, message):
    options = {"lesson": "broker", "compressor": "extractive", "model": "simulated",
               "progress": False, **options}  # fmt: skip
    lesson, compressor = options.pop("lesson"), options.pop("compressor")
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        cc.compress_lesson(store_of(), lesson, compressor, **options)


def test_lessons_where_nothing_was_accepted_keep_l0_and_are_named():
    one, two = lesson_of("broker"), lesson_of("relay", full="Nothing of use is said here at all.")
    handmade = replace(two, levels=(*two.levels, Level(1, "Nothing.", "relay.L1")))
    store = store_of(one, handmade)
    found = cc.compress_store(store, memorise, model="simulated", depths=1, progress=False)
    assert found.without == ("relay",)
    assert [len(lesson.levels) for lesson in found.store.lessons] == [2, 1]
    assert isinstance(found.store, Store)
    assert "L0 alone: relay" in repr(found)
    table = cc.table_compressions(found.compressions)
    assert table.outcome.tolist()[0] == "accepted"
    assert table.outcome.tolist()[1].startswith("refused: L0 passes no train episode")
    only = cc.compress_store(
        store, memorise, lessons=["broker"], model="simulated", depths=1, progress=False
    )
    assert only.store.lessons[1] == handmade


def test_a_try_says_whether_it_was_accepted():
    assert Try(1, 1, "x", 1, 1, (), "", (), 0, 0.0).accepted
