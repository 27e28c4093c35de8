"""Small systems to teach, and small curricula to teach them with."""

from __future__ import annotations

from corecurves.canonical import digest
from corecurves.specs import Correction, Curriculum, Identity, Token
from corecurves.systems.base import Turn


class Rote:
    """Says everything that it was told; counts its sessions and turns, so it stays here."""

    travels = False

    def __init__(self, name="rote", *, fails_at=None):
        self.identity = Identity(name, "1")
        self.fails_at = fails_at
        self.starts = 0
        self.turns = []

    def start(self):
        self.starts += 1
        return RoteSession(self)


class RoteSession:
    def __init__(self, system, heard=()):
        self.system = system
        self.heard = list(heard)

    def turn(self, text):
        self.system.turns.append(text)
        if self.system.fails_at is not None and self.system.fails_at(self.heard, text):
            raise RuntimeError("no answer")
        is_probe = text.endswith("?")
        surface = " ".join(self.heard) if is_probe else "noted"
        self.heard.append(text)
        return Turn(surface, trace_hash=digest(self.heard), accepted=None if is_probe else True)

    def fork(self):
        return RoteSession(self.system, self.heard)


def curriculum(concept="wisdom", words=("judgment", "patience", "doubt"), **more):
    """A small curriculum whose corrections each add one word."""
    corrections = tuple(Correction(f"No, {concept} needs {w}.", (Token(w),)) for w in words)
    return Curriculum(
        concept, f"What is {concept}?", corrections, opening=f"Tell me about {concept}.", **more
    )
