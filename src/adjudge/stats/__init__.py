"""Pure mathematics: what can be said from how many observations."""

from adjudge.stats.intervals import Bounds, clustered_mean, mean_of, mean_t, wilson
from adjudge.stats.length_bias import longer_share, slot_share
from adjudge.stats.paired import bootstrap_mean, effect_size, holm, interval_method, mcnemar, sign_test, wilcoxon
from adjudge.stats.student import t_cdf, t_quantile

__all__ = [
    "Bounds",
    "bootstrap_mean",
    "clustered_mean",
    "effect_size",
    "holm",
    "interval_method",
    "longer_share",
    "mcnemar",
    "mean_of",
    "mean_t",
    "sign_test",
    "slot_share",
    "t_cdf",
    "t_quantile",
    "wilcoxon",
    "wilson",
]
