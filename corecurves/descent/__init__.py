"""The descent evaluation: which way back to detail is best where a short form fails."""

from corecurves.descent.run import arun_descent_eval, plan_descent, run_descent_eval

__all__ = ["arun_descent_eval", "plan_descent", "run_descent_eval"]
