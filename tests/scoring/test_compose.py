"""From verdicts to the whole result, as one pure function."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    CaseStub,
    Criterion,
    Decision,
    ErrorKind,
    LeftOut,
    LLMJudge,
    Numeric,
    Problem,
    RunResult,
    Snapshot,
    Status,
    Threshold,
    Usage,
    Verdict,
    result_schema,
)
from adjudge.report import result_json
from adjudge.scoring import compose
from tests.support.build import abstained, judge, lost, said, skipped, snapshot

SCHEMA = jsonschema.Draft202012Validator(result_schema())
CASES = ("c", "a", "b")
PLAN = snapshot(
    [judge("good", Binary(), samples=3), judge("depth", Numeric(0, 10))],
    CASES,
    {"good": Threshold(min_pass_rate=0.5), "depth": Threshold(min_mean=5, max_error_rate=0.5, decide_by="interval")},
)


def answers(case: str, by: str, sample: int) -> st.SearchStrategy[list[Verdict]]:
    """What a journal may hold of one sample: nothing, or one verdict."""
    value: st.SearchStrategy[Any] = st.booleans() if by == "good" else st.floats(0, 10)
    usage = st.none() | st.builds(
        Usage, calls=st.just(1), input=st.integers(0, 9), cost_usd=st.none() | st.floats(0, 1)
    )
    call = st.sampled_from(["", "x", "y"]) if by == "depth" else st.just("")
    scored = st.builds(said, value, st.just(case), st.just(by), st.just(sample), usage=usage, call=call)
    failed = st.builds(lost, st.just(case), st.just(by), st.just(sample), st.sampled_from(ErrorKind))
    return st.one_of(st.just([]), st.one_of(scored, failed, st.just(abstained(case, by, sample))).map(lambda v: [v]))


def column(case: str, by: str, samples: int) -> st.SearchStrategy[list[Verdict]]:
    """What a journal may hold of one case and judge; a judge skips all its samples or none."""
    skips = [skipped(case, by, k) for k in range(samples)]
    asked = st.tuples(*(answers(case, by, k) for k in range(samples)))
    return st.one_of(st.just(skips), asked.map(lambda parts: [v for part in parts for v in part]))


JOURNALS = st.tuples(*(column(case, by, n) for case in CASES for by, n in (("good", 3), ("depth", 1)))).map(
    lambda parts: [v for part in parts for v in part]
)
FOREIGN = [
    said(True, case="elsewhere"),
    said(True, by="stranger"),
    said(False, sample=3),
    said(False, sample=-1),
    said(9, by="depth", sample=1),
    lost(case="elsewhere", by="depth"),
    Verdict(case="a", judge="good", criterion="depth", status=Status.SCORED, value=True),
    said(True, by="stranger", usage=Usage(calls=9, cost_usd=9.0), call="x"),
]


@given(verdicts=JOURNALS, seed=st.randoms(use_true_random=False))
def test_the_order_of_verdicts_never_changes_the_result(verdicts: list[Verdict], seed: random.Random) -> None:
    shuffled = verdicts[:]
    seed.shuffle(shuffled)
    assert result_json(compose(PLAN, shuffled)) == result_json(compose(PLAN, verdicts))


@given(verdicts=JOURNALS, foreign=st.lists(st.sampled_from(FOREIGN)), seed=st.randoms(use_true_random=False))
def test_verdicts_that_nobody_asked_for_never_change_the_result(
    verdicts: list[Verdict], foreign: list[Verdict], seed: random.Random
) -> None:
    mixed = verdicts + foreign
    seed.shuffle(mixed)
    assert result_json(compose(PLAN, mixed)) == result_json(compose(PLAN, verdicts))


@given(verdicts=JOURNALS)
def test_every_result_can_be_written_read_and_checked(verdicts: list[Verdict]) -> None:
    result = compose(PLAN, verdicts, version="1.2.3")
    assert msgspec.json.decode(result_json(result), type=RunResult) == result
    assert SCHEMA.is_valid(msgspec.json.decode(result_json(result)))


@given(verdicts=JOURNALS)
def test_every_case_is_counted_once_for_every_judge(verdicts: list[Verdict]) -> None:
    result = compose(PLAN, verdicts)
    assert [(s.judge, s.case) for s in result.scores] == [(j, c) for j in ("good", "depth") for c in CASES]
    for summary in result.judges:
        assert summary.n + summary.unscored + summary.abstained + summary.skipped == len(CASES)
        assert sum(summary.unscored_kinds.values()) == summary.unscored


@given(verdicts=JOURNALS)
def test_only_scored_values_enter_a_metric(verdicts: list[Verdict]) -> None:
    depth = compose(PLAN, verdicts).summary("depth")
    values = [float(v.value) for v in verdicts if v.judge == "depth" and v.value is not None]
    assert depth.n == len(values)
    assert depth.value == (pytest.approx(sum(values) / len(values)) if values else None)


@given(verdicts=JOURNALS)
def test_an_unscored_verdict_is_worth_no_more_than_none_at_all(verdicts: list[Verdict]) -> None:
    kept = [v for v in verdicts if v.status is not Status.UNSCORED]
    full, without = compose(PLAN, verdicts), compose(PLAN, kept)
    for one, other in zip(full.judges, without.judges, strict=True):
        assert (one.metric, one.value, one.interval, one.n) == (other.metric, other.value, other.interval, other.n)


@pytest.mark.parametrize("first", [True, False])
def test_of_two_verdicts_on_one_sample_the_order_does_not_choose(first: bool) -> None:
    plan = snapshot([judge(scale=Binary())])
    pair = [said(first), said(not first)]
    assert compose(plan, pair) == compose(plan, pair[::-1])


def test_text_that_utf_8_cannot_hold_does_not_stop_the_scoring() -> None:
    plan = snapshot([judge(scale=Binary(), samples=3)])
    verdicts = [said(True, sample=k, rationale="half a pair: \ud83d") for k in range(3)]
    assert compose(plan, verdicts).summary("good").n == 1


def test_what_the_journal_lacks_is_unscored_as_interrupted() -> None:
    result = compose(snapshot([judge(scale=Binary())], ["a", "b"]), [said(True, case="a")])
    score = result.score("b", "good")
    assert score.status is Status.UNSCORED
    assert score.error is not None
    assert score.error.kind is ErrorKind.INTERRUPTED
    assert result.summary("good").unscored_kinds == {"interrupted": 1}
    assert result.decision == "broken"


def test_no_verdicts_at_all_are_broken_and_never_a_zero() -> None:
    result = compose(PLAN, [])
    assert result.decision == "broken"
    assert result.exit_code == 4
    assert [(s.metric, s.value, s.n, s.unscored) for s in result.judges] == [(None, None, 0, 3)] * 2


@pytest.mark.parametrize(
    ("judges", "cases", "thresholds"),
    [
        pytest.param([], ["a"], {}, id="no judge"),
        pytest.param([judge()], [], {"good": Threshold(min_mean=1)}, id="no case for a threshold"),
    ],
)
def test_a_run_that_measured_nothing_is_inconclusive(
    judges: Sequence[Any], cases: Iterable[str], thresholds: dict[str, Threshold]
) -> None:
    result = compose(snapshot(judges, cases, thresholds), [])
    assert result.decision == "inconclusive"
    assert result.gate.reasons


def test_a_left_out_judge_is_told_and_its_threshold_not_met() -> None:
    gone = LeftOut("llm", "no model was given")
    plan = snapshot([judge(scale=Binary())], ["a"], {"llm": Threshold(min_mean=3)}, left_out=(gone,))
    result = compose(plan, [said(True)])
    assert result.left_out == (gone,)
    assert result.decision == "inconclusive"


def test_the_result_repeats_what_the_snapshot_says_of_the_run() -> None:
    plan = Snapshot(
        suite="s",
        description="d",
        format="eval_yaml",
        cases=(CaseStub(id="a", tags=("slow",)),),
        judges=(judge(scale=Binary()),),
        models={"good": "anthropic:m"},
        warnings=(Problem(message="w", warning=True),),
        selection="tag slow",
        seed=7,
    )
    result = compose(plan, [said(True)], version="1.2.3")
    assert (result.suite, result.description, result.format, result.adjudge) == ("s", "d", "eval_yaml", "1.2.3")
    assert (result.selection, result.seed) == ("tag slow", 7)
    assert (result.cases, result.warnings) == (plan.cases, plan.warnings)
    assert result.summary("good").model == "anthropic:m"


def test_people_are_asked_for_by_the_name_of_the_judge() -> None:
    stubs = (CaseStub(id="a", annotations={"verdicts": {"good": False}}), CaseStub(id="b"))
    plan = Snapshot(suite="s", cases=stubs, judges=(judge(scale=Binary()),))
    people = compose(plan, [said(True, case="a"), said(True, case="b")]).summary("good").people
    assert people is not None
    assert people.false_pass_cases == ("a",)


def _two_criteria() -> Snapshot:
    criteria = (Criterion(name="depth", scale=Numeric(0, 5)), Criterion(name="style", scale=Binary()))
    return snapshot([LLMJudge(name="llm", prompt="p", criteria=criteria)])


def test_verdicts_read_from_one_call_are_paid_for_once() -> None:
    paid = Usage(calls=1, input=100, cost_usd=0.5)
    shared: dict[str, Any] = {"case": "a", "judge": "llm", "status": Status.SCORED, "usage": paid, "call": "key"}
    verdicts = [Verdict(criterion="depth", value=3, **shared), Verdict(criterion="style", value=True, **shared)]
    assert compose(_two_criteria(), verdicts).usage == paid


def test_verdicts_of_different_calls_are_each_paid_for() -> None:
    paid = Usage(calls=1, input=100, cost_usd=0.5)
    plan = snapshot([judge(scale=Binary(), samples=2)])
    verdicts = [said(True, sample=k, usage=paid, call=f"key-{k}") for k in range(2)]
    assert compose(plan, verdicts).usage == paid + paid


def test_each_criterion_has_a_summary_of_its_own() -> None:
    verdicts = [
        Verdict(case="a", judge="llm", criterion="depth", status=Status.SCORED, value=3),
        Verdict(case="a", judge="llm", criterion="style", status=Status.SCORED, value=False),
    ]
    result = compose(_two_criteria(), verdicts)
    assert (result.summary("llm", "depth").value, result.summary("llm", "style").value) == (3.0, 0.0)
    assert result.summary("llm") == result.summary("llm", "depth")


@pytest.mark.parametrize("values", [(1e200, -1e200), (1.7e308, 1.7e308), (-1.7e308, 1.7e308)], ids=repr)
def test_the_largest_numbers_give_a_result_that_can_be_read_again(values: tuple[float, float]) -> None:
    plan = snapshot([judge(scale=Numeric(0, 1, enforced=False))], ["a", "b"])
    result = compose(plan, [said(value, case=case) for case, value in zip("ab", values, strict=True)])
    assert msgspec.json.decode(result_json(result), type=RunResult) == result
    assert result.summary("good").n == 2


def test_a_result_knows_its_judges_and_scores_by_name() -> None:
    result = compose(snapshot([judge(scale=Binary())]), [said(True)])
    assert result.score("a", "good").value is True
    assert result.decision == Decision.PASS.value
    with pytest.raises(KeyError):
        result.score("b", "good")
    with pytest.raises(KeyError):
        result.summary("good", "other")
