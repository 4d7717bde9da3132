"""Rules for the tools of an agent under test, and the hook that answers or refuses its calls."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import RunState
from tests.support.configs import errors, judged, write_suite
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, ToolCall

CLAUDE = """#!/usr/bin/env python3
import json, os, subprocess, sys
if len(sys.argv) == 2:
    print("2.1.332 (fake)")
    sys.exit()
calls = json.loads(sys.stdin.read())
argv = sys.argv[1:]
settings = json.load(open(argv[argv.index("--settings") + 1])) if "--settings" in argv else {}
hooks = settings.get("hooks", {}).get("PreToolUse", [])
said = []
for call in calls:
    given = call if isinstance(call, str) else json.dumps(call)
    ended = subprocess.run(hooks[-1]["hooks"][0]["command"], shell=True, input=given, capture_output=True, text=True)
    said.append([ended.returncode, ended.stdout, ended.stderr])
json.dump({"argv": argv, "settings": settings, "said": said, "files": os.listdir(".")}, open("output/seen.json", "w"))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "ok", "total_cost_usd": 0.1}))
"""


@pytest.fixture(autouse=True)
def claude(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program called claude that asks its hook about the calls of its prompt, and tells what it saw."""
    program = tmp_path_factory.mktemp("bin") / "claude"
    program.write_text(CLAUDE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def seen(
    folder: Path,
    calls: list[Any],
    tools: list[dict[str, Any]] | None = None,
    *,
    files: Mapping[str, str] = {},
    environ: Mapping[str, str] = {},
    **sections: Any,
) -> dict[str, Any]:
    """What the agent saw of itself and its hook."""
    case = {"input.yaml": json.dumps({"calls": calls}), **files}
    if tools is not None:
        sections["inputs"] = {"tools": tools}
    config = write_suite(folder, cases={"case-1": case}, execution={"prompt": "{calls}"}, **sections)
    result = judged(config, environ=dict(environ))
    assert result.execution is not None
    assert result.execution.cases[0].state is RunState.OK, result.execution.cases[0].error
    found: dict[str, Any] = json.loads((folder / "run/cases/case-1/output/seen.json").read_text())
    return found


def answers(folder: Path, calls: list[Any], tools: list[dict[str, Any]], **options: Any) -> list[dict[str, Any] | None]:
    """What the hook said of each call; `None` when it let it through."""
    said = seen(folder, calls, tools, **options)["said"]
    assert [status for status, _, _ in said] == [0] * len(calls), said
    return [json.loads(text)["hookSpecificOutput"] if text.strip() else None for _, text, _ in said]


def decisions(folder: Path, calls: list[Any], tools: list[dict[str, Any]], **options: Any) -> list[str]:
    found = answers(folder, calls, tools, **options)
    return ["" if one is None else str(one["permissionDecision"]) for one in found]


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given}


def question(text: str, *labels: str) -> dict[str, Any]:
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return call("AskUserQuestion", questions=[{"question": text, "header": "h", "options": options}])


def told(folder: Path) -> list[dict[str, str]]:
    log = folder / "run/cases/case-1/simulator.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()]


ASKS = {"match": "AskUserQuestion"}


def test_calls_that_are_not_meant_go_through(tmp_path: Path) -> None:
    found = decisions(tmp_path, [call("Read", file_path="a"), call("Bash", command="jira x"), call("Write")], [ASKS])
    assert found == ["", "", ""]


def test_tools_that_are_named_are_refused_with_the_reason(tmp_path: Path) -> None:
    tools = [{"match": "mcp__jira__* and the tool WebFetch, or Write", "prompt": "Work from the\n files"}]
    calls = [call("mcp__jira__create"), call("mcp__other__x"), call("Write"), call("NotebookWrite")]
    refused, other, write, notebook = answers(tmp_path, calls, tools)
    assert refused is not None
    assert refused["hookEventName"] == "PreToolUse"
    assert refused["permissionDecision"] == "deny"
    assert "Work from the files" in refused["permissionDecisionReason"]
    assert other is None
    assert write is not None
    assert write["permissionDecision"] == "deny"
    assert notebook is None


def test_only_commands_that_a_filter_names_are_refused(tmp_path: Path) -> None:
    tools = [{"match": "scripts that call the API", "input_filters": [r"\bjira\b", "^curl .*api"]}]
    commands = ["JIRA create", "python jirafe.py", "curl https://x/api", "echo curl https://x/api"]
    calls = [call("Bash", command=command) for command in commands]
    assert decisions(tmp_path, calls, tools) == ["deny", "", "deny", ""]


def test_commands_without_a_filter_go_through(tmp_path: Path) -> None:
    assert decisions(tmp_path, [call("Bash", command="jira")], [{"match": "Bash"}]) == [""]


def test_a_text_that_names_no_tool_means_them_all(tmp_path: Path) -> None:
    assert decisions(tmp_path, [call("Anything"), call("Read")], [{"match": "whatever leaves"}]) == ["deny", "deny"]


