"""Run directories of agent-eval-harness as results: every form of a record, and files that are not what they seem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import adjudge
from adjudge.domain import Decision, ErrorKind, RunMode, RunResult, RunState, Score, Status, StoreError, TokenUsage
from adjudge.formats.eval_yaml.summary import read_summary
from adjudge.scoring import baseline_of, compare, regressions


def record(value: Any, rationale: str = "", kind: str = "check", **more: Any) -> dict[str, Any]:
    return {"value": value, "rationale": rationale, "judge_type": kind, **more}


def write(folder: Path, summary: Any, run_result: Any = None) -> Path:
    """A run directory; text is written as it stands."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content, dump in (("summary.yaml", summary, yaml.safe_dump), ("run_result.json", run_result, json.dumps)):
        if content is not None:
            (folder / name).write_text(content if isinstance(content, str) else dump(content))
    return folder


def judged(folder: Path, records: dict[str, Any], **summary: Any) -> RunResult:
    """A run with one judge, `q`, and these records of its cases."""
    return read_summary(write(folder, {"per_case": {case: {"q": said} for case, said in records.items()}, **summary}))


def one(folder: Path, said: Any) -> Score:
    (score,) = judged(folder, {"case-1": said}).scores
    return score


def test_a_run_as_that_tool_writes_it(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "my-eval" / "run-1",
        {
            "run_id": "run-1",
            "judges": {
                "passes": {"mean": 0.5, "pass_rate": 0.5, "scored_cases": 2, "errored_cases": 0},
                "quality": {"mean": 4.0, "pass_rate": None, "scored_cases": 1, "errored_cases": 1},
            },
            "per_case": {
                "b": {"passes": record(False, "no"), "quality": {"value": None, "error": "boom", "judge_type": "llm"}},
                "a": {"passes": record(True, "fine"), "quality": record(4, "good", "llm")},
            },
            "run_metrics": {"cost_per_turn_usd": 0.1},
        },
        {
            "exit_code": 0,
            "cost_usd": 0.3,
            "agent": "claude-code",
            "agent_version": "2.0",
            "model": "m",
            "execution_mode": "case",
            "per_case": {
                "a": {
                    "exit_code": 0,
                    "duration_s": 4.5,
                    "cost_usd": 0.25,
                    "num_turns": 3,
                    "token_usage": {"input": 10, "output": 20, "cache_read": 5, "cache_create": 1},
                },
                "b": {"exit_code": -1, "duration_s": 600, "cost_usd": None, "num_turns": None, "token_usage": None},
                "c": {"exit_code": 1, "error": "no such file"},
            },
        },
    )
    result = read_summary(folder)
    assert result.suite == "my-eval"
    assert [stub.id for stub in result.cases] == ["a", "b", "c"]
    passes, quality = result.judges
    assert (passes.kind, passes.metric, passes.value, passes.n, passes.unscored) == ("check", "pass_rate", 0.5, 2, 0)
    assert passes.interval is not None
    assert (quality.kind, quality.metric, quality.value, quality.n, quality.unscored) == ("llm", "mean", 4, 1, 1)
    assert result.score("b", "passes").rationale == "no"
    assert result.score("a", "passes").normalised == 1.0
    error = result.score("b", "quality").error
    assert error is not None
    assert (error.kind, error.message) == (ErrorKind.RAISED, "boom")
    assert result.gate.decision is Decision.INCONCLUSIVE
    assert result.gate.reasons == [
        "summary.yaml holds no thresholds, so nothing was decided",
        "the agent's run ended badly in 2 of 3 cases: b (timeout), c (failed)",
    ]
    assert result.execution is not None
    assert (result.execution.agent, result.execution.model, result.execution.mode) == ("claude-code", "m", RunMode.CASE)
    assert [run.state for run in result.execution.cases] == [RunState.OK, RunState.TIMEOUT, RunState.FAILED]
    assert result.execution.cases[0].token_usage == TokenUsage(input=10, output=20, cache_read=5, cache_create=1)
    assert result.execution.cost_usd == 0.25


