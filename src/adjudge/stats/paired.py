"""Paired comparisons: the same cases judged twice. Pure mathematics, no dependency."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from adjudge.stats.intervals import Bounds, mean_of, mean_t

EXACT_N = 50
"""Up to this many differences that are not zero, the signed-rank test enumerates its distribution."""
RESAMPLES = 5_000
MAX_RESAMPLED = 1_000
"""Up to this many cases the bootstrap resamples; that is 5 million draws, less than a second."""
_EXACT_BINOMIAL = 1_000


class SignedRank(NamedTuple):
    """A signed-rank test: the sum of the ranks of positive differences, the two-sided p in [0, 1], the number of
    differences that are not zero, and whether p is exact."""

    statistic: float
    p: float
    n: int
    exact: bool


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of the exact sign test: as many wins as losses are expected; ties are left out before.

    Twice the smaller tail of Binomial(wins + losses, 1/2), at most 1; 1.0 when there is neither win nor loss
    (Conover, "Practical Nonparametric Statistics", 1999, 3.4).

    Raises:
        ValueError: a count is negative.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"counts cannot be negative, got {wins} and {losses}")
    n, few = wins + losses, min(wins, losses)
    if n <= _EXACT_BINOMIAL:
        tail, term = 0, 1
        for k in range(few + 1):
            tail += term
            term = term * (n - k) // (k + 1)
        return min(1.0, 2 * tail / (1 << n))
    term_at = math.exp(math.lgamma(n + 1) - math.lgamma(few + 1) - math.lgamma(n - few + 1) - n * math.log(2))
    sum_of, term_is = term_at, term_at
    for k in range(few, 0, -1):
        term_is *= k / (n - k + 1)
        sum_of += term_is
        if term_is < sum_of * 1e-17:
            break
    return min(1.0, 2 * sum_of)


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided p of the exact McNemar test for two sets of booleans on the same cases.

    The cases that only one of the two passes are a sign test; those on which both agree say nothing
    (McNemar 1947, Psychometrika 12, 153-157; the exact form: Agresti, "Categorical Data Analysis", 2013, 11.1).

    Raises:
        ValueError: a count is negative.
    """
    return sign_test(first_only, second_only)


def wilcoxon(differences: Sequence[float]) -> SignedRank:
    """Wilcoxon's signed-rank test that paired differences are symmetric about 0, two-sided.

    Zeros are dropped, as Wilcoxon did; equal sizes share their mean rank. Up to 50 differences p is exact, also with
    ties: the distribution of the doubled ranks' sum over all signs, counted by dynamic programming. Above that it is
    the normal approximation, with the variance reduced by sum(t^3 - t) / 48 over groups of t equal sizes, and a
    continuity correction of 1/2 (Wilcoxon 1945, Biometrics Bulletin 1, 80-83; Hollander, Wolfe and Chicken,
    "Nonparametric Statistical Methods", 2014, 3.1). Without a difference that is not zero p is 1.

    Raises:
        ValueError: a difference is NaN.
    """
    if any(math.isnan(difference) for difference in differences):
        raise ValueError("a difference is NaN")
    kept = [difference for difference in differences if difference]
    n = len(kept)
    if not n:
        return SignedRank(0.0, 1.0, 0, exact=True)
    ranks, groups = _doubled_ranks([abs(difference) for difference in kept])
    above = sum(rank for rank, difference in zip(ranks, kept, strict=True) if difference > 0)
    if n <= EXACT_N:
        return SignedRank(above / 2, _exact_p(ranks, above), n, exact=True)
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - sum(size**3 - size for size in groups) / 48
    z = max(0.0, abs(above / 2 - mean) - 0.5) / math.sqrt(variance)
    return SignedRank(above / 2, math.erfc(z / math.sqrt(2)), n, exact=False)


def _doubled_ranks(sizes: Sequence[float]) -> tuple[list[int], list[int]]:
    """Twice the mid-rank of each value, which is whole, and how many values share each rank."""
    counts = Counter(sizes)
    ranks: dict[float, int] = {}
    below = 0
    for size in sorted(counts):
        ranks[size] = 2 * below + counts[size] + 1
        below += counts[size]
    return [ranks[size] for size in sizes], list(counts.values())


