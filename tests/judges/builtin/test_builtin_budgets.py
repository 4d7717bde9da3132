"""Budgets of time, tokens and money."""

from __future__ import annotations

from typing import Any

import pytest

from adjudge.cases.record import case_record
from adjudge.domain import Case, Metrics, TokenUsage
from adjudge.judges.builtin import load_builtin


def verdict(name: str, metrics: Metrics, **arguments: Any) -> bool:
    passes, rationale = load_builtin(name)(case_record(Case(id="c", metrics=metrics)), **arguments)
    assert isinstance(passes, bool)
    assert rationale
    return passes


@pytest.mark.parametrize(("cost", "passes"), [(0.0, True), (1.0, True), (1.0001, False), (None, False)])
def test_a_cost_that_is_not_known_fails(cost: float | None, passes: bool) -> None:
    assert verdict("cost_budget", Metrics(cost_usd=cost)) is passes


@pytest.mark.parametrize(("duration", "passes"), [(0.0, True), (60.0, True), (60.1, False)])
def test_latency_within_the_limit_passes(duration: float, passes: bool) -> None:
    assert verdict("latency_budget", Metrics(duration_s=duration), max_duration_s=60) is passes


def test_without_a_duration_there_is_no_verdict_on_latency() -> None:
    with pytest.raises(ValueError, match="no duration is recorded"):
        verdict("latency_budget", Metrics(), max_duration_s=60)


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ({"max_tokens": 1115}, True),
        ({"max_tokens": 1114}, False),
        ({"max_tokens": 15, "include_cache": False}, True),
        ({"max_tokens": 14, "include_cache": False}, False),
        ({"max_input": 1110}, True),
        ({"max_input": 1109}, False),
        ({"max_input": 10, "include_cache": False}, True),
        ({"max_output": 5}, True),
        ({"max_output": 4}, False),
        ({"max_tokens": 9999, "max_output": 4}, False),
    ],
)
def test_every_limit_of_tokens_that_is_given_holds(arguments: dict[str, Any], passes: bool) -> None:
    usage = TokenUsage(input=10, output=5, cache_read=1000, cache_create=100)
    assert verdict("token_budget", Metrics(token_usage=usage), **arguments) is passes


@pytest.mark.parametrize("usage", [None, TokenUsage()], ids=["absent", "empty"])
def test_without_token_usage_there_is_no_verdict_on_tokens(usage: TokenUsage | None) -> None:
    with pytest.raises(ValueError, match="no token usage is recorded"):
        verdict("token_budget", Metrics(token_usage=usage), max_tokens=10)
