"""Pure mathematics: what can be said from how many observations."""

from adjudge.stats.intervals import Bounds, clustered_mean, mean_of, mean_t, wilson
from adjudge.stats.student import t_cdf, t_quantile

__all__ = ["Bounds", "clustered_mean", "mean_of", "mean_t", "t_cdf", "t_quantile", "wilson"]
