"""What every system must keep, whatever it is."""

import asyncio
import inspect

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


async def echo(text):
    return text


SYSTEMS = [
    "grounded",
    "grounded?max_hops=1&vault_capacity=2",
    "parrot",
    "blank",
    "retrieval",
    "retrieval?top=1",
    "in-context:simulated",
    "in-context:simulated?slip=0.5&acknowledge=generated&temperature=1",
    rote,
    str.upper,
    echo,
]


@pytest.fixture(params=SYSTEMS, ids=lambda s: s if isinstance(s, str) else s.__name__)
def adapter(request):
    if isinstance(request.param, str) and request.param.startswith("retrieval"):
        pytest.importorskip("bm25s")
    return as_system(request.param)


def say(session, text):
    """One turn, waited for where the system makes one wait."""
    turn = session.turn(text)
    if not inspect.isawaitable(turn):
        return turn

    async def wait():
        return await turn

    return asyncio.run(wait())


def teach(session, n):
    return [say(session, text) for text in [OPENING, *TAUGHT[:n], PROBE]]


def test_fresh_sessions_share_nothing(adapter):
    untaught = teach(adapter.start(1), 0)[-1]
    teach(adapter.start(1), 3)
    assert teach(adapter.start(1), 0)[-1] == untaught


def test_the_same_turns_have_the_same_trace(adapter):
    assert teach(adapter.start(1), 3) == teach(adapter.start(1), 3)


def test_the_trace_is_over_every_turn(adapter):
    traces = {teach(adapter.start(1), n)[-1].trace_hash for n in range(len(TAUGHT) + 1)}
    if traces == {""}:
        pytest.skip("this system gives no trace hash")
    assert len(traces) == len(TAUGHT) + 1
    one, two = adapter.start(1), adapter.start(1)
    for a, b in zip([OPENING, *TAUGHT], [OPENING, *reversed(TAUGHT)], strict=True):
        say(one, a)
        say(two, b)
    assert say(one, PROBE).trace_hash != say(two, PROBE).trace_hash


def test_sessions_interleave_without_mixing(adapter):
    one, two = adapter.start(1), adapter.start(1)
    found = []
    for a, b in zip([OPENING, *TAUGHT], [OPENING, *reversed(TAUGHT)], strict=True):
        say(one, a)
        found.append(say(two, b))
    alone = adapter.start(1)
    for text in [OPENING, *TAUGHT]:
        say(alone, text)
    assert say(one, PROBE) == say(alone, PROBE)


def test_a_fork_is_the_same_state_and_goes_its_own_way(adapter):
    trunk = adapter.start(1)
    if not hasattr(trunk, "fork"):
        pytest.skip("this system cannot fork")
    for text in [OPENING, *TAUGHT[:2]]:
        say(trunk, text)
    branch = trunk.fork()
    assert say(branch, PROBE) == teach(adapter.start(1), 2)[-1]
    say(branch, TAUGHT[2])
    assert say(trunk, PROBE) == teach(adapter.start(1), 2)[-1]


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
