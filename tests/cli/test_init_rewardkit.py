"""The Harbor task that `adjudge init --format rewardkit` writes: it is valid, and its test.sh gives a reward."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.llm import call, environment

WRITTEN = {
    "task.toml",
    "instruction.md",
    "environment/Dockerfile",
    "tests/test.sh",
    "tests/checks.py",
    "tests/quality.toml.example",
    "solution/solve.sh",
}


def init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return call("init", "--format", "rewardkit", *arguments, str(folder), cwd=folder.parent, env=environment(folder))


@pytest.fixture
def task(tmp_path: Path) -> Path:
    done = init(tmp_path / "task")
    assert done.returncode == 0, done.stderr
    return tmp_path / "task"


def judge(task: Path, workspace: Path, *, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the task's test.sh as Harbor does, with adjudge on PATH, but for its two folders."""
    env = environment(task)
    env["PATH"] = path or os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)])
    output = str(workspace.parent / "logs" / "reward.json")
    return subprocess.run(
        [str(task / "tests" / "test.sh"), "--workspace", str(workspace), "--output", output],
        cwd=workspace,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def reward(workspace: Path) -> object:
    return json.loads((workspace.parent / "logs" / "reward.json").read_text())


def test_everything_a_harbor_task_needs_is_written(task: Path) -> None:
    assert {str(path.relative_to(task)) for path in task.rglob("*") if path.is_file()} == WRITTEN
    assert {path.name for path in task.rglob("*") if path.is_file() and os.access(path, os.X_OK)} == {
        "test.sh",
        "solve.sh",
    }
    assert tomllib.loads((task / "task.toml").read_text())["version"] == "1.0"


def test_the_tests_folder_is_valid(task: Path) -> None:
    done = call("validate", str(task / "tests"), "--workspace", str(task), cwd=task, env=environment(task))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 judges" in done.stdout


def test_the_llm_judge_is_valid_once_it_has_its_name(task: Path) -> None:
    (task / "tests" / "quality.toml.example").rename(task / "tests" / "quality.toml")
    done = call("validate", str(task / "tests"), "--workspace", str(task), cwd=task, env=environment(task))
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 judges" in done.stdout


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (None, 1.0),
        ("Linz. " * 60, 0.0),
        ("Vienna " * 60, 0.6667),
        ("", 0.3333),
    ],
)
def test_the_written_script_judges_a_workspace(task: Path, tmp_path: Path, answer: str | None, score: float) -> None:
    workspace = tmp_path / "app"
    workspace.mkdir()
    if answer is None:
        subprocess.run([str(task / "solution" / "solve.sh")], cwd=workspace, check=True)
    else:
        (workspace / "answer.md").write_text(answer)
    done = judge(task, workspace)
    assert done.returncode == 0, done.stderr
    assert reward(workspace) == {"reward": score}
    assert (workspace.parent / "logs" / "reward-details.json").is_file()


def test_no_work_at_all_is_a_reward_of_zero_and_no_error(task: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "app"
    workspace.mkdir()
    done = judge(task, workspace)
    assert done.returncode == 0, done.stderr
    assert reward(workspace) == {"reward": 0.0}


def test_adjudge_is_installed_where_the_image_lacks_it(task: Path, tmp_path: Path) -> None:
    """With a stand-in for pip: nothing that the agent left in its folder is imported on the way."""
    workspace, tools = tmp_path / "app", tmp_path / "tools"
    workspace.mkdir()
    tools.mkdir()
    stub = f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/asked\n"
    (tools / "python3").write_text(
        f"#!/bin/sh\npwd > {tmp_path}/where\nprintf '%s\\n' \"$@\" > {tmp_path}/installed\n"
        f"cat > {tools}/adjudge << 'END'\n{stub}END\nchmod +x {tools}/adjudge\n"
    )
    (tools / "python3").chmod(0o755)
    done = judge(task, workspace, path=f"{tools}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "installed").read_text().split() == ["-m", "pip", "install", "--quiet", "adjudge"]
    assert (tmp_path / "where").read_text().strip() == str(task / "tests")
    assert (tmp_path / "asked").read_text().split()[:2] == ["rewardkit", str(task / "tests")]


def test_files_that_are_there_are_kept_unless_forced(task: Path) -> None:
    (task / "instruction.md").write_text("mine")
    refused = init(task)
    assert refused.returncode == 2
    assert "is there already" in refused.stderr
    assert (task / "instruction.md").read_text() == "mine"
    assert init(task, "--force").returncode == 0
    assert (task / "instruction.md").read_text() != "mine"


def test_an_unknown_format_is_refused_with_those_known(tmp_path: Path) -> None:
    done = call("init", "--format", "nope", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
    assert "eval_yaml" in done.stderr
    assert "rewardkit" in done.stderr
