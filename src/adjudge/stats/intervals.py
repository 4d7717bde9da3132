"""Confidence intervals for rates and means. Pure mathematics, no dependency."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist

from adjudge.stats.student import t_quantile

Bounds = tuple[float, float]


def wilson(successes: int, n: int, *, level: float = 0.95) -> Bounds:
    """Wilson score interval for a rate.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212.

    Raises:
        ValueError: unless 0 <= successes <= n, n >= 1 and 0 < level < 1.
    """
    _check_level(level)
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"need 0 <= successes <= n and n >= 1, got {successes} of {n}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate = successes / n
    centre = rate + z * z / (2 * n)
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == n else (centre + spread) / scale
    return max(0.0, low), min(1.0, high)


def mean_t(values: Sequence[float], *, level: float = 0.95) -> Bounds | None:
    """Student's t interval for the mean of independent values; `None` for fewer than two."""
    return clustered_mean(values, range(len(values)), level=level)


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable], *, level: float = 0.95) -> Bounds | None:
    """Interval for the mean of values that come in clusters (several samples of one case).

    The variance is the cluster-robust estimate for a mean with the G / (G - 1) correction, and the quantile is
    Student's with G - 1 degrees of freedom, G being the number of clusters (Liang and Zeger 1986; Miller 2024,
    "Adding error bars to evals", eq. 4). With one value a cluster it is the ordinary t interval.

    Returns:
        (low, high), or `None` for fewer than two clusters, or where the numbers are too large to square.

    Raises:
        ValueError: the two sequences differ in length, or level is not in (0, 1).
    """
    _check_level(level)
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} cluster labels")
    if len(values) < 2:
        return None
    mean = mean_of(values)
    residuals: dict[Hashable, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        residuals[cluster] = residuals.get(cluster, 0.0) + (value - mean)
    count = len(residuals)
    if count < 2:
        return None
    try:
        variance = math.fsum(r * r for r in residuals.values()) * count / (count - 1) / len(values) ** 2
    except OverflowError:
        return None
    reach = t_quantile((1 + level) / 2, count - 1) * math.sqrt(variance)
    return (mean - reach, mean + reach) if math.isfinite(mean + reach) and math.isfinite(mean - reach) else None


def mean_of(values: Sequence[float]) -> float:
    """The mean, exactly rounded, of at least one finite value; the mean of equal values is that value."""
    first = values[0]
    if all(value == first for value in values):
        return float(first)
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(value / len(values) for value in values)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"the level must lie in (0, 1), got {level}")
