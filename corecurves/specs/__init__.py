"""Frozen data, as files give it."""

from corecurves.specs.curriculum import Correction, Curriculum, Lemma, Pack, Relation, Token
from corecurves.specs.identity import SIMULATED, Identity, is_simulated, unrecognisable
from corecurves.specs.lesson import (
    DROPPED_KINDS,
    Checks,
    Dropped,
    Episode,
    Lesson,
    Level,
    Outcome,
    ServedCase,
    Store,
)

__all__ = [
    "DROPPED_KINDS",
    "SIMULATED",
    "Checks",
    "Correction",
    "Curriculum",
    "Dropped",
    "Episode",
    "Identity",
    "Lemma",
    "Lesson",
    "Level",
    "Outcome",
    "Pack",
    "Relation",
    "ServedCase",
    "Store",
    "Token",
    "is_simulated",
    "unrecognisable",
]
