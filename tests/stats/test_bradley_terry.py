"""Strengths of systems: against a general optimiser, in corner cases, and how often the intervals hold."""

from __future__ import annotations

import math
import os
import random
from importlib import import_module
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.stats.bradley_terry import PRIOR_GAMES, Game, bradley_terry

RUNS = 1000 if os.environ.get("ADJUDGE_SOAK") == "1" else 150
GAMES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(list(combinations("abcd", 2))), st.sampled_from([0.0, 0.5, 1.0])),
    max_size=30,
)


def linked(drawn: list[tuple[int, tuple[str, str], float]]) -> list[Game]:
    """The games drawn, and a chain of ties that links the systems."""
    chain = [Game("chain", a, b, 0.5) for a, b in zip("abc", "bcd", strict=True)]
    return [*chain, *(Game(str(case), a, b, points) for case, (a, b), points in drawn), Game("x", "a", "b", 1.0)]


@given(GAMES)
@settings(max_examples=40, deadline=None)
def test_strengths_are_the_maximum_that_a_general_optimiser_finds(
    drawn: list[tuple[int, tuple[str, str], float]],
) -> None:
    optimize = import_module("scipy.optimize")
    games = linked(drawn)

    def loss(theta: list[float]) -> float:
        at = dict(zip("abcd", theta, strict=True))
        total = sum(PRIOR_GAMES / 2 * (math.log1p(math.exp(t)) + math.log1p(math.exp(-t))) for t in theta)
        for game in games:
            apart = at[game.a] - at[game.b]
            total += game.points * math.log1p(math.exp(-apart)) + (1 - game.points) * math.log1p(math.exp(apart))
        return total

    best = optimize.minimize(loss, [0.0] * 4, tol=1e-12).x
    found = {one.system: one.value for one in bradley_terry(games)}
    for name, value in zip("abcd", best, strict=True):
        assert found[name] == pytest.approx(value - sum(best) / 4, abs=1e-4)


@given(GAMES)
@settings(deadline=None)
def test_neither_order_nor_sides_matter(drawn: list[tuple[int, tuple[str, str], float]]) -> None:
    games = linked(drawn)
    turned = [Game(game.case, game.b, game.a, 1 - game.points) for game in reversed(games)]
    for one, other in zip(
        sorted(bradley_terry(games), key=lambda s: s.system),
        sorted(bradley_terry(turned), key=lambda s: s.system),
        strict=True,
    ):
        assert (one.system, one.games, one.points) == (other.system, other.games, other.points)
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-7)


def test_a_system_that_won_everything_has_a_finite_strength_and_a_wide_interval() -> None:
    found = bradley_terry([Game(str(k), a, b, 1.0) for k in range(4) for a, b in combinations("abc", 2)])
    assert [one.system for one in found] == ["a", "b", "c"]
    assert sum(one.value for one in found) == pytest.approx(0)
    assert math.isfinite(found[0].value)
    assert found[0].high - found[0].low > 2
    assert found[0].share > 0.5 > found[2].share


@pytest.mark.parametrize(
    "games",
    [
        [],
        [Game("1", "a", "b", 1)],
        [Game("1", "a", "b", 1), Game("2", "c", "d", 1)],
        [Game("1", "a", "b", 2), Game("2", "a", "b", 1)],
        [Game("1", "a", "a", 1), Game("2", "a", "b", 1)],
    ],
)
def test_what_says_nothing_is_refused(games: list[Game]) -> None:
    with pytest.raises(ValueError, match=r"needed|linked|lie in"):
        bradley_terry(games)


@pytest.mark.parametrize(("cases", "spread", "ties"), [(10, 0.0, 0.0), (30, 1.5, 0.2), (100, 1.5, 0.2)])
def test_intervals_hold_the_strengths_in_at_least_93_of_100_runs(cases: int, spread: float, ties: float) -> None:
    """Also where the comparisons of one case go together (`spread`), and with ties, which make them too wide."""
    rng = random.Random(cases)
    truth = {"a": 0.0, "b": 0.5, "c": -0.5}

    def games(n: int) -> list[Game]:
        made = []
        for case in range(n):
            at = {name: value + rng.gauss(0, spread) for name, value in truth.items()}
            for a, b in combinations(truth, 2):
                won = rng.random() < 1 / (1 + math.exp(at[b] - at[a]))
                made.append(Game(str(case), a, b, 0.5 if rng.random() < ties else float(won)))
        return made

    target = {one.system: one.value for one in bradley_terry(games(20_000))}
    held = [one.low <= target[one.system] <= one.high for _ in range(RUNS) for one in bradley_terry(games(cases))]
    assert sum(held) / len(held) >= 0.93
