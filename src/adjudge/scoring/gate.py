"""From summaries to a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from adjudge.domain import (
    GUARD,
    CaseRewards,
    Decision,
    ExecutionResult,
    GateCheck,
    GateResult,
    JudgeSummary,
    LeftOut,
    RewardScore,
    RunState,
    Threshold,
)
from adjudge.scoring.aggregate import reaches

_Check = Callable[[Decision, str], GateCheck]
NOT_RUN = "the agent could not run"
"""How the failure of a judge begins that had nothing to judge."""
_RANK = [Decision.FAIL, Decision.BROKEN, Decision.INCONCLUSIVE, Decision.PASS]


def decide(
    summaries: Sequence[JudgeSummary],
    thresholds: Mapping[str, Threshold],
    left_out: Sequence[LeftOut] = (),
    *,
    rewards: Sequence[CaseRewards] = (),
    pass_threshold: float | None = None,
    execution: ExecutionResult | None = None,
    regressions: Sequence[GateCheck] = (),
) -> GateResult:
    """Check every judge against its threshold.

    A judge with unscored cases breaks the run unless its own `max_error_rate` admits them, threshold or not: nobody
    said that the missing verdicts may be missing. A threshold that nothing could be measured for is broken when
    verdicts failed, inconclusive when there was nothing to judge or the judge was left out. The run's decision is the
    first of fail, broken, inconclusive, pass that any comparison came to. The members of a panel are its votes, and
    are not asked themselves. Where there are rewards, each of them must have a value, and what they are made of is
    theirs to admit. `pass_threshold` is the least share of all binary verdicts that must pass. Runs of the agent under
    test that ended badly fail the gate beyond the share that is admitted, and those that could not be had break it.
    `regressions` are the comparisons with a baseline.
    """
    checks = execution_checks(execution) if execution is not None else []
    checks += regressions
    checks += [_reward(case, reward) for case in rewards for reward in case.rewards if reward.kind != "formula"]
    composed = {name for case in rewards for reward in case.rewards for name in _judges(reward)}
    for summary in summaries:
        threshold = threshold_of(thresholds, summary.judge, summary.criterion)
        if summary.member_of or (threshold is None and summary.judge in composed):
            continue
        threshold = threshold or Threshold()
        checks.append(_errors(summary, threshold))
        checks += _metrics(summary, threshold)
    checks += [
        GateCheck(
            gone.judge,
            "threshold",
            Decision.INCONCLUSIVE,
            f"{gone.judge}: has a threshold but was left out ({gone.why})",
        )
        for gone in left_out
        if gone.judge in thresholds
    ]
    known = {summary.judge for summary in summaries} | {gone.judge for gone in left_out}
    known |= {f"{summary.judge}.{summary.criterion}" for summary in summaries}
    checks += [
        GateCheck(name, "threshold", Decision.INCONCLUSIVE, f"{name}: has a threshold but is no judge of this run")
        for name in thresholds
        if name not in known
    ]
    if pass_threshold is not None and summaries:
        checks.append(_share(summaries, pass_threshold, bool(left_out)))
    if not summaries and all(reward.kind == "formula" for case in rewards for reward in case.rewards):
        checks.append(GateCheck("", "judges", Decision.INCONCLUSIVE, "no judge ran, so nothing was measured"))
    decisions = {check.decision for check in checks}
    return GateResult(next(d for d in _RANK if d in decisions or d is Decision.PASS), tuple(checks))


def threshold_of(thresholds: Mapping[str, Threshold], judge: str, criterion: str) -> Threshold | None:
    """The threshold of `judge.criterion`, else of the judge, which holds for each of its criteria but the guard's."""
    own = thresholds.get(f"{judge}.{criterion}")
    return own if own is not None or (criterion == GUARD and judge != GUARD) else thresholds.get(judge)


def execution_checks(result: ExecutionResult) -> list[GateCheck]:
    """How the agent's runs went, as comparisons of the gate."""
    count = len(result.cases)
    broken = [run for run in result.cases if run.state is RunState.ERROR]
    bad = [run for run in result.cases if run.state in (RunState.FAILED, RunState.TIMEOUT)]
    checks = []
    if broken:
        text = f"the agent could not run {len(broken)} of {count} cases; {broken[0].case}: {broken[0].error}"
        checks.append(GateCheck("", "execution", Decision.BROKEN, text))
    ran = count - len(broken)
    share = len(bad) / ran if ran else 0.0
    bound = result.max_failure_rate
    words = ", ".join(f"{run.case} ({run.state.value})" for run in bad[:5]) + (", ..." if len(bad) > 5 else "")
    text = f"the agent's run ended badly in {len(bad)} of {ran} cases" + (f": {words}" if bad else "")
    decision = Decision.PASS if reaches(bound, share) else Decision.FAIL
    checks.append(GateCheck("", "execution", decision, text, share, bound))
    return checks


def _reward(case: CaseRewards, reward: RewardScore) -> GateCheck:
    if reward.score is None:
        text = f"{case.case}: the reward {reward.name} has no value: {reward.failure}"
        return GateCheck("", f"reward {reward.name}", Decision.BROKEN, text)
    text = f"{case.case}: the reward {reward.name} is {reward.score:g}"
    return GateCheck("", f"reward {reward.name}", Decision.PASS, text, reward.score)


