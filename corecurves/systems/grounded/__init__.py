"""A small, deterministic system of reviewed teaching: parse, review, remember, walk, realise."""

from corecurves.systems.grounded.session import GroundedSession, GroundedSettings, GroundedSystem

__all__ = ["GroundedSession", "GroundedSettings", "GroundedSystem"]
