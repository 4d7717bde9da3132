"""Thresholds of an eval.yaml, and the exit code that they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import RunResult
from tests.support.configs import ANSWER, Files, check, errors, judged, llm, write_suite


def returned(tmp_path: Path, values: Sequence[str], threshold: Mapping[str, Any] | None, **judge: Any) -> RunResult:
    """A run of one judge that returns these Python values, one a case."""
    cases: dict[str, Files] = {f"case-{k}": {**ANSWER, "input.yaml": f"k: {k}\n"} for k in range(len(values))}
    code = f"return [{', '.join(f'lambda: {value}' for value in values)}][outputs['input']['k']](), ''"
    thresholds = {} if threshold is None else {"ok": dict(threshold)}
    return judged(write_suite(tmp_path, [check(code=code, **judge)], cases, thresholds=thresholds))


ERROR = "1 / 0"


@pytest.mark.parametrize(
    ("values", "threshold", "decision", "code"),
    [
        pytest.param(["True", "False"], {"min_pass_rate": 0.5}, "pass", 0, id="rate reached exactly"),
        pytest.param(["True", "False"], {"min_pass_rate": 0.51}, "fail", 1, id="rate missed"),
        pytest.param(["False"], {"min_pass_rate": 0}, "pass", 0, id="a rate of zero"),
        pytest.param(["True"] * 9 + ["False"], {"min_pass_rate": 0.9}, "pass", 0, id="nine of ten"),
        pytest.param(["0.1", "0.2", "0.3"], {"min_mean": 0.2}, "pass", 0, id="mean reached but for rounding"),
        pytest.param(["3", "4"], {"min_mean": 3.5}, "pass", 0, id="mean reached exactly"),
        pytest.param(["3", "4"], {"min_mean": 3.6}, "fail", 1, id="mean missed"),
        pytest.param(["-3"], {"min_mean": -2}, "fail", 1, id="negative mean"),
        pytest.param(["True", ERROR], {"min_pass_rate": 1}, "broken", 4, id="an error that nobody admits"),
        pytest.param(["True", ERROR], {"min_pass_rate": 1, "max_error_rate": 0.5}, "pass", 0, id="errors admitted"),
        pytest.param(["True", ERROR], {"max_error_rate": 0.49}, "broken", 4, id="too many errors"),
        pytest.param(["True", ERROR], {"max_error_rate": 0}, "broken", 4, id="no error admitted"),
        pytest.param([ERROR, ERROR], {"max_error_rate": 1}, "pass", 0, id="every error admitted"),
        pytest.param(
            [ERROR, ERROR],
            {"min_pass_rate": 0.5, "max_error_rate": 1},
            "broken",
            4,
            id="a rate of errors alone is not measured",
        ),
        pytest.param(["False", ERROR], {"min_pass_rate": 0.5}, "fail", 1, id="a fail stands before what is broken"),
        pytest.param([ERROR], None, "broken", 4, id="errors without a threshold are no pass"),
        pytest.param(["False"], None, "pass", 0, id="nothing asked of the judge"),
        pytest.param(["False"], {}, "pass", 0, id="an empty threshold"),
        pytest.param(["None"], {"min_pass_rate": 0}, "broken", 4, id="none is not measured"),
        pytest.param(["float('nan')", "5"], {"min_mean": 1}, "broken", 4, id="nan is not measured"),
        pytest.param(["True", "3"], {"min_pass_rate": 0}, "broken", 4, id="a mix has no rate"),
        pytest.param(["True", "3"], {"min_mean": 0}, "broken", 4, id="a mix has no mean"),
        pytest.param(["True", "False"], {"min_mean": 0.5}, "pass", 0, id="the mean of booleans is their rate"),
        pytest.param(["True", "False"], {"min_mean": 0.6}, "fail", 1, id="the mean of booleans missed"),
        pytest.param(["1"], {"min_pass_rate": 0.5}, "broken", 4, id="numbers have no rate"),
        pytest.param(["True"], {"min_pass_rate": 0.5, "decide_by": "interval"}, "inconclusive", 3, id="interval"),
    ],
)
def test_the_gate_decides(
    tmp_path: Path, values: list[str], threshold: dict[str, Any] | None, decision: str, code: int
) -> None:
    result = returned(tmp_path, values, threshold)
    assert (result.decision, result.exit_code) == (decision, code)
    assert bool(result.gate.reasons) == (decision != "pass")


def test_a_reason_names_the_judge_the_figure_and_the_bound(tmp_path: Path) -> None:
    (reason,) = returned(tmp_path, ["True", "False", "False"], {"min_pass_rate": 0.5}).gate.reasons
    assert "ok" in reason
    assert "0.333" in reason
    assert "0.5" in reason


def test_off_scale_values_count_as_errors_and_not_in_the_mean(tmp_path: Path) -> None:
    result = returned(tmp_path, ["1", "4"], {"min_mean": 1, "max_error_rate": 0.5}, score_range=[0, 2])
    assert (result.summary("ok").value, result.summary("ok").unscored, result.decision) == (1.0, 1, "pass")


def test_cases_that_a_condition_skips_are_in_no_error_rate(tmp_path: Path) -> None:
    result = returned(tmp_path, ["True", ERROR, ERROR], {"max_error_rate": 0}, condition="outputs['input']['k'] == 0")
    assert result.decision == "pass"


def test_a_judge_that_skips_every_case_is_inconclusive_and_no_pass(tmp_path: Path) -> None:
    result = returned(tmp_path, ["True"], {"min_pass_rate": 0.5}, condition="False")
    assert (result.decision, result.exit_code) == ("inconclusive", 3)


def test_a_broken_condition_is_an_error_and_no_skip(tmp_path: Path) -> None:
    result = returned(tmp_path, ["True"], {"min_pass_rate": 0.5}, condition="annotations['nowhere']")
    assert (result.decision, result.exit_code) == ("broken", 4)


def test_the_threshold_of_a_judge_that_was_left_out_does_not_pass(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [check(), llm()], thresholds={"good": {"min_pass_rate": 0.1}})
    result = judged(config, no_llm=True)
    assert (result.decision, result.exit_code) == ("inconclusive", 3)
    assert any("left out" in reason for reason in result.gate.reasons)


def test_the_gravest_judge_decides_the_run(tmp_path: Path) -> None:
    judges = [check("fails", "return False"), check("breaks", "1 / 0"), check("skips", condition="False"), check()]
    rate = {"min_pass_rate": 0.5}
    thresholds: dict[str, Any] = {"fails": rate, "breaks": rate, "skips": rate, "ok": rate}
    codes = []
    for gravest in ("fails", "breaks", "skips", "ok"):
        codes.append(judged(write_suite(tmp_path, judges, thresholds=thresholds), output=gravest).exit_code)
        judges = [judge for judge in judges if judge["name"] != gravest]
        del thresholds[gravest]
        if not judges:
            break
    assert codes == [1, 4, 3, 0]


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        pytest.param({"oks": {"min_mean": 1}}, "there is no judge 'oks' (did you mean 'ok'?)", id="unknown judge"),
        pytest.param({"ok": {"min_avg": 1}}, "unknown key 'min_avg' (did you mean 'min_mean'?)", id="unknown key"),
        pytest.param({"ok": {"min_pass_rate": 80}}, "must be from 0 to 1, got 80 (80% is 0.8)", id="a percentage"),
        pytest.param({"ok": {"min_pass_rate": -0.1}}, "must be from 0 to 1, got -0.1", id="negative rate"),
        pytest.param({"ok": {"max_error_rate": 1.5}}, "must be from 0 to 1, got 1.5", id="error rate"),
        pytest.param({"ok": {"max_error_rate": float("nan")}}, "must be from 0 to 1, got nan", id="nan rate"),
        pytest.param({"ok": {"min_mean": float("nan")}}, "thresholds.ok.min_mean", id="nan mean"),
        pytest.param({"ok": {"min_mean": float("inf")}}, "thresholds.ok.min_mean", id="infinite mean"),
        pytest.param({"ok": {"min_pass_rate": "0.8"}}, "expected a number, got text '0.8'", id="text"),
        pytest.param({"ok": {"min_pass_rate": True}}, "expected a number, got true or false True", id="boolean"),
        pytest.param({"ok": {"min_win_rate": 0.5}}, "belongs to the pairwise judge", id="win rate"),
        pytest.param({"ok": {"decide_by": "luck"}}, "must be point or interval, got 'luck'", id="decide by"),
        pytest.param({"ok": 0.8}, "thresholds.ok: expected a mapping, got a number", id="a bare number"),
        pytest.param({"ok": None}, "thresholds.ok: expected a mapping, got nothing (null)", id="null"),
        pytest.param({"ok": [0.8]}, "thresholds.ok: expected a mapping, got a list", id="a list"),
        pytest.param({"skipped": {"min_mean": 1}}, "'skipped'", id="judge that is skipped"),
    ],
)
def test_a_threshold_that_could_gate_nothing_is_an_error(
    tmp_path: Path, thresholds: dict[str, Any], message: str
) -> None:
    config = write_suite(tmp_path, [check(), {"name": "skipped"}], thresholds=thresholds)
    (error,) = errors(config)
    assert error.startswith("eval.yaml:")
    assert message in error


@pytest.mark.parametrize(("mean", "fits"), [(0, True), (2, True), (1.5, True), (2.1, False), (80, False)])
def test_a_mean_that_the_scale_cannot_reach_is_an_error(tmp_path: Path, mean: float, fits: bool) -> None:
    found = errors(write_suite(tmp_path, [check(score_range=[0, 2])], thresholds={"ok": {"min_mean": mean}}))
    assert len(found) == (not fits)
    assert all("thresholds.ok.min_mean" in error and "0 to 2" in error for error in found)


@pytest.mark.parametrize(
    ("judge", "wrong"),
    [(llm("ok", feedback_type="bool"), {"min_mean": 3}), (llm("ok", score_range=[1, 5]), {"min_pass_rate": 1})],
    ids=["bool", "score"],
)
def test_a_threshold_that_the_declared_scale_can_never_meet_is_an_error(
    tmp_path: Path, judge: dict[str, Any], wrong: dict[str, float]
) -> None:
    (error,) = errors(write_suite(tmp_path, [judge], thresholds={"ok": wrong}))
    assert f"thresholds.ok.{next(iter(wrong))}" in error


def test_the_mean_of_a_judge_that_answers_pass_or_fail_is_its_rate(tmp_path: Path) -> None:
    assert not errors(write_suite(tmp_path, [llm("ok", feedback_type="bool")], thresholds={"ok": {"min_mean": 0.8}}))


@pytest.mark.parametrize("key", ["min_mean", "min_pass_rate", "min_win_rate", "max_error_rate", "decide_by"])
def test_a_null_bound_is_no_bound(tmp_path: Path, key: str) -> None:
    assert not errors(write_suite(tmp_path, thresholds={"ok": {key: None}}))
