"""Whether the scores of a later run fell, cell by cell, or are what chance makes of equal ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from adjudge.stats.intervals import mean_of
from adjudge.stats.paired import holm
from adjudge.stats.student import t_cdf, t_quantile

ALPHA = 0.02
"""Share of comparisons of two equal runs in which any cell at all may be said to have fallen."""
PRIOR_VARIANCE = 0.25
"""Of one score on a scale of whole steps when nothing else is known: that of a score that is one of two neighbours."""
PRIOR_WEIGHT = 4
"""Degrees of freedom that the prior counts for."""
WORK_VARIANCE = 0.4
"""Of the difference between two equal runs when nothing else is known: of work that differs by 0.45 points in each."""
WORK_WEIGHT = 8
"""How many differences that counts for."""
MOST_BY_CHANCE = 1.0
"""Points. A task that rose by more has become better, and is no measure of chance."""


class Fall(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: earlier mean less later mean, its standard error, its interval at `level` 0.95, and the one-sided
    p of a fall as large, by itself and adjusted for all comparisons of both runs."""

    drop: float
    error: float
    low: float
    high: float
    p: float
    adjusted: float

    @property
    def certain(self) -> bool:
        """More than what chance makes of equal runs."""
        return self.adjusted <= ALPHA

    @property
    def rises(self) -> bool:
        """It rose by more than its own 95% interval holds."""
        return self.high < 0


def falls(
    cells: Sequence[tuple[Sequence[float], Sequence[float]]], groups: Sequence[Sequence[int]] = ()
) -> tuple[list[Fall], list[Fall]]:
    """(a comparison a cell, a comparison a group of cells), all of one family.

    A cell is (earlier samples, later samples) of one score, at least one each, in steps of the scale. The variance of a
    sample is that of the cell, shrunk towards `PRIOR_VARIANCE` (Gelman et al., Bayesian Data Analysis, 3.3: scaled
    inverse chi-squared), and never less than what all cells show together, since three equal samples do not prove that
    a fourth would be equal. Samples of one run share the work that they judge, which differs from run to run, and of
    equal runs as often up as down: no cell's standard error is less than the mean square of all that rose or stayed,
    each up to `MOST_BY_CHANCE`, shrunk towards `WORK_VARIANCE` likewise. What fell tells nothing of chance, for it is
    what is looked for. A group is compared by the mean of its cells, with the larger of the cells' errors taken
    together and of the paired standard error over them, which counts for no more than rises and samples explain.

    Groups and cells are two families, each by Holm, with a third and two thirds of `ALPHA`: few groups are not drowned
    by many cells.

    Raises:
        ValueError: a cell has no sample on one side.
    """
    if any(not before or not after for before, after in cells):
        raise ValueError("a cell needs samples on both sides")
    if not cells:
        return [], []
    squares = [_square(before) + _square(after) for before, after in cells]
    freedom = [len(before) + len(after) - 2 for before, after in cells]
    pooled = sum(squares) / max(1, sum(freedom))
    drops = [mean_of(before) - mean_of(after) for before, after in cells]
    rises = [min(-drop, MOST_BY_CHANCE) for drop in drops if drop <= 0]
    scatter = math.sqrt((WORK_WEIGHT * WORK_VARIANCE + sum(rise**2 for rise in rises)) / (WORK_WEIGHT + len(rises)))
    alone: list[float] = []
    errors: list[float] = []
    degrees: list[int] = []
    for (before, after), square, own in zip(cells, squares, freedom, strict=True):
        shrunk = (PRIOR_WEIGHT * PRIOR_VARIANCE + square) / (PRIOR_WEIGHT + own)
        error = math.sqrt(max(pooled, shrunk) * (1 / len(before) + 1 / len(after)))
        alone.append(error)
        errors.append(max(error, scatter))
        degrees.append(PRIOR_WEIGHT + own)
    made = [_Raw(*one) for one in zip(drops, errors, degrees, strict=True)]
    for group in groups:
        size = len(group)
        mean = sum(drops[index] for index in group) / size
        error = math.sqrt(sum(errors[index] ** 2 for index in group)) / size
        known = max(size - 1, min(degrees[index] for index in group))
        if size > 1:
            paired = math.sqrt(sum((drops[index] - mean) ** 2 for index in group) / (size - 1) / size)
            most = math.sqrt(scatter**2 / size + sum(alone[index] ** 2 for index in group) / size**2)
            if error < paired <= most:
                error, known = paired, max(PRIOR_WEIGHT, size - 1)
            error = max(error, min(paired, most))
        made.append(_Raw(mean, error, known))
    found: list[Fall] = []
    for family, part in ((made[: len(cells)], 2 / 3 if groups else 1), (made[len(cells) :], 1 / 3)):
        adjusted = holm([one.p for one in family])
        found += [one.fall(min(1.0, p / part)) for one, p in zip(family, adjusted, strict=True)]
    return found[: len(cells)], found[len(cells) :]


class _Raw(msgspec.Struct, frozen=True):
    drop: float
    error: float
    freedom: int

    @property
    def p(self) -> float:
        return t_cdf(-self.drop / self.error, self.freedom)

    def fall(self, adjusted: float) -> Fall:
        half = t_quantile(0.975, self.freedom) * self.error
        return Fall(
            drop=self.drop,
            error=self.error,
            low=self.drop - half,
            high=self.drop + half,
            p=self.p,
            adjusted=adjusted,
        )


def _square(samples: Sequence[float]) -> float:
    mean = mean_of(samples)
    return sum((sample - mean) ** 2 for sample in samples)
