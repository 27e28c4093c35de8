from __future__ import annotations

import asyncio
import time

import pytest

from corecurves.errors import PermanentFailure
from corecurves.models.base import TemporaryFailure
from corecurves.models.retry import Patience, with_patience

from .conftest import run


class Calls:
    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.count = 0

    async def __call__(self):
        self.count += 1
        outcome = self.outcomes[min(self.count, len(self.outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


QUICK = Patience(attempts=3, seconds=5, first_wait=0.01, longest_wait=0.05)


def test_tries_again_until_it_succeeds():
    calls = Calls(TemporaryFailure("busy"), TemporaryFailure("busy"), "yes")
    assert run(with_patience(calls, QUICK)) == "yes"
    assert calls.count == 3


def test_attempts_are_bounded():
    calls = Calls(TemporaryFailure("busy"))
    with pytest.raises(TemporaryFailure, match="busy"):
        run(with_patience(calls, QUICK))
    assert calls.count == 3


def test_a_permanent_failure_is_not_tried_again():
    calls = Calls(PermanentFailure("no such key"))
    with pytest.raises(PermanentFailure):
        run(with_patience(calls, QUICK))
    assert calls.count == 1


def test_a_stated_wait_is_kept():
    calls = Calls(TemporaryFailure("busy", 0.2), "yes")
    began = time.monotonic()
    assert run(with_patience(calls, Patience(first_wait=0.01))) == "yes"
    assert time.monotonic() - began >= 0.2


def test_a_stated_wait_of_a_day_ends_it_at_once():
    calls = Calls(TemporaryFailure("busy", 86400.0))
    began = time.monotonic()
    with pytest.raises(TemporaryFailure):
        run(with_patience(calls, Patience()))
    assert calls.count == 1
    assert time.monotonic() - began < 1


def test_total_time_is_bounded_though_a_call_never_ends():
    async def never():
        await asyncio.sleep(3600)

    began = time.monotonic()
    with pytest.raises(TemporaryFailure, match=r"0\.2 s"):
        run(with_patience(never, Patience(seconds=0.2)))
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(("drawn", "waits"), [(0.0, [0.5, 1, 2]), (1.0, [1, 2, 4])])
def test_waits_grow_and_are_drawn(monkeypatch, drawn, waits):
    found = []

    async def sleep(seconds):
        found.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(TemporaryFailure):
        run(with_patience(Calls(TemporaryFailure("busy")), Patience(), lambda: drawn))
    assert found == waits
