from dataclasses import replace

import numpy as np
import pytest
from descent.world import DECOY, LATE, Told, code, episode, lesson, named, planted, store

from corecurves.descent.ranking import WEIGHTS, rank, scale_of, usefulness
from corecurves.descent.trails import trails_of
from corecurves.selectors import Opinion, as_selector
from corecurves.specs import Checks, Dropped, Identity, Lesson, Level, Outcome, Store
from corecurves.text import count_tokens


def trail(of=None):
    found, notes = trails_of(Store("one", (of or lesson(0),), {}))
    assert notes == ()
    return next(iter(found.values()))


def order(standings):
    return [standing.claim.number for standing in standings]


def test_worth_by_hand():
    one = trail()
    found = rank(one, [0.0, 1.0, 0.5], [(0, 0), (2, 2), (1, 0)], WEIGHTS)
    assert order(found) == [2, 3, 1]
    share = count_tokens(planted(0)) / count_tokens(lesson(0).levels[0].text)
    assert found[0].worth == pytest.approx(0.60 + 0.28 * 3 / 4 - 0.12 * share)
    without = rank(one, None, [(0, 0), (2, 2), (1, 0)], WEIGHTS)
    assert without[0].worth == pytest.approx(0.28 * 3 / 4 - 0.12 * share)
    assert without[0].useful is None


def test_weights_change_the_order_and_ties_keep_the_manifest():
    one = trail()
    useful, counts = [1.0, 0.0, 0.0], [(3, 0), (3, 3), (0, 0)]
    assert order(rank(one, useful, counts, (1, 0, 0))) == [1, 2, 3]
    assert order(rank(one, useful, counts, (0, 1, 0))) == [2, 3, 1]
    assert order(rank(one, None, [(0, 0)] * 3, (0, 1, 0))) == [1, 2, 3]
    shares = sorted((1, 2, 3), key=lambda n: (one.share(one.claims[n - 1]), n))
    assert order(rank(one, useful, counts, (0, 0, 1))) == shares


def test_weights_reach_the_ladder(descend):
    def judge(task, claims):
        return {key: float(text == DECOY) for key, text in claims.items()}

    useful = descend(judge=judge)
    assert useful.rung.values[0, 0, 1, 0] == "L3 + claim 1"
    rates = descend(judge=judge, weights=(0, 1, 0))
    assert rates.rung.values[0, 0, 1, 0] == "L3 + claim 2"


def test_rates_come_from_train_episodes_alone(descend):
    ds = descend()
    first = ds.isel(episode=0)
    assert first.attempts.values.tolist() == [2, 2, 2]
    assert first.rescues.values.tolist() == [0, 2, 0]
    np.testing.assert_allclose(first.rescue_rate, [1 / 4, 3 / 4, 1 / 4])
    # A test episode that only the decoy rescues changes nothing in any ranking.
    name = named(0, "test", 1)[0]
    other = replace(
        episode(0, name), task="Something else.", outcome=Outcome(("x",), checks=Checks(("Wipe",)))
    )
    world = store()
    kept = [e for e in world.episodes["valve0"] if e.id != name]
    changed = replace(world, episodes={**world.episodes, "valve0": (other, *kept)})
    moved = descend(changed)
    for variable in ("attempts", "rescues", "claim_rank", "worth"):
        assert moved[variable].equals(ds[variable]), variable
    # One of the train half does.
    name = named(0, "train", 1)[0]
    other = replace(other, id=name)
    kept = [e for e in world.episodes["valve0"] if e.id != name]
    changed = replace(world, episodes={**world.episodes, "valve0": (*kept, other)})
    assert descend(changed).isel(episode=0).rescues.values.tolist() == [1, 1, 0]


def test_without_train_episodes_every_rate_is_a_half(descend):
    given = "not taken from train episodes (statistics='none')"
    for more, why in (({"holdout": 1.0}, "no train episode"), ({"statistics": "none"}, given)):
        ds = descend(**more)
        assert (ds.attempts == 0).all()
        assert (ds.rescue_rate == 0.5).all()
        assert ds.attrs["statistics"] == f"{why}: every rescue rate is 1/2"


def test_train_episodes_that_pass_at_the_shortest_form_try_no_claim(descend):
    # The model knows the codes in the train half by itself.
    trains = [name.partition("/")[2] for i in range(3) for name in named(i, "train", 2)]

    def knows(prompt):
        return " ".join(code(i) for i in range(3)) if any(x in prompt for x in trains) else ""

    ds = descend(model=Told(knows=knows))
    assert (ds.attempts == 0).all()
    assert (ds.rescue_rate == 0.5).all()
    assert ds.attrs["train_episodes"] == 6
    assert ds.attrs["statistics"] == (
        "6 train episodes, none of which fails at the shortest form: every rescue rate is 1/2"
    )
    assert descend(store(1, trains=1)).attrs["statistics"] == "1 train episode"


