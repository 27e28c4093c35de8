"""What every system must keep, whatever it is."""

import pytest

import corecurves as cc
from corecurves.systems.resolve import as_system

OPENING, TAUGHT, PROBE = "Tell me about courage.", [
    "No, courage is resolve.", "Courage requires patience.", "Resolve supports action.",
], "What is courage?"  # fmt: skip


def rote():
    heard = []

    def turn(text):
        heard.append(text)
        return " ".join(heard[:-1])

    return turn


SYSTEMS = ["grounded", "grounded?max_hops=1&vault_capacity=2", rote, str.upper]


@pytest.fixture(params=SYSTEMS, ids=lambda s: s if isinstance(s, str) else s.__name__)
def adapter(request):
    return as_system(request.param)


def teach(session, n):
    return [session.turn(text) for text in [OPENING, *TAUGHT[:n], PROBE]]


def test_fresh_sessions_share_nothing(adapter):
    untaught = teach(adapter.start(1), 0)[-1]
    teach(adapter.start(1), 3)
    assert teach(adapter.start(1), 0)[-1] == untaught


def test_the_same_turns_have_the_same_trace(adapter):
    assert teach(adapter.start(1), 3) == teach(adapter.start(1), 3)


def test_sessions_interleave_without_mixing(adapter):
    one, two = adapter.start(1), adapter.start(1)
    found = []
    for a, b in zip([OPENING, *TAUGHT], [OPENING, *reversed(TAUGHT)], strict=True):
        one.turn(a)
        found.append(two.turn(b))
    alone = adapter.start(1)
    for text in [OPENING, *TAUGHT]:
        alone.turn(text)
    assert one.turn(PROBE) == alone.turn(PROBE)


def test_a_fork_is_the_same_state_and_goes_its_own_way(adapter):
    trunk = adapter.start(1)
    if not hasattr(trunk, "fork"):
        pytest.skip("this system cannot fork")
    for text in [OPENING, *TAUGHT[:2]]:
        trunk.turn(text)
    branch = trunk.fork()
    assert branch.turn(PROBE) == teach(adapter.start(1), 2)[-1]
    branch.turn(TAUGHT[2])
    assert trunk.turn(PROBE) == teach(adapter.start(1), 2)[-1]


def test_a_turn_that_raises_is_call_failed_and_the_rest_stands(adapter):
    def turn_of(session):
        def turn(text):
            if "judgment" in text:
                raise RuntimeError("lost the line")
            return session.turn(text)

        return turn

    with pytest.warns(UserWarning, match="have no result"):
        ds = cc.run_lane(
            [_curriculum("wisdom", "judgment"), _curriculum("courage", "resolve")],
            lambda: turn_of(adapter.start(1)), arms="taught", ledger=False, progress=False,
        )  # fmt: skip
    assert ds.status.sel(concept="courage").values.ravel().tolist() == ["ok", "ok"]
    assert ds.status.sel(concept="wisdom").values.ravel().tolist() == ["ok", "call_failed"]
    assert "lost the line" in ds.reason.sel(concept="wisdom", k=1).item()
    assert ds.hits.sel(concept="wisdom", k=1).isnull().all()


def _curriculum(concept, word):
    return {"concept": concept, "probe": f"What is {concept}?",
            "corrections": [{"text": f"No, {concept} is {word}.", "adds": word}]}  # fmt: skip