def _share(summaries: Sequence[JudgeSummary], bound: float, partial: bool) -> GateCheck:
    """Every scored case of every judge is one point. What some of the checks say decides nothing for all of them."""
    unscored = sum(summary.unscored for summary in summaries)
    total = sum(summary.n for summary in summaries) + unscored
    earned = sum(round((summary.value or 0.0) * summary.n) for summary in summaries if summary.metric == "pass_rate")
    share = earned / total if total else 0.0
    text = f"{earned} of {total} checks pass ({share:.1%})"
    if reaches(share, bound):
        decision = Decision.INCONCLUSIVE if partial else Decision.PASS
        text += f", at least {bound:g}" + (", but some checks were left out" if partial else "")
        return GateCheck("", "pass_threshold", decision, text, share, bound)
    if total and reaches((earned + unscored) / total, bound):
        text += f", and the {unscored} unscored decide whether that is {bound:g}"
        return GateCheck("", "pass_threshold", Decision.INCONCLUSIVE, text, share, bound)
    return GateCheck("", "pass_threshold", Decision.FAIL, f"{text}, below {bound:g}", share, bound)


def _judges(reward: RewardScore) -> Iterator[str]:
    yield from (part.judge for part in reward.parts)
    for child in reward.inputs:
        yield from _judges(child)


def _errors(summary: JudgeSummary, threshold: Threshold) -> GateCheck:
    asked = summary.n + summary.unscored
    rate = summary.unscored / asked if asked else 0.0
    bound = threshold.max_error_rate
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary.unscored_kinds.items())
    text = f"{_name(summary)}: {summary.unscored} of {asked} unscored" + (f" ({kinds})" if kinds else "")
    first = summary.first_failure
    if first.startswith(NOT_RUN):  # which the gate tells with its reason, once
        first = NOT_RUN
    said = f"; the first: {first}" if first else ""
    if bound is not None:
        decision = Decision.PASS if rate <= bound else Decision.BROKEN
        text += f", max_error_rate is {bound:g}{said}"
    elif summary.unscored:
        decision = Decision.BROKEN
        text += f", and no max_error_rate admits that{said}"
    else:
        decision = Decision.PASS
    return GateCheck(summary.judge, "error_rate", decision, text, rate, bound, criterion=_criterion(summary))


def _metrics(summary: JudgeSummary, threshold: Threshold) -> list[GateCheck]:
    wanted = {"mean": threshold.min_mean, "pass_rate": threshold.min_pass_rate, "win_rate": threshold.min_win_rate}
    return [_metric(summary, threshold, name, bound) for name, bound in wanted.items() if bound is not None]


def _metric(summary: JudgeSummary, threshold: Threshold, metric: str, bound: float) -> GateCheck:
    def check(decision: Decision, reason: str) -> GateCheck:
        text = f"{_name(summary)}: {reason}"
        return GateCheck(summary.judge, metric, decision, text, summary.value, bound, criterion=_criterion(summary))

    measured = "mean" if (metric, summary.metric) == ("mean", "pass_rate") else summary.metric  # of 0 and 1
    if measured != metric:
        if summary.n:
            kind = {"mean": "numbers", "pass_rate": "booleans"}.get(
                summary.metric or "", "a mix of booleans and numbers"
            )
            return check(Decision.BROKEN, f"min_{metric} is set, but the judge returned {kind}")
        if summary.unscored:
            return check(Decision.BROKEN, f"no {metric}, since no verdict could be had")
        return check(Decision.INCONCLUSIVE, f"no {metric}: no case was judged ({_why_none(summary)})")
    value = summary.value
    assert value is not None
    if threshold.decide_by == "interval":
        return _by_interval(summary, metric, bound, check)
    passes = reaches(value, bound)
    return check(
        Decision.PASS if passes else Decision.FAIL,
        f"{metric} {value:.4g}, {'at least' if passes else 'below'} {bound:g}",
    )


def _by_interval(summary: JudgeSummary, metric: str, bound: float, check: _Check) -> GateCheck:
    interval = summary.interval
    if interval is None:
        return check(Decision.INCONCLUSIVE, f"{metric} {summary.value:.4g} of {summary.n} case has no interval")
    text = f"{metric} {summary.value:.4g}, {interval.level:.0%} interval {interval.low:.4g} to {interval.high:.4g}"
    if reaches(interval.low, bound):
        return check(Decision.PASS, f"{text}, all of it at least {bound:g}")
    if interval.high < bound:
        return check(Decision.FAIL, f"{text}, all of it below {bound:g}")
    return check(Decision.INCONCLUSIVE, f"{text}, on both sides of {bound:g}")


def _why_none(summary: JudgeSummary) -> str:
    return f"skipped by its condition {summary.skipped}, abstained {summary.abstained}"


def _criterion(summary: JudgeSummary) -> str:
    return "" if summary.judge == summary.criterion else summary.criterion


def _name(summary: JudgeSummary) -> str:
    same = summary.judge == summary.criterion
    return summary.judge if same else f"{summary.judge}.{summary.criterion}"