def _exact_p(ranks: Sequence[int], above: int) -> float:
    total = sum(ranks)
    ways = [1] + [0] * total
    reached = 0
    for rank in ranks:
        reached += rank
        for sum_of in range(reached, rank - 1, -1):
            ways[sum_of] += ways[sum_of - rank]
    tail = sum(ways[: min(above, total - above) + 1])
    return min(1.0, 2 * tail / (1 << len(ranks)))


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given; at most 1 (Holm 1979, Scand. J. Statist. 6, 65-70).

    Raises:
        ValueError: a p does not lie in [0, 1].
    """
    if any(not 0 <= p <= 1 for p in ps):
        raise ValueError(f"every p must lie in [0, 1], got {list(ps)}")
    adjusted = [0.0] * len(ps)
    largest = 0.0
    for step, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        largest = max(largest, min(1.0, (len(ps) - step) * ps[index]))
        adjusted[index] = largest
    return adjusted


def effect_size(differences: Sequence[float]) -> float | None:
    """d_z: the mean paired difference in units of the differences' standard deviation (n - 1).

    `None` for fewer than two differences, or when they do not vary (Cohen, "Statistical Power Analysis", 1988, p. 48;
    Lakens 2013, Frontiers in Psychology 4:863, eq. 6).
    """
    spread = _spread(differences)
    return mean_of(differences) / spread if spread else None


def bootstrap_mean(
    differences: Sequence[float],
    *,
    level: float = 0.95,
    method: str = "bca",
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Bounds | None:
    """Bootstrap interval of the mean paired difference; the cases are resampled, with replacement.

    `method` is `percentile`, or `bca`: bias-corrected and accelerated, the acceleration from the jackknife, half of
    the resamples that equal the mean counted as below it (Efron and Tibshirani, "An Introduction to the Bootstrap",
    1993, 13.3 and 14.3). The draws are those of `random.Random(seed)`. Cost grows with n * resamples; above
    `MAX_RESAMPLED` (1,000) cases the interval is Student's t, to which it then comes close: `interval_method` says
    which it is. With few cases, say fewer than 20, it is narrower than its level says.

    Returns:
        (low, high) in the unit of the differences, or `None` for fewer than two, or when they do not vary: equal
        values say nothing of how others would differ.

    Raises:
        ValueError: the level is not in (0, 1), the method is neither of the two, or resamples < 1.
    """
    if not 0 < level < 1 or method not in ("bca", "percentile") or resamples < 1:
        raise ValueError(f"need 0 < level < 1, bca or percentile, resamples >= 1: {level}, {method!r}, {resamples}")
    n = len(differences)
    if not _spread(differences):
        return None
    if n > MAX_RESAMPLED:
        return mean_t(differences, level=level)
    draw = random.Random(seed).choices
    sums = sorted(sum(draw(differences, k=n)) for _ in range(resamples))
    shares = (1 - level) / 2, (1 + level) / 2
    if method == "bca":
        low, high = (_bca_share(share, sums, differences) for share in shares)
    else:
        low, high = shares
    return _quantile(sums, low) / n, _quantile(sums, high) / n


def interval_method(n: int, *, method: str = "bca") -> str:
    """What `bootstrap_mean` does with `n` differences, by name."""
    return "t" if n > MAX_RESAMPLED else f"bootstrap {method}"


def _bca_share(share: float, sums: Sequence[float], differences: Sequence[float]) -> float:
    normal = NormalDist()
    total = math.fsum(differences)
    close = 1e-12 * math.fsum(map(abs, differences))
    below = sum(value < total - close for value in sums) + sum(abs(value - total) <= close for value in sums) / 2
    bias = normal.inv_cdf(min(max(below, 0.5), len(sums) - 0.5) / len(sums))
    mean, largest = mean_of(differences), max(map(abs, differences))
    apart = [(value - mean) / largest for value in differences]
    acceleration = math.fsum(d**3 for d in apart) / (6 * math.fsum(d * d for d in apart) ** 1.5)
    shifted = bias + normal.inv_cdf(share)
    return normal.cdf(bias + shifted / (1 - acceleration * shifted))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between order statistics (Hyndman and Fan 1996, type 7)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _spread(values: Sequence[float]) -> float:
    """The standard deviation with n - 1; 0 for fewer than two values, equal ones, or ones too large to square."""
    if len(values) < 2 or all(value == values[0] for value in values):
        return 0.0
    mean = mean_of(values)
    try:
        return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    except OverflowError:
        return 0.0
