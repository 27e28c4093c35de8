"""The recall evaluation: whether retrieval serves the right lessons."""

from corecurves.recall.run import arun_recall_eval, plan_recall, run_recall_eval

__all__ = ["arun_recall_eval", "plan_recall", "run_recall_eval"]