@pytest.mark.parametrize(
    ("said", "status", "value"),
    [
        pytest.param(record(True), Status.SCORED, True, id="boolean"),
        pytest.param(record(0), Status.SCORED, 0, id="zero is a number"),
        pytest.param(record(3.5), Status.SCORED, 3.5, id="number"),
        pytest.param(record(1, kind="boolean"), Status.SCORED, True, id="one of a boolean judge"),
        pytest.param(record(0.0, kind="boolean"), Status.SCORED, False, id="zero of a boolean judge"),
        pytest.param(record(1, kind="numeric"), Status.SCORED, 1, id="one of a numeric judge"),
        pytest.param(record(None, "Skipped: condition 'x' is false"), Status.SKIPPED, None, id="skipped"),
        pytest.param(record(None, error="it broke"), Status.UNSCORED, None, id="error"),
        pytest.param(record(None), Status.UNSCORED, None, id="nothing"),
        pytest.param(record([True, "why"]), Status.UNSCORED, None, id="list"),
        pytest.param(record("4"), Status.UNSCORED, None, id="text"),
        pytest.param(record({"a": 1}), Status.UNSCORED, None, id="mapping"),
        pytest.param(record(float("nan")), Status.UNSCORED, None, id="NaN"),
        pytest.param(record(float("inf")), Status.UNSCORED, None, id="infinite"),
        pytest.param(record(10**40), Status.UNSCORED, None, id="huge"),
        pytest.param("4", Status.UNSCORED, None, id="no record"),
        pytest.param(None, Status.UNSCORED, None, id="no record at all"),
    ],
)
def test_every_form_of_a_value(tmp_path: Path, said: Any, status: Status, value: Any) -> None:
    score = one(tmp_path, said)
    assert (score.status, score.value) == (status, value)
    assert type(score.value) is type(value)
    assert (score.error is not None) == (status is Status.UNSCORED)


def test_a_value_that_is_present_counts_also_beside_an_error(tmp_path: Path) -> None:
    assert one(tmp_path, record(2, error="late")).value == 2


def test_samples_are_kept_with_how_far_they_agree(tmp_path: Path) -> None:
    stability = {"samples": 4, "error_count": 1, "values": [True, True, False, None], "stable": False}
    made = judged(tmp_path, {"case-1": record(True, "why", "llm", stability=stability)})
    score = made.scores[0]
    assert [sample.value for sample in score.samples] == [True, True, False, None]
    assert score.agreement == pytest.approx(2 / 3)
    assert made.judges[0].stability is not None
    assert (made.judges[0].stability.samples, made.judges[0].stability.stable_cases) == (4, 0)


def test_figures_without_scores_are_kept_and_told(tmp_path: Path) -> None:
    summary = {
        "judges": {
            "q": {"judge_type": "boolean", "mean": 0.8, "pass_rate": 0.8},
            "m": {"judge_type": "numeric", "mean": 3.5, "scored_cases": 6, "errored_cases": 2},
            "none": {"mean": None, "pass_rate": None},
        }
    }
    result = read_summary(write(tmp_path, summary))
    shown = [(s.judge, s.metric, s.value, s.n, s.unscored) for s in result.judges]
    assert shown == [("m", "mean", 3.5, 6, 2), ("none", None, None, 0, 0), ("q", "pass_rate", 0.8, 0, 0)]
    assert [warning.key for warning in result.warnings] == ["judges.m", "judges.none", "judges.q"]
    assert compare(result, result).judges[0].note == "not compared: no case has a score in both runs"


def test_pairwise_results_are_no_judge_and_are_told(tmp_path: Path) -> None:
    made = judged(tmp_path, {"a": record(True)}, pairwise={"wins_a": 1}, judges={"pairwise": {"mean": None}})
    assert [summary.judge for summary in made.judges] == ["q"]
    assert "pairwise results are not read" in made.warnings[0].message


def test_names_that_yaml_takes_for_numbers_and_dates_are_text(tmp_path: Path) -> None:
    text = "per_case:\n  17: {q: {value: true}}\n  2026-01-02: {q: {value: true}}\n  '017': {q: {value: false}}\n"
    made = read_summary(write(tmp_path, text))
    assert [stub.id for stub in made.cases] == ["017", "17", "2026-01-02"]


def test_a_batch_has_its_figures_under_no_case(tmp_path: Path) -> None:
    figures = {"execution_mode": "batch", "cost_usd": 1.25, "exit_code": 0, "token_usage": {"input": 9, "output": 1}}
    made = read_summary(write(tmp_path, {"per_case": {"a": {"q": record(True)}}}, figures))
    assert made.execution is not None
    assert (made.execution.mode, made.execution.cost_usd) == (RunMode.BATCH, 1.25)
    assert [stub.id for stub in made.cases] == ["a"]


def test_usage_of_judges_is_summed_where_it_is_there(tmp_path: Path) -> None:
    used = {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.5}
    made = judged(tmp_path, {"a": record(3, usage=used), "b": record(4, usage={**used, "cost_usd": None})})
    assert (made.usage.calls, made.usage.input, made.usage.output) == (2, 200, 40)
    assert (made.usage.cost_usd, made.usage.unpriced_calls) == (0.5, 1)


