"""Hooks of an eval.yaml: commands of its author around the run, its cases and its steps."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import AdjudgeError, Decision, RunResult, RunState
from tests.support.configs import Files, check, judged, write_suite

INPUT: Files = {"input.yaml": "request: say it\n"}


def config(folder: Path, script: str, hooks: Mapping[str, Any], **sections: Any) -> Path:
    """A suite with a shell script as its agent; a hook is a command, a mapping, or a list of these."""
    entries = {phase: given if isinstance(given, list) else [given] for phase, given in hooks.items()}
    whole: dict[str, Any] = {
        "runner": {"type": "cli", "command": ["sh", "-c", script]},
        "execution": {"prompt": "do it"},
        "cases": {"case-1": INPUT},
        "hooks": {
            phase: [entry if isinstance(entry, dict) else {"command": entry} for entry in given]
            for phase, given in entries.items()
        },
        **sections,
    }
    return write_suite(folder, **whole)


def ran(folder: Path, script: str, hooks: Mapping[str, Any], **sections: Any) -> RunResult:
    return judged(config(folder, script, hooks, **sections))


def states(result: RunResult) -> dict[str, str]:
    assert result.execution is not None
    return {run.case: run.state.value for run in result.execution.cases}


def story(folder: Path) -> list[str]:
    return (folder / "story").read_text().splitlines()


def noted(folder: Path, text: str) -> str:
    """A command that writes a line into the story of a run."""
    return f'echo "{text}" >> {folder}/story'


def test_phases_come_in_their_order_around_cases(tmp_path: Path) -> None:
    phases = ("before_all", "before_each", "after_each", "before_scoring", "after_all", "before_report")
    hooks = {phase: noted(tmp_path, f"{phase} $CASE_ID") for phase in phases}
    hooks["before_all"] = [hooks["before_all"], noted(tmp_path, "second")]  # type: ignore[assignment]
    judge = check(code=f"open('{tmp_path}/story', 'a').write('judge\\n')\nreturn True, ''")
    ran(tmp_path, noted(tmp_path, "agent"), hooks, cases={"a": INPUT, "b": INPUT}, judges=[judge])
    assert [line.strip() for line in story(tmp_path)] == [
        *("before_all", "second"),
        *("before_each a", "agent", "after_each a"),
        *("before_each b", "agent", "after_each b"),
        *("before_scoring", "judge", "judge", "after_all", "before_report"),
    ]


def test_phases_come_in_their_order_around_steps(tmp_path: Path) -> None:
    phases = ("before_each", "before_step", "after_step", "after_each")
    hooks = {phase: noted(tmp_path, f"{phase} $STEP_ID $STEP_INDEX $STEP_EXIT_CODE") for phase in phases}
    steps = [{"id": "one", "prompt": "x"}, {"id": "two", "prompt": "y", "on_failure": "continue"}]
    script = noted(tmp_path, "agent") + "; grep -q x && exit 0 || exit 3"
    ran(tmp_path, script, hooks, execution={"steps": steps})
    assert [line.strip() for line in story(tmp_path)] == [
        "before_each",
        *("before_step one 1", "agent", "after_step one 1 0"),
        *("before_step two 2", "agent", "after_step two 2 3"),
        "after_each   3",
    ]


def test_hooks_see_where_they_are(tmp_path: Path) -> None:
    names = "AGENT_EVAL_RUN_ID AGENT_EVAL_CONFIG AGENT_EVAL_PROJECT_ROOT AGENT_EVAL_MODEL CASE_ID CASE_SOURCE_DIR"
    show = f'for n in {names}; do echo "${{!n}}" >> {tmp_path}/story; done; '
    show += '[ "$PWD" = "$CASE_WORKSPACE" ] && [ -f "$CASE_INPUT" ] && [ -d "$AGENT_EVAL_WORKSPACE" ] && '
    show += noted(tmp_path, "ok")
    ran(tmp_path, "true", {"before_each": show}, models={"skill": "some-model"})
    where = [str(tmp_path / "eval.yaml"), str(tmp_path), "some-model", "case-1", str(tmp_path / "cases/case-1")]
    assert story(tmp_path) == ["run", *where, "ok"]


def test_hooks_for_the_whole_run_start_in_the_project(tmp_path: Path) -> None:
    ran(tmp_path, "true", {"before_all": noted(tmp_path, "$PWD"), "after_all": noted(tmp_path, "$PWD")})
    assert story(tmp_path) == [str(tmp_path), str(tmp_path)]


def test_what_hooks_hand_on_reaches_agent_and_judges(tmp_path: Path) -> None:
    def gives(text: str) -> str:
        given = {"env": {"A": text, text.upper(): 1}, "data": {"where": text, text: [1]}}
        return f"echo '{json.dumps(given)}' > .hook-outputs.yaml"

    code = "return outputs['hook_outputs'] == {'where': 'each', 'all': [1], 'each': [1]}, str(outputs['hook_outputs'])"
    script = "echo $A $ALL $EACH > output/seen; ls -a > output/ls"
    hooks = {"before_all": gives("all"), "before_each": gives("each")}
    found = ran(tmp_path, script, hooks, judges=[check(code=code)])
    assert found.scores[0].value is True, found.scores[0].rationale
    home = tmp_path / "run/cases/case-1"
    assert (home / "output/seen").read_text() == "each 1 1\n"
    assert ".hook-outputs" not in (home / "output/ls").read_text()
    assert not (tmp_path / ".hook-outputs.yaml").exists()


def test_hooks_may_hand_on_json_and_in_the_folder_of_the_run(tmp_path: Path) -> None:
    hooks = {"before_all": 'echo \'{"env": {"A": "one"}}\' > "$AGENT_EVAL_WORKSPACE/.hook-outputs.json"'}
    ran(tmp_path, "echo $A > output/seen", hooks)
    assert (tmp_path / "run/cases/case-1/output/seen").read_text() == "one\n"


def test_a_step_gets_what_its_own_hook_hands_on(tmp_path: Path) -> None:
    hooks = {"before_step": 'echo "env: {A: $STEP_ID}" > .hook-outputs.yaml'}
    steps = [{"id": "one", "prompt": "x"}, {"id": "two", "prompt": "y"}]
    ran(tmp_path, noted(tmp_path, "$A"), hooks, execution={"steps": steps})
    assert story(tmp_path) == ["one", "two"]


@pytest.mark.parametrize("text", ["[1, 2]", "a: b: c", "env: [1]\ndata: 3", "env: {A: 1", ""])
def test_what_is_handed_on_and_not_understood_stops_nothing(tmp_path: Path, text: str) -> None:
    found = ran(tmp_path, "true", {"before_each": f"printf '{text}' > .hook-outputs.yaml"})
    assert states(found) == {"case-1": "ok"}
    assert found.scores[0].value is True


def test_a_hook_before_a_case_that_fails_takes_only_that_case(tmp_path: Path) -> None:
    hooks = {"before_each": "[ $CASE_ID != b ]", "after_each": noted(tmp_path, "after $CASE_ID")}
    cases = {"a": INPUT, "b": INPUT, "c": INPUT}
    found = ran(tmp_path, noted(tmp_path, "agent"), hooks, cases=cases)
    assert states(found) == {"a": "ok", "b": "error", "c": "ok"}
    assert story(tmp_path) == ["agent", "after a", "after b", "agent", "after c"]
    values = {score.case: score.value for score in found.scores}
    assert values == {"a": True, "b": None, "c": True}
    assert found.gate.decision is Decision.BROKEN
    assert found.execution is not None
    assert any("before_each.b.0" in text for text in found.execution.hook_failures)


def test_a_hook_that_may_fail_stops_nothing_and_those_after_it_run(tmp_path: Path) -> None:
    fails = {"command": "exit 3", "on_failure": "continue", "description": "warm up"}
    found = ran(tmp_path, "true", {"before_each": [fails, noted(tmp_path, "second")]})
    assert states(found) == {"case-1": "ok"}
    assert found.gate.decision is Decision.PASS
    assert story(tmp_path) == ["second"]
    assert found.execution is not None
    (told,) = found.execution.hook_failures
    assert "warm up" in told
    assert "3" in told


def test_a_hook_that_fails_keeps_those_after_it_from_running(tmp_path: Path) -> None:
    ran(tmp_path, noted(tmp_path, "agent"), {"before_each": [noted(tmp_path, "first"), "exit 1", noted(tmp_path, "x")]})
    assert story(tmp_path) == ["first"]


@pytest.mark.parametrize("phase", ["after_each", "after_all", "before_report"])
def test_hooks_afterwards_all_run_and_fail_nothing(tmp_path: Path, phase: str) -> None:
    found = ran(tmp_path, "exit 3", {phase: [{"command": "exit 1", "on_failure": "fail"}, noted(tmp_path, "second")]})
    assert story(tmp_path) == ["second"]
    assert states(found) == {"case-1": "failed"}
    assert found.scores[0].value is True


@pytest.mark.parametrize("phase", ["after_all", "before_report"])
def test_what_fails_of_the_last_hooks_is_in_the_result_and_the_report(tmp_path: Path, phase: str) -> None:
    hooks = {phase: {"command": "exit 3", "description": "clean up"}}
    found = ran(tmp_path, "true", hooks)
    for result in (found, adjudge.read(tmp_path / "run")):
        assert result.execution is not None
        (told,) = result.execution.hook_failures
        assert told.startswith(f"hook {phase}.0 (clean up): ended with exit status 3")
    subprocess.run([Path(sys.executable).with_name("adjudge"), "report", "run"], check=True, timeout=60)
    assert told in (tmp_path / "run/report.html").read_text().replace("&#39;", "'")


def test_a_failure_of_a_run_that_is_kept_stays_in_the_result(tmp_path: Path) -> None:
    fails = {"command": "[ $CASE_ID != a ]", "on_failure": "continue"}
    hooks = {"before_each": fails, "after_all": f"[ -e {tmp_path}/ready ]"}

    def failures(**options: Any) -> list[str]:
        suite = config(tmp_path, noted(tmp_path, "agent"), hooks, cases={"a": INPUT, "b": INPUT})
        found = judged(suite, **options)
        assert found.execution is not None
        return [text.split()[1] for text in found.execution.hook_failures]

    assert failures() == ["before_each.a.0", "after_all.0"]
    assert failures() == ["before_each.a.0", "after_all.0"]  # nothing ran
    (tmp_path / "cases/b/input.yaml").write_text("request: other\n")
    hooks["after_all"] = f"[ -e {tmp_path}/ready ]"
    (tmp_path / "ready").touch()
    (tmp_path / "run/cases/b").rename(tmp_path / "gone")
    assert failures() == ["before_each.a.0"]  # only b ran
    assert len(story(tmp_path)) == 3
    assert failures(fresh=True) == ["before_each.a.0"]


def test_what_surrounds_all_runs_is_left_out_when_none_is_run(tmp_path: Path) -> None:
    hooks = {phase: noted(tmp_path, phase) for phase in ("before_all", "after_all", "before_report")}
    suite = config(tmp_path, noted(tmp_path, "agent"), hooks)
    whole = ["before_all", "agent", "after_all", "before_report"]
    judged(suite)
    assert story(tmp_path) == whole
    judged(suite)
    assert story(tmp_path) == [*whole, "before_report"]
    judged(suite, fresh=True)
    assert story(tmp_path) == [*whole, "before_report", *whole]


def test_a_step_whose_hook_fails_is_followed_by_its_hooks_all_the_same(tmp_path: Path) -> None:
    phases = ("after_step", "after_each", "after_all")
    hooks = {"before_step": "exit 1", **{phase: noted(tmp_path, phase) for phase in phases}}
    found = ran(tmp_path, noted(tmp_path, "agent"), hooks, execution={"steps": [{"id": "one", "prompt": "x"}]})
    assert story(tmp_path) == ["after_step", "after_each", "after_all"]
    assert states(found) == {"case-1": "error"}


def test_when_the_first_hook_fails_nothing_runs_but_the_last_does(tmp_path: Path) -> None:
    hooks = {"before_all": "exit 1", "before_each": noted(tmp_path, "each"), "after_all": noted(tmp_path, "after_all")}
    found = ran(tmp_path, noted(tmp_path, "agent"), hooks, cases={"a": INPUT, "b": INPUT})
    assert story(tmp_path) == ["after_all"]
    assert states(found) == {"a": "error", "b": "error"}
    assert found.gate.decision is Decision.BROKEN
    assert [score.value for score in found.scores] == [None, None]


def test_when_the_hook_before_judging_fails_nothing_is_judged_and_runs_are_kept(tmp_path: Path) -> None:
    hooks = {"before_scoring": f"[ -e {tmp_path}/ready ]", "after_all": noted(tmp_path, "after_all")}
    judge = check(code=f"open('{tmp_path}/story', 'a').write('judge\\n')\nreturn True, ''")
    suite = config(tmp_path, noted(tmp_path, "agent"), hooks, judges=[judge])
    with pytest.raises(AdjudgeError, match="nothing is judged"):
        judged(suite)
    assert story(tmp_path) == ["agent", "after_all"]
    (tmp_path / "ready").touch()
    assert judged(suite).gate.decision is Decision.PASS
    assert story(tmp_path) == ["agent", "after_all", "judge"]


def test_a_hook_runs_when_its_condition_holds(tmp_path: Path) -> None:
    hooks = [{"command": noted(tmp_path, "yes"), "condition": "[ $CASE_ID = b ]"}, noted(tmp_path, "always")]
    found = ran(tmp_path, "true", {"before_each": hooks}, cases={"a": INPUT, "b": INPUT})
    assert story(tmp_path) == ["always", "yes", "always"]
    assert states(found) == {"a": "ok", "b": "ok"}


def test_a_hook_beyond_its_time_is_ended_with_all_it_started(tmp_path: Path) -> None:
    command = f"setsid sleep 602 & echo $! > {tmp_path}/pid; sleep 603"
    began = time.monotonic()
    found = ran(tmp_path, "true", {"before_each": {"command": command, "timeout": 1}})
    assert time.monotonic() - began < 20
    assert states(found) == {"case-1": "error"}
    assert found.execution is not None
    assert "longer than 1 s" in found.execution.cases[0].error
    stat = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_a_hook_prints_is_logged_by_phase_case_and_number(tmp_path: Path) -> None:
    hooks = {"before_all": "echo all", "before_each": ["true", "echo each $CASE_ID; echo bad >&2"]}
    ran(tmp_path, "true", hooks, cases={"a": INPUT, "b": INPUT})
    logs = tmp_path / "run/hooks"
    assert (logs / "before_all.0.log").read_text() == "all\n"
    assert (logs / "before_each.a.1.log").read_text() == "each a\n"
    assert (logs / "before_each.b.1.log").read_text() == "each b\n"
    assert (logs / "before_each.b.1.stderr.log").read_text() == "bad\n"


def test_what_a_hook_changes_before_the_agent_comes_is_there(tmp_path: Path) -> None:
    ran(tmp_path, "cat seed.txt > output/seen", {"before_each": "echo seeded > seed.txt"})
    assert (tmp_path / "run/cases/case-1/output/seen").read_text() == "seeded\n"


def test_a_hook_after_a_case_may_add_to_its_outputs(tmp_path: Path) -> None:
    ran(tmp_path, "true", {"after_each": "echo dumped > output/dump.txt"})
    assert (tmp_path / "run/cases/case-1/output/dump.txt").read_text() == "dumped\n"


def test_hooks_need_no_agent_that_ends_well(tmp_path: Path) -> None:
    found = ran(tmp_path, "exit 9", {"after_each": noted(tmp_path, "$STEP_EXIT_CODE")})
    assert states(found) == {"case-1": RunState.FAILED.value}
    assert story(tmp_path) == ["9"]


def test_hooks_of_cases_are_not_for_batches(tmp_path: Path) -> None:
    hooks = {"before_each": noted(tmp_path, "each"), "before_all": noted(tmp_path, "all")}
    suite = config(tmp_path, "true", hooks, execution={"prompt": "x", "mode": "batch"})
    assert [str(problem) for problem in adjudge.load(suite).warnings if "hooks.before_each" in str(problem)]
    judged(suite)
    assert story(tmp_path) == ["all"]