def test_a_patch_that_could_not_be_judged_is_no_attempt(descend):
    name = named(0, "train", 1)[0].partition("/")[2]
    model = Told(fails=lambda p: name in p and LATE in p)
    with pytest.warns(UserWarning, match="no result"):
        ds = descend(model=model)
    assert ds.isel(episode=0).attempts.values.tolist() == [2, 2, 1]


def test_the_judge_is_asked_of_failed_test_episodes_only(descend):
    asked = []

    def judge(task, claims):
        asked.append((task, claims))
        return {key: float(text.startswith("The code")) for key, text in claims.items()}

    model = Told(knows=lambda prompt: code(1))
    ds = descend(model=model, judge=judge, statistics="none", holdout=0.5)
    assert len(asked) == 4
    assert not any("valve 1" in task for task, _ in asked)
    assert sorted(asked[0][1].values()) == sorted([DECOY, LATE, asked[0][1]["2"]])
    assert ds.attrs["judge"].endswith("judge")
    hit = ds.sel(episode=ds.concept != "valve1")
    assert (hit.rung.sel(strategy="delta-patch", step=1) == "L3 + claim 2").all()
    assert hit.usefulness.values[0].tolist() == [0, 1, 0]


def test_a_judge_that_fails_leaves_no_order(descend):
    def judge(task, claims):
        if "valve 0" in task:
            raise RuntimeError("no verdict")
        return list(claims)

    with pytest.warns(UserWarning, match="no verdict"):
        ds = descend(judge=judge)
    hit = ds.sel(episode=ds.concept == "valve0")
    assert (hit.fault.sel(strategy=["delta-patch", "delta-jump"]) == "not judged").all()
    assert (hit.fault.sel(strategy="stepwise") == "rescued").all()
    assert set(hit.ranking_status.values) == {"call_failed"}
    assert (ds.sel(episode=ds.concept != "valve0").fault == "rescued").all()


@pytest.mark.parametrize(
    ("judge", "scale"),
    [("model:simulated", "nats"), ("bm25", "open"), ("embedding", "cosine"),
     ("serve-all", "share"), (lambda task, claims: {}, "share")],
)  # fmt: skip
def test_scales_of_judges(judge, scale):
    assert scale_of(as_selector(judge)) == scale


def test_a_judge_may_state_its_scale(descend):
    class Own:
        identity, threshold, scale = Identity("own", "1"), 0.0, "nats"

        async def score(self, task, candidates, *, sample, seed):
            return {c.id: Opinion(-3.0 + 6 * (c.text == LATE)) for c in candidates}

    ds = descend(judge=Own())
    low, high = 1 / (1 + np.exp(3)), 1 / (1 + np.exp(-3))
    np.testing.assert_allclose(ds.usefulness.values[0], [low, low, high])
    assert "logistic" in ds.attrs["usefulness"]


def test_usefulness_is_monotone_and_in_0_1():
    scores = [-800.0, -1.0, 0.0, 2.0, 800.0]
    for scale in ("nats", "open", "share"):
        found = usefulness(scores, scale)
        assert found == sorted(found)
        assert min(found) >= 0
        assert max(found) <= 1
    assert usefulness([None, 0.2], "share") == [0.5, 0.2]
    assert usefulness([3.0, 3.0], "open") == [0.5, 0.5]
    assert usefulness([-1.0, 0.0], "cosine") == [0.0, 0.5]
    assert usefulness([], "open") == []


def test_the_bundled_judges_run(descend):
    for judge in ("bm25", "model:simulated"):
        ds = descend(judge=judge, grader="checklist")
        assert ds.usefulness.notnull().all()
        assert ds.attrs["simulated"] == ("yes" if "simulated" in judge else "no")


def test_holders_are_levels_nodes_or_the_next_longer_level():
    levels = (
        Level(0, "Full text of it.", node="n0"),
        Level(1, "Shorter.", node="n1", dropped=(Dropped("a", holder="n0"),)),
        Level(3, "Short.", node="n3", dropped=(
            Dropped("b", holder=""), Dropped("c", holder="gone"), Dropped("d", holder="L1"),
            Dropped("a", holder="L1"), Dropped("e", holder="L3"), Dropped("f", holder="far"),
        )),
    )  # fmt: skip
    far = Lesson("y", "", "f", "", (Level(0, "Far away.", node="far"),))
    found, notes = trails_of(Store("s", (Lesson("x", "", "f", "", levels), far), {}))
    one = found["x"]
    assert [(c.number, c.text, c.holder.label) for c in one.claims] == [
        (1, "b", "L1"), (2, "c", "L1"), (3, "d", "L1"), (4, "a", "L1"), (5, "e", "L1"),
        (6, "f", "far"),
    ]  # fmt: skip
    assert [rung.label for rung in one.children] == ["L1"]
    assert sum("L1 is taken" in note for note in notes) == 2
    assert "lesson y: it has no shorter form" in notes
