"""From scores to what one judge says of the whole suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from adjudge.domain import (
    CaseStub,
    Criterion,
    Interval,
    Judge,
    JudgeSummary,
    Levels,
    LLMJudge,
    OffScaleError,
    Review,
    Score,
    Stability,
    Status,
    Threshold,
    Usage,
    finite,
    kind_of,
)
from adjudge.scoring.people import compare_with_people, scale_bounds
from adjudge.stats import Bounds, clustered_mean, mean_of, mean_t, wilson

LEVEL = 0.95


def summarise(
    judge: Judge,
    criterion: Criterion,
    scores: Sequence[Score],
    *,
    stubs: Mapping[str, CaseStub],
    threshold: Threshold | None = None,
    model: str = "",
    labels: Review | None = None,
) -> JudgeSummary:
    """Summarise one criterion of one judge over all its scores (one a case). `labels` are people's, of this run."""
    by_status = Counter(score.status for score in scores)
    values = [score.value for score in scores if score.status is Status.SCORED]
    metric, value, interval = _metric(criterion, values)
    sample_mean, sample_interval = _over_samples(criterion, scores) if judge.samples > 1 else (None, None)
    kinds = Counter(score.error.kind.value for score in scores if score.error)
    return JudgeSummary(
        judge=judge.name,
        criterion=criterion.name,
        kind=kind_of(judge),
        model=model,
        metric=metric,
        value=value,
        interval=interval,
        n=len(values),
        unscored=by_status[Status.UNSCORED],
        abstained=by_status[Status.ABSTAINED],
        skipped=by_status[Status.SKIPPED],
        unscored_kinds=dict(sorted(kinds.items())),
        first_failure=next((score.error.message[:300] for score in scores if score.error), ""),
        sample_mean=sample_mean,
        sample_interval=sample_interval,
        stability=_stability(judge, scores) if judge.samples > 1 else None,
        people=compare_with_people(criterion, scores, stubs, threshold, judge=judge.name, labels=labels),
        usage=total_usage(scores),
        member_of=judge.member_of if isinstance(judge, LLMJudge) else "",
        flagged=sum(score.flagged for score in scores),
        noted=sum(bool(score.notes) for score in scores),
        tool_choice_fallbacks=sum(bool(score.tool_choice) for score in scores),
    )


def total_usage(scores: Sequence[Score]) -> Usage | None:
    """What the scores cost together; `None` when none of them called a model."""
    total: Usage | None = None
    for score in scores:
        if score.usage:
            total = score.usage if total is None else total + score.usage
    return total


def _metric(criterion: Criterion, values: Sequence[object]) -> tuple[str | None, float | None, Interval | None]:
    """Pass rate when every value is a boolean, mean when every value is a number, neither when they are mixed."""
    if not values:
        return None, None, None
    if all(isinstance(value, bool) for value in values):
        passed = sum(bool(value) for value in values)
        return "pass_rate", passed / len(values), _interval(wilson(passed, len(values), level=LEVEL), "wilson")
    numbers = _numbers(criterion, values)
    if numbers is None:
        return None, None, None
    bounds = mean_t(numbers, level=LEVEL)
    return "mean", mean_of(numbers), _clipped(criterion, bounds, "t")


def _numbers(criterion: Criterion, values: Sequence[object]) -> list[float] | None:
    """The values as numbers; labels of a levels scale count by their normalised value."""
    if values and all(isinstance(value, str) for value in values) and criterion.scale:
        return [criterion.scale.normalise(str(value)) for value in values]
    try:
        return [finite(value) for value in values]
    except OffScaleError:
        return None


def _over_samples(criterion: Criterion, scores: Sequence[Score]) -> tuple[float | None, Interval | None]:
    pairs = [(score.case, s.value) for score in scores for s in score.samples if s.status is Status.SCORED]
    values = [value for _, value in pairs]
    if values and all(isinstance(value, bool) for value in values):
        numbers: list[float] | None = [float(bool(value)) for value in values]
    else:
        numbers = _numbers(criterion, values)
    if not numbers:
        return None, None
    bounds = clustered_mean(numbers, [case for case, _ in pairs], level=LEVEL)
    if bounds and isinstance(values[0], bool):
        bounds = max(0.0, bounds[0]), min(1.0, bounds[1])
    return mean_of(numbers), _clipped(criterion, bounds, "t, clustered by case")


def _clipped(criterion: Criterion, bounds: Bounds | None, method: str) -> Interval | None:
    if bounds is None:
        return None
    labels = isinstance(criterion.scale, Levels) and not criterion.scale.mean
    ends = (0.0, 1.0) if labels else scale_bounds(criterion)
    if ends and getattr(criterion.scale, "enforced", True):
        bounds = max(ends[0], bounds[0]), min(ends[1], bounds[1])
    return _interval(bounds, method)


def _interval(bounds: Bounds, method: str) -> Interval:
    return Interval(low=bounds[0], high=bounds[1], level=LEVEL, method=method)


def _stability(judge: Judge, scores: Sequence[Score]) -> Stability | None:
    asked = [score for score in scores if score.status is not Status.SKIPPED]
    stable = sum(
        len({(s.status, s.value) for s in score.samples}) == 1 and score.samples[0].status is Status.SCORED
        for score in asked
        if score.samples
    )
    return Stability(samples=judge.samples, stable_cases=stable, cases=len(asked)) if asked else None
