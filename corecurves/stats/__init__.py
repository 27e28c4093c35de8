"""Statistics on plain arrays: rates, means, first reach and survival.

Arrays in, arrays out: nothing here knows a dimension name, a file or a plot. Importing the package
needs numpy only; scipy is imported by the functions that take a quantile from it.
"""

from corecurves.stats.change import change_bounds, change_interval, units_to_hold, unseen_loss
from corecurves.stats.curves import first_reach
from corecurves.stats.decide import Decision, p_below, units_to_decide
from corecurves.stats.holm import holm
from corecurves.stats.means import (
    MeanInterval,
    difference_interval,
    no_spread_half_width,
    t_interval,
)
from corecurves.stats.nested import (
    RateInterval,
    Units,
    independent_units,
    mean_known,
    nested_rate,
)
from corecurves.stats.rates import exact_upper, wilson, wilson_rate
from corecurves.stats.ratio import ratio_interval
from corecurves.stats.survival import SurvivalCurve, kaplan_meier

__all__ = [
    "Decision",
    "MeanInterval",
    "RateInterval",
    "SurvivalCurve",
    "Units",
    "change_bounds",
    "change_interval",
    "difference_interval",
    "exact_upper",
    "first_reach",
    "holm",
    "independent_units",
    "kaplan_meier",
    "mean_known",
    "nested_rate",
    "no_spread_half_width",
    "p_below",
    "ratio_interval",
    "t_interval",
    "units_to_decide",
    "units_to_hold",
    "unseen_loss",
    "wilson",
    "wilson_rate",
]
