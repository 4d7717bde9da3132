"""From samples to one score."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    Criterion,
    ErrorKind,
    Failure,
    Levels,
    Likert,
    Numeric,
    Reduce,
    SampleRecord,
    Scale,
    Score,
    Status,
    Usage,
    Value,
    Verdict,
)
from adjudge.scoring import normalise, reduce_samples
from tests.support.build import abstained, judge, lost, said, skipped

GRADES = Levels(("poor", "fair", "good"))


def reduced(verdicts: Sequence[Verdict], scale: Scale | None = None, rule: Reduce = Reduce.AUTO) -> Score:
    asked = judge(scale=scale, samples=len(verdicts), reduce=rule)
    return reduce_samples(asked, asked.criteria[0], verdicts)


def votes(*values: Value | None) -> list[Verdict]:
    """One verdict a sample; `None` could not be had."""
    return [lost(sample=k) if value is None else said(value, sample=k) for k, value in enumerate(values)]


@pytest.mark.parametrize(
    "verdict",
    [said(True, rationale="why", printed="out"), lost(), abstained(), skipped()],
    ids=lambda v: v.status.value,
)
def test_one_sample_is_the_score(verdict: Verdict) -> None:
    score = reduced([verdict])
    assert (score.status, score.value, score.error) == (verdict.status, verdict.value, verdict.error)
    assert (score.rationale, score.printed) == (verdict.rationale, verdict.printed)
    assert score.agreement is None
    assert score.samples == ()


@pytest.mark.parametrize(
    ("values", "value", "agreement"),
    [
        pytest.param([True, True, False], True, 2 / 3, id="two of three"),
        pytest.param([True, False, False], False, 2 / 3, id="one of three"),
        pytest.param([True, False], False, 1 / 2, id="a tie is false"),
        pytest.param([True, True, False, False], False, 1 / 2, id="a tie of four is false"),
        pytest.param([True, True, None, False], True, 2 / 3, id="who says nothing does not vote"),
        pytest.param([True, None], True, 1.0, id="half of the samples are enough"),
        pytest.param([False, False, False], False, 1.0, id="all agree"),
    ],
)
def test_booleans_go_by_strict_majority_of_the_usable_votes(
    values: list[Value | None], value: bool, agreement: float
) -> None:
    score = reduced(votes(*values), Binary())
    assert score.value is value
    assert score.agreement == pytest.approx(agreement)


@pytest.mark.parametrize(
    ("values", "value"),
    [
        pytest.param([1, 5, 2], 2, id="middle of three"),
        pytest.param([4, 2], 2, id="lower of two"),
        pytest.param([5, 1, 4, 2], 2, id="lower middle of four"),
        pytest.param([5, None, 3, 4], 4, id="unscored samples do not vote"),
        pytest.param([0, 0, 10], 0, id="zero is a value"),
    ],
)
def test_numbers_go_by_the_lower_median(values: list[Value | None], value: int) -> None:
    assert reduced(votes(*values), Numeric(0, 10)).value == value


@pytest.mark.parametrize(
    ("values", "value"),
    [
        pytest.param(["poor", "good", "fair"], "fair", id="middle level, not middle of the alphabet"),
        pytest.param(["good", "poor"], "poor", id="lower of two"),
        pytest.param(["good", "good", "fair"], "good", id="the one given twice"),
    ],
)
def test_levels_go_by_the_lower_median_of_their_order(values: list[Value | None], value: str) -> None:
    assert reduced(votes(*values), GRADES).value == value


@pytest.mark.parametrize(
    ("rule", "scale", "values", "value"),
    [
        pytest.param(Reduce.MAJORITY, Numeric(0, 10), [9, 1, 9, 2, 3], 9, id="commonest number"),
        pytest.param(Reduce.MAJORITY, GRADES, ["good", "poor", "good"], "good", id="commonest level"),
        pytest.param(Reduce.MEDIAN_LOW, Binary(), [True, False, True], True, id="median of booleans"),
        pytest.param(Reduce.MEDIAN_LOW, Numeric(0, 10), [9, 1, 9, 2, 3], 3, id="median of numbers"),
    ],
)
def test_a_judge_may_ask_for_another_rule(rule: Reduce, scale: Scale, values: list[Value | None], value: Value) -> None:
    score = reduced(votes(*values), scale, rule)
    assert score.value == value
    assert type(score.value) is type(value)


def test_fewer_usable_samples_than_half_are_unscored_and_say_why() -> None:
    score = reduced(votes(True, True, None, None, None), Binary())
    assert (score.status, score.value) == (Status.UNSCORED, None)
    assert score.error is not None
    assert score.error.kind is ErrorKind.TOO_FEW_VOTES
    assert "2 of 5" in score.error.message
    assert "timeout 3" in score.error.message


def test_no_usable_sample_is_unscored_by_the_commonest_error() -> None:
    kinds = [ErrorKind.REFUSED, ErrorKind.TIMEOUT, ErrorKind.TIMEOUT]
    score = reduced([lost(sample=k, kind=kind) for k, kind in enumerate(kinds)], Binary())
    assert score.status is Status.UNSCORED
    assert score.error == Failure(ErrorKind.TIMEOUT)


def test_a_score_whose_samples_are_not_all_asked_yet_is_interrupted() -> None:
    score = reduced([said(True), lost(sample=1, kind=ErrorKind.INTERRUPTED), lost(sample=2), lost(sample=3)], Binary())
    assert score.error is not None
    assert score.error.kind is ErrorKind.INTERRUPTED
    assert "3 of 4" in score.error.message


def test_a_judge_that_only_abstains_has_abstained() -> None:
    assert reduced([abstained(sample=k) for k in range(3)], Binary()).status is Status.ABSTAINED


def test_a_minority_of_answers_among_abstentions_is_no_value() -> None:
    score = reduced([said(True), abstained(sample=1), abstained(sample=2)], Binary())
    assert score.status is not Status.SCORED
    assert score.value is None


def test_a_judge_that_skips_the_case_skips_every_sample() -> None:
    assert reduced([skipped(sample=k) for k in range(3)], Binary()).status is Status.SKIPPED


@pytest.mark.parametrize(
    "verdicts",
    list(itertools.product([said(True), lost(), abstained()], repeat=3)),
    ids=lambda verdicts: "+".join(v.status.value for v in verdicts),
)
def test_any_mixture_has_a_value_only_when_half_of_it_is_usable(verdicts: tuple[Verdict, ...]) -> None:
    score = reduced(verdicts, Binary())
    usable = sum(v.status is Status.SCORED for v in verdicts)
    if usable >= 2:
        assert score.value is True
    else:
        assert score.status is not Status.SCORED
        assert score.value is None
    assert (score.error is not None) == (score.status is Status.UNSCORED)


def test_the_rationale_is_of_a_sample_with_the_reduced_value() -> None:
    texts = ["first", "second", "third"]
    verdicts = [said(v, sample=k, rationale=texts[k]) for k, v in enumerate([5, 2, 2])]
    assert reduced(verdicts, Numeric(0, 10)).rationale == "second"


def test_every_sample_is_kept_in_order() -> None:
    score = reduced(votes(True, None, False), Binary())
    assert score.samples == (
        SampleRecord(Status.SCORED, True),
        SampleRecord(Status.UNSCORED, None, Failure(ErrorKind.TIMEOUT)),
        SampleRecord(Status.SCORED, False),
    )


def test_a_score_costs_what_all_its_samples_cost() -> None:
    paid = Usage(calls=1, input=10, cost_usd=0.5)
    score = reduced([said(True, usage=paid), said(True, sample=1, usage=paid), said(False, sample=2)], Binary())
    assert score.usage == Usage(calls=2, input=20, cost_usd=1.0)


@given(values=st.lists(st.none() | st.integers(0, 10), min_size=2, max_size=9), seed=st.randoms())
def test_the_order_of_samples_does_not_change_a_number(values: list[int | None], seed: random.Random) -> None:
    shuffled = values[:]
    seed.shuffle(shuffled)
    first, second = (reduced(votes(*order), Numeric(0, 10)) for order in (values, shuffled))
    assert (first.status, first.value, first.agreement) == (second.status, second.value, second.agreement)


@given(values=st.lists(st.none() | st.sampled_from(["poor", "fair", "good"]), min_size=2, max_size=9))
def test_a_reduced_value_is_one_that_was_given(values: list[str | None]) -> None:
    score = reduced(votes(*values), GRADES)
    usable = [value for value in values if value is not None]
    if 2 * len(usable) < len(values) or not usable:
        assert score.value is None
    else:
        assert score.value in usable
        assert score.agreement == pytest.approx(usable.count(str(score.value)) / len(usable))


@pytest.mark.parametrize(
    ("scale", "value", "share"),
    [
        pytest.param(None, True, 1.0, id="boolean without a scale"),
        pytest.param(None, 3.5, None, id="number without a scale"),
        pytest.param(Binary(), False, 0.0, id="boolean"),
        pytest.param(Numeric(0, 10), 2.5, 0.25, id="number"),
        pytest.param(Likert(5), 5, 1.0, id="likert"),
        pytest.param(GRADES, "fair", 0.5, id="level"),
    ],
)
def test_a_value_is_normalised_where_its_scale_says_how(scale: Scale | None, value: Value, share: float | None) -> None:
    assert normalise(Criterion(name="c", scale=scale), value) == share


@pytest.mark.parametrize(("scale", "value"), [(None, True), (Numeric(0, 10), 2.5), (GRADES, "poor")], ids=repr)
def test_negate_turns_the_normalised_value_round(scale: Scale | None, value: Value) -> None:
    plain = normalise(Criterion(name="c", scale=scale), value)
    assert plain is not None
    assert normalise(Criterion(name="c", scale=scale, negate=True), value) == 1 - plain


@pytest.mark.parametrize("enforced", [True, False], ids=["enforced", "not enforced"])
@pytest.mark.parametrize("negate", [True, False], ids=["negated", "as it is"])
@given(value=st.integers(-1000, 1000) | st.floats(-1e9, 1e9))
def test_a_normalised_value_lies_in_the_unit_interval_or_is_absent(enforced: bool, negate: bool, value: float) -> None:
    scale = Numeric(1, 5, enforced=enforced)
    share = normalise(Criterion(name="c", scale=scale, negate=negate), value)
    assert share is None or 0 <= share <= 1
