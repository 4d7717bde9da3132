"""From scores to what one judge says of the whole suite."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    ErrorKind,
    Failure,
    Interval,
    JudgeSummary,
    Levels,
    Likert,
    Numeric,
    SampleRecord,
    Scale,
    Score,
    Stability,
    Status,
    Usage,
    Value,
)
from adjudge.scoring import summarise
from adjudge.stats import clustered_mean, mean_t, wilson
from tests.support.build import judge, score, scores, stubs

GRADES = Levels(("poor", "fair", "good"))
NUMBERS = st.lists(st.floats(0, 10), min_size=1, max_size=20)


def summary(found: list[Score], scale: Scale | None = None, *, samples: int = 1, model: str = "") -> JudgeSummary:
    asked = judge(scale=scale, samples=samples)
    cases = {s.case: stub for s in found for stub in [stubs(1)["0"]]}
    return summarise(asked, asked.criteria[0], found, stubs=cases, model=model)


def sampled(case: str, *values: Value | None) -> Score:
    """A score of several samples, whose value is the first usable one."""
    records = [
        SampleRecord(Status.UNSCORED, None, Failure(ErrorKind.TIMEOUT)) if v is None else SampleRecord(Status.SCORED, v)
        for v in values
    ]
    usable = [value for value in values if value is not None]
    return score(usable[0] if usable else None, case=case, samples=tuple(records))


@given(values=st.lists(st.booleans(), min_size=1, max_size=30))
def test_booleans_have_a_pass_rate_with_wilsons_interval(values: list[bool]) -> None:
    found = summary(scores(values), Binary())
    low, high = wilson(sum(values), len(values))
    assert (found.metric, found.value, found.n) == ("pass_rate", sum(values) / len(values), len(values))
    assert found.interval == Interval(low=low, high=high, level=0.95, method="wilson")


@given(values=NUMBERS)
def test_numbers_have_a_mean_with_students_interval(values: list[float]) -> None:
    found = summary(scores(values))
    assert (found.metric, found.n) == ("mean", len(values))
    assert found.value == pytest.approx(sum(values) / len(values))
    bounds = mean_t(values)
    if bounds is None:
        assert found.interval is None
    else:
        assert found.interval == Interval(low=bounds[0], high=bounds[1], level=0.95, method="t")


def test_levels_have_a_mean_of_their_normalised_places() -> None:
    found = summary(scores(["poor", "good", "good", "fair"]), GRADES)
    assert (found.metric, found.value) == ("mean", 0.625)


def test_booleans_mixed_with_numbers_have_no_metric_but_are_counted() -> None:
    found = summary(scores([True, 0.5, 3]))
    assert (found.metric, found.value, found.interval, found.n) == (None, None, None, 3)


def test_nothing_scored_has_no_metric() -> None:
    found = summary(scores([None, None]), Binary())
    assert (found.metric, found.value, found.interval, found.n, found.unscored) == (None, None, None, 0, 2)


@given(values=st.lists(st.floats(0, 10) | st.none(), max_size=20))
def test_unscored_never_enters_a_mean(values: list[float | None]) -> None:
    usable = [value for value in values if value is not None]
    found, without = summary(scores(values), Numeric(0, 10)), summary(scores(usable), Numeric(0, 10))
    assert (found.metric, found.value, found.interval) == (without.metric, without.value, without.interval)
    assert (found.n, found.unscored) == (len(usable), len(values) - len(usable))


@given(values=st.lists(st.booleans() | st.none(), max_size=20))
def test_unscored_is_never_a_fail(values: list[bool | None]) -> None:
    usable = [value for value in values if value is not None]
    found, without = summary(scores(values), Binary()), summary(scores(usable), Binary())
    assert (found.metric, found.value, found.interval) == (without.metric, without.value, without.interval)


def test_abstained_and_skipped_are_counted_apart_and_enter_nothing() -> None:
    found = summary(
        [
            score(True, case="a"),
            score(case="b", status=Status.ABSTAINED),
            score(case="c", status=Status.SKIPPED),
            score(case="d", status=Status.SKIPPED),
            score(case="e"),
        ],
        Binary(),
    )
    assert (found.n, found.abstained, found.skipped, found.unscored) == (1, 1, 2, 1)
    assert found.value == 1.0


def test_the_first_failure_is_told_as_an_example() -> None:
    failed = [score(case=str(k), error=Failure(ErrorKind.RAISED, text)) for k, text in enumerate(["one", "two"])]
    assert summary([score(True, case="a"), *failed], Binary()).first_failure == "one"
    assert summary(scores([True, False]), Binary()).first_failure == ""


def test_every_unscored_case_is_counted_under_its_kind() -> None:
    kinds = [ErrorKind.TIMEOUT, ErrorKind.CRASHED, ErrorKind.TIMEOUT]
    found = summary([score(case=str(k), error=Failure(kind)) for k, kind in enumerate(kinds)])
    assert found.unscored_kinds == {"crashed": 1, "timeout": 2}
    assert list(found.unscored_kinds) == sorted(found.unscored_kinds)


@pytest.mark.parametrize(
    ("scale", "values", "ends"),
    [
        pytest.param(Numeric(0, 10), [0, 10, 10], (0, 10), id="numeric"),
        pytest.param(Likert(5), [1, 5, 5], (1, 5), id="likert"),
        pytest.param(GRADES, ["poor", "good", "good"], (0, 1), id="levels"),
    ],
)
def test_an_interval_stays_on_the_scale(scale: Scale, values: list[Value | None], ends: tuple[float, float]) -> None:
    interval = summary(scores(values), scale).interval
    assert interval is not None
    assert ends[0] <= interval.low <= interval.high <= ends[1]


def test_cases_are_the_unit_however_many_samples_each_had() -> None:
    found = summary([sampled("a", True, True, False), sampled("b", False, False, False)], Binary(), samples=3)
    assert found.n == 2
    assert found.value == 0.5
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == wilson(1, 2)


def test_samples_have_a_mean_of_their_own_clustered_by_case() -> None:
    found = summary([sampled("a", 1, 2), sampled("b", 4, 6), sampled("c", 9, 9)], samples=2)
    bounds = clustered_mean([1, 2, 4, 6, 9, 9], ["a", "a", "b", "b", "c", "c"])
    assert bounds is not None
    assert found.sample_mean == pytest.approx(31 / 6)
    assert found.sample_interval is not None
    assert (found.sample_interval.low, found.sample_interval.high) == pytest.approx(bounds)


def test_unscored_samples_never_enter_the_mean_of_samples() -> None:
    found = summary([sampled("a", 8, None), sampled("b", 4, 6), sampled("c", None, None)], samples=2)
    assert found.sample_mean == pytest.approx(6)


def test_a_single_sample_has_neither_stability_nor_a_mean_of_samples() -> None:
    found = summary(scores([True, False]), Binary())
    assert (found.stability, found.sample_mean, found.sample_interval) == (None, None, None)


def test_a_case_is_stable_when_all_its_samples_are_usable_and_equal() -> None:
    found = summary(
        [
            sampled("agree", 3, 3),
            sampled("differ", 3, 4),
            sampled("one lost", 3, None),
            sampled("all lost", None, None),
            score(case="skipped", status=Status.SKIPPED, samples=(SampleRecord(Status.SKIPPED),) * 2),
        ],
        Numeric(0, 5),
        samples=2,
    )
    assert found.stability == Stability(samples=2, stable_cases=1, cases=4)


def test_what_the_judge_cost_is_the_sum_over_its_scores() -> None:
    paid = Usage(calls=1, input=10, cost_usd=0.25)
    assert summary([score(True, case="a", usage=paid), score(case="b", usage=paid)], Binary()).usage == paid + paid


def test_a_judge_that_called_no_model_has_no_usage() -> None:
    assert summary(scores([True]), Binary()).usage is None


def test_a_summary_says_who_judged() -> None:
    found = summary(scores([True]), Binary(), model="anthropic:m")
    assert (found.judge, found.criterion, found.kind, found.model) == ("good", "good", "check", "anthropic:m")


@given(values=NUMBERS)
def test_the_order_of_cases_does_not_change_a_mean(values: list[float]) -> None:
    found, turned = summary(scores(values)), summary(scores(sorted(values)))
    assert found.value == turned.value
