"""Statistics on plain arrays: rates, means, first reach and survival.

Arrays in, arrays out: nothing here knows a dimension name, a file or a plot. Importing the package
needs numpy only; scipy is imported by the functions that take a quantile from it.
"""

from corecurves.stats.clustered import RateInterval, clustered_rate
from corecurves.stats.curves import first_reach
from corecurves.stats.means import (
    MeanInterval,
    difference_interval,
    no_spread_half_width,
    t_interval,
)
from corecurves.stats.rates import exact_upper, wilson, wilson_rate
from corecurves.stats.survival import SurvivalCurve, kaplan_meier

__all__ = [
    "MeanInterval",
    "RateInterval",
    "SurvivalCurve",
    "clustered_rate",
    "difference_interval",
    "exact_upper",
    "first_reach",
    "kaplan_meier",
    "no_spread_half_width",
    "t_interval",
    "wilson",
    "wilson_rate",
]
