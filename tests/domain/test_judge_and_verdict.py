"""Judges, their verdicts, and what was paid for them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    BuiltinJudge,
    CheckJudge,
    CodeJudge,
    Criterion,
    ErrorKind,
    Failure,
    Judge,
    LLMJudge,
    Numeric,
    Reduce,
    Status,
    Usage,
    Value,
    Verdict,
    kind_of,
    unscored,
)

JUDGES: list[tuple[str, Judge]] = [
    ("check", CheckJudge(name="j", code="return True")),
    ("code", CodeJudge(name="j", module="m", function="f", arguments={"limit": 3})),
    ("builtin", BuiltinJudge(name="j", builtin="cost_budget")),
    (
        "llm",
        LLMJudge(name="j", prompt="{{ outputs }}", context=(("style", "text"),), samples=3, reduce=Reduce.MAJORITY),
    ),
]
COUNT = st.integers(0, 1000)
USAGE = st.builds(
    Usage,
    calls=COUNT,
    input=COUNT,
    output=COUNT,
    cache_read=COUNT,
    cache_write=COUNT,
    reasoning=COUNT,
    cost_usd=st.none() | st.integers(0, 1000).map(float),
    price_source=st.sampled_from(["", "provider", "list"]),
    unpriced_calls=COUNT,
)


@pytest.mark.parametrize(("kind", "judge"), JUDGES, ids=[kind for kind, _ in JUDGES])
def test_a_judge_names_its_kind_as_configs_do(kind: str, judge: Judge) -> None:
    assert kind_of(judge) == kind


@pytest.mark.parametrize(("kind", "judge"), JUDGES, ids=[kind for kind, _ in JUDGES])
def test_a_judge_with_a_single_question_names_its_criterion_like_itself(kind: str, judge: Judge) -> None:
    assert [criterion.name for criterion in judge.criteria] == ["j"]


@pytest.mark.parametrize(("kind", "judge"), JUDGES, ids=[kind for kind, _ in JUDGES])
def test_a_judge_survives_json_and_keeps_its_kind(kind: str, judge: Judge) -> None:
    decoded = msgspec.json.decode(msgspec.json.encode(judge), type=Judge)
    assert decoded == judge
    assert kind_of(decoded) == kind


def test_criteria_that_are_given_stay() -> None:
    criteria = (Criterion(name="depth", scale=Numeric(0, 5)), Criterion(name="style", scale=Binary()))
    assert LLMJudge(name="j", prompt="p", criteria=criteria).criteria == criteria


@pytest.mark.parametrize("samples", [0, -1])
def test_fewer_than_one_sample_is_refused(samples: int) -> None:
    with pytest.raises(ValueError, match="samples must be 1 or more"):
        CheckJudge(name="j", code="", samples=samples)


def test_a_judge_cannot_be_changed() -> None:
    judge = CheckJudge(name="j", code="")
    with pytest.raises(AttributeError):
        judge.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("value", [None, True], ids=["no value", "value"])
@pytest.mark.parametrize("error", [None, Failure(ErrorKind.TIMEOUT)], ids=["no error", "error"])
def test_a_verdict_is_scored_with_a_value_or_unscored_with_an_error_or_neither(
    status: Status, value: Value | None, error: Failure | None
) -> None:
    def build() -> Verdict:
        return Verdict(case="c", judge="j", criterion="j", status=status, value=value, error=error)

    if (value is not None) == (status is Status.SCORED) and (error is not None) == (status is Status.UNSCORED):
        assert build().status is status
    else:
        with pytest.raises(ValueError, match="if and only if"):
            build()


@pytest.mark.parametrize("value", [False, 0, 0.0, ""], ids=repr)
def test_a_value_that_counts_as_nothing_in_python_is_a_value(value: Value) -> None:
    verdict = Verdict(case="c", judge="j", criterion="j", status=Status.SCORED, value=value)
    decoded = msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict)
    assert decoded.value == value
    assert type(decoded.value) is type(value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"status": "scored"}, id="scored without a value"),
        pytest.param({"status": "skipped", "value": True}, id="skipped with a value"),
        pytest.param({"status": "unscored", "value": 0, "error": {"kind": "timeout"}}, id="an error with a zero"),
    ],
)
def test_a_verdict_that_contradicts_itself_is_refused_when_it_is_read(data: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"case": "c", "judge": "j", "criterion": "j", **data}, Verdict)


def test_an_unscored_verdict_keeps_kind_message_sample_and_cost() -> None:
    usage = Usage(calls=1, cost_usd=0.5)
    verdict = unscored("c", "j", "depth", ErrorKind.REFUSED, "no", sample=2, usage=usage)
    assert (verdict.case, verdict.judge, verdict.criterion, verdict.sample) == ("c", "j", "depth", 2)
    assert (verdict.status, verdict.value) == (Status.UNSCORED, None)
    assert verdict.error == Failure(ErrorKind.REFUSED, "no")
    assert verdict.usage is usage


@given(first=USAGE, second=USAGE)
def test_usages_add_up_in_either_order(first: Usage, second: Usage) -> None:
    both = first + second
    assert both == second + first
    for field in ("calls", "input", "output", "cache_read", "cache_write", "reasoning", "unpriced_calls"):
        assert getattr(both, field) == getattr(first, field) + getattr(second, field)


@given(first=USAGE, second=USAGE, third=USAGE)
def test_usages_add_up_in_any_grouping(first: Usage, second: Usage, third: Usage) -> None:
    assert (first + second) + third == first + (second + third)


@given(usage=USAGE)
def test_nothing_used_changes_no_sum(usage: Usage) -> None:
    assert usage + Usage() == usage


def test_an_unknown_price_is_not_zero() -> None:
    unknown = Usage(calls=1, unpriced_calls=1)
    assert (unknown + unknown).cost_usd is None


def test_a_sum_remembers_that_a_part_has_no_price() -> None:
    both = Usage(calls=1, cost_usd=0.25) + Usage(calls=1, unpriced_calls=1)
    assert both.cost_usd == 0.25
    assert both.unpriced_calls == 1


def test_prices_of_two_sources_are_told_as_mixed() -> None:
    billed, listed = Usage(cost_usd=1.0, price_source="provider"), Usage(cost_usd=1.0, price_source="list")
    assert (billed + billed).price_source == "provider"
    assert (billed + listed + listed).price_source == "mixed"
