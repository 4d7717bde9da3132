"""Several systems compared two at a time: what each pair came to, and the strengths that follow."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.domain import PairwiseResult
from adjudge.stats import holm
from adjudge.stats.bradley_terry import Game, Strength, bradley_terry

_POINTS = {"run": 1.0, "tie": 0.5, "baseline": 0.0}


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Systems `a` and `b`: in `result`, `a` is the run and `b` the baseline. `adjusted` is the sign test's p after Holm
    over all pairs; `None` when no case was decided."""

    a: str
    b: str
    result: PairwiseResult
    adjusted: float | None = None


class Tournament(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs, and the systems from the strongest down; `why` says why there are no strengths."""

    systems: tuple[str, ...]
    pairs: tuple[Pair, ...]
    strengths: tuple[Strength, ...] = ()
    why: str = ""


def tournament(systems: Sequence[str], results: Sequence[tuple[str, str, PairwiseResult]]) -> Tournament:
    """Put the comparisons of all pairs together. Strengths need more than two systems; a case without a winner counts
    for nothing."""
    known = [result.p for _, _, result in results if result.p is not None]
    adjusted = iter(holm(known))
    pairs = tuple(
        Pair(a=a, b=b, result=result, adjusted=None if result.p is None else next(adjusted)) for a, b, result in results
    )
    if len(systems) < 3:
        return Tournament(systems=tuple(systems), pairs=pairs)
    games = [
        Game(case.case, pair.a, pair.b, _POINTS[case.winner])
        for pair in pairs
        for case in pair.result.cases
        if case.winner
    ]
    try:
        strengths = tuple(bradley_terry(games))
    except ValueError as error:
        return Tournament(systems=tuple(systems), pairs=pairs, why=f"no strengths: {error}")
    return Tournament(systems=tuple(systems), pairs=pairs, strengths=strengths)
