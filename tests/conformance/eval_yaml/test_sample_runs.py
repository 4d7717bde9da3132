"""Projects of the shapes that agent-eval-harness ships: its examples load, and its sample runs are judged, reported
and compared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import adjudge
from adjudge.domain import Comparison, Decision, JudgeComparison, RunResult
from tests.support.configs import ANSWER, asked, errors, warnings, write_case
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict
from tests.support.request import Request

TESTED = """\
import json
for path, text in outputs.get("files", {}).items():
    if path.endswith("tests.json") and isinstance(text, str):
        passed = json.loads(text).get("passed")
        return bool(passed), "the tests ran" if passed is not None else "the tests were left out"
return False, "there is no tests.json"
"""
SOLVE = """\
#!/usr/bin/env bash
set -uo pipefail
workspace="$1"; out="$2"; model="$3"; servers="${4:-}"
mkdir -p "$out"
printf -- '--- a/lock.go\\n+++ b/lock.go\\n+%s\\n' "$model" > "$out/solution.diff"
if grep -q graph "$servers"; then echo '{"passed": true}'; else echo '{"passed": false}'; fi > "$out/tests.json"
grep -q 'Mend' "$workspace/input.yaml" && echo "mended"
"""
TASKS = ("task-0002", "task-0003", "task-0005", "task-0007")
DESIGN: dict[str, Any] = {
    "name": "lock-fixes",
    "description": "One model, with and without a code graph.",
    "execution": {"mode": "case", "arguments": "{prompt}", "timeout": 60},
    "runner": {
        "type": "cli",
        "command": "bash {config_dir}/solve.sh {workspace} {output_dir} {model} {config_dir}/servers-{context}.json",
    },
    "models": {"judge": "claude-sonnet-5-5"},
    "dataset": {"path": "dataset", "schema": "task-NNNN/ with input.yaml, instruction.txt and oracle.diff"},
    "outputs": [{"path": "output", "schema": "solution.diff, tests.json"}],
    "judges": [
        {"name": "tests_pass", "description": "The tests pass with the fix.", "check": TESTED},
        {
            "name": "solution_quality",
            "feedback_type": "int",
            "score_range": [1, 5],
            "prompt": "Task:\n{{ outputs.annotation_instruction_content }}\n\nChange:\n{{ outputs.files }}\n\n"
            "Reference:\n{{ outputs.annotation_oracle_content }}\n\nHow sound is the change, 1 to 5?\n",
        },
    ],
    "thresholds": {"tests_pass": {"min_pass_rate": 0.5}, "solution_quality": {"min_mean": 3.0}},
    "matrix": {"factors": {"model": ["model-a"], "context": ["graph", "none"]}, "replications": 1},
}
SAMPLES: Mapping[str, Mapping[str, tuple[bool, int]]] = {
    "graph": dict(zip(TASKS, [(True, 5), (True, 4), (True, 4), (False, 3)], strict=True)),
    "none": dict(zip(TASKS, [(True, 4), (True, 3), (False, 3), (False, 2)], strict=True)),
}
"""Context -> task -> what the two judges said."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The design with its dataset, script and server files, and a sample run of each context, of which only the
    summaries were kept."""
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(DESIGN, sort_keys=False))
    (tmp_path / "solve.sh").write_text(SOLVE)
    for name in SAMPLES:
        servers = {"graph": {"type": "http", "url": "${GRAPH_URL}"}} if name == "graph" else {}
        (tmp_path / f"servers-{name}.json").write_text(json.dumps({"mcpServers": servers}))
    for task in TASKS:
        files = {
            "input.yaml": yaml.safe_dump({"prompt": f"# Mend the lock of {task}\n\nIt is taken twice.\n"}),
            "annotations.yaml": "instruction: instruction.txt\noracle: oracle.diff\n",
            "instruction.txt": f"Mend the lock of {task}.\n",
            "oracle.diff": f"--- a/lock.go\n+++ b/lock.go\n+// {task}\n",
        }
        write_case(tmp_path / "dataset" / task, files)
    for context in SAMPLES:
        write_sample(sample(tmp_path, context), context)
    return tmp_path


def sample(folder: Path, context: str) -> Path:
    return folder / "sample-runs" / "lock-fixes" / f"2026-07-30-model-a-context-{context}"


def write_sample(run: Path, context: str) -> None:
    """A run as it is kept beside an example: the figures of judges, every record, the condition, and the cost."""
    said = SAMPLES[context]
    records = {
        task: {
            "tests_pass": {"value": passed, "rationale": "kept", "judge_type": "boolean"},
            "solution_quality": {"value": score, "rationale": "kept", "judge_type": "numeric"},
        }
        for task, (passed, score) in said.items()
    }
    figures = {
        "tests_pass": {"pass_rate": sum(passed for passed, _ in said.values()) / len(said)},
        "solution_quality": {"mean": sum(score for _, score in said.values()) / len(said)},
    }
    run.mkdir(parents=True)
    summary = {"run_id": run.name, "judges": figures, "per_case": records}
    (run / "summary.yaml").write_text(yaml.safe_dump(summary, sort_keys=False))
    condition = {"condition_id": f"a-{context}", "levels": {"model": "model-a", "context": context}}
    (run / "condition.json").write_text(json.dumps(condition, indent=2))
    (run / "run_result.json").write_text(json.dumps({"model": "model-a", "cost_usd": 0.14, "num_turns": 8}))


def write_whole(run: Path, context: str) -> None:
    """The same run with everything that it left: outputs, logs, events and metrics of every case."""
    if not run.exists():
        write_sample(run, context)
    entries = {}
    for task, (passed, score) in SAMPLES[context].items():
        files = {
            "output/solution.diff": f"--- a/lock.go\n+++ b/lock.go\n+// quality {score}\n",
            "output/tests.json": json.dumps({"passed": passed}),
            "input.yaml": (run.parent.parent.parent / "dataset" / task / "input.yaml").read_text(),
            "stdout.log": "mended\n",
            "stderr.log": "",
            "events.json": json.dumps([{"type": "assistant", "text": f"I mended {task}.", "tools": []}]),
        }
        write_case(run / "cases" / task, files)
        entries[task] = {"exit_code": 0, "duration_s": 4.5, "cost_usd": 0.035, "num_turns": 2, "token_usage": None}
    told = {"model": "model-a", "cost_usd": 0.14, "num_turns": 8, "execution_mode": "case", "per_case": entries}
    (run / "run_result.json").write_text(json.dumps(told))


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A model that reads the quality out of the change it is shown."""

    def answer(request: Request) -> Verdict:
        text = json.dumps(request.body)
        score = next((k for k in range(1, 6) if f"// quality {k}" in text), 2)
        return Verdict({"rationale": "as it says", "score": score})

    with LoopbackProvider(answer) as provider:
        yield provider


