"""Two runs side by side, case by case: a (the run) and b (its baseline). Data only."""

from __future__ import annotations

import msgspec

from adjudge.domain.case import TokenUsage
from adjudge.domain.result import Interval
from adjudge.domain.scale import Value
from adjudge.domain.verdict import Usage


class Disagreement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A case that a judge scores differently in the two runs. Rationales hold at most 300 characters."""

    case: str
    value_a: Value
    value_b: Value
    rationale_a: str = ""
    rationale_b: str = ""


class JudgeComparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One criterion of one judge in both runs.

    Attributes:
        metric: `pass_rate` for booleans, `mean` for numbers and for levels (by their place in [0, 1]); absent when
            the two are not compared.
        n: Cases that have a score in both runs. Every figure is over these.
        value_a, value_b: The metric in each run.
        difference: value_a - value_b.
        interval: 95% of the difference, the cases resampled; absent where it cannot be had.
        test: `mcnemar exact` or `wilcoxon signed-rank`; `p` is its two-sided p, `p_holm` the same corrected for all
            judges of the comparison.
        effect: d_z, the mean difference in units of its standard deviation.
        better, worse, equal: Cases where a stands better than b, and so on; `lower_is_better` says by which end.
        unscored_a, unscored_b: Cases that were asked in both runs and have no score in this one.
        only_in_a, only_in_b: Cases that were asked in one of the runs alone.
        cost_a, cost_b: What the judge cost, in USD; `None` is unknown.
        disagreements: At most 10 cases, the largest differences first.
        note: Why the two are not compared, or what to keep in mind.
    """

    judge: str
    criterion: str
    metric: str | None = None
    n: int = 0
    value_a: float | None = None
    value_b: float | None = None
    difference: float | None = None
    interval: Interval | None = None
    test: str = ""
    p: float | None = None
    p_holm: float | None = None
    effect: float | None = None
    better: int = 0
    worse: int = 0
    equal: int = 0
    lower_is_better: bool = False
    unscored_a: int = 0
    unscored_b: int = 0
    only_in_a: int = 0
    only_in_b: int = 0
    cost_a: float | None = None
    cost_b: float | None = None
    disagreements: tuple[Disagreement, ...] = ()
    note: str = ""


class RunTotals(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one of the runs came to.

    Attributes:
        judging: Tokens and cost of its judges; no calls when they called no model.
        agent_cost_usd: Cost of the agent under test, where it is known; a sum over the cases whose cost is.
        agent_tokens: Its tokens, summed over the cases whose tokens are known.
    """

    name: str
    suite: str = ""
    cases: int = 0
    judging: Usage = Usage()
    agent_cost_usd: float | None = None
    agent_tokens: TokenUsage | None = None


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Two runs compared: `a` is the run, `b` its baseline.

    Attributes:
        judges: Every criterion of every judge that both runs have, in the order of the run.
        judges_only_in_a, judges_only_in_b: `judge` or `judge.criterion`.
        cases_only_in_a, cases_only_in_b: Ids.
        seed: Of the resampling.
        notes: What to keep in mind, in words.
    """

    a: RunTotals
    b: RunTotals
    judges: tuple[JudgeComparison, ...] = ()
    judges_only_in_a: tuple[str, ...] = ()
    judges_only_in_b: tuple[str, ...] = ()
    cases_only_in_a: tuple[str, ...] = ()
    cases_only_in_b: tuple[str, ...] = ()
    seed: int = 0
    notes: tuple[str, ...] = ()
