"""What later runs are held against: an earlier run's figures, and its values case by case. Data only."""

from __future__ import annotations

import msgspec


class BaselineSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One criterion of one judge.

    Attributes:
        metric: `pass_rate`, `mean`, or absent when values are mixed or there are none.
        value: That metric over the `n` scored cases, on the judge's own scale.
        scale: The values that count as 0 and as 1, where the scores show them; the first is the larger one when less
            is better.
    """

    judge: str
    criterion: str
    metric: str | None = None
    value: float | None = None
    n: int = 0
    scale: tuple[float, float] | None = None


class Baseline(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An earlier run.

    Attributes:
        cases: Their ids.
        scores: judge -> criterion -> case -> value on the judge's own scale, labels of a levels scale as their place
            in [0, 1]; `None` for a case without a score.
    """

    name: str
    summaries: tuple[BaselineSummary, ...] = ()
    cases: tuple[str, ...] = ()
    scores: dict[str, dict[str, dict[str, bool | int | float | None]]] = {}
