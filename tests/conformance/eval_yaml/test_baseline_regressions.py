"""A run of an eval.yaml that is held against an earlier one: through the API, the command line, and a peer's run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import ConfigError, Decision, GateCheck, RunResult, StoreError
from tests.support.configs import ANSWER, Files, check, errors, judged, llm, write_suite
from tests.support.llm import call, environment

Values = Sequence[str]
"""What the judge returns in Python, one a case."""
OVER = "1 / 0"


def suite(
    folder: Path, values: Values, threshold: Mapping[str, Any] | None = None, *, name: str = "ok", **judge: Any
) -> Path:
    cases: dict[str, Files] = {f"case-{k}": {**ANSWER, "input.yaml": f"k: {k}\n"} for k in range(len(values))}
    code = f"return [{', '.join(f'lambda: {value}' for value in values)}][outputs['input']['k']](), ''"
    bounds = {} if threshold is None else {"thresholds": {name: dict(threshold)}}
    return write_suite(folder, [check(name, code, **judge)], cases, **bounds)


def held(
    tmp_path: Path, now: Values, before: Values, threshold: Mapping[str, Any] | None = None, **options: Any
) -> RunResult:
    """A run with these values against one with those."""
    judged(suite(tmp_path / "v1", before), output="main")
    return judged(suite(tmp_path / "v2", now, {} if threshold is None else threshold), baseline="main", **options)


def regressions(result: RunResult) -> list[GateCheck]:
    return [check for check in result.gate.checks if check.metric == "regression"]


@pytest.mark.parametrize(
    ("now", "before", "decision"),
    [
        pytest.param(["3"], ["3.5"], "pass", id="by 0.5"),
        pytest.param(["3"], ["3.51"], "fail", id="by more than 0.5"),
        pytest.param(["4"], ["3"], "pass", id="better"),
        pytest.param(["True", "False"], ["True", "True"], "pass", id="half of the passes"),
        pytest.param(["True", "False", "False"], ["True", "True", "True"], "fail", id="two of three passes"),
        pytest.param(["True", "False", "False"], ["True", "False", "False"], "pass", id="equal"),
    ],
)
def test_a_judge_with_a_threshold_may_fall_by_a_half(
    tmp_path: Path, now: Values, before: Values, decision: str
) -> None:
    result = held(tmp_path, now, before)
    assert (result.decision, result.exit_code) == (decision, 1 if decision == "fail" else 0)
    (found,) = regressions(result)
    assert found.judge == "ok"


def test_a_judge_without_a_threshold_is_not_looked_at(tmp_path: Path) -> None:
    judged(suite(tmp_path / "v1", ["5"]), output="main")
    result = judged(suite(tmp_path / "v2", ["1"]), baseline="main")
    assert (result.decision, regressions(result)) == ("pass", [])


def test_max_drop_of_the_run_is_for_every_judge(tmp_path: Path) -> None:
    judged(suite(tmp_path / "v1", ["5"]), output="main")
    for drop, decision in ((3.9, "fail"), (4, "pass"), (0, "fail")):
        result = judged(suite(tmp_path / "v2", ["1"]), baseline="main", max_drop=drop, fresh=True)
        assert result.decision == decision


def test_max_drop_of_a_judge_is_before_that_of_the_run(tmp_path: Path) -> None:
    assert held(tmp_path, ["3"], ["4"], {"max_drop": 1}).decision == "pass"
    assert held(tmp_path, ["3"], ["4"], {"max_drop": 0.9}, output="b").decision == "fail"
    assert held(tmp_path, ["3"], ["4"], {"max_drop": 1}, max_drop=0, output="c").decision == "pass"
    assert held(tmp_path, ["3"], ["3.1"], {"max_drop": 0}, output="d").decision == "fail"


def test_the_reason_names_the_judge_both_figures_and_the_drop(tmp_path: Path) -> None:
    result = held(tmp_path, ["2", "4"], ["4", "4"])
    (reason,) = result.gate.reasons
    for part in ("ok: mean 3,", "1 worse than the baseline's 4", "2 cases of both", "more than the drop of 0.5"):
        assert part in reason
    (found,) = regressions(result)
    assert (found.value, found.bound) == (3.0, 3.5)


def test_the_means_are_over_the_cases_that_both_have_scored(tmp_path: Path) -> None:
    result = held(tmp_path, ["3", OVER], ["3", "5"], {"max_error_rate": 1})
    (found,) = regressions(result)
    assert (found.decision, found.value) == (Decision.PASS, 3.0)
    assert "1 scored there alone" in found.reason


@pytest.mark.parametrize(("allow", "decision", "kind"), [(False, "fail", Decision.FAIL), (True, "pass", Decision.PASS)])
def test_a_case_that_is_missing_fails_and_is_told(tmp_path: Path, allow: bool, decision: str, kind: Decision) -> None:
    result = held(tmp_path, ["3"], ["3", "3"], allow_missing=allow)
    assert result.decision == decision
    (found,) = [check for check in regressions(result) if "case-1" in check.reason]
    assert found.decision is kind
    assert "missing in this run" in found.reason
    assert ("which is admitted" in found.reason) == allow


@pytest.mark.parametrize("max_drop", [1, None])
@pytest.mark.parametrize(("allow", "decision"), [(False, "fail"), (True, "pass")])
def test_a_judge_that_is_missing_fails_and_is_told(
    tmp_path: Path, allow: bool, decision: str, max_drop: float | None
) -> None:
    """Whatever is asked of falls: a judge that is gone has no threshold any more."""
    judged(suite(tmp_path / "v1", ["3"], name="old"), output="main")
    result = judged(suite(tmp_path / "v2", ["3"]), baseline="main", max_drop=max_drop, allow_missing=allow)
    assert result.decision == decision
    (found,) = [check for check in regressions(result) if check.judge == "old"]
    assert "this run lacks it" in found.reason


def test_new_cases_and_judges_pass_and_are_told(tmp_path: Path) -> None:
    judged(suite(tmp_path / "v1", ["3"], name="old"), output="main")
    both = suite(tmp_path / "v2", ["3", "3"], {})
    config = yaml.safe_load(both.read_text())
    config["judges"].append({"name": "old", "check": "return 3, ''"})
    both.write_text(yaml.safe_dump(config))
    result = judged(both, baseline="main")
    assert result.decision == "pass"
    told = " ".join(check.reason for check in regressions(result))
    assert "ok: new" in told
    assert "1 new case" in told


def test_a_judge_that_lost_every_score_fails(tmp_path: Path) -> None:
    result = held(tmp_path, [OVER], ["3"], {"max_error_rate": 1})
    assert result.decision == "fail"
    assert "this run has no score" in result.gate.reasons[0]


def test_values_of_another_kind_are_broken_and_no_pass(tmp_path: Path) -> None:
    result = held(tmp_path, ["True"], ["3"])
    assert (result.decision, result.exit_code) == ("broken", 4)
    assert "cannot be compared" in result.gate.reasons[0]


def test_the_decision_is_recomputed_with_the_baseline_although_that_is_gone(tmp_path: Path) -> None:
    result = held(tmp_path, ["1"], ["5"])
    for path in (tmp_path / "main").iterdir():
        path.unlink()
    again = adjudge.read("run")
    assert (again.decision, again.gate, again.baseline) == ("fail", result.gate, "main")


def test_running_again_without_a_baseline_forgets_it(tmp_path: Path) -> None:
    assert held(tmp_path, ["1"], ["5"]).decision == "fail"
    again = judged(tmp_path / "v2" / "eval.yaml", fresh=True)
    assert (again.decision, again.baseline, regressions(again)) == ("pass", "", [])


def peer(folder: Path, judges: Mapping[str, Any], per_case: Mapping[str, Any]) -> Path:
    """A run directory of agent-eval-harness."""
    folder.mkdir()
    content = {"run_id": "2026-01-01-opus", "judges": judges, "per_case": per_case}
    (folder / "summary.yaml").write_text(yaml.safe_dump(content))
    return folder


def test_a_run_of_the_peer_is_a_baseline(tmp_path: Path) -> None:
    figures = {"ok": {"mean": 4.5, "pass_rate": None, "scored_cases": 2, "errored_cases": 0}}
    cases = {f"case-{k}": {"ok": {"value": k + 4, "rationale": "x", "judge_type": "check"}} for k in range(2)}
    baseline = peer(tmp_path / "theirs", figures, cases)
    for values, decision in ((["3.5", "4.5"], "pass"), (["3.4", "4.5"], "fail")):
        result = judged(suite(tmp_path / "v2", values, {}), baseline=baseline, fresh=True)
        assert (result.decision, result.baseline) == (decision, "theirs")


def test_the_threshold_of_the_peer_for_booleans_holds_for_its_runs(tmp_path: Path) -> None:
    figures = {"ok": {"mean": 1.0, "pass_rate": 1.0, "scored_cases": 1, "errored_cases": 0}}
    baseline = peer(tmp_path / "theirs", figures, {"case-0": {"ok": {"value": True, "rationale": ""}}})
    assert judged(suite(tmp_path / "v2", ["False"], {}), baseline=baseline).decision == "fail"


@pytest.mark.parametrize("content", [None, "judges: [1]", "{", "- a", "name: x"])
def test_what_is_no_run_cannot_be_a_baseline(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "odd").mkdir()
    if content is not None:
        (tmp_path / "odd" / "summary.yaml").write_text(content)
    with pytest.raises(StoreError, match="odd"):
        judged(suite(tmp_path / "v2", ["3"]), baseline="odd")
    done = call("run", "v2/eval.yaml", "--baseline", "odd", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    assert "odd" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_is_named_by_its_suite(tmp_path: Path) -> None:
    judged(suite(tmp_path / "v1", ["5"]), output=".adjudge/runs/suite/first")
    result = judged(suite(tmp_path / "v2", ["1"], {}), baseline="first")
    assert (result.decision, result.baseline) == ("fail", "first")
    with pytest.raises(StoreError, match="there is no run 'second'"):
        judged(suite(tmp_path / "v2", ["1"], {}), baseline="second")


def test_the_command_line_holds_a_run_against_another(tmp_path: Path) -> None:
    judged(suite(tmp_path / "v1", ["5", "5"]), output="main")
    config = suite(tmp_path / "v2", ["3"])
    env = environment(tmp_path)
    done = call("run", config, "--output", "a", "--baseline", "main", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "case-1" in done.stdout
    flags = ("--baseline", "main", "--allow-missing")
    assert call("run", config, "--output", "b", *flags, cwd=tmp_path, env=env).returncode == 0
    done = call("run", config, "--output", "c", *flags, "--max-drop", "1.9", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "more than the drop of 1.9" in " ".join(done.stdout.split())
    gate = call("gate", "c", cwd=tmp_path, env=env)
    assert gate.returncode == 1
    assert gate.stdout.startswith("fail: suite\n")
    assert "ok: mean 3, 2 worse than the baseline's 5 over 1 case of both" in gate.stdout


@pytest.mark.parametrize(
    "flags",
    [
        ("--max-drop", "1"),
        ("--allow-missing",),
        ("--baseline", "gone"),
        ("--baseline", "main", "--max-drop", "-1"),
        ("--baseline", "main", "--max-drop", "nan"),
        ("--baseline", "main", "--max-drop", "inf"),
        ("--baseline", "main", "--max-drop", "x"),
    ],
)
def test_flags_that_mean_nothing_are_refused_before_anything_runs(tmp_path: Path, flags: tuple[str, ...]) -> None:
    judged(suite(tmp_path / "v1", ["5"]), output="main")
    done = call("run", "v1/eval.yaml", "--output", "b", *flags, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("drop", [-0.1, float("nan"), float("inf")])
def test_a_drop_that_is_none_is_refused_before_anything_runs(tmp_path: Path, drop: float) -> None:
    judged(suite(tmp_path / "v1", ["5"]), output="main")
    with pytest.raises(ConfigError, match="0 or more"):
        judged(tmp_path / "v1" / "eval.yaml", output="b", baseline="main", max_drop=drop)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("drop", [-0.1, float("nan"), float("inf"), 10**400, "1"])
def test_a_max_drop_that_is_none_is_an_error_at_load(tmp_path: Path, drop: Any) -> None:
    (error,) = errors(suite(tmp_path, ["3"], {"max_drop": drop}))
    assert "thresholds.ok.max_drop" in error


def test_a_comparison_has_no_drop(tmp_path: Path) -> None:
    judge = llm("pairwise", feedback_type=..., prompt="Which?")
    (error,) = errors(write_suite(tmp_path, [judge], thresholds={"pairwise": {"max_drop": 0.1}}))
    assert "use min_win_rate" in error
