"""Agreement of two raters on the same cases. Pure mathematics, no dependency.

A pair in which either label is `None` is left out; `n` counts what was used. What is not defined is `None`, not 0 or 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple, TypeVar

import msgspec

from adjudge.stats.intervals import mean_of, mean_t, wilson
from adjudge.stats.student import t_quantile

T = TypeVar("T")
Weights = Literal["none", "linear", "quadratic"]


class Estimate(msgspec.Struct, frozen=True):
    """A figure, its interval and the number of cases it rests on; `None` where it is not defined."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Confusion(NamedTuple):
    """`counts[i][j]`: how often the first rater said `labels[i]` and the second `labels[j]`."""

    labels: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]


def exact_agreement(a: Sequence[Hashable], b: Sequence[Hashable], *, level: float = 0.95) -> Estimate:
    """The share of cases with equal labels, and its Wilson interval.

    Raises:
        ValueError: the lengths differ.
    """
    pairs = _pairs(a, b)
    return _share(sum(x == y for x, y in pairs), len(pairs), level)


def within(
    a: Sequence[float | None], b: Sequence[float | None], *, tolerance: float = 1, level: float = 0.95
) -> Estimate:
    """The share of cases whose labels lie at most `tolerance` apart, and its Wilson interval.

    Raises:
        ValueError: the lengths differ.
    """
    pairs = [(x, y) for x, y in _same_length(a, b) if x is not None and y is not None]
    return _share(sum(abs(x - y) <= tolerance for x, y in pairs), len(pairs), level)


def bias(judge: Sequence[float | None], human: Sequence[float | None], *, level: float = 0.95) -> Estimate:
    """The mean of judge minus human, and Student's t interval; no interval when the differences do not vary.

    Raises:
        ValueError: the lengths differ.
    """
    apart = [x - y for x, y in _same_length(judge, human) if x is not None and y is not None]
    if not apart:
        return Estimate(None, None, None, 0)
    bounds = mean_t(apart, level=level) if len(set(apart)) > 1 else None
    low, high = bounds or (None, None)
    return Estimate(mean_of(apart), low, high, len(apart))