@pytest.mark.parametrize(
    ("server", "decision"), [("http://localhost:99", "allow"), ("https://prod", "deny"), ("", "deny")]
)
def test_a_call_goes_through_where_the_environment_is_one_for_it(tmp_path: Path, server: str, decision: str) -> None:
    checks = {"ANTHROPIC_TEST_SERVER": ["localhost", "127.0.0.1"]}
    tools = [{"match": "mcp__jira__*", "env_checks": checks}]
    environ = {"ANTHROPIC_TEST_SERVER": server}
    assert decisions(tmp_path, [call("mcp__jira__create")], tools, environ=environ) == [decision]


def test_a_question_is_answered_by_the_suite_then_the_case_then_the_first_option(tmp_path: Path) -> None:
    tools = [{**ASKS, "answers": {"Colour?": "green"}}]
    calls = [question("Colour?", "red", "blue"), question("Size?", "S", "M"), question("Else?", "one", "two")]
    calls.append(question("Open?"))
    found = answers(tmp_path, calls, tools, files={"answers.yaml": "Size?: M\nColour?: blue\n"})
    assert all(one is not None and one["permissionDecision"] == "allow" for one in found)
    given = [one["updatedInput"]["answers"] for one in found if one is not None]
    assert given == [{"Colour?": "green"}, {"Size?": "M"}, {"Else?": "one"}, {"Open?": "yes"}]
    assert [entry["source"] for entry in told(tmp_path)] == ["override", "override", "fallback", "fallback"]


def test_the_questions_stay_as_they_were_asked(tmp_path: Path) -> None:
    asked = question("Size?", "S", "M")
    (found,) = answers(tmp_path, [asked], [ASKS])
    assert found is not None
    assert found["updatedInput"]["questions"] == asked["tool_input"]["questions"]


def test_a_model_answers_with_one_of_the_options_and_sees_the_case(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: ToolCall("answer", {"answer": "M"})) as provider:
        tools = [{**ASKS, "prompt": "The user is tall"}]
        (found,) = answers(tmp_path, [question("Size?", "S", "M")], tools, environ=provider.env())
        (request,) = provider.requests
    assert found is not None
    assert found["updatedInput"]["answers"] == {"Size?": "M"}
    assert [entry["source"] for entry in told(tmp_path)] == ["llm"]
    shown = json.dumps(request.body)
    assert "The user is tall" in shown
    assert "about M" in shown
    assert "temperature" not in request.body


@pytest.mark.parametrize(
    "reply", [HttpError(400), ToolCall("answer", {"answer": "XXL"}), ToolCall("answer", "nonsense")]
)
def test_a_model_that_fails_leaves_the_first_option_and_that_is_told(tmp_path: Path, reply: Any) -> None:
    with LoopbackProvider(lambda _: reply) as provider:
        (found,) = answers(tmp_path, [question("Size?", "S", "M")], [ASKS], environ=provider.env())
    assert found is not None
    assert found["updatedInput"]["answers"] == {"Size?": "S"}
    assert [entry["source"] for entry in told(tmp_path)] == ["error"]


def test_judges_see_what_was_answered(tmp_path: Path) -> None:
    code = "return outputs['hook_outputs']['simulator'][0]['answer'] == 'S', str(outputs['hook_outputs'])"
    seen(tmp_path, [question("Size?", "S", "M")], [ASKS], judges=[{"name": "j", "check": code}])
    assert "true" in (tmp_path / "run/summary.yaml").read_text()


def test_every_judge_of_a_batch_sees_what_was_answered_in_the_last_run_of_it(tmp_path: Path) -> None:
    cases = {
        "a": {"input.yaml": json.dumps({"calls": [question("Size?", "S", "M")]})},
        "b": {"input.yaml": "calls: []\n"},
    }
    code = "return [a['answer'] for a in outputs['hook_outputs']['simulator']] == ['S'], str(outputs['hook_outputs'])"
    config = write_suite(
        tmp_path,
        cases=cases,
        execution={"prompt": "{calls}", "mode": "batch"},
        inputs={"tools": [ASKS]},
        judges=[{"name": "j", "check": code}],
    )
    for _ in range(2):
        found = judged(config, fresh=True)
        assert [score.value for score in found.scores] == [True, True], [score.rationale for score in found.scores]


@pytest.mark.parametrize(
    "given", ["", "no json", "[1]", "null", '{"tool_name": 3}', '{"tool_name": "AskUserQuestion"}']
)
def test_a_call_that_makes_no_sense_does_not_break_the_hook(tmp_path: Path, given: str) -> None:
    (said,) = seen(tmp_path, [given], [{"match": "AskUserQuestion or Write"}])["said"]
    assert said[0] == 0
    assert "Traceback" not in said[2]


