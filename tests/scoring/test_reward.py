"""Rewards from scores: the formulas, what lacks a score, gates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.domain import (
    Aggregation,
    Criterion,
    ErrorKind,
    Failure,
    LLMJudge,
    Numeric,
    OnError,
    RewardNode,
    RewardPart,
    RewardRule,
    Score,
    Status,
)
from adjudge.scoring import aggregate, gate_judges
from adjudge.scoring.reward import RewardScorer

A = Aggregation
VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("how", "values", "weights", "expected"),
    [
        (A.WEIGHTED_MEAN, [1, 0], [3, 1], 0.75),
        (A.WEIGHTED_MEAN, [1, 1], [0, 0], 0.0),
        (A.WEIGHTED_SUM, [1, 1], [2, -3], -1.0),
        (A.ALL_PASS, [1, 0.999], [1, 1], 0.0),
        (A.ALL_PASS, [1, 1], [0, 0], 1.0),
        (A.ANY_PASS, [0.999, 0], [1, 1], 0.0),
        (A.ANY_PASS, [0, 1], [1, 0], 1.0),
        (A.THRESHOLD, [1, 0], [1, 1], 1.0),
        (A.THRESHOLD, [0.4, 0.5], [1, 1], 0.0),
        (A.THRESHOLD, [0.1, 0.2, 1.2], [1, 1, 1], 1.0),
        (A.REQUIRED_PASS, [0.01, 1], [1, 1], 1.0),
        (A.REQUIRED_PASS, [0.0, 1], [1, 1], 0.0),
        (A.MIN, [0.3, 0.2], [1, 1], 0.2),
        (A.MAX, [0.3, 0.2], [1, 1], 0.3),
        (A.PRODUCT, [0.5, 0.5], [9, 9], 0.25),
        (A.PRODUCT, [], [], 0.0),
    ],
)
def test_aggregations(how: Aggregation, values: list[float], weights: list[float], expected: float) -> None:
    assert aggregate(how, values, weights) == pytest.approx(expected, abs=1e-12)


def test_optional_values_are_not_asked_for() -> None:
    assert aggregate(A.REQUIRED_PASS, [0, 1], [1, 1], optional=[True, False]) == 1.0
    assert aggregate(A.REQUIRED_PASS, [1, 1], [1, 1], optional=[True, True]) == 0.0


@given(VALUES, st.sampled_from([how for how in A if how is not A.WEIGHTED_SUM]))
def test_every_aggregate_of_shares_is_a_share(values: list[float], how: Aggregation) -> None:
    assert 0 <= aggregate(how, values, [1.0] * len(values)) <= 1 + 1e-12


@given(VALUES, st.lists(st.floats(0, 100), min_size=8, max_size=8))
@example([0.0, 0.75], [0.0, 5e-324] + [0.0] * 6)
def test_the_mean_lies_between_the_least_and_the_most(values: list[float], weights: list[float]) -> None:
    mean = aggregate(A.WEIGHTED_MEAN, values, weights[: len(values)])
    assert mean == 0 or min(values) - 1e-9 <= mean <= max(values) + 1e-9


def test_what_is_too_large_is_no_number() -> None:
    with pytest.raises(OverflowError):
        aggregate(A.WEIGHTED_SUM, [1.0, 1.0], [1.7e308, 1.7e308])


JUDGES = [
    LLMJudge(name=name, criteria=(Criterion(name=name, scale=Numeric(0, 1)),)) for name in ("one", "two", "three")
]


def leaf(name: str, **fields: Any) -> RewardNode:
    return RewardNode(name=name, kind="llm", parts=(RewardPart(judge=name, criterion=name),), **fields)


def scores(**values: float | ErrorKind) -> dict[tuple[str, str], Score]:
    def score(name: str, value: float | ErrorKind) -> Score:
        if isinstance(value, ErrorKind):
            return Score(case="a", judge=name, criterion=name, status=Status.UNSCORED, error=Failure(value))
        return Score(case="a", judge=name, criterion=name, status=Status.SCORED, value=value)

    return {(name, name): score(name, value) for name, value in values.items()}


def gated(**rule: Any) -> RewardNode:
    return RewardNode(name="total", inputs=(leaf("one"), leaf("two")), rule=RewardRule(gate=("one",), **rule))


def test_an_input_without_a_score_leaves_the_reward_without_a_value() -> None:
    held = scores(one=1.0, two=ErrorKind.RATE_LIMITED)
    node = RewardNode(name="reward", inputs=(leaf("one"), leaf("two")))
    made = RewardScorer(JUDGES, held).score(node)
    assert made.score is None
    assert "rate_limited" in made.failure
    assert made.inputs[0].score == 1.0
    zero = RewardScorer(JUDGES, held, OnError.ZERO).score(node)
    assert (zero.score, zero.unscored) == (0.5, 1)
    assert "counted as 0" in zero.inputs[1].warnings[0]


def test_a_model_that_did_not_answer_in_time_counts_as_zero_and_is_said() -> None:
    made = RewardScorer(JUDGES, scores(one=ErrorKind.TIMEOUT)).score(leaf("one"))
    assert (made.score, made.unscored) == (0.0, 1)
    assert "timeout" in made.warnings[0]


def test_a_judge_that_was_never_asked_is_no_zero() -> None:
    assert RewardScorer(JUDGES, {}).score(leaf("one")).score is None


@pytest.mark.parametrize(
    ("one", "two", "rule", "expected"),
    [
        (1.0, 0.5, {}, 0.75),
        (0.99, 0.5, {}, 0.0),
        (0.5, 1.0, {"gate_threshold": 0.5}, 0.75),
        (1.0, 0.5, {"clamp": (0.0, 0.6)}, 0.6),
        (0.0, 1.0, {"clamp": (0.2, 1.0)}, 0.0),
    ],
)
def test_gates_and_bounds(one: float, two: float, rule: dict[str, Any], expected: float) -> None:
    assert RewardScorer(JUDGES, scores(one=one, two=two)).score(gated(**rule)).score == expected


def test_a_failed_gate_needs_nothing_else() -> None:
    made = RewardScorer(JUDGES, scores(one=0.0, two=ErrorKind.CREDENTIALS)).score(gated())
    assert (made.score, made.gated) == (0.0, "one")


def test_a_gate_without_a_score_fails_nothing_and_passes_nothing() -> None:
    made = RewardScorer(JUDGES, scores(one=ErrorKind.CREDENTIALS, two=1.0)).score(gated())
    assert (made.score, made.gated) == (None, "")


def test_what_only_failed_gates_stand_before_is_not_asked() -> None:
    scorer = RewardScorer(JUDGES, scores(one=0.0))
    assert gate_judges([gated()]) == {"one"}
    assert scorer.blocked([gated()]) == {"two"}
    assert scorer.blocked([gated(), leaf("two")]) == frozenset()
    assert RewardScorer(JUDGES, scores(one=1.0)).blocked([gated()]) == frozenset()
    assert RewardScorer(JUDGES, {}).blocked([gated()]) == frozenset()


def test_each_level_rounds_to_four_decimals() -> None:
    third = RewardNode(name="inner", inputs=(leaf("one"), leaf("two"), leaf("three")))
    outer = RewardNode(
        name="outer",
        inputs=(RewardNode(name="inner", inputs=third.inputs, weight=1000.0),),
        rule=RewardRule(aggregation=A.WEIGHTED_SUM),
    )
    made = RewardScorer(JUDGES, scores(one=1.0, two=0.0, three=0.0)).score(outer)
    assert made.score == 333.3
