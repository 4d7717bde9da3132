"""`adjudge run` on an eval.yaml that names something to run: execute, collect, judge, reward, gate."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import ConfigError, RunResult, RunState
from tests.support.configs import check, errors

AGENT = """#!/bin/bash
set -u
echo x >> {count}
echo "42"; echo null; echo '[1, 2]'; echo '"x"'; echo 'not json'
{body}
"""
SEES = 'files = outputs["files"]\nreturn True, str(sorted(files))'


def write(folder: Path, body: str, judges: list[dict[str, Any]] | None = None, **sections: Any) -> Path:
    """A suite whose agent is a script; it is run in the workspace, with `$1` as the folder for its outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.sh").write_text(AGENT.format(count=folder / "count", body=body))
    for name, topic in sections.pop("cases", {"one": "red", "two": "blue"}).items():
        case = folder / "cases" / name
        case.mkdir(parents=True, exist_ok=True)
        (case / "input.yaml").write_text(yaml.safe_dump({"topic": topic}))
        (case / "annotations.yaml").write_text("secret: answer\n")
    execution = {"timeout": 20, **sections.pop("execution", {})}
    config = {
        "name": "demo",
        "execution": execution,
        "runner": {"type": "cli", "command": ["bash", "{config_dir}/agent.sh", "{output_dir}", "{topic}", "{model}"]},
        "models": {"skill": "m1"},
        "dataset": {"path": "cases"},
        "outputs": [{"path": "output"}],
        "judges": judges or [check("sees", SEES)],
        **sections,
    }
    path = folder / "eval.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def run(config: Path, **options: Any) -> RunResult:
    return adjudge.run(config, **{"output": config.parent / "run", "workers": 1, **options})


def count(folder: Path) -> int:
    path = folder / "count"
    return len(path.read_text().splitlines()) if path.exists() else 0


def states(result: RunResult) -> dict[str, RunState]:
    assert result.execution is not None
    return {case.case: case.state for case in result.execution.cases}


def test_the_agent_is_run_on_every_case_and_what_it_made_is_judged(tmp_path: Path) -> None:
    made = check(
        "said", 'said = outputs["files"]["output/answer.md"]\nreturn said.strip() in ("red m1", "blue m1"), said'
    )
    result = run(write(tmp_path, 'echo "$2 $3" > "$1/answer.md"', [made]))
    assert result.decision == "pass", result.gate.reasons
    assert states(result) == {"one": RunState.OK, "two": RunState.OK}
    record = json.loads((tmp_path / "run" / "run_result.json").read_text())
    assert (record["exit_code"], record["num_cases"], record["model"]) == (0, 2, "m1")
    assert json.loads((tmp_path / "run" / "collection.json").read_text())["one"] == {"output": 1}


def test_the_workspace_holds_what_the_case_gives_and_no_annotations(tmp_path: Path) -> None:
    body = 'ls -A > "$1/seen"; git log --oneline | wc -l >> "$1/seen"'
    result = run(write(tmp_path, body, [check("seen", 'return True, outputs["files"]["output/seen"]')]))
    seen = result.score("one", "seen").rationale.split()
    assert "input.yaml" in seen
    assert "annotations.yaml" not in seen
    assert seen[-1] == "1"


@pytest.mark.parametrize("topic", ["two words", "$(touch /tmp/never-made)", "a'b\"c", "; echo x", "-n"])
def test_a_field_is_one_argument_and_no_shell_sees_it(tmp_path: Path, topic: str) -> None:
    made = check("said", 'return True, outputs["files"]["output/answer.md"]')
    result = run(write(tmp_path, 'printf "%s" "$2" > "$1/answer.md"', [made], cases={"one": topic}))
    assert result.score("one", "said").rationale == topic
    assert not Path("/tmp/never-made").exists()


def test_what_the_agent_changed_elsewhere_is_collected_although_it_commits(tmp_path: Path) -> None:
    body = "echo x > hooks_test.py; git add -A; git -c user.name=a -c user.email=b commit -qm c; ln -s /etc/passwd link"
    result = run(write(tmp_path, body, cases={"one": "x"}))
    assert result.score("one", "sees").rationale == "['_modified/hooks_test.py']"


def test_a_failed_case_fails_the_gate_by_name_and_is_judged(tmp_path: Path) -> None:
    config = write(tmp_path, 'echo "$2" > "$1/a"; [ "$2" = blue ] && exit 7; exit 0')
    result = run(config)
    assert result.decision == "fail"
    assert any("two (failed)" in reason for reason in result.gate.reasons)
    assert result.summary("sees").n == 2
    assert json.loads((tmp_path / "run" / "run_result.json").read_text())["exit_code"] == 7


def test_a_share_of_failed_cases_can_be_admitted(tmp_path: Path) -> None:
    body = '[ "$2" = blue ] && exit 7; exit 0'
    result = run(write(tmp_path, body, execution={"max_failure_rate": 0.5}))
    assert result.decision == "pass", result.gate.reasons


