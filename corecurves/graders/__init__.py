"""Graders: blind by the type of their input, which has no field for lesson, level or arm."""

from corecurves.graders.base import BlindCase, Grade, Grader, Preference
from corecurves.graders.judge import Judge
from corecurves.graders.plain import Checklist, Contrast, Gain
from corecurves.graders.resolve import TAKE, as_grader

__all__ = [
    "TAKE",
    "BlindCase",
    "Checklist",
    "Contrast",
    "Gain",
    "Grade",
    "Grader",
    "Judge",
    "Preference",
    "as_grader",
]
