"""What keeps a model in a provider's container from being run: told before anything is asked or paid for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError, RunState
from tests.support.configs import errors, judged, problems, warnings, write_suite
from tests.support.hosted import Hosted, writes
from tests.support.llm import ROOT
from tests.support.responses import RUNNER, ran, run_of, suite

KEY = {"OPENAI_API_KEY": "sk-dummy-0123456789"}


def refused(config: Path, **environ: str) -> list[str]:
    with pytest.raises(ConfigError) as error:
        judged(config, environ=environ)
    assert not Path("run").exists()
    return [str(problem) for problem in error.value.problems]


def with_settings(**settings: Any) -> dict[str, Any]:
    return {"runner": {**RUNNER, "settings": settings}}


def policy(**keys: Any) -> dict[str, Any]:
    return with_settings(network_policy=keys)


SECRET = {"domain": "pypi.org", "name": "TOKEN", "value": "sk-literal-secret"}


@pytest.mark.parametrize(
    ("sections", "key", "says"),
    [
        (with_settings(base_uri="x"), "runner.settings.base_uri", "base_url"),
        (with_settings(tools=[]), "runner.settings.tools", "there is no setting 'tools'"),
        (with_settings(base_url=1), "runner.settings.base_url", "must be text"),
        (with_settings(default_model=["a"]), "runner.settings.default_model", "must be text"),
        (with_settings(api_key="sk-literal-secret"), "runner.settings.api_key", "must not stand in a config"),
        (with_settings(api_key="$KEY-and-more"), "runner.settings.api_key", "write $OPENAI_API_KEY"),
        (with_settings(memory_limit_mb=0), "runner.settings.memory_limit_mb", "from 1 to 65536, got 0"),
        (with_settings(memory_limit_mb=70_000), "runner.settings.memory_limit_mb", "from 1 to 65536"),
        (with_settings(memory_limit_mb=True), "runner.settings.memory_limit_mb", "a whole number"),
        (with_settings(memory_limit_mb="1g"), "runner.settings.memory_limit_mb", "a whole number"),
        (with_settings(network_policy="open"), "runner.settings.network_policy", "must be a mapping"),
        (policy(type="open"), "runner.settings.network_policy.type", "disabled or allowlist"),
        (policy(type="allowlist"), "runner.settings.network_policy.allowed_domains", "a list of domains"),
        (policy(type="allowlist", allowed_domains=[1]), "runner.settings.network_policy.allowed_domains", "a list"),
        (policy(type="disabled", allowed_domains=["a"]), "runner.settings.network_policy.allowed_domains", "absent"),
        (policy(type="disabled", domains=["a"]), "runner.settings.network_policy.domains", "there is no"),
        (
            policy(type="allowlist", allowed_domains=["pypi.org"], domain_secrets=[SECRET]),
            "runner.settings.network_policy.domain_secrets[0].value",
            "write $TOKEN",
        ),
        (
            policy(type="allowlist", allowed_domains=["pypi.org"], domain_secrets=[{"domain": "x"}]),
            "runner.settings.network_policy.domain_secrets[0]",
            "domain, name and value",
        ),
        (
            policy(type="allowlist", allowed_domains=["pypi.org"], domain_secrets="x"),
            "runner.settings.network_policy.domain_secrets",
            "must be a list",
        ),
        ({"runner": {**RUNNER, "effort": "max"}}, "runner.effort", "none, minimal, low"),
        ({"runner": {**RUNNER, "permission_mode": "plan"}}, "runner.permission_mode", "for claude-code only"),
        ({"runner": {**RUNNER, "workspace_mode": "repo"}}, "runner.workspace_mode", "does not work in the repository"),
        ({"inputs": {"tools": [{"match": "Bash"}]}}, "inputs.tools", "cannot intercept"),
        (
            {"execution": {"steps": [{"id": "a", "prompt": "x", "runner": {**RUNNER, "settings": {"tool": 1}}}]}},
            "execution.steps[0].runner.settings.tool",
            "there is no setting",
        ),
    ],
)
def test_a_fault_is_told_with_its_place_and_no_secret(
    tmp_path: Path, sections: dict[str, Any], key: str, says: str
) -> None:
    found = [problem for problem in problems(suite(tmp_path, **sections)) if not problem.warning]
    (told,) = found
    assert (told.key, says in str(told)) == (key, True), str(told)
    assert told.line > 1
    assert "sk-literal-secret" not in str(told)


def test_every_setting_of_the_peer_is_taken(tmp_path: Path) -> None:
    settings = {
        "base_url": "http://localhost:1/v1",
        "api_key": "$OPENAI_API_KEY",
        "default_model": "gpt-5",
        "memory_limit_mb": 512,
        "network_policy": {"type": "disabled"},
    }
    assert errors(suite(tmp_path, **with_settings(**settings))) == []


def test_plugins_do_not_reach_a_container(tmp_path: Path) -> None:
    found = errors(suite(tmp_path, runner={**RUNNER, "plugin_dirs": ["cases"]}))
    assert [line for line in found if "runner.plugin_dirs: is for claude-code only, not for responses-api" in line]


def test_permissions_do_not_reach_a_container(tmp_path: Path) -> None:
    found = warnings(suite(tmp_path, permissions={"deny": ["Bash"]}))
    assert [line for line in found if "permissions" in line and "works in a container" in line]


def test_a_judge_cannot_be_run_by_it(tmp_path: Path) -> None:
    judge = {"name": "j", "prompt": "Good?", "feedback_type": "bool", "agent": {"runner": RUNNER}}
    (line,) = errors(suite(tmp_path, judges=[judge]))
    assert "judges[0].agent.runner.type" in line
    assert "for the agent under test" in line
    assert errors(write_suite(tmp_path, runner=RUNNER)) == []


def test_a_key_a_model_and_an_address_are_needed(tmp_path: Path) -> None:
    (line,) = refused(suite(tmp_path))
    assert line.startswith("eval.yaml: error: runner: the responses-api runner needs OPENAI_API_KEY to ask 'gpt-5.2'")
    (line,) = refused(suite(tmp_path, models=...), **KEY)
    assert "needs a model: models.skill, or OPENAI_MODEL" in line
    (line,) = refused(suite(tmp_path), OPENAI_API_KEY="two words")
    assert "OPENAI_API_KEY holds characters that no key has" in line
    (line,) = refused(suite(tmp_path, **with_settings(base_url="ftp://x")), **KEY)
    assert "runner.settings.base_url must be an http(s) URL" in line
    (line,) = refused(suite(tmp_path, **with_settings(base_url="http://me:sk-0123456789@x")), **KEY)
    assert "neither a user" in line
    assert "sk-0123456789" not in line
    for model in ("openrouter:/a/b", "anthropic:/claude-sonnet-5-5", "runner:/x"):
        (line,) = refused(suite(tmp_path, models={"skill": model}), **KEY)
        assert f"a model of its own endpoint, not {model!r}" in line


def test_an_endpoint_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    result = ran(tmp_path, Hosted(writes("output/a.md", "x"), key="none"), options={"environ": {"OPENAI_API_KEY": ""}})
    assert run_of(result).state is RunState.OK


def test_the_model_is_the_suites_then_the_settings_then_the_environments(tmp_path: Path) -> None:
    hosted = Hosted(writes("output/a.md", "x"))
    own = with_settings(default_model="of-the-settings")
    options = {"environ": {"OPENAI_MODEL": "of-the-environment"}}
    for number, sections in enumerate([{**own}, {**own, "models": ...}, {"models": ...}]):
        ran(tmp_path, hosted, options={**options, "output": f"run-{number}"}, **sections)
    ran(tmp_path, hosted, options={"output": "run-3"}, models={"skill": "openai:/gpt-5"})
    assert [body["model"] for body in hosted.ran] == ["gpt-5.2", "of-the-settings", "of-the-environment", "gpt-5"]


def test_a_run_may_go_on_without_a_key(tmp_path: Path) -> None:
    run = run_of(judged(suite(tmp_path), keep_going=True))
    assert (run.state, run.kind) == (RunState.ERROR, "credentials")


def test_a_hook_may_bring_the_key(tmp_path: Path) -> None:
    hosted = Hosted(writes("output/a.md", "x"))
    outputs = "printf 'env: {OPENAI_API_KEY: dummy-key}' > .hook-outputs.yaml"
    runner = with_settings(api_key="$LATER")
    hooks = {"hooks": {"before_each": [{"command": outputs}]}}
    result = ran(tmp_path, hosted, options={"environ": {"OPENAI_API_KEY": ""}}, **runner, **hooks)
    assert run_of(result).state is RunState.OK


def test_a_skill_that_is_nowhere_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    lines = refused(suite(tmp_path, execution={"skill": "review"}), **KEY)
    assert ["execution.skill: there is no skill 'review'" in line for line in lines] == [True]
    steps = {"steps": [{"id": "a", "skill": "review"}]}
    lines = refused(suite(tmp_path, execution=steps), **KEY)
    assert ["execution.steps[0].skill" in line for line in lines] == [True]
    case = {"input.yaml": "x: 1\n", "skills/review/SKILL.md": "Review.\n"}
    files = {"path": "cases", "workspace": {"files": ["skills/"]}}
    hosted = Hosted(writes("output/a.md", "x"))
    result = ran(tmp_path, hosted, execution={"skill": "review"}, dataset=files, cases={"case-1": case})
    assert run_of(result).state is RunState.OK
    assert [one["name"] for one in hosted.made[0].body["skills"]] == ["review"]


def test_the_command_ends_with_2_and_runs_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "adjudge", "run", str(suite(tmp_path))]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path)}
    ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "OPENAI_API_KEY" in ended.stderr + ended.stdout
    assert not (tmp_path / "eval/runs").exists()


def test_a_plan_says_what_is_run(tmp_path: Path) -> None:
    execution = adjudge.load(suite(tmp_path, **with_settings(memory_limit_mb=4096))).execution
    assert execution is not None
    assert (execution.agent.name, execution.agent.settings) == ("responses-api", {"memory_limit_mb": 4096})
