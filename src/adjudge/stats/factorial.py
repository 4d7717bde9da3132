"""Factorial runs: does a factor change the score, and which conditions are worth their cost.

Uses statsmodels (extra `stats`), imported on use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import MissingExtraError
from adjudge.stats.intervals import mean_t

LEVEL = 0.95


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """The score of one case in one run of one cell. `cost_usd` is that of the agent's run; `None` when unknown."""

    levels: dict[str, str]
    case: str
    replication: int
    score: float
    cost_usd: float | None = None


class Effect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One factor. `statistic` is the likelihood ratio, chi-squared with `df` degrees of freedom under no effect."""

    factor: str
    levels: tuple[str, ...]
    df: int
    statistic: float | None = None
    p: float | None = None
    note: str = ""


class Condition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cell of the design: the mean over its cases, each the mean of its replications, with Student's interval."""

    levels: dict[str, str]
    cases: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    cost_usd: float | None = None
    """Mean cost of a run of the agent."""
    pareto: bool = False
    """No other condition is at least as good and cheaper, or better and as cheap."""


class Factorial(msgspec.Struct, frozen=True, kw_only=True):
    """The analysis of a design."""

    effects: tuple[Effect, ...]
    conditions: tuple[Condition, ...]
    missing_cells: tuple[dict[str, str], ...]
    cases: int
    observations: int
    method: str = "linear mixed model, cases as random intercepts, fitted by maximum likelihood; likelihood ratio test"


def analyse(observations: Sequence[Observation], factors: Mapping[str, Sequence[str]]) -> Factorial:
    """Test each factor against the model without it, so that a factor of k levels has k - 1 degrees of freedom
    (Pinheiro and Bates, "Mixed-Effects Models in S and S-PLUS", 2000, 2.4.1). Every observation counts, also of cases
    that some cells lack.

    Raises:
        MissingExtraError: statsmodels is not installed.
    """
    used = {name: tuple(dict.fromkeys(o.levels[name] for o in observations)) for name in factors}
    varying = [name for name, levels in used.items() if len(levels) > 1]
    effects = []
    for name in factors:
        df = len(used[name]) - 1
        if name not in varying:
            effects.append(Effect(factor=name, levels=used[name], df=max(df, 0), note="only one level has scores"))
            continue
        statistic, p, note = _ratio(observations, varying, name, df)
        effects.append(Effect(factor=name, levels=used[name], df=df, statistic=statistic, p=p, note=note))
    cells = _cells(factors)
    conditions = [_condition(cell, [o for o in observations if o.levels == cell]) for cell in cells]
    return Factorial(
        effects=tuple(effects),
        conditions=tuple(_with_pareto(conditions)),
        missing_cells=tuple(c.levels for c in conditions if not c.cases),
        cases=len({o.case for o in observations}),
        observations=len(observations),
    )


def _cells(factors: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    cells: list[dict[str, str]] = [{}]
    for name, levels in factors.items():
        cells = [{**cell, name: level} for cell in cells for level in levels]
    return cells


def _ratio(
    observations: Sequence[Observation], varying: Sequence[str], factor: str, df: int
) -> tuple[float | None, float | None, str]:
    """(likelihood ratio, p, why there is none)."""
    scores = [o.score for o in observations]
    if max(scores) == min(scores):
        return None, None, "the scores do not vary"
    try:
        full = _log_likelihood(observations, varying)
        reduced = _log_likelihood(observations, [name for name in varying if name != factor])
    except _NoFitError as error:
        return None, None, str(error)
    from scipy.stats import chi2

    statistic = max(0.0, 2 * (full - reduced))
    return statistic, float(chi2.sf(statistic, df)), ""


class _NoFitError(Exception):
    pass


def _log_likelihood(observations: Sequence[Observation], factors: Sequence[str]) -> float:
    """The greatest log-likelihood of the model with these factors.

    With `ratio` the variance between cases over that within them, taking `1 - 1 / sqrt(1 + n * ratio)` of a case's mean
    from its n observations makes them independent, so that ordinary least squares give the likelihood (Fuller and
    Battese, 1973). It is sought over the one ratio: at its bound 0, cases alike, iterations by derivatives fail.
    """
    try:
        import numpy as np
        from scipy.optimize import minimize_scalar
        from statsmodels.regression.linear_model import OLS
    except ImportError:
        text = "factorial runs need statsmodels: pip install 'adjudge[stats]'"
        raise MissingExtraError(text) from None
    columns: list[list[float]] = [[1.0] * len(observations)]
    for name in factors:
        levels = list(dict.fromkeys(o.levels[name] for o in observations))
        columns += [[float(o.levels[name] == level) for o in observations] for level in levels[1:]]
    exog: Any = np.array(columns).T
    if np.linalg.matrix_rank(exog) < exog.shape[1]:
        raise _NoFitError("the cells that have scores do not tell the factors apart")
    data: Any = np.column_stack([[o.score for o in observations], exog])
    _, case, counts = np.unique([o.case for o in observations], return_inverse=True, return_counts=True)
    means: Any = np.array([data[case == index].mean(axis=0) for index in range(len(counts))])
    within = data - means[case]
    coefficients = np.linalg.lstsq(within[:, 1:], within[:, 0], rcond=None)[0]
    if np.square(within[:, 0] - within[:, 1:] @ coefficients).sum() <= 1e-12 * len(data) * data[:, 0].var():
        raise _NoFitError("the factors and cases explain the scores exactly: there is no variation to test against")

    def likelihood(share: float) -> float:
        spread = 1 + counts * (share / (1 - share))
        freed = data - (1 - 1 / np.sqrt(spread))[case][:, None] * means[case]
        return float(OLS(freed[:, 0], freed[:, 1:]).fit().llf - 0.5 * np.log(spread).sum())

    found = minimize_scalar(lambda share: -likelihood(share), bounds=(0, 1 - 1e-9), method="bounded")
    return max(likelihood(0.0), -float(found.fun))


def _condition(levels: dict[str, str], own: Sequence[Observation]) -> Condition:
    by_case: dict[str, list[float]] = {}
    for observation in own:
        by_case.setdefault(observation.case, []).append(observation.score)
    means = [sum(scores) / len(scores) for scores in by_case.values()]
    bounds = mean_t(means, level=LEVEL) if means else None
    costs = [o.cost_usd for o in own if o.cost_usd is not None]
    return Condition(
        levels=levels,
        cases=len(means),
        mean=sum(means) / len(means) if means else None,
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
        cost_usd=sum(costs) / len(costs) if costs else None,
    )


def _with_pareto(conditions: Sequence[Condition]) -> list[Condition]:
    known = [(c.mean, c.cost_usd) for c in conditions if c.mean is not None and c.cost_usd is not None]

    def best(condition: Condition) -> bool:
        mean, cost = condition.mean, condition.cost_usd
        if mean is None or cost is None:
            return False
        return not any(
            m >= mean and c <= cost and (m > mean or c < cost) for m, c in known if m is not None and c is not None
        )

    return [msgspec.structs.replace(condition, pareto=best(condition)) for condition in conditions]
