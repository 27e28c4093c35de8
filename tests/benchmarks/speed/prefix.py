"""Prefix sharing: turns of a lane that teaches once and forks, against one that teaches anew."""

from __future__ import annotations

import warnings

import corecurves as cc
from corecurves.canonical import digest
from corecurves.specs import Correction, Curriculum, Token
from corecurves.systems.base import Turn
from corecurves.systems.grounded import GroundedSystem
from tests.benchmarks.speed.common import Found

CORRECTIONS = 32
GOAL = 8.0


class Counted:
    """A system whose turns are counted."""

    def __init__(self, system: object, *, forks: bool = True) -> None:
        self.identity = system.identity
        self.system, self.forks, self.turns = system, forks, 0

    def start(self):
        return (_Session if self.forks else _Unforked)(self, self.system.start())


class _Unforked:
    def __init__(self, owner: Counted, session: object) -> None:
        self.owner, self.session = owner, session

    def turn(self, text: str) -> Turn:
        self.owner.turns += 1
        return self.session.turn(text)


class _Session(_Unforked):
    def fork(self):
        return _Session(self.owner, self.session.fork())


def curriculum() -> Curriculum:
    words = [f"trait{digest(i)[:6]}" for i in range(CORRECTIONS)]
    return Curriculum(
        "wisdom", "What is wisdom?",
        tuple(Correction(f"No, wisdom is {word}.", (Token(word),)) for word in words),
        opening="Tell me about wisdom.",
    )  # fmt: skip


def measure() -> Found:
    taught = curriculum()

    def lane(mode: str, *, forks: bool = True):
        system = Counted(GroundedSystem(), forks=forks)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ds = cc.run_lane(
                [taught], system, arms=("taught",), replays=1, mode=mode, ledger=False,
                progress=False,
            )  # fmt: skip
        return system.turns, ds, [str(w.message) for w in told if "cannot fork" in str(w.message)]

    fresh, one, _ = lane("fresh")
    shared, two, _ = lane("prefix")
    unforked, three, told = lane("prefix", forks=False)
    hashes = one.trace_hash.values
    equal = (hashes == two.trace_hash.values).all() and (hashes != "").all()
    fallback = unforked == fresh and len(told) == 1 and (hashes == three.trace_hash.values).all()
    return Found(
        f"n = {CORRECTIONS}: {fresh} turns fresh, {shared} with a shared prefix, "
        f"{fresh / shared:.1f} times fewer; trace hashes {'equal' if equal else 'DIFFER'}; "
        f"without fork {unforked} turns and {len(told)} warning",
        f"at least {GOAL:.0f} times fewer, equal hashes, one warning without fork",
        bool(fresh / shared >= GOAL and equal and fallback),
    )  # fmt: skip
