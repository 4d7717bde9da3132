"""Does the longer output win, or the one shown first? Pure mathematics, no dependency."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adjudge.stats.intervals import wilson
from adjudge.stats.paired import sign_test


class Share(msgspec.Struct, frozen=True):
    """`won` of `n` decisive results, with the Wilson interval, and the exact binomial test of one half, two-sided."""

    won: int
    n: int
    value: float | None
    low: float | None
    high: float | None
    p: float


def longer_share(lengths: Iterable[tuple[float, float]], *, level: float = 0.95) -> Share:
    """How often the longer output won, from (length of the winner, length of the loser); equal lengths say nothing."""
    apart = [winner - loser for winner, loser in lengths if winner != loser]
    return _share(sum(difference > 0 for difference in apart), len(apart), level)


def slot_share(first_won: Iterable[bool], *, level: float = 0.95) -> Share:
    """How often the output in the first slot won, of the decisive results."""
    won = list(first_won)
    return _share(sum(map(bool, won)), len(won), level)


def _share(won: int, n: int, level: float) -> Share:
    if not n:
        return Share(0, 0, None, None, None, 1.0)
    return Share(won, n, won / n, *wilson(won, n, level=level), sign_test(won, n - won))
