"""What of an eval.yaml keeps its agent from being run: all of it told before anything starts, each with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.domain import ConfigError, RunMode
from tests.support.configs import errors, problems, warnings, write_suite

RUNS: dict[str, Any] = {"prompt": "do it"}
CLI = {"type": "cli", "command": "true"}
STEP = {"id": "a", "prompt": "x"}


def config(folder: Path, **sections: Any) -> Path:
    return write_suite(folder, **{"execution": RUNS, "runner": CLI, **sections})


@pytest.mark.parametrize(
    ("sections", "key", "says"),
    [
        ({"execution": {"prompt": "x", "skill": "y"}}, "execution.prompt", "cannot go with a skill"),
        ({"execution": {"prompt": " "}}, "execution.prompt", "is empty"),
        ({"execution": {"prompt": "x", "mode": "cases"}}, "execution.mode", "must be case or batch, got 'cases'"),
        ({"execution": {"skill": "a/b"}}, "execution.skill", "one path segment"),
        ({"execution": {"skill": ".."}}, "execution.skill", "one path segment"),
        ({"execution": {**RUNS, "timeout": 0}}, "execution.timeout", "above 0"),
        ({"execution": {**RUNS, "timeout": "soon"}}, "execution.timeout", "number"),
        ({"execution": {**RUNS, "max_budget_usd": -1}}, "execution.max_budget_usd", "negative"),
        ({"execution": {**RUNS, "parallelism": 0}}, "execution.parallelism", "1 or more"),
        ({"execution": {**RUNS, "max_failure_rate": 1.5}}, "execution.max_failure_rate", "from 0 to 1"),
        ({"execution": {"prompt": "x", "steps": [STEP]}}, "execution.steps", "each step has its own"),
        ({"execution": {"mode": "batch", "steps": [STEP]}}, "execution.steps", "mode: case"),
        ({"execution": {"steps": [STEP, STEP]}}, "execution.steps[1].id", "two steps are called 'a'"),
        ({"execution": {"steps": [{"id": "a"}]}}, "execution.steps[0]", "a skill or a prompt"),
        ({"execution": {"steps": [{**STEP, "skill": "y"}]}}, "execution.steps[0]", "a skill or a prompt"),
        ({"execution": {"steps": [{**STEP, "id": "../a"}]}}, "execution.steps[0].id", "one path segment"),
        ({"execution": {"steps": [{**STEP, "on_failure": "stop"}]}}, "execution.steps[0].on_failure", "or continue"),
        ({"execution": {"steps": [{**STEP, "timeout": -1}]}}, "execution.steps[0].timeout", "above 0"),
        (
            {"execution": {"steps": [{"id": "a", "prompt": "{{ steps.b.output }}"}, {"id": "b", "prompt": "x"}]}},
            "execution.steps[0].prompt",
            "no step 'b' comes before it",
        ),
        ({"runner": {"type": "clii"}}, "runner.type", "cli"),
        ({"runner": {"type": "cli"}}, "runner.command", "needs a command"),
        ({"runner": {"type": "cli", "command": "a 'b"}}, "runner.command", "cannot be split"),
        ({"runner": {"effort": "huge"}}, "runner.effort", "must be one of"),
        ({"runner": {"permission_mode": "yolo"}}, "runner.permission_mode", "must be"),
        ({"runner": {"plugin_dirs": ["absent"]}}, "runner.plugin_dirs[0]", "no folder 'absent'"),
        ({"runner": {**CLI, "plugin_dirs": ["cases"]}}, "runner.plugin_dirs", "claude-code only"),
        ({"runner": {**CLI, "workspace_mode": "repo"}}, "runner.workspace_mode", "does not work in the repository"),
        ({"runner": {"workspace_mode": "there"}}, "runner.workspace_mode", "must be repo"),
        ({"hooks": {"before_all": [{"command": " "}]}}, "hooks.before_all[0].command", "is empty"),
        ({"hooks": {"after_all": [{"command": "x", "timeout": 0}]}}, "hooks.after_all[0].timeout", "above 0"),
        ({"hooks": {"before_each": [{"command": "x", "on_failure": "no"}]}}, "hooks.before_each[0].on_failure", "fail"),
        ({"hooks": {"before_al": [{"command": "x"}]}}, "hooks.before_al", "before_all"),
        ({"runner": {"type": "codex"}, "inputs": {"tools": [{"match": "Bash"}]}}, "inputs.tools", "cannot intercept"),
        ({"inputs": {"tools": [{"prompt": "x"}]}}, "inputs.tools[0]", "needs match"),
        ({"inputs": {"tools": [{"match": "Bash", "input_filters": ["("]}]}}, "inputs.tools[0].input_filters", "reg"),
        ({"inputs": {"tools": [{"match": "Bash", "prompt_file": "no.md"}]}}, "inputs.tools[0].prompt_file", "no file"),
        ({"outputs": [{"path": "output", "types": {"*.x": "graf"}}]}, "outputs[0].types", "graph or metrics"),
        ({"outputs": [{"path": "../out"}]}, "outputs[0].path", ".."),
        ({"permissions": {"deny": [{"path": " "}]}}, "permissions.deny[0].path", "is empty"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(tmp_path: Path, sections: dict[str, Any], key: str, says: str) -> None:
    found = [problem for problem in problems(config(tmp_path, **sections)) if not problem.warning]
    told = [problem for problem in found if problem.key.startswith(key) and says in str(problem)]
    assert told, [str(problem) for problem in found]
    assert told[0].line > 1
    assert told[0].column >= 1


def test_the_place_is_the_line_of_the_fault(tmp_path: Path) -> None:
    path = config(tmp_path, execution={"steps": [STEP, {**STEP, "id": "b", "timeout": -1}]})
    lines = path.read_text().splitlines()
    (problem,) = [one for one in problems(path) if one.key == "execution.steps[1].timeout"]
    assert lines[problem.line - 1].strip() == "timeout: -1"


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    path = config(
        tmp_path,
        execution={"prompt": "x", "skill": "y", "timeout": -1},
        hooks={"before_all": [{"command": ""}]},
        dataset={"path": "cases", "workspace": {"files": ["/etc/passwd"]}},
    )
    keys = {problem.key for problem in problems(path)}
    assert {
        "execution.prompt",
        "execution.timeout",
        "hooks.before_all[0].command",
        "dataset.workspace.files[0]",
    } <= keys


@pytest.mark.parametrize("name", ["/etc/passwd", "../other/x", "a/../../x", ".", ""])
def test_companions_lie_within_the_case(tmp_path: Path, name: str) -> None:
    for entry in (name, {"dest": name, "source": "eval.yaml"}):
        path = config(tmp_path, dataset={"path": "cases", "workspace": {"files": [entry]}})
        assert [line for line in errors(path) if "dataset.workspace.files[0]" in line]


def test_a_source_lies_within_the_project(tmp_path: Path) -> None:
    inner = tmp_path / "project"
    (tmp_path / "outside").write_text("x")
    inner.mkdir()
    (inner / "link").symlink_to(tmp_path / "outside")
    for source, says in (("absent", "there is no"), ("link", "outside")):
        files = [{"dest": "a", "source": source}]
        path = config(inner, dataset={"path": "cases", "workspace": {"files": files}})
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(inner)
            assert [line for line in errors(path) if "files[0].source" in line and says in line]


def test_a_plugin_folder_does_not_lead_out_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "project"
    inner.mkdir()
    (tmp_path / "plugins").mkdir()
    (inner / "plugins").symlink_to(tmp_path / "plugins")
    monkeypatch.chdir(inner)
    found = errors(config(inner, runner={"plugin_dirs": ["plugins"]}))
    assert [line for line in found if "runner.plugin_dirs[0]" in line and "link" in line]
    skill(tmp_path / "plugins/skills/review")
    assert errors(config(inner, runner={"plugin_dirs": ["../plugins"]})) == []


def skill(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("# Review\n")


def plugin_faults(folder: Path, manifest: object) -> list[str]:
    """What is said of the folder `plugin`, at the runner and at that of a step."""
    if manifest is not None:
        (folder / "plugin/.claude-plugin").mkdir(exist_ok=True)
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (folder / "plugin/.claude-plugin/plugin.json").write_text(text)
    runner = {"plugin_dirs": ["plugin"]}
    found = errors(config(folder, runner=runner, execution={"steps": [{**STEP, "runner": runner}]}))
    assert len(found) in (0, 2)
    assert all("runner.plugin_dirs[0]" in line for line in found)
    assert not found or "execution.steps[0].runner.plugin_dirs[0]" in found[1]
    return found[:1]


@pytest.mark.parametrize(
    ("skills", "manifest"),
    [
        ("skills/review", None),
        ("skills/review", {"name": "p"}),
        ("skills/review", {"skills": "./more"}),
        ("more/review", {"skills": "./more"}),
        ("more/review", {"skills": ["./absent", "more/"]}),
        ("more", {"skills": ["./more"]}),
    ],
)
def test_a_plugin_with_a_skill_is_one(tmp_path: Path, skills: str, manifest: object) -> None:
    skill(tmp_path / "plugin" / skills)
    assert plugin_faults(tmp_path, manifest) == []


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (None, "plugin has no skill: there is no plugin/skills/*/SKILL.md"),
        ({"skills": ["./more"]}, "there is no plugin/skills/*/SKILL.md or plugin/more/*/SKILL.md"),
        ({"skills": "../outside"}, "leads out of the plugin"),
        ({"skills": 3}, "plugin/.claude-plugin/plugin.json cannot be read"),
        ("{", "plugin/.claude-plugin/plugin.json cannot be read"),
    ],
)
def test_a_folder_without_a_skill_is_told_with_what_was_looked_for(tmp_path: Path, manifest: object, says: str) -> None:
    skill(tmp_path / "outside/review")
    (tmp_path / "plugin/skills/empty").mkdir(parents=True)
    (tmp_path / "plugin/commands").mkdir()
    (found,) = plugin_faults(tmp_path, manifest)
    assert says in found


def test_a_file_that_names_nothing_to_run_judges_what_is_there(tmp_path: Path) -> None:
    suite = adjudge.load(write_suite(tmp_path, runner={"effort": "high"}, execution={"timeout": 5}))
    assert suite.execution is None


def test_a_skill_at_the_top_is_run_as_one_of_the_execution(tmp_path: Path) -> None:
    suite = adjudge.load(config(tmp_path, execution=..., skill="review"))
    assert suite.execution is not None
    assert suite.execution.skill == "review"


def test_what_is_left_out_has_the_peers_values(tmp_path: Path) -> None:
    execution = adjudge.load(config(tmp_path)).execution
    assert execution is not None
    assert (execution.timeout_s, execution.budget_usd, execution.parallelism) == (3600, 100, 1)
    assert execution.mode is RunMode.CASE
    assert execution.max_failure_rate == 0


def test_a_budget_of_nothing_stays_one(tmp_path: Path) -> None:
    execution = adjudge.load(config(tmp_path, execution={**RUNS, "max_budget_usd": 0})).execution
    assert execution is not None
    assert execution.budget_usd == 0


@pytest.mark.parametrize("section", ["traces", "permissions", "hooks", "models", "runner", "mlflow", "inputs"])
def test_a_section_without_content_is_as_if_it_were_not_there(tmp_path: Path, section: str) -> None:
    whole: dict[str, Any] = {"execution": {"skill": "x"}, section: None}
    assert errors(write_suite(tmp_path, **whole)) == []


def test_commands_that_no_filter_names_are_warned_of(tmp_path: Path) -> None:
    path = config(tmp_path, runner={}, inputs={"tools": [{"match": "Bash calls of jira"}]})
    assert [line for line in warnings(path) if "inputs.tools[0]" in line and "input_filters" in line]


def test_a_judge_of_a_step_that_there_is_not_is_refused(tmp_path: Path) -> None:
    judge = {"name": "j", "check": "return True, ''", "step": "b"}
    found = errors(config(tmp_path, execution={"steps": [STEP]}, judges=[judge]))
    assert [line for line in found if "judges[0].step" in line]


def test_nothing_runs_when_one_case_lacks_a_field(tmp_path: Path) -> None:
    runner = {"type": "cli", "command": ["sh", "-c", f"echo x >> {tmp_path}/count"]}
    cases = {"a": {"input.yaml": "x: 1\n"}, "b": {"input.yaml": yaml.safe_dump({"y": 1})}}
    path = write_suite(tmp_path, cases=cases, runner=runner, execution={"prompt": "{x}"})
    with pytest.raises(ConfigError, match="b: "):
        adjudge.run(path, output="run", workers=1)
    assert not (tmp_path / "count").exists()
