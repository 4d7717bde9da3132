"""Krippendorff's alpha: agreement of several raters, some ratings missing. Pure mathematics, no dependency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from adjudge.stats.agreement import Estimate
from adjudge.stats.student import t_quantile

_NEAR_ONE = 1 - 1e-12
Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(units: Sequence[Sequence[Hashable | None]], *, level: Level = "nominal") -> float | None:
    """1 - observed / expected disagreement over the ratings of each unit; `None` in a unit is a missing rating.

    Units with fewer than two ratings are left out. Ordinal distances are those of the mid-ranks, so that they depend
    only on the order (Krippendorff, "Computing Krippendorff's alpha-reliability", 2011). `None` when nothing can be
    paired or the ratings do not vary.

    Raises:
        ValueError: the level is none of the three, interval ratings are not numbers, or ordinal ones have no order.
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"the level is nominal, ordinal or interval, not {level!r}")
    kept = [[value for value in unit if value is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    totals = Counter(value for unit in kept for value in unit)
    if len(totals) < 2:
        return None
    n = sum(totals.values())
    if level == "nominal":
        observed = sum((len(u) ** 2 - sum(c * c for c in Counter(u).values())) / (len(u) - 1) for u in kept)
        expected = (n * n - sum(count * count for count in totals.values())) / (n - 1)
    else:
        place = _places(totals, level)
        middle = sum(place[value] * count for value, count in totals.items()) / n
        observed = sum(len(u) * _squares([place[value] for value in u]) / (len(u) - 1) for u in kept)
        expected = n * sum((place[value] - middle) ** 2 * count for value, count in totals.items()) / (n - 1)
    return 1 - observed / expected if expected > 0 else None


def alpha_estimate(
    units: Sequence[Sequence[Hashable | None]], *, level: Level = "nominal", confidence: float = 0.95
) -> Estimate:
    """Alpha with an interval: Fisher's z, with the standard error of leaving out one unit at a time (the jackknife of
    Efron, 1982) and Student's quantile. `n` is the number of units with two ratings or more. No bounds where alpha is
    1, or undefined, or fewer than three units can be had."""
    kept = [[value for value in unit if value is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    n = len(kept)
    value = krippendorff_alpha(kept, level=level)
    if value is None or n < 3 or not -1 < value < 1:
        return Estimate(value, None, None, n)
    without = Counter(tuple(unit) for unit in kept)
    moved: list[tuple[float, int]] = []
    for unit, count in without.items():
        others = [list(other) for other, times in (without - Counter([unit])).items() for _ in range(times)]
        left = krippendorff_alpha(others, level=level)
        if left is None:
            return Estimate(value, None, None, n)
        moved.append((math.atanh(min(max(left, -_NEAR_ONE), _NEAR_ONE)), count))
    mean = sum(z * count for z, count in moved) / n
    error = math.sqrt((n - 1) / n * sum(count * (z - mean) ** 2 for z, count in moved))
    half = t_quantile(0.5 + confidence / 2, n - 1) * error
    z = math.atanh(value)
    return Estimate(value, math.tanh(z - half), math.tanh(z + half), n)


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _places(totals: Mapping[Any, int], level: Level) -> dict[Any, float]:
    if level == "interval":
        if not all(isinstance(value, (int, float)) for value in totals):
            raise ValueError("interval ratings must be numbers")
        return {value: float(value) for value in totals}
    try:
        order = sorted(totals)
    except TypeError:
        raise ValueError("ordinal ratings must have an order") from None
    places, below = {}, 0
    for value in order:
        places[value] = below + totals[value] / 2
        below += totals[value]
    return places