@pytest.mark.parametrize(
    "given",
    [{"questions": 3}, {"questions": [3, {"options": 4}]}, {"questions": [{"question": ["a"], "options": [{}]}]}],
)
def test_questions_that_make_no_sense_do_not_break_the_hook(tmp_path: Path, given: dict[str, Any]) -> None:
    (said,) = seen(tmp_path, [call("AskUserQuestion", **given)], [ASKS])["said"]
    assert said[0] == 0
    assert "Traceback" not in said[2]


def test_a_hook_that_cannot_do_its_work_refuses(tmp_path: Path) -> None:
    meant = {"match": "Write", "patterns": ["Write"]}
    handlers = tmp_path / "handlers.json"
    log = str(tmp_path / "absent/log.jsonl")
    handlers.write_text(json.dumps({"interceptions": [meant], "model": "m", "case": str(tmp_path), "log": log}))
    command = [sys.executable, "-m", "adjudge.execution.simulator", str(handlers)]
    ended = subprocess.run(command, input=json.dumps(call("Write")), capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_modules_in_the_workspace_do_not_get_into_the_hook(tmp_path: Path) -> None:
    planted = "raise SystemExit('planted')\n"
    files = {"json.py": planted, "msgspec.py": planted, "adjudge/__init__.py": planted}
    dataset = {"path": "cases", "workspace": {"files": list(files)}}
    found = decisions(tmp_path, [call("Write")], [{"match": "Write"}], files=files, dataset=dataset)
    assert found == ["deny"]


def test_settings_lie_outside_of_the_workspace_and_keep_those_of_the_suite(tmp_path: Path) -> None:
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    runner = {"settings": {"model": "x", "hooks": {"PreToolUse": [own]}}}
    found = seen(tmp_path, [], [ASKS], runner=runner)
    assert found["settings"]["model"] == "x"
    assert found["settings"]["hooks"]["PreToolUse"][0] == own
    assert len(found["settings"]["hooks"]["PreToolUse"]) == 2
    assert not [name for name in found["files"] if "settings" in name or "handlers" in name]
    assert not Path(found["argv"][found["argv"].index("--settings") + 1]).exists()


def test_an_agent_without_interceptions_has_no_settings_of_ours(tmp_path: Path) -> None:
    assert "--settings" not in seen(tmp_path, [])["argv"]


def rules(folder: Path, flag: str, permissions: dict[str, Any]) -> list[str]:
    argv: list[str] = seen(folder, [], permissions=permissions)["argv"]
    if flag not in argv:
        return []
    after = argv[argv.index(flag) + 1 :]
    return after[: next((i for i, word in enumerate(after) if word.startswith("--")), len(after))]


def test_rules_for_paths_are_written_as_claude_reads_them(tmp_path: Path) -> None:
    allow = ["Bash(git log:*)", {"path": "src/", "tools": ["Read", "Write", "Edit", "Skill"]}]
    assert rules(tmp_path, "--allowedTools", {"allow": allow}) == ["Bash(git log:*)", "Read(src/**)", "Edit(src/**)"]


def test_a_rule_for_a_path_without_tools_means_those_that_take_paths(tmp_path: Path) -> None:
    found = rules(tmp_path, "--disallowedTools", {"deny": [{"path": "a.txt"}]})
    assert sorted(found) == ["Edit(a.txt)", "Glob(a.txt)", "Grep(a.txt)", "Read(a.txt)"]


def test_a_path_that_is_denied_to_commands_is_denied_to_reading_and_editing(tmp_path: Path) -> None:
    permissions = {"deny": [{"path": "gold/", "tools": ["Bash"]}], "allow": [{"path": "x", "tools": ["Bash"]}]}
    assert rules(tmp_path, "--disallowedTools", permissions) == ["Read(gold/**)", "Edit(gold/**)"]
    assert rules(tmp_path, "--allowedTools", permissions) == []


def test_how_claude_is_started(tmp_path: Path) -> None:
    (tmp_path / "plugin/skills/review").mkdir(parents=True)
    (tmp_path / "plugin/skills/review/SKILL.md").touch()
    runner = {
        "effort": "high",
        "permission_mode": "acceptEdits",
        "system_prompt": "Be brief",
        "plugin_dirs": ["plugin"],
    }
    argv = seen(tmp_path, [], runner=runner, models={"skill": "anthropic:/claude-x"})["argv"]
    pairs = dict(itertools.pairwise(argv))
    assert pairs["--model"] == "claude-x"
    assert pairs["--effort"] == "high"
    assert pairs["--permission-mode"] == "acceptEdits"
    assert pairs["--append-system-prompt"] == "Be brief"
    assert pairs["--plugin-dir"] == str(tmp_path / "plugin")
    assert pairs["--max-budget-usd"] == "100"
    assert "--safe-mode" not in argv


def test_a_filter_that_is_no_expression_is_told_at_load(tmp_path: Path) -> None:
    config = write_suite(
        tmp_path, execution={"prompt": "x"}, inputs={"tools": [{"match": "Bash", "input_filters": ["["]}]}
    )
    assert [line for line in errors(config) if "input_filters[0]" in line]
