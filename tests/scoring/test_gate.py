"""From summaries to a decision: what each comparison comes to, and which decision wins."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.domain import (
    CaseRewards,
    Criterion,
    Decision,
    GateCheck,
    GateResult,
    Interval,
    JudgeSummary,
    LeftOut,
    LLMJudge,
    Numeric,
    RewardScore,
    Score,
    Threshold,
    Value,
)
from adjudge.scoring import decide, summarise
from tests.support.build import judge, scores, stubs

PASS, FAIL, INCONCLUSIVE, BROKEN = Decision.PASS, Decision.FAIL, Decision.INCONCLUSIVE, Decision.BROKEN
SHARES = st.floats(0, 1)


def rated(
    rate: float | None, n: int = 10, *, metric: str = "pass_rate", by: str = "good", **fields: Any
) -> JudgeSummary:
    """A judge whose metric came to `rate`."""
    shown = metric if rate is not None else None
    return JudgeSummary(judge=by, criterion=by, kind="check", metric=shown, value=rate, n=n, **fields)


def judged(values: Iterable[Value | None], scale: Numeric | None = None) -> JudgeSummary:
    asked = judge(scale=scale)
    found: list[Score] = scores(values)
    return summarise(asked, asked.criteria[0], found, stubs=stubs(len(found)))


def gate(summary: JudgeSummary, **threshold: Any) -> GateResult:
    return decide([summary], {"good": Threshold(**threshold)} if threshold else {})


@pytest.mark.parametrize(
    ("rate", "bound", "decision"),
    [
        pytest.param(0.9, 0.8, PASS, id="above"),
        pytest.param(0.8, 0.8, PASS, id="equal"),
        pytest.param(0.1 + 0.2, 0.3, PASS, id="equal but for binary fractions, above"),
        pytest.param(0.3, 0.1 + 0.2, PASS, id="equal but for binary fractions, below"),
        pytest.param(0.79, 0.8, FAIL, id="below"),
        pytest.param(0.0, 0.0, PASS, id="zero reaches zero"),
        pytest.param(1.0, 1.0, PASS, id="all reaches all"),
    ],
)
@pytest.mark.parametrize(
    ("metric", "key"), [("pass_rate", "min_pass_rate"), ("mean", "min_mean"), ("win_rate", "min_win_rate")]
)
def test_a_bound_that_is_reached_passes(rate: float, bound: float, decision: Decision, metric: str, key: str) -> None:
    assert gate(rated(rate, metric=metric), **{key: bound}).decision is decision


@pytest.mark.parametrize("decide_by", ["point", "interval"])
@given(value=st.floats(-1e6, 1e6), n=st.integers(2, 30))
@example(value=0.7, n=3)
@example(value=195225787.10127044, n=11)
def test_a_mean_of_equal_values_reaches_that_value(decide_by: str, value: float, n: int) -> None:
    assert gate(judged([value] * n), min_mean=value, decide_by=decide_by).decision is PASS


@given(n=st.integers(1, 300), data=st.data())
def test_a_share_reaches_itself_as_people_write_it(n: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    assert gate(judged([k < passed for k in range(n)]), min_pass_rate=passed / n).decision is PASS


@pytest.mark.parametrize(
    ("unscored", "n", "bound", "decision"),
    [
        pytest.param(0, 10, None, PASS, id="none, and no bound"),
        pytest.param(1, 9, None, BROKEN, id="one, and nobody said that it may be missing"),
        pytest.param(1, 9, 0.1, PASS, id="as many as admitted"),
        pytest.param(3, 7, 0.3, PASS, id="equality in a binary fraction"),
        pytest.param(2, 8, 0.1, BROKEN, id="more than admitted"),
        pytest.param(10, 0, 1.0, PASS, id="all, and all are admitted"),
        pytest.param(1, 9, 0.0, BROKEN, id="one, and none is admitted"),
    ],
)
def test_unscored_cases_break_the_run_unless_they_are_admitted(
    unscored: int, n: int, bound: float | None, decision: Decision
) -> None:
    summary = rated(1.0 if n else None, n, unscored=unscored, unscored_kinds={"timeout": unscored})
    assert gate(summary, **({} if bound is None else {"max_error_rate": bound})).decision is decision


def test_why_the_agent_could_not_run_is_told_once_and_not_by_every_judge() -> None:
    lost = [rated(1, unscored=1, first_failure=text) for text in ("the agent could not run: no such commit", "raised")]
    assert [check.reason.partition("; ")[2] for check in decide(lost, {}).checks] == [
        "the first: the agent could not run",
        "the first: raised",
    ]


def test_the_error_rate_is_of_the_verdicts_that_were_asked_for() -> None:
    summary = rated(1.0, 4, unscored=1, skipped=95, abstained=95, unscored_kinds={"timeout": 1})
    result = gate(summary, max_error_rate=0.1)
    assert result.decision is BROKEN
    assert result.checks[0].value == pytest.approx(0.2)


def test_abstentions_and_skips_are_no_errors() -> None:
    assert gate(rated(1.0, 3, abstained=4, skipped=5), min_pass_rate=1.0).decision is PASS


@pytest.mark.parametrize(
    ("summary", "threshold", "decision"),
    [
        pytest.param(rated(None, 0, unscored=4), {"min_pass_rate": 0.5}, BROKEN, id="every verdict failed"),
        pytest.param(
            rated(None, 0, unscored=4),
            {"min_pass_rate": 0.5, "max_error_rate": 1.0},
            BROKEN,
            id="every verdict failed and may",
        ),
        pytest.param(rated(None, 0, skipped=4), {"min_pass_rate": 0.5}, INCONCLUSIVE, id="every case skipped"),
        pytest.param(rated(None, 0, abstained=4), {"min_mean": 3}, INCONCLUSIVE, id="only abstentions"),
        pytest.param(rated(None, 0), {"min_mean": 3}, INCONCLUSIVE, id="no case"),
        pytest.param(rated(None, 4), {"min_mean": 3}, BROKEN, id="booleans and numbers mixed"),
        pytest.param(rated(4.0, metric="mean"), {"min_pass_rate": 0.5}, BROKEN, id="numbers against a rate"),
    ],
)
def test_a_threshold_that_could_not_be_measured_never_passes(
    summary: JudgeSummary, threshold: dict[str, float], decision: Decision
) -> None:
    assert gate(summary, **threshold).decision is decision


def interval(low: float, high: float) -> JudgeSummary:
    return rated((low + high) / 2, interval=Interval(low=low, high=high, level=0.95, method="wilson"))


@pytest.mark.parametrize(
    ("summary", "decision"),
    [
        pytest.param(interval(0.85, 0.95), PASS, id="all above"),
        pytest.param(interval(0.8, 0.95), PASS, id="lower end on the bound"),
        pytest.param(interval(0.7, 0.95), INCONCLUSIVE, id="on both sides"),
        pytest.param(interval(0.7, 0.8), INCONCLUSIVE, id="upper end on the bound"),
        pytest.param(interval(0.6, 0.7), FAIL, id="all below"),
        pytest.param(rated(1.0, 1), INCONCLUSIVE, id="no interval"),
    ],
)
def test_by_interval_the_whole_interval_lies_on_one_side_or_nothing_is_known(
    summary: JudgeSummary, decision: Decision
) -> None:
    assert gate(summary, min_pass_rate=0.8, decide_by="interval").decision is decision


@given(rate=SHARES, low=SHARES, high=SHARES, bound=SHARES)
def test_by_interval_never_reverses_the_point(rate: float, low: float, high: float, bound: float) -> None:
    low, rate, high = sorted((low, rate, high))
    summary = rated(rate, interval=Interval(low=low, high=high, level=0.95, method="t"))
    by_point = gate(summary, min_pass_rate=bound).decision
    by_interval = gate(summary, min_pass_rate=bound, decide_by="interval").decision
    assert by_interval in (by_point, INCONCLUSIVE) or bound - rate == pytest.approx(0, abs=1e-12)


@given(rate=SHARES, bounds=st.tuples(SHARES, SHARES))
def test_a_higher_bound_never_turns_a_fail_into_a_pass(rate: float, bounds: tuple[float, float]) -> None:
    lower, higher = (gate(rated(rate), min_pass_rate=bound).decision for bound in sorted(bounds))
    assert (lower, higher) != (FAIL, PASS)


OUTCOMES = {
    FAIL: (rated(0.1, by="f"), Threshold(min_pass_rate=0.9)),
    BROKEN: (rated(1.0, by="b", unscored=1), Threshold()),
    INCONCLUSIVE: (rated(None, 0, by="i", skipped=2), Threshold(min_pass_rate=0.9)),
    PASS: (rated(1.0, by="p"), Threshold(min_pass_rate=0.9)),
}


@pytest.mark.parametrize(
    "decisions",
    [pair for size in (1, 2, 3, 4) for pair in itertools.permutations(OUTCOMES, size)],
    ids=lambda decisions: "+".join(d.value for d in decisions),
)
def test_the_run_fails_before_it_is_broken_before_it_is_inconclusive_before_it_passes(
    decisions: tuple[Decision, ...],
) -> None:
    summaries = [OUTCOMES[d][0] for d in decisions]
    thresholds = {OUTCOMES[d][0].judge: OUTCOMES[d][1] for d in decisions}
    result = decide(summaries, thresholds)
    assert result.decision is min(decisions, key=[FAIL, BROKEN, INCONCLUSIVE, PASS].index)
    assert bool(result.reasons) == (result.decision is not PASS)


@pytest.mark.parametrize(("bound", "decision"), [(0.9, PASS), (0.91, FAIL), (3, FAIL)])
def test_the_mean_of_booleans_is_their_rate(bound: float, decision: Decision) -> None:
    assert gate(rated(0.9, metric="pass_rate"), min_mean=bound).decision is decision


def test_no_judge_at_all_measured_nothing() -> None:
    result = decide([], {})
    assert result.decision is INCONCLUSIVE
    assert result.reasons


def test_a_formula_over_judges_of_which_none_ran_measured_nothing() -> None:
    without = RewardScore(name="reward", kind="formula", failure="no judge has a value")
    assert decide([], {}, rewards=[CaseRewards("a", (without,))]).decision is INCONCLUSIVE


def test_a_judge_with_a_threshold_that_was_left_out_is_inconclusive() -> None:
    result = decide([rated(1.0)], {"llm": Threshold(min_mean=3)}, [LeftOut("llm", "no model was given")])
    assert result.decision is INCONCLUSIVE
    assert any("no model was given" in reason for reason in result.reasons)


def test_a_judge_without_a_threshold_may_be_left_out() -> None:
    assert decide([rated(1.0)], {"good": Threshold(min_pass_rate=1)}, [LeftOut("llm", "asked to")]).decision is PASS


def test_a_threshold_of_a_judge_that_is_nowhere_never_passes() -> None:
    assert decide([rated(1.0)], {"nobody": Threshold(min_mean=3)}).decision is not PASS


def test_every_criterion_of_a_judge_must_reach_its_threshold() -> None:
    criteria = (Criterion(name="depth"), Criterion(name="style"))
    asked = LLMJudge(name="good", prompt="p", criteria=criteria)
    found = [
        summarise(asked, criterion, scores(values), stubs=stubs(2))
        for criterion, values in zip(criteria, ([4, 5], [1, 2]), strict=True)
    ]
    result = decide(found, {"good": Threshold(min_mean=3)})
    assert result.decision is FAIL
    assert all("good.style" in reason for reason in result.reasons)


def test_one_threshold_may_hold_several_bounds() -> None:
    summary = rated(0.9, 8, unscored=2)
    assert gate(summary, min_pass_rate=0.8, max_error_rate=0.1).decision is BROKEN
    assert gate(summary, min_pass_rate=0.95, max_error_rate=0.1).decision is FAIL
    assert gate(summary, min_pass_rate=0.8, max_error_rate=0.2).decision is PASS


def test_a_check_gives_its_value_and_bound() -> None:
    (check,) = [c for c in gate(rated(0.5), min_pass_rate=0.75).checks if c.metric == "pass_rate"]
    assert (check.value, check.bound, check.decision) == (0.5, 0.75, FAIL)
    assert "0.5" in check.reason
    assert "0.75" in check.reason


def test_the_reasons_are_all_that_speaks_against_a_pass_what_decided_it_first() -> None:
    broken, failed, passed = (
        GateCheck("b", "m", BROKEN, "lost"),
        GateCheck("a", "m", FAIL, "too low"),
        GateCheck("c", "m", PASS, "fine"),
    )
    assert GateResult(FAIL, (broken, passed, failed)).reasons == ["too low", "lost"]
    assert GateResult(PASS, (passed,)).reasons == []


def test_a_broken_judge_says_what_went_wrong_first() -> None:
    summary = rated(1.0, 9, unscored=1, unscored_kinds={"timeout": 1}, first_failure="no answer after 60 s")
    for bound in (None, 0.05):
        (reason,) = gate(summary, **({} if bound is None else {"max_error_rate": bound})).reasons
        assert "timeout 1" in reason
        assert "no answer after 60 s" in reason


@pytest.mark.parametrize(("decision", "code"), [(PASS, 0), (FAIL, 1), (INCONCLUSIVE, 3), (BROKEN, 4)])
def test_each_decision_has_its_exit_code(decision: Decision, code: int) -> None:
    assert decision.exit_code == code