def test_tuples_are_lists_and_other_python_objects_are_not_made(tmp_path: Path) -> None:
    text = f"""
per_case:
  a: {{q: {{value: !!python/tuple [true, fine], judge_type: check}}}}
  b: {{q: {{value: !!python/object/apply:os.system ["touch {tmp_path}/ran"], judge_type: check}}}}
  c: {{q: {{value: !!python/name:os.system '', judge_type: check}}}}
  d: {{q: {{value: 1.5, rationale: !!python/object/new:os.system ["touch {tmp_path}/ran"]}}}}
  e: {{q: !!python/object:adjudge.domain.Score {{value: 3}}}}
"""
    made = read_summary(write(tmp_path, text))
    assert not (tmp_path / "ran").exists()
    errors = [score.error.message if score.error else score.value for score in made.scores]
    assert errors == [
        "the value is a list, not a boolean or a number",
        "the value is the Python object object/apply:os.system, not a boolean or a number",
        "the value is the Python object name:os.system, not a boolean or a number",
        1.5,
        "a record is expected, not the Python object object:adjudge.domain.Score",
    ]


def test_what_expands_without_end_is_not_written_out(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12)]
    made = read_summary(write(tmp_path, "\n".join([*lines, "per_case: {a: {q: {value: *a11}}}"])))
    assert made.scores[0].error is not None
    assert len(msgspec.json.encode(made)) < 5000


@pytest.mark.parametrize(
    ("summary", "run_result", "why"),
    [
        pytest.param("a: [1", None, "summary.yaml is not valid YAML on line 2", id="broken YAML"),
        pytest.param("- 1\n- 2", None, "a mapping is expected, not a list", id="a list"),
        pytest.param("", None, "neither judges nor per_case", id="empty"),
        pytest.param("other: 1", None, "neither judges nor per_case", id="something else"),
        pytest.param("per_case: [1]", None, "per_case: a mapping is expected, not a list", id="cases in a list"),
        pytest.param(
            "per_case: {a: 3}", None, "per_case.a: a mapping is expected, not a number", id="a case is a number"
        ),
        pytest.param("per_case: {? null : {}}", None, "a key is nothing, not text", id="no name"),
        pytest.param("per_case: !other {}", None, "summary.yaml is not valid YAML on line 1", id="another tag"),
        pytest.param("a: \x00", None, "summary.yaml is not valid YAML", id="control characters"),
        pytest.param("[" * 5000, None, "summary.yaml", id="deep"),
        pytest.param("judges: {}", "{", "run_result.json is not valid JSON", id="broken JSON"),
        pytest.param("judges: {}", "[1]", "run_result.json: a mapping is expected, not a list", id="JSON list"),
        pytest.param("judges: {}", "[" * 100_000, "run_result.json is not valid JSON", id="deep JSON"),
        pytest.param("judges: {}", '{"per_case": 3}', "run_result.json: per_case: a mapping", id="JSON cases"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_file(tmp_path: Path, summary: str, run_result: str, why: str) -> None:
    with pytest.raises(StoreError) as raised:
        read_summary(write(tmp_path, summary, run_result))
    assert why in str(raised.value)
    assert str(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "summary.yaml").write_bytes(b"judges: {\xff\xfe\x80}")
    with pytest.raises(StoreError, match=r"summary\.yaml is not valid YAML"):
        read_summary(tmp_path)


def test_reading_takes_either_kind_of_run_directory(tmp_path: Path) -> None:
    assert adjudge.read(write(tmp_path / "theirs", {"judges": {}})).format == "eval_yaml"
    with pytest.raises(StoreError, match=r"neither journal\.db nor summary\.yaml"):
        adjudge.read(tmp_path)
    with pytest.raises(StoreError, match=r"neither journal\.db nor summary\.yaml"):
        adjudge.read(tmp_path / "nowhere")
    (tmp_path / "odd" / "summary.yaml").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"summary\.yaml"):
        adjudge.read(tmp_path / "odd")


def test_their_run_can_be_a_baseline(tmp_path: Path) -> None:
    before = judged(tmp_path / "a", {"x": record(4.0), "y": record(5.0)})
    now = judged(tmp_path / "b", {"x": record(4.0), "y": record(4.0)})
    (check,) = regressions(now.judges, now.scores, baseline_of(before), {}, max_drop=0.5, every_judge=True)
    assert check.decision is Decision.PASS
    assert compare(now, before).judges[0].worse == 1