def rates(
    judge: Sequence[bool | None], human: Sequence[bool | None], *, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """(true positive rate, true negative rate) of the judge, the human being right, with Wilson intervals.

    Each `n` counts the cases that the human passed or failed; without any the rate is `None`.

    Raises:
        ValueError: the lengths differ.
    """
    pairs = _pairs(judge, human)
    passed = [x for x, y in pairs if y]
    failed = [x for x, y in pairs if not y]
    return _share(sum(map(bool, passed)), len(passed), level), _share(sum(not x for x in failed), len(failed), level)


def confusion(a: Sequence[Hashable], b: Sequence[Hashable], *, labels: Sequence[Hashable] | None = None) -> Confusion:
    """The counts of each pair of labels, in the order of `labels`, or else of the sorted labels that occur.

    Raises:
        ValueError: the lengths differ, a label is not one of `labels`, or `labels` repeats one or is needed to order
            what cannot be sorted.
    """
    pairs = Counter(_pairs(a, b))
    seen = {label for pair in pairs for label in pair}
    if labels is None:
        try:
            order = tuple(sorted(seen))  # type: ignore[type-var]
        except TypeError:
            raise ValueError("labels that cannot be sorted need `labels`") from None
    else:
        order = tuple(labels)
        if len(set(order)) < len(order) or seen - set(order):
            raise ValueError(f"labels must be distinct and hold every label that occurs; they are {list(order)}")
    return Confusion(order, tuple(tuple(pairs[x, y] for y in order) for x in order))


def cohen_kappa(
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    *,
    weights: Weights = "none",
    labels: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Estimate:
    """Cohen's kappa: 1 - observed / expected disagreement (Cohen 1960, 1968). A label's weight is its place in
    `labels`; give the whole scale where some of its points may not occur. `None` when both only use one same label.

    The interval: one case's weight, spread as chance would, is added to the table (as in Agresti and Coull 1998), so
    that perfect agreement also has a standard error; it is then that of leaving out each case, on Fisher's z scale,
    with Student's quantile. It keeps its level better than bootstraps of the cases do at n = 30.

    Raises:
        ValueError: as `confusion`, or the weights are none of the three.
    """
    if weights not in ("none", "linear", "quadratic"):
        raise ValueError(f"weights are none, linear or quadratic, not {weights!r}")
    table = confusion(a, b, labels=labels).counts
    size, n = len(table), sum(map(sum, table))
    apart = [[_apart(i, j, weights) for j in range(size)] for i in range(size)]
    value = _kappa([list(map(float, row)) for row in table], apart)
    if value is None:
        return Estimate(None, None, None, n)
    low, high = _kappa_bounds(table, apart, n, level) if n > 2 else (None, None)
    return Estimate(value, low if low is None else min(low, value), high if high is None else max(high, value), n)


def _apart(i: int, j: int, weights: Weights) -> float:
    return float(i != j) if weights == "none" else float(abs(i - j) if weights == "linear" else (i - j) ** 2)


def _kappa(table: Sequence[Sequence[float]], apart: Sequence[Sequence[float]]) -> float | None:
    rows: list[float] = [sum(row) for row in table]
    columns: list[float] = [sum(column) for column in zip(*table, strict=True)]
    span = range(len(rows))
    expected: float = sum(rows[i] * columns[j] * apart[i][j] for i in span for j in span)
    if expected <= 0:
        return None
    return 1 - sum(rows) * sum(table[i][j] * apart[i][j] for i in span for j in span) / expected


def _kappa_bounds(
    table: Sequence[Sequence[int]], apart: Sequence[Sequence[float]], n: int, level: float
) -> tuple[float | None, float | None]:
    rows, columns = list(map(sum, table)), [sum(column) for column in zip(*table, strict=True)]
    span, total = range(len(rows)), n + 1.0
    chance = [[rows[i] * columns[j] / n**2 for j in span] for i in span]
    mixed = [[table[i][j] + chance[i][j] for j in span] for i in span]
    centre = _kappa(mixed, apart)
    if centre is None:
        return None, None
    p, q = [r * total / n for r in rows], [c * total / n for c in columns]
    by_row = [sum(q[j] * apart[i][j] for j in span) / total for i in span]
    by_column = [sum(p[i] * apart[i][j] for i in span) / total for j in span]
    expected = sum(p[i] * by_row[i] for i in span) / total
    seen = (1 - centre) * expected
    variance = 0.0
    for i in span:
        for j in span:
            lever = (seen - apart[i][j] + (1 - centre) * (by_row[i] + by_column[j] - 2 * expected)) / expected
            variance += chance[i][j] * lever**2
            if table[i][j]:
                mixed[i][j] -= 1
                without = _kappa(mixed, apart)
                mixed[i][j] += 1
                if without is not None:
                    variance += table[i][j] * ((total - 1) * (centre - without)) ** 2
    if not -1 < centre < 1:
        return None, None
    reach = t_quantile((1 + level) / 2, n - 1) * math.sqrt(variance) / total / (1 - centre**2)
    return math.tanh(math.atanh(centre) - reach), math.tanh(math.atanh(centre) + reach)


def _share(count: int, n: int, level: float) -> Estimate:
    return Estimate(count / n, *wilson(count, n, level=level), n) if n else Estimate(None, None, None, 0)


def _same_length(a: Sequence[T], b: Sequence[T]) -> list[tuple[T, T]]:
    if len(a) != len(b):
        raise ValueError(f"{len(a)} labels but {len(b)} of the other rater")
    return list(zip(a, b, strict=True))


def _pairs(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[Hashable, Hashable]]:
    return [(x, y) for x, y in _same_length(a, b) if x is not None and y is not None]