def values(result: RunResult, judge: str) -> dict[str, Any]:
    return {score.case: score.value for score in result.scores if score.judge == judge}


def run(*arguments: str | Path, cwd: Path) -> Any:
    done = call(*arguments, cwd=cwd, env=environment(cwd))
    assert "Traceback" not in done.stderr
    return done


def compared(run_name: str | Path, baseline: Path, *, cwd: Path) -> Mapping[str, JudgeComparison]:
    done = run("compare", run_name, baseline, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return {row.judge: row for row in msgspec.json.decode(done.stdout, type=Comparison).judges}


def test_the_design_loads_as_it_is(project: Path) -> None:
    done = run("validate", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "4 cases, 2 judges, 2 thresholds" in done.stdout


def test_a_sample_run_is_reported_by_its_records(project: Path) -> None:
    done = run("report", sample(project, "none"), cwd=project)
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "rate 0.50" in rows["tests_pass"]
    assert "mean 3.00" in rows["solution_quality"]
    assert "INCONCLUSIVE" in done.stdout
    assert sorted(path.name for path in sample(project, "none").iterdir()) == [
        *("condition.json", "run_result.json", "summary.yaml")
    ]


def test_a_sample_run_is_exported_a_row_a_record(project: Path) -> None:
    done = run("export", sample(project, "graph"), "--to", "csv", cwd=project)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 8
    found = {row["case"]: float(row["value"]) for row in rows if row["judge"] == "solution_quality"}
    assert found == {task: score for task, (_, score) in SAMPLES["graph"].items()}


def test_two_sample_runs_are_compared_case_by_case(project: Path) -> None:
    rows = compared(sample(project, "graph"), sample(project, "none"), cwd=project)
    assert (rows["tests_pass"].better, rows["tests_pass"].worse, rows["tests_pass"].n) == (1, 0, 4)
    assert (rows["solution_quality"].better, rows["solution_quality"].worse, rows["solution_quality"].n) == (4, 0, 4)


def test_a_run_of_which_only_the_summary_was_kept_cannot_be_judged_and_that_is_said(project: Path) -> None:
    done = run("run", "--no-llm", "--workspace", sample(project, "none"), cwd=project)
    assert done.returncode == 2
    assert "no case has any output below" in done.stderr
    gate = run("gate", sample(project, "none"), cwd=project)
    assert gate.returncode == 3
    assert "summary.yaml holds no thresholds" in gate.stdout


@pytest.mark.parametrize("context", SAMPLES)
def test_a_whole_run_is_judged_as_it_was_then(
    project: Path, provider: LoopbackProvider, context: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    write_whole(sample(project, context), context)
    suite = adjudge.load(project / "eval.yaml", workspace=sample(project, context))
    result = asked(suite, provider)
    assert values(result, "tests_pass") == {task: passed for task, (passed, _) in SAMPLES[context].items()}
    assert values(result, "solution_quality") == {task: score for task, (_, score) in SAMPLES[context].items()}
    assert result.gate.decision is Decision.PASS, result.gate.checks
    prompts = [json.dumps(request.body) for request in provider.requests]
    assert len(prompts) == 4
    for task in TASKS:
        (prompt,) = [text for text in prompts if f"Mend the lock of {task}." in text]
        assert f"// {task}" in prompt  # the oracle
        assert "+// quality" in prompt  # the change


def test_what_is_judged_anew_is_reported_and_equal_to_the_sample(project: Path, provider: LoopbackProvider) -> None:
    write_whole(sample(project, "graph"), "graph")
    env = environment(project, provider)
    flags = ("--workspace", sample(project, "graph"), "--output", "anew", "--baseline", sample(project, "graph"))
    done = call("run", *flags, "-q", cwd=project, env=env)
    assert done.returncode == 0, done.stderr
    first = [run("report", "anew", cwd=project).stdout, *written(project / "anew")]
    assert "rate 0.75" in first[0]
    assert "mean 4.00" in first[0]
    assert [run("report", "anew", cwd=project).stdout, *written(project / "anew")] == first
    assert run("gate", "anew", cwd=project).returncode == 0
    rows = compared("anew", sample(project, "graph"), cwd=project)
    assert [(row.better, row.worse, row.n) for row in rows.values()] == [(0, 0, 4)] * 2


def written(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("result.json", "summary.md", "junit.xml", "report.html")]


def test_a_run_that_fell_behind_its_sample_fails_by_name(project: Path, provider: LoopbackProvider) -> None:
    write_whole(sample(project, "none"), "none")
    env = environment(project, provider)
    flags = ("--baseline", sample(project, "graph"), "--max-drop", "0.5", "--output", "behind")
    done = call("run", "--workspace", sample(project, "none"), *flags, cwd=project, env=env)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "solution_quality: mean 3, 1 worse than the baseline's 4 over 4 cases of both" in said
    assert "tests_pass: pass_rate" not in said


def test_a_cell_is_run_by_its_script_and_held_against_its_sample(project: Path, provider: LoopbackProvider) -> None:
    env = environment(project, provider)
    done = call("run", "--input", "context=none", "--model", "model-a", "--output", "cell", "-q", cwd=project, env=env)
    assert done.returncode == 1, done.stderr
    assert (project / "cell/cases/task-0002/output/solution.diff").read_text().endswith("+model-a\n")
    told = json.loads((project / "cell/run_result.json").read_text())
    assert sorted(told["per_case"]) == list(TASKS)
    assert told["eval_params"]["input_overrides"] == {"context": "none"}
    rows = compared("cell", sample(project, "none"), cwd=project)
    assert (rows["tests_pass"].better, rows["tests_pass"].worse, rows["tests_pass"].n) == (0, 2, 4)


def test_every_cell_of_the_design_is_a_run_like_the_sample(project: Path, provider: LoopbackProvider) -> None:
    done = call("run", "--matrix", "--output", "cells", "-q", cwd=project, env=environment(project, provider))
    assert "statsmodels" in done.stderr or done.returncode == 0, done.stderr
    for context, passes in (("graph", 1.0), ("none", 0.0)):
        cell = project / "cells" / f"model-model-a-context-{context}"
        summary = yaml.safe_load((cell / "summary.yaml").read_text())
        assert summary["judges"]["tests_pass"]["pass_rate"] == passes
        assert sorted(summary["per_case"]) == list(TASKS)
        condition = json.loads((cell / "condition.json").read_text())
        assert condition["levels"] == {"model": "model-a", "context": context}


MODELS = {"skill": "claude-sonnet-5-5", "judge": "claude-sonnet-5-5"}
HAS_CONTENT = {"name": "has_content", "check": 'return len(outputs.get("main_content", "")) > 9, "looked"'}
QUALITY = {
    "name": "quality",
    "feedback_type": "int",
    "score_range": [1, 5],
    "prompt": "How complete is it?\n{{ inputs }}\n{{ outputs }}",
}
SHAPES: dict[str, dict[str, Any]] = {
    "annotated": {
        "execution": {"mode": "case", "skill": "my-skill", "arguments": "{request}"},
        "runner": {"type": "claude-code"},
        "models": MODELS,
        "permissions": {"allow": [], "deny": ["mcp__*"]},
        "mlflow": {"experiment": "mine"},
        "inputs": {"tools": None},
        "outputs": [{"path": "artifacts", "schema": "One file a case."}],
        "traces": {"stdout": True, "stderr": True, "events": False, "metrics": True},
        "judges": [HAS_CONTENT, {**QUALITY, "if": "not annotations.get('skip', False)"}],
        "thresholds": {"quality": {"min_mean": 3.5}, "has_content": {"min_pass_rate": 1.0}},
    },
    "no skill, the arguments are the prompt": {
        "skill": None,
        "execution": {"mode": "case", "arguments": "Do the change below.\n\n---\n{request}\n", "timeout": 900},
        "runner": {"type": "claude-code"},
        "models": MODELS,
        "permissions": {"allow": ["Read", "Edit"], "deny": ["mcp__*"]},
        "outputs": [{"path": "artifacts"}],
        "judges": [{"name": "changed", "check": 'return bool(outputs.get("modified_files")), "looked"'}],
        "matrix": {"factors": {"model": ["a", "b", "c"]}, "replications": 1},
    },
    "a command as a list, with variables": {
        "execution": {
            "mode": "case",
            "skill": "smoke",
            "arguments": "{request}",
            "timeout": 120,
            "max_budget_usd": 1.0,
            "env": {"REGION": "here", "ROOT": "$PWD", "TELEMETRY": "1", "ABSENT": "$NOT_SET_ANYWHERE"},
        },
        "runner": {"type": "cli", "command": ["bash", "-c", 'exec "$ROOT/run.sh" "$@"', "--", "{args}", "{model}"]},
        "models": {"skill": "vendor/model@20260101"},
        "mlflow": {"experiment": "smoke", "tracking_uri": "https://mlflow.example.com", "tags": {"type": "smoke"}},
        "judges": [
            {"name": "exits", "check": 'if outputs.get("exit_code") == 0:\n  return True, "0"\nreturn False, "n"'}
        ],
        "thresholds": {"exits": {"min_pass_rate": 1.0}},
    },
    "a batch shared out by number": {
        "execution": {"mode": "batch", "skill": "many", "arguments": "--input batch.yaml --headless"},
        "models": MODELS,
        "inputs": {"tools": [{"match": "Questions asked via AskUserQuestion.", "prompt": "Say yes."}]},
        "permissions": {"allow": ["Skill", "Edit(tmp/x/**)"], "deny": []},
        "outputs": [
            {"path": "artifacts/tasks", "batch_pattern": "T-{n:03d}", "schema": "One a case."},
            {"path": "artifacts/reports", "batch_pattern": "*"},
        ],
        "judges": [{"name": "front", "check": 'return outputs["tasks_content"].startswith("---"), "looked"'}, QUALITY],
        "thresholds": {"front": {"min_pass_rate": 1.0}},
    },
    "prompts in the repository itself": {
        "execution": {"mode": "case", "prompt": "{{ input.request }}", "project_hooks": False},
        "runner": {"type": "claude-code", "workspace_mode": "repo", "effort": "medium"},
        "models": MODELS,
        "permissions": {
            "deny": [
                {"path": "eval/", "tools": ["Read", "Edit", "Grep", "Glob"], "reason": "The answers are there."},
                {"path": "eval.yaml", "tools": ["Read"]},
            ]
        },
        "generation": {
            "strategy": "synthetic",
            "context": {"areas": [{"path": "docs/", "topics": ["a", "b"]}]},
            "seeds": [{"category": "navigation", "builtin": "docs/navigation", "count": 2, "description": "Finds it."}],
        },
        "judges": [
            {
                "name": "consulted",
                "builtin": "consulted_docs",
                "arguments": {"include_grep": True, "min_coverage": 0.8, "preloaded_files": ["CLAUDE.md"]},
            },
            {
                "name": "navigated",
                "if": "annotations.get('category') == 'navigation'",
                "feedback_type": "int",
                "score_range": [1, 5],
                "prompt": "{{ annotations.expected_files }}\n{{ tool_trace }}\n{{ conversation }}",
            },
        ],
    },
    "a reward of several lines": {
        "models": MODELS,
        "judges": [HAS_CONTENT, QUALITY, {"name": "cheap", "builtin": "cost_budget", "arguments": {"max_cost_usd": 2}}],
        "reward": {
            "formula": "base = 0.6 * quality + 0.4 * cheap\nmax(0.0, base - 0.1 * (1 - has_content))\n",
            "gate": False,
        },
    },
    "weights": {
        "models": MODELS,
        "judges": [HAS_CONTENT, QUALITY, {"name": "cheap", "builtin": "cost_budget"}],
        "reward": {"formula": "weighted", "weights": {"quality": 0.7, "cheap": 0.3}, "raw": ["cheap"], "gate": True},
    },
    "steps with hooks": {
        "execution": {
            "mode": "case",
            "env": {"COMMON": "value"},
            "steps": [
                {
                    "id": "create",
                    "name": "Create",
                    "skill": "make",
                    "arguments": "{{ input.request }}",
                    "env": {"TOKEN": "$NOT_SET_ANYWHERE"},
                    "timeout": 1800,
                    "max_budget_usd": 5.0,
                    "runner": {"type": "claude-code", "effort": "high"},
                },
                {"id": "refine", "skill": "refine", "arguments": "{{ steps.create.output }} {{ input.request }}"},
            ],
        },
        "models": MODELS,
        "hooks": {
            "before_step": [{"command": "true", "condition": '[ "$AGENT_EVAL_STEP_ID" = refine ]'}],
            "after_step": [{"command": "true"}],
        },
        "judges": [{**QUALITY, "step": "refine"}],
    },
}


def write_shape(folder: Path, sections: Mapping[str, Any]) -> Path:
    place = "artifacts/a.md" if {"path": "artifacts"} in sections.get("outputs", ()) else "output/answer.md"
    write_case(
        folder / "cases" / "case-1", {place: ANSWER["output/answer.md"], "annotations.yaml": "category: other\n"}
    )
    top = {"name": "shape", "dataset": {"path": "cases"}, "outputs": [{"path": "output"}], **sections}
    config = folder / "eval.yaml"
    config.write_text(yaml.safe_dump(top, sort_keys=False))
    return config


@pytest.mark.parametrize("name", SHAPES)
def test_a_config_of_the_shape_of_an_example_loads(tmp_path: Path, name: str) -> None:
    assert errors(write_shape(tmp_path, SHAPES[name])) == []


@pytest.mark.parametrize("place", ["top", "execution"])
def test_where_no_skill_is_written_the_arguments_are_the_prompt(tmp_path: Path, place: str) -> None:
    sections = {**SHAPES["no skill, the arguments are the prompt"]}
    if place == "execution":
        del sections["skill"]
        sections["execution"] = {**sections["execution"], "skill": None}
    execution = adjudge.load(write_shape(tmp_path, sections)).execution
    assert execution is not None
    assert execution.prompt.startswith("Do the change below.")
    assert (execution.skill, execution.arguments) == ("", "")


def test_arguments_alone_run_nothing_and_a_design_of_them_can_be_judged(tmp_path: Path) -> None:
    sections = {**SHAPES["no skill, the arguments are the prompt"]}
    del sections["skill"]
    config = write_shape(tmp_path, sections)
    assert adjudge.load(config).execution is None
    assert any("matrix: is not used without an agent to run" in text for text in warnings(config))
    done = run("run", "--matrix", cwd=tmp_path)
    assert done.returncode == 2
    assert "something to run" in done.stderr


def test_hooks_of_the_project_that_are_asked_for_are_told_not_to_run(tmp_path: Path) -> None:
    sections = {**SHAPES["prompts in the repository itself"]}
    sections["execution"] = {**sections["execution"], "project_hooks": True}
    assert any("execution.project_hooks: is not used" in text for text in warnings(write_shape(tmp_path, sections)))
