"""The rose evaluation: whether a lesson still works after it is compressed."""

from corecurves.rose.run import arun_rose_eval, plan_rose, run_rose_eval

__all__ = ["arun_rose_eval", "plan_rose", "run_rose_eval"]
