"""Selectors: which of the lessons that may be served bear on a task."""

from corecurves.selectors.base import Candidate, Opinion, Selector
from corecurves.selectors.resolve import SELECTORS, as_selector

__all__ = ["SELECTORS", "Candidate", "Opinion", "Selector", "as_selector"]
