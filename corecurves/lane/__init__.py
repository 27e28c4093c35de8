"""The lane: how fast a system becomes competent as it is corrected."""

from corecurves.lane.run import arun_lane, plan_lane, run_lane

__all__ = ["arun_lane", "plan_lane", "run_lane"]