def test_a_time_out_is_minus_one_and_no_other_case_hides_it(tmp_path: Path) -> None:
    body = f'[ "$2" = blue ] && {{ (sleep 30; touch {tmp_path}/late) & sleep 30; }}; exit 0'
    began = time.monotonic()
    result = run(write(tmp_path, body, execution={"timeout": 1}))
    assert time.monotonic() - began < 15
    assert states(result)["two"] is RunState.TIMEOUT
    record = json.loads((tmp_path / "run" / "run_result.json").read_text())
    assert record["exit_code"] == -1
    assert record["per_case"]["two"]["exit_code"] == -1
    assert result.decision == "fail"


def test_an_agent_that_cannot_start_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    hooks = {"before_all": [{"command": f"touch {tmp_path}/began"}]}
    config = write(tmp_path, "", runner={"type": "codex"}, hooks=hooks, execution={"prompt": "do it"})
    with pytest.raises(ConfigError, match=r"eval\.yaml: error: runner: the agent codex needs codex, .*npm i"):
        run(config, environ={"PATH": "/nowhere"})
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "began").exists()


def test_an_agent_that_turns_out_not_to_start_breaks_the_run_and_scores_nothing(tmp_path: Path) -> None:
    config = write(tmp_path, "", runner={"type": "cli", "command": "./no-such-program-here {output_dir}"})
    result = run(config)
    assert (result.decision, result.exit_code) == ("broken", 4)
    assert set(states(result).values()) == {RunState.ERROR}
    assert result.summary("sees").n == 0
    assert result.summary("sees").unscored == 2


def test_a_second_run_runs_no_case_again_unless_its_input_changed(tmp_path: Path) -> None:
    config = write(tmp_path, 'echo "$2" > "$1/a"')
    run(config)
    run(config)
    assert count(tmp_path) == 2
    (tmp_path / "cases" / "two" / "input.yaml").write_text("topic: green\n")
    run(config)
    assert count(tmp_path) == 3
    run(config, fresh=True)
    assert count(tmp_path) == 5


def test_metrics_of_a_program_are_those_of_the_case(tmp_path: Path) -> None:
    metrics = '{"cost_usd": 0.25, "num_turns": 3, "token_usage": {"input": 10, "output": 4}}'
    seen = check(
        "cost", 'return outputs["cost_usd"] == 0.25 and outputs["num_turns"] == 3, str(sorted(outputs["files"]))'
    )
    result = run(write(tmp_path, f"echo '{metrics}' > \"$1/metrics.json\"", [seen], cases={"one": "x"}))
    assert result.score("one", "cost").value is True
    assert result.score("one", "cost").rationale == "[]"


def test_cases_run_at_the_same_time_up_to_the_limit(tmp_path: Path) -> None:
    body = 'touch "$1/a"; sleep 0.6'
    config = write(tmp_path, body, cases=dict.fromkeys("abcd", "x"), execution={"parallelism": 4})
    began = time.monotonic()
    run(config)
    assert time.monotonic() - began < 2.4  # one after the other would take longer


