"""Explorers: controls beside a curve, each with a static twin that a page can show.

What a control changes is a frozen state; from a state, pure functions make figures, tables and
HTML. The widgets on top only hand values back and forth, and they alone need ipywidgets.
"""

from __future__ import annotations

from corecurves.explore.lane import explore_lane
from corecurves.explore.recall import explore_recall
from corecurves.explore.rose import explore_rose

__all__ = ["explore_lane", "explore_recall", "explore_rose"]
