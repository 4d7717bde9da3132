"""Krippendorff's alpha: agreement of several raters, some ratings missing. Pure mathematics, no dependency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from adjudge.stats.agreement import Estimate
from adjudge.stats.student import t_quantile

Level = Literal["nominal", "ordinal", "interval"]
_Unit = tuple[Hashable, ...]


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
    return _alpha(_counted(units), level)


def alpha_estimate(
    units: Sequence[Sequence[Hashable | None]], *, level: Level = "nominal", confidence: float = 0.95
) -> Estimate:
    """Alpha with an interval; `n` is the number of units with two ratings or more. No bounds where alpha is undefined
    or fewer than three units can be had.

    One unit, spread as chance would, is added (as in Agresti and Coull 1998, and as for Cohen's kappa), so that perfect
    agreement also has a standard error: that of leaving out each unit (Efron 1982), on Fisher's z scale, with Student's
    quantile. Over ordinal and interval ratings of 30 units it keeps its level better than the plain jackknife.

    Raises:
        ValueError: as `krippendorff_alpha`.
    """
    value = krippendorff_alpha(units, level=level)
    counted = _counted(units)
    n = sum(counted.values())
    bounds = _bounds(counted, value, level, n, confidence) if value is not None and n > 2 else None
    if value is None or bounds is None:
        return Estimate(value, None, None, n)
    return Estimate(value, min(bounds[0], value), max(bounds[1], value), n)


def _bounds(
    counted: Counter[_Unit], value: float, level: Level, n: int, confidence: float
) -> tuple[float, float] | None:
    totals: Counter[Any] = Counter()
    for unit, count in counted.items():
        for rating in unit:
            totals[rating] += count
    ratings = sum(totals.values())
    centre = value * n / (n + 1)
    variance = 0.0
    for unit, count in counted.items():
        left = _alpha(counted - Counter([unit]), level)
        if left is None:
            return None
        variance += count * ((n - 1) * (value - left)) ** 2
    named = list(totals)
    for k, a in enumerate(named):
        for b in named[k:]:
            share = (1 if a == b else 2) * totals[a] * totals[b] / ratings**2
            more = _alpha(counted + Counter([(a, b)]), level)
            variance += share * ((n + 1) * ((more or 0.0) - value)) ** 2
    if not -1 < centre < 1:
        return None
    reach = t_quantile(0.5 + confidence / 2, n - 1) * math.sqrt(variance) / n / (1 - centre**2)
    z = math.atanh(centre)
    return math.tanh(z - reach), math.tanh(z + reach)


def _counted(units: Sequence[Sequence[Hashable | None]]) -> Counter[_Unit]:
    """How often each set of two ratings or more occurs; equal ones are worked out once."""
    kept = (tuple(value for value in unit if value is not None) for unit in units)
    return Counter(unit for unit in kept if len(unit) > 1)


def _alpha(counted: Counter[_Unit], level: Level) -> float | None:
    totals: Counter[Any] = Counter()
    for unit, count in counted.items():
        for value in unit:
            totals[value] += count
    if len(totals) < 2:
        return None
    n = sum(totals.values())
    if level == "nominal":
        observed = sum(
            count * (len(u) ** 2 - sum(c * c for c in Counter(u).values())) / (len(u) - 1)
            for u, count in counted.items()
        )
        expected = (n * n - sum(count * count for count in totals.values())) / (n - 1)
    else:
        place = _places(totals, level)
        middle = sum(place[value] * count for value, count in totals.items()) / n
        observed = sum(
            count * len(u) * _squares([place[value] for value in u]) / (len(u) - 1) for u, count in counted.items()
        )
        expected = n * sum((place[value] - middle) ** 2 * count for value, count in totals.items()) / (n - 1)
    return 1 - observed / expected if expected > 0 else None


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
