"""Whether a run fell behind an earlier one: how far it may, over which cases, and what may not go missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Baseline,
    Binary,
    CheckJudge,
    Criterion,
    Decision,
    GateCheck,
    Levels,
    Likert,
    LLMJudge,
    Numeric,
    RunResult,
    Scale,
    Status,
    Threshold,
    Value,
    Verdict,
)
from adjudge.scoring import baseline_of, compose, regressions
from tests.support.build import judge, lost, said, skipped, snapshot

PASS, FAIL, BROKEN = Decision.PASS, Decision.FAIL, Decision.BROKEN
Columns = Mapping[str, Sequence[Value | None]]


def run(columns: Columns, scale: Scale | None = None, *, negate: bool = False, first: int = 0) -> RunResult:
    """A run whose judges gave these values to the cases 0, 1, 2...; `None` is unscored."""
    judges = [judge(name, scale, negate=negate) for name in columns]
    count = max(map(len, columns.values()), default=0)
    verdicts = [
        lost(str(k), name) if value is None else said(value, str(k), name)
        for name, values in columns.items()
        for k, value in enumerate(values, first)
    ]
    return compose(snapshot(judges, [str(k) for k in range(first, first + count)]), verdicts)


def held(now: RunResult, before: RunResult, *, max_drop: float = 0.0, **options: Any) -> list[GateCheck]:
    thresholds = options.pop("thresholds", {})
    options.setdefault("every_judge", True)
    baseline = baseline_of(before, name="main")
    return regressions(now.judges, now.scores, baseline, thresholds, max_drop=max_drop, **options)


def decision(
    ours: Sequence[Value | None], theirs: Sequence[Value | None], drop: float = 0.0, **fields: Any
) -> Decision:
    (check,) = held(run({"good": ours}, **fields), run({"good": theirs}, **fields), max_drop=drop)
    return check.decision


@pytest.mark.parametrize(
    ("ours", "theirs", "drop", "expected"),
    [
        pytest.param([True, True], [True, True], 0.0, PASS, id="equal"),
        pytest.param([True, True], [True, False], 0.0, PASS, id="better"),
        pytest.param([True, False], [True, True], 0.0, FAIL, id="worse"),
        pytest.param([True, False], [True, True], 0.5, PASS, id="by exactly the drop"),
        pytest.param([True, False], [True, True], 0.49, FAIL, id="by more than the drop"),
        pytest.param([3, 4, 4], [4, 4, 4], 1 / 3, PASS, id="by a third, which is no binary fraction"),
        pytest.param([4.1, 4.1], [4.4, 4.4], 0.3, PASS, id="by what only looks like more"),
        pytest.param([3.5, 4], [4.5, 4], 0.5, PASS, id="the peer's default"),
        pytest.param([3.4, 4], [4.5, 4], 0.5, FAIL, id="more than the peer's default"),
        pytest.param([0, 0], [0, 0], 0.0, PASS, id="nothing either way"),
    ],
)
def test_a_judge_may_fall_by_the_drop_and_no_more(
    ours: list[Value], theirs: list[Value], drop: float, expected: Decision
) -> None:
    assert decision(ours, theirs, drop) is expected


@given(
    values=st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=1, max_size=20),
    drop=st.floats(0, 9),
)
def test_adding_the_drop_to_every_case_always_passes(values: list[tuple[float, float]], drop: float) -> None:
    ours, theirs = zip(*values, strict=True)
    assert decision([value - drop for value in theirs], theirs, drop) is PASS
    fell = sum(theirs) / len(theirs) - sum(ours) / len(ours)
    if abs(fell - drop) > 1e-6:
        assert decision(ours, theirs, drop) is (FAIL if fell > drop else PASS)


def test_a_threshold_has_a_drop_of_its_own() -> None:
    now, before = run({"a": [0.5], "b": [0.5]}), run({"a": [1.0], "b": [1.0]})
    checks = held(now, before, max_drop=0.2, thresholds={"a": Threshold(max_drop=0.5)})
    assert [(c.judge, c.decision) for c in checks] == [("a", PASS), ("b", FAIL)]
    checks = held(now, before, max_drop=0.9, thresholds={"a.a": Threshold(max_drop=0.0)})
    assert [(c.judge, c.decision) for c in checks] == [("a", FAIL), ("b", PASS)]


def test_judges_without_a_threshold_are_looked_at_when_every_judge_is() -> None:
    now, before = run({"a": [0.5], "b": [0.5]}), run({"a": [1.0], "b": [1.0], "c": [1.0]})
    checks = held(now, before, thresholds={"b": Threshold()}, every_judge=False)
    assert [(check.judge, check.decision) for check in checks] == [("b", FAIL), ("c", FAIL)]
    assert "this run lacks it" in checks[1].reason
    assert [check.judge for check in held(now, before)] == ["a", "b", "c"]


def test_only_cases_that_both_have_scored_count() -> None:
    (check,) = held(run({"good": [5, None, 1, 4]}), run({"good": [5, 5, None, 4]}))
    assert check.decision is PASS
    assert check.reason == (
        "good: mean 4.5, equal to the baseline's 4.5 over 2 cases of both (1 scored there alone), within the drop of 0"
    )
    assert check.value == 4.5


def test_the_check_says_by_how_much() -> None:
    (check,) = held(run({"good": [True, False]}), run({"good": [True, True]}), max_drop=0.25)
    assert check.metric == "regression"
    assert (check.value, check.bound) == (0.5, 0.75)
    assert check.reason == (
        "good: pass_rate 0.5, 0.5 worse than the baseline's 1 over 2 cases of both, more than the drop of 0.25"
    )


@pytest.mark.parametrize("scale", [Binary(), Likert(5), Numeric(0, 10)], ids=repr)
def test_where_less_is_better_a_rise_is_a_regression(scale: Scale) -> None:
    low, high = (False, True) if isinstance(scale, Binary) else (1, 4)
    assert decision([high, high, low], [low, high, low], scale=scale, negate=True) is FAIL
    assert decision([low, high, low], [high, high, low], scale=scale, negate=True) is PASS


def test_levels_are_held_by_their_place() -> None:
    scale = Levels(("poor", "fair", "good"))
    assert decision(["fair", "good"], ["good", "good"], 0.25, scale=scale) is PASS
    assert decision(["poor", "good"], ["good", "good"], 0.25, scale=scale) is FAIL
    assert baseline_of(run({"good": ["fair", "good"]}, scale)).scores == {"good": {"good": {"0": 0.5, "1": 1.0}}}


@pytest.mark.parametrize("allowed", [False, True])
def test_what_goes_missing_fails_unless_it_is_admitted(allowed: bool) -> None:
    now, before = run({"a": [True]}), run({"a": [True, True, True], "b": [True, True, True]})
    checks = held(now, before, allow_missing=allowed)
    gone = [check for check in checks if "missing" in check.reason or "lacks" in check.reason]
    assert [check.decision for check in gone] == [PASS if allowed else FAIL] * 3
    assert [("admitted" in check.reason) for check in gone] == [allowed] * 3
    assert [check.reason.removesuffix(", which is admitted") for check in gone] == [
        "the case 1 of the baseline main is missing in this run",
        "the case 2 of the baseline main is missing in this run",
        "b: the baseline main has it and this run lacks it",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        pytest.param([None, None], [True, True], "no case is scored in both runs: this run has no score", id="now"),
        pytest.param(
            [True, True], [None, None], "no case is scored in both runs: the baseline has no score", id="before"
        ),
        pytest.param([None, True], [True, None], "no case is scored in both runs", id="not on the same cases"),
    ],
)
def test_a_judge_without_a_case_in_common_fails(ours: list[bool], theirs: list[bool], why: str) -> None:
    now, before = run({"good": ours}), run({"good": theirs})
    (check,) = held(now, before)
    assert (check.decision, check.reason) == (FAIL, f"good: {why}")
    (check,) = held(now, before, allow_missing=True)
    assert (check.decision, check.reason) == (PASS, f"good: {why}, which is admitted")


def test_an_empty_run_is_behind_on_everything() -> None:
    checks = held(run({}), run({"a": [True, True]}), max_drop=1.0)
    assert [check.decision for check in checks] == [FAIL] * 3


def test_what_is_new_passes_and_is_told() -> None:
    checks = held(run({"a": [True, False], "b": [True, True]}), run({"a": [True]}))
    assert {check.decision for check in checks} == {PASS}
    assert [check.reason for check in checks if "does not have" in check.reason] == [
        "1 new case that the baseline main does not have: 1",
        "b: new, the baseline main does not have it",
    ]


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize(
    ("now", "before", "why"),
    [
        pytest.param(run({"g": [3, 4]}), run({"g": [True, True]}), "has booleans, this run numbers", id="kinds"),
        pytest.param(run({"g": [True]}), run({"g": [1]}), "has numbers, this run booleans", id="kinds back"),
        pytest.param(run({"g": [3, True]}), run({"g": [3, 4]}), "this run has values of several", id="mixed now"),
        pytest.param(run({"g": [3, 4]}), run({"g": [3, True]}), "the baseline has values of several", id="mixed then"),
        pytest.param(
            run({"g": [8, 9]}, Numeric(0, 10)), run({"g": [3, 4]}, Likert(5)), "the scale was 1 to 5", id="scales"
        ),
    ],
)
def test_what_cannot_be_held_against_the_baseline_is_broken(
    now: RunResult, before: RunResult, why: str, allowed: bool
) -> None:
    (check,) = held(now, before, allow_missing=allowed)
    assert check.decision is BROKEN
    assert why in check.reason


@pytest.mark.parametrize("drop", [-0.1, math.nan], ids=repr)
def test_a_drop_that_cannot_be_is_refused(drop: float) -> None:
    with pytest.raises(ValueError, match="a drop must be 0 or more"):
        held(run({"good": [True]}), run({"good": [True]}), max_drop=drop)


def test_a_panel_is_held_and_not_its_members() -> None:
    members = [LLMJudge(name=f"p/{k}", criteria=(Criterion(name="p", scale=Binary()),), member_of="p") for k in "ab"]
    shot = snapshot(members, "xy", panels={"p": ("p/a", "p/b")})

    def made(values: Mapping[str, bool]) -> RunResult:
        verdicts = [
            Verdict(case=case, judge=f"p/{who}", criterion="p", status=Status.SCORED, value=value)
            for who, value in values.items()
            for case in "xy"
        ]
        return compose(shot, verdicts)

    checks = held(made({"a": True, "b": False}), made({"a": True, "b": True}))
    assert {check.judge for check in checks} == {"p"}
    assert set(baseline_of(made({"a": True, "b": True})).scores) == {"p"}


def test_a_baseline_is_compact_and_survives_json() -> None:
    asked = [CheckJudge(name="q", criteria=(Criterion(name="x", scale=Likert(5)), Criterion(name="y")), code="")]
    verdicts = [
        Verdict(case=case, judge="q", criterion=name, status=Status.SCORED, value=value)
        for case, name, value in [("a", "x", 3), ("a", "y", True), ("b", "x", 5)]
    ]
    verdicts += [
        msgspec.structs.replace(skipped("b", "q"), criterion="y"),
        msgspec.structs.replace(lost("c", "q"), criterion="x"),
    ]
    made = baseline_of(compose(snapshot(asked, "abc"), verdicts))
    assert made.name == "suite"
    assert made.cases == ("a", "b", "c")
    assert made.scores == {"q": {"x": {"a": 3, "b": 5, "c": None}, "y": {"a": True, "c": None}}}
    x, y = made.summaries
    assert (x.metric, x.value, x.n, x.scale) == ("mean", 4, 2, (1, 5))
    assert (y.metric, y.value, y.n, y.scale) == ("pass_rate", 1, 1, (0, 1))
    again = msgspec.json.decode(msgspec.json.encode(made), type=Baseline)
    assert again == made
    assert again.scores["q"]["y"]["a"] is True


@given(values=st.lists(st.none() | st.booleans(), min_size=1, max_size=9))
def test_a_run_never_regresses_from_itself(values: list[bool | None]) -> None:
    made = run({"good": values})
    (check,) = held(made, made)
    assert check.decision is (PASS if any(value is not None for value in values) else FAIL)


def test_pairwise_judges_are_not_held_and_not_missed() -> None:
    made = run({"good": [True], "duel": [True]})
    judges = tuple(
        msgspec.structs.replace(found, kind="pairwise") if found.judge == "duel" else found for found in made.judges
    )
    made = msgspec.structs.replace(made, judges=judges)
    assert set(baseline_of(made).scores) == {"good"}
    assert [check.judge for check in held(made, made)] == ["good"]
