"""Section 3: the config file, the environment and the flags."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import AgentJudge
from adjudge.formats.banana import Settings
from tests.conformance.banana.projects import CONFIG, judge, loaded, ran, refused, run_banana, script, write_project

# (setting, default, file, variable, its text, value from it, flag)
KEYS: list[tuple[str, Any, tuple[str, Any], tuple[str, str, Any], tuple[str, Any]]] = [
    (
        "output_dir",
        ".eval-banana/results",
        ('[core]\noutput_dir = "f"', "f"),
        ("EVAL_BANANA_OUTPUT_DIR", "e", "e"),
        ("output_dir", "c"),
    ),
    (
        "pass_threshold",
        1.0,
        ("[core]\npass_threshold = 0.2", 0.2),
        ("EVAL_BANANA_PASS_THRESHOLD", "0.3", 0.3),
        ("pass_threshold", 0.4),
    ),
    (
        "max_parallel_checks",
        4,
        ("[core]\nmax_parallel_checks = 2", 2),
        ("EVAL_BANANA_MAX_PARALLEL_CHECKS", "3", 3),
        ("max_parallel_checks", 5),
    ),
    (
        "agent",
        "",
        ('[harness]\nagent = "codex"', "codex"),
        ("EVAL_BANANA_HARNESS_AGENT", "claude", "claude"),
        ("agent", "grok"),
    ),
    ("model", "", ('[harness]\nmodel = "f"', "f"), ("EVAL_BANANA_HARNESS_MODEL", "e", "e"), ("model", "c")),
    (
        "reasoning_effort",
        "",
        ('[harness]\nreasoning_effort = "low"', "low"),
        ("EVAL_BANANA_HARNESS_REASONING_EFFORT", "medium", "medium"),
        ("reasoning_effort", "high"),
    ),
    (
        "timeout_s",
        300,
        ("[harness]\ntimeout_seconds = 10", 10),
        ("EVAL_BANANA_HARNESS_TIMEOUT_SECONDS", "20", 20),
        ("timeout_seconds", 30),
    ),
]
EACH = pytest.mark.parametrize("key", KEYS, ids=[key[0] for key in KEYS])


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("EVAL_BANANA_"):
            monkeypatch.delenv(name)


def settings(folder: Path, config: str = "", **flags: Any) -> Settings:
    return loaded(write_project(folder, {CONFIG: config}), judges=False, **flags).settings


def wrong(folder: Path, config: str, **flags: Any) -> str:
    return refused(write_project(folder, {CONFIG: config}), judges=False, **flags)


@EACH
def test_defaults(tmp_path: Path, key: Any) -> None:
    assert getattr(settings(tmp_path), key[0]) == key[1]


@EACH
def test_the_file_stands_over_the_default(tmp_path: Path, key: Any) -> None:
    assert getattr(settings(tmp_path, key[2][0]), key[0]) == key[2][1]


@EACH
def test_the_environment_stands_over_the_file(tmp_path: Path, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(key[3][0], key[3][1])
    assert getattr(settings(tmp_path, key[2][0]), key[0]) == key[3][2]


@EACH
def test_a_flag_stands_over_the_environment(tmp_path: Path, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(key[3][0], key[3][1])
    assert getattr(settings(tmp_path, key[2][0], **{key[4][0]: key[4][1]}), key[0]) == key[4][1]


@EACH
def test_no_project_config_leaves_the_file_aside(tmp_path: Path, key: Any) -> None:
    assert getattr(settings(tmp_path, key[2][0], project_config=False), key[0]) == key[1]


@pytest.mark.parametrize("key", ["agent", "model", "reasoning_effort"])
def test_an_empty_text_of_the_file_is_unset(tmp_path: Path, key: str) -> None:
    assert getattr(settings(tmp_path, f'[harness]\n{key} = ""\n'), key) == ""


@pytest.mark.parametrize("variable", [key[3][0] for key in KEYS if isinstance(key[1], str) and not key[1]])
def test_an_empty_variable_unsets_what_it_names(tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "")
    name = variable.removeprefix("EVAL_BANANA_HARNESS_").lower()
    assert getattr(settings(tmp_path), name) == ""


def test_an_empty_agent_is_no_agent(tmp_path: Path) -> None:
    write_project(tmp_path, {CONFIG: '[harness]\nagent = ""\n', "eval_checks/a.yaml": judge("a")})
    assert "eval_checks/a.yaml" in refused(tmp_path)


def test_an_empty_model_and_effort_fall_back_to_those_of_the_agent(tmp_path: Path) -> None:
    config = '[harness]\nagent = "codex"\nmodel = ""\nreasoning_effort = ""\n'
    write_project(tmp_path, {CONFIG: config, "eval_checks/a.yaml": judge("a")})
    (made,) = loaded(tmp_path).suite.judges
    assert isinstance(made, AgentJudge)
    assert (made.model, made.effort) == ("gpt-5.6-sol", "high")


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("[harness]\nagnt = 'x'\n", "agnt"),
        ("[agents.mine]\ncommand = ['x']\ncomand = 1\n", "comand"),
        ("[core]\npass_treshold = 0.5\n", "pass_treshold"),
        ("[discovery]\nexclude = []\n", "exclude"),
        ("[cor]\n", "cor"),
        ("[core]\npass_threshold = 'half'\n", "pass_threshold"),
        ("[core]\noutput_dir = 3\n", "output_dir"),
        ("[core]\nmax_parallel_checks = 'four'\n", "max_parallel_checks"),
        ("[core]\nmax_parallel_checks = 0\n", "max_parallel_checks"),
        ("[core]\nmax_parallel_checks = -1\n", "max_parallel_checks"),
        ("[discovery]\nexclude_dirs = 'build'\n", "exclude_dirs"),
        ("[harness]\nagent = 1\n", "agent"),
        ("[harness]\ntimeout_seconds = 0\n", "timeout"),
        ("[harness]\ntimeout_seconds = 'long'\n", "timeout_seconds"),
        ("[harness.env]\nA = 1\n", "harness.env"),
        ("[agents.mine]\ncommand = 'x'\n", "command"),
        ("[agents.mine]\ncommand = ['x']\nprovider_env = {A = 1}\n", "provider_env"),
        ("[core]\npass_threshold = 80\n", "pass_threshold"),
        ("[core]\npass_threshold = nan\n", "pass_threshold"),
        ("not toml", CONFIG),
    ],
)
def test_what_is_wrong_in_the_file_is_named(tmp_path: Path, config: str, named: str) -> None:
    said = wrong(tmp_path, config)
    assert named in said


@pytest.mark.parametrize(
    "variable",
    ["EVAL_BANANA_PASS_THRESHOLD", "EVAL_BANANA_MAX_PARALLEL_CHECKS", "EVAL_BANANA_HARNESS_TIMEOUT_SECONDS"],
)
def test_a_variable_that_is_no_number_is_named(tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "many")
    assert variable in wrong(tmp_path, "")


@pytest.mark.parametrize("config", ["[llm]\nmodel = 'x'\n", "[llm]\n"])
def test_the_llm_section_is_explained(tmp_path: Path, config: str) -> None:
    said = wrong(tmp_path, config)
    assert "llm" in said
    assert "harness" in said


def test_harness_skip_is_explained(tmp_path: Path) -> None:
    assert "harness.skip" in wrong(tmp_path, "[harness]\nskip = true\n")


def test_skills_dir_and_the_dead_key_are_accepted_and_ignored(tmp_path: Path) -> None:
    found = settings(tmp_path, "[core]\nllm_max_input_chars = 7\n[harness]\nskills_dir = 'skills'\n")
    assert found == settings(tmp_path)


def test_init_writes_a_commented_config_that_is_valid(tmp_path: Path) -> None:
    assert run_banana("init", cwd=tmp_path).returncode == 0
    text = (tmp_path / CONFIG).read_text()
    config = tomllib.loads(text)
    assert "#" in text
    assert config["core"] == {"output_dir": ".eval-banana/results", "pass_threshold": 1.0, "max_parallel_checks": 4}
    assert config["harness"]["agent"]
    assert config["harness"]["timeout_seconds"] == 300
    assert len(config["discovery"]["exclude_dirs"]) == 9
    assert loaded(tmp_path).settings.root == tmp_path.resolve()


def test_init_writes_over_nothing_without_force(tmp_path: Path) -> None:
    write_project(tmp_path, {CONFIG: "# mine"})
    assert run_banana("init", cwd=tmp_path).returncode != 0
    assert (tmp_path / CONFIG).read_text() == "# mine"
    assert run_banana("init", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / CONFIG).read_text() != "# mine"


def test_the_flags_of_run_reach_the_settings(tmp_path: Path) -> None:
    files = {"eval_checks/a.yaml": script("a"), "eval_checks/b.yaml": script("b", "raise SystemExit(1)")}
    found = ran(tmp_path, files, "--pass-threshold", "0.5", EVAL_BANANA_PASS_THRESHOLD="0.9")
    assert (found.code, found.report["pass_threshold"]) == (0, 0.5)