def test_hooks_run_in_order_hand_over_and_always_clean_up(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def hook(phase: str, more: str = "") -> list[dict[str, Any]]:
        return [{"command": f"echo {phase} ${{CASE_ID:-}} >> {log}; {more}"}]

    hooks = {
        "before_all": hook("before_all", "echo 'env: {WORD: all}' > .hook-outputs.yaml"),
        "before_each": hook("before_each", "printf 'env: {WORD: each}\\ndata: {n: 3}\\n' > .hook-outputs.yaml"),
        "after_each": hook("after_each"),
        "before_scoring": hook("before_scoring"),
        "after_all": hook("after_all", "exit 1"),
        "before_report": hook("before_report"),
    }
    judge = check("word", 'return True, outputs["files"]["output/a"].strip() + str(outputs["hook_outputs"]["n"])')
    config = write(tmp_path, 'echo "$WORD" > "$1/a"', [judge], hooks=hooks, cases={"one": "x"})
    result = run(config)
    assert result.score("one", "word").rationale == "each3"
    order = ["before_all", "before_each one", "after_each one", "before_scoring", "after_all", "before_report"]
    assert [line.strip() for line in log.read_text().splitlines()] == order
    assert (tmp_path / "run" / "hooks" / "before_each.one.0.log").exists()


def test_a_failed_hook_before_a_case_fails_that_case_alone(tmp_path: Path) -> None:
    hooks = {"before_each": [{"command": '[ "$CASE_ID" != two ]'}]}
    result = run(write(tmp_path, 'touch "$1/a"', hooks=hooks))
    assert states(result) == {"one": RunState.OK, "two": RunState.ERROR}
    assert result.decision == "broken"
    assert count(tmp_path) == 1


def test_a_failed_hook_before_everything_runs_no_agent_but_the_clean_up(tmp_path: Path) -> None:
    hooks = {"before_all": [{"command": "exit 3"}], "after_all": [{"command": f"touch {tmp_path}/cleaned"}]}
    result = run(write(tmp_path, 'touch "$1/a"', hooks=hooks))
    assert result.decision == "broken"
    assert count(tmp_path) == 0
    assert (tmp_path / "cleaned").exists()


def test_a_hook_whose_condition_does_not_hold_is_left_out(tmp_path: Path) -> None:
    hooks = {"before_all": [{"command": "exit 3", "condition": "false"}]}
    assert run(write(tmp_path, 'touch "$1/a"', hooks=hooks)).decision == "pass"


def test_steps_share_a_workspace_and_see_what_came_before(tmp_path: Path) -> None:
    steps = [
        {"id": "a", "prompt": "first {topic}"},
        {"id": "b", "prompt": "second after {{ steps.a.exit_code }}: {{ steps.a.output }}"},
    ]
    judges = [
        check("whole", 'return True, outputs["files"]["output/log"]'),
        {**check("first", 'return True, outputs["stdout"]'), "step": "a"},
    ]
    config = write(
        tmp_path,
        "",
        judges,
        execution={"steps": steps},
        cases={"one": "red"},
        runner={"type": "cli", "command": ["bash", "-c", 'read line; echo "$line" >> output/log; echo "said $line"']},
    )
    result = run(config)
    assert result.score("one", "whole").rationale.splitlines() == ["first red", "second after 0: said first red"]
    assert result.score("one", "first").rationale.strip() == "said first red"


def test_a_step_that_did_not_run_is_unscored_and_never_the_whole_case(tmp_path: Path) -> None:
    steps = [{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}]
    judges = [{**check("second", "return True, ''"), "step": "b"}]
    runner = {"type": "cli", "command": ["bash", "-c", "exit 5"]}
    result = run(write(tmp_path, "", judges, execution={"steps": steps}, cases={"one": "x"}, runner=runner))
    assert result.execution is not None
    assert result.execution.cases[0].aborted_at_step == "a"
    score = result.score("one", "second")
    assert score.value is None
    assert score.error is not None
    assert "did not run" in score.error.message


def test_a_batch_is_one_run_whose_outputs_are_shared_out_by_number(tmp_path: Path) -> None:
    body = (
        'for n in 1 2 10; do echo "of $n" > "$1/RFE-$n.md"; done; echo all > shared.md; cat batch.yaml > "$1/RFE-1-in"'
    )
    judge = check("mine", 'return True, ",".join(sorted(outputs["files"]))')
    config = write(
        tmp_path,
        body,
        [judge],
        execution={"mode": "batch", "skill": "s"},
        outputs=[{"path": "output", "batch_pattern": "RFE-{n}"}, {"path": "shared.md", "batch_pattern": "*"}],
    )
    result = run(config)
    assert count(tmp_path) == 1
    assert result.score("one", "mine").rationale == "output/RFE-1-in,output/RFE-1.md,shared.md"
    assert result.score("two", "mine").rationale == "output/RFE-2.md,shared.md"


def test_a_missing_field_is_told_for_each_case_before_anything_runs(tmp_path: Path) -> None:
    config = write(tmp_path, "", execution={"arguments": "{topic} {nothing} {maybe?}"})
    found = errors(config)
    assert len(found) == 2
    assert all("nothing" in error and "maybe" not in error for error in found)


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"execution": {"mode": "both"}}, "execution.mode: must be case or batch"),
        ({"execution": {"skill": "a", "prompt": "b"}}, "cannot go with a skill"),
        ({"execution": {"skill": "../x"}}, "must be one path segment"),
        ({"execution": {"timeout": 0}}, "must be above 0 seconds"),
        ({"execution": {"parallelism": 0}}, "must be 1 or more"),
        ({"execution": {"steps": [{"id": "a", "prompt": "x"}, {"id": "a", "skill": "s"}]}}, "two steps are called 'a'"),
        ({"execution": {"steps": [{"id": "a"}]}}, "needs a skill or a prompt"),
        ({"execution": {"steps": [{"id": "a", "prompt": "{{ steps.b.output }}"}]}}, "no step 'b' comes before it"),
        ({"execution": {"prompt": "{{ nobody }}"}}, "there is no nobody"),
        ({"runner": {"type": "codex"}, "inputs": {"tools": [{"match": "Bash"}]}}, "cannot intercept tool calls"),
        ({"runner": {"type": "claude-code", "effort": "huge"}}, "runner.effort: must be one of"),
        ({"hooks": {"before_all": [{"command": "x", "timeout": 0}]}}, "must be above 0 seconds"),
        ({"hooks": {"before_all": [{"command": "x", "on_failure": "stop"}]}}, "must be fail or continue"),
        ({"dataset": {"path": "cases", "workspace": {"files": ["../x"]}}}, "must be a relative path without .."),
        ({"matrix": {"factors": {"model": ["a", "a"]}}}, "names a level twice"),
        ({"judges": [{**check(), "step": "a"}]}, "there is no step 'a'"),
    ],
)
def test_what_cannot_be_run_is_an_error_with_its_place(tmp_path: Path, sections: dict[str, Any], said: str) -> None:
    found = errors(write(tmp_path, "", **sections))
    assert any(said in error for error in found), found
