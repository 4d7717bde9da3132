"""Strengths of several systems from comparisons of two at a time. Pure mathematics, no dependency."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from adjudge.stats.student import t_quantile

PRIOR_GAMES = 1.0
"""Ties of each system with one of average strength that are added, so that a strength is finite also where a system won
everything; of 1 they are half a win and half a loss, as of Jeffreys' prior for a share."""
_STEPS = 100
_CLOSE = 1e-12


class Game(msgspec.Struct, frozen=True):
    """One comparison: systems `a` and `b` on one case; `points` of `a` are 1 for a win, 0.5 for a tie, 0 for a loss."""

    case: str
    a: str
    b: str
    points: float


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """A system's strength: log-odds against a system of average strength, so that all of them sum to 0; with the bounds
    of its interval. `share` is what it can be expected to win against the average system, in [0, 1]."""

    system: str
    value: float
    low: float
    high: float
    games: int
    points: float

    @property
    def share(self) -> float:
        return _logistic(self.value)


def bradley_terry(games: Sequence[Game], *, level: float = 0.95) -> list[Strength]:
    """Strengths by the model of Bradley and Terry (Biometrika 39, 1952), strongest first: a wins against b with
    probability 1 / (1 + exp(b - a)), and a tie is half a win.

    The maximum of the likelihood with `PRIOR_GAMES` is found by Newton's method. The variance is the larger of the
    model's own and of the sandwich over cases (comparisons on one case are not independent of each other), with
    n / (n - 1) and Student's t of n - 1 degrees of freedom for n cases.

    Raises:
        ValueError: fewer than two systems or two cases, points outside [0, 1], or systems that no chain of
            comparisons links, of which nothing can be said.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    names = list(dict.fromkeys(name for game in games for name in (game.a, game.b)))
    cases = sorted({game.case for game in games})
    if len(names) < 2 or len(cases) < 2:
        raise ValueError(f"two systems and two cases are needed, got {len(names)} and {len(cases)}")
    if any(not 0 <= game.points <= 1 or game.a == game.b for game in games):
        raise ValueError("a comparison is of two systems, and its points lie in [0, 1]")
    if not _linked(names, games):
        raise ValueError("not all systems are linked by comparisons")
    place = {name: k for k, name in enumerate(names)}
    pairs = [(place[game.a], place[game.b], game.points) for game in games]
    theta = _maximum(len(names), pairs)
    inverse = _inverted(_information(theta, pairs))
    sandwich = _sandwich(theta, games, place, inverse)
    wide = t_quantile(0.5 + level / 2, len(cases) - 1)
    made = []
    for name, k in place.items():
        contrast = [(1.0 if j == k else 0.0) - 1 / len(names) for j in range(len(names))]
        error = math.sqrt(max(_form(contrast, inverse), _form(contrast, sandwich)))
        value = sum(c * t for c, t in zip(contrast, theta, strict=True))
        own = [(game.points if game.a == name else 1 - game.points) for game in games if name in (game.a, game.b)]
        made.append(
            Strength(
                system=name,
                value=value,
                low=value - wide * error,
                high=value + wide * error,
                games=len(own),
                points=sum(own),
            )
        )
    return sorted(made, key=lambda strength: -strength.value)


def _linked(names: Sequence[str], games: Sequence[Game]) -> bool:
    reached = {names[0]}
    waiting = [names[0]]
    while waiting:
        name = waiting.pop()
        for game in games:
            if name in (game.a, game.b):
                other = game.b if game.a == name else game.a
                if other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return len(reached) == len(names)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _maximum(count: int, pairs: Sequence[tuple[int, int, float]]) -> list[float]:
    """The maximum of the penalised log-likelihood, which is concave: Newton's steps, halved where they do not climb."""
    theta = [0.0] * count
    best = _likelihood(theta, pairs)
    for _ in range(_STEPS):
        gradient = [PRIOR_GAMES * (0.5 - _logistic(t)) for t in theta]
        for a, b, points in pairs:
            off = points - _logistic(theta[a] - theta[b])
            gradient[a] += off
            gradient[b] -= off
        inverse = _inverted(_information(theta, pairs))
        step = [sum(x * g for x, g in zip(row, gradient, strict=True)) for row in inverse]
        size = 1.0
        while True:
            there = [t + size * s for t, s in zip(theta, step, strict=True)]
            found = _likelihood(there, pairs)
            if found >= best or size < 1e-9:
                break
            size /= 2
        moved = max(abs(x - y) for x, y in zip(theta, there, strict=True))
        theta, best = there, found
        if moved < _CLOSE:
            break
    return theta


def _likelihood(theta: Sequence[float], pairs: Sequence[tuple[int, int, float]]) -> float:
    total = sum(PRIOR_GAMES / 2 * (_log_share(t) + _log_share(-t)) for t in theta)
    for a, b, points in pairs:
        apart = theta[a] - theta[b]
        total += points * _log_share(apart) + (1 - points) * _log_share(-apart)
    return total


def _log_share(x: float) -> float:
    """log(1 / (1 + exp(-x))), also for large x."""
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))


def _information(theta: Sequence[float], pairs: Sequence[tuple[int, int, float]]) -> list[list[float]]:
    """Minus the second derivatives of the penalised log-likelihood."""
    found = [[0.0] * len(theta) for _ in theta]
    for k, t in enumerate(theta):
        found[k][k] = PRIOR_GAMES * _logistic(t) * _logistic(-t)
    for a, b, _ in pairs:
        weight = _logistic(theta[a] - theta[b]) * _logistic(theta[b] - theta[a])
        found[a][a] += weight
        found[b][b] += weight
        found[a][b] -= weight
        found[b][a] -= weight
    return found


def _sandwich(
    theta: Sequence[float], games: Sequence[Game], place: dict[str, int], inverse: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Covariance that holds whatever comparisons of one case have in common (Liang and Zeger, Biometrika 73, 1986)."""
    by_case: dict[str, list[float]] = {}
    for game in games:
        a, b = place[game.a], place[game.b]
        off = game.points - _logistic(theta[a] - theta[b])
        score = by_case.setdefault(game.case, [0.0] * len(theta))
        score[a] += off
        score[b] -= off
    n = len(by_case)
    scaled = [[sum(x * s for x, s in zip(row, score, strict=True)) for row in inverse] for score in by_case.values()]
    size = range(len(theta))
    return [[n / (n - 1) * sum(row[i] * row[j] for row in scaled) for j in size] for i in size]


def _form(contrast: Sequence[float], matrix: Sequence[Sequence[float]]) -> float:
    return sum(a * b * matrix[i][j] for i, a in enumerate(contrast) for j, b in enumerate(contrast))


def _inverted(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The inverse of a positive definite matrix, by elimination with pivots."""
    n = len(matrix)
    rows = [[*row, *(1.0 if i == k else 0.0 for i in range(n))] for k, row in enumerate(matrix)]
    for column in range(n):
        pivot = max(range(column, n), key=lambda k: abs(rows[k][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [value / rows[column][column] for value in rows[column]]
        for k in range(n):
            if k != column and rows[k][column]:
                factor = rows[k][column]
                rows[k] = [x - factor * y for x, y in zip(rows[k], rows[column], strict=True)]
    return [row[n:] for row in rows]
