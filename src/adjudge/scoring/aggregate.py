"""The formulas that make one number of several values with weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from adjudge.domain import Aggregation

_CLOSE = 1e-12


def aggregate(
    how: Aggregation,
    values: Sequence[float],
    weights: Sequence[float],
    *,
    threshold: float = 0.5,
    optional: Sequence[bool] = (),
) -> float:
    """One number of `values`, as `how` says; 0 when there are none.

    `optional` marks values that no required-pass rule asks for.

    Raises:
        OverflowError: the number is too large for a float.
    """
    if not values:
        return 0.0
    if how is Aggregation.ALL_PASS:
        return float(all(reaches(value, 1.0) for value in values))
    if how is Aggregation.ANY_PASS:
        return float(any(reaches(value, 1.0) for value in values))
    if how is Aggregation.REQUIRED_PASS:
        required = [
            value for value, left_out in zip(values, optional or [False] * len(values), strict=True) if not left_out
        ]
        return float(bool(required) and all(value > 0 for value in required))
    if how is Aggregation.MIN:
        return min(values)
    if how is Aggregation.MAX:
        return max(values)
    if how is Aggregation.PRODUCT:
        return _finite(math.prod(values))
    total = _sum(value * weight for value, weight in zip(values, weights, strict=True))
    if how is Aggregation.WEIGHTED_SUM:
        return _finite(total)
    weight = _finite(_sum(weights))
    mean = _finite(total / weight) if weight else 0.0
    if weight and min(weights) >= 0:  # a weight near 0 keeps few digits of its product
        mean = min(max(mean, min(values)), max(values))
    return float(reaches(mean, threshold)) if how is Aggregation.THRESHOLD else mean


def reaches(value: float, bound: float) -> bool:
    """At least the bound, but for the last digits of a division."""
    return value >= bound or math.isclose(value, bound, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _sum(numbers: Iterable[float]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # on the way, or of infinities with both signs
        return math.inf


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise OverflowError("the aggregate is too large for a number")
    return number
