"""Harbor task folders of an eval.yaml, and their verifier under bash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import Case, ConfigError
from adjudge.formats.eval_yaml.harbor import toml, write_tasks
from tests.support.llm import call, environment
from tests.support.suites import check, write_suite

GOOD = check("good", "return 'good' in outputs['files'].get('output/a.md', ''), 'looked'")
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def ask(case: Case) -> str:
    return f"Do {case.inputs['ask']}."


def suite(folder: Path, judges: list[dict[str, Any]] | None = None, **top: Any) -> Path:
    cases = {
        "c1": {"output/a.md": "good", "annotations.yaml": "acceptable: true\n", "run_result.json": "{}"},
        "c 2": {"output/a.md": "bad", "gold.md": "gold\n"},
    }
    return write_suite(folder, judges or [GOOD], cases=cases, **top)


def grade(task: Path, workspace: Path, logs: Path) -> subprocess.CompletedProcess[str]:
    """Run the verifier as Harbor does, in other places."""
    bin_dir = str(Path(sys.executable).parent)
    env = {**environment(logs.parent), "PATH": f"{bin_dir}:{os.environ['PATH']}"}
    env |= {"TESTS_DIR": str(task / "tests"), "LOGS_DIR": str(logs), "WORKSPACE_DIR": str(workspace)}
    script = ["bash", str(task / "tests" / "test.sh")]
    return subprocess.run(script, env=env, cwd=workspace, capture_output=True, text=True, timeout=100, check=False)


def work(folder: Path, text: str | None) -> Path:
    place = folder / "app" / "output"
    place.mkdir(parents=True)
    if text is not None:
        (place / "a.md").write_text(text)
    return place.parent


@given(st.dictionaries(TEXT, TEXT | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)))
def test_toml_says_what_it_was_given(table: dict[str, Any]) -> None:
    content = {"a": "\x7f\"'\n\\\x00", "t": {"list": ["x", 1, True], "inline": {"k.e y": "v"}, **table}, "z": 1}
    assert tomllib.loads(toml(content)) == {**content, "t": {**content["t"]}}  # type: ignore[dict-item]


def test_a_task_holds_its_own_case_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("Is it good? {{ outputs }}")
    llm = {"name": "llm", "prompt_file": "p.md", "feedback_type": "bool", "model": "claude-sonnet-5-5"}
    execution = {"prompt": "Do {ask}.", "timeout": 60}
    made = write_tasks(suite(tmp_path, [GOOD, llm], execution=execution), tmp_path / "tasks", render=ask, env=["KEY"])
    assert [task.name for task in made] == ["c-2", "c1"]
    task = made[1]
    files = {str(path.relative_to(task)) for path in task.rglob("*") if path.is_file()}
    assert files == {
        "task.toml",
        "instruction.md",
        "environment/Dockerfile",
        "environment/workspace/input.yaml",
        "tests/test.sh",
        "tests/eval.yaml",
        "tests/files/00-p.md",
        "tests/cases/c1/input.yaml",
        "tests/cases/c1/annotations.yaml",
    }
    told = tomllib.loads((task / "task.toml").read_text())
    assert (told["schema_version"], told["agent"]["timeout_sec"]) == ("1.1", 60.0)
    assert told["verifier"]["env"] == {"KEY": "${KEY}"}
    assert (task / "instruction.md").read_text() == "Do something.\n"
    config = yaml.safe_load((task / "tests" / "eval.yaml").read_text())
    assert "execution" not in config
    assert (made[0] / "tests" / "cases" / "c 2" / "gold.md").is_file()


@pytest.mark.parametrize(("text", "reward"), [("good", 1.0), ("bad", 0.0), (None, 0.0)])
def test_the_verifier_gives_a_reward(tmp_path: Path, text: str | None, reward: float) -> None:
    (task, _) = write_tasks(suite(tmp_path), tmp_path / "tasks", render=ask)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "reward.json").write_text('{"reward": 9}')
    done = grade(task, work(tmp_path, text), logs)
    assert done.returncode == 0, done.stderr
    assert json.loads((logs / "reward.json").read_text()) == {"good": reward, "reward": reward}
    assert (logs / "adjudge" / "result.json").is_file()


def test_judging_that_is_broken_gives_no_reward(tmp_path: Path) -> None:
    (task, other) = write_tasks(suite(tmp_path, [check("bad", "return 1 / 0")]), tmp_path / "tasks", render=ask)
    workspace, logs = work(tmp_path, "good"), tmp_path / "logs"
    logs.mkdir()
    (logs / "reward.json").write_text('{"reward": 1}')
    done = grade(task, workspace, logs)
    assert done.returncode == 4
    assert "there is no reward" in done.stderr
    assert not (logs / "reward.json").exists()
    (other / "tests" / "eval.yaml").write_text("judges: 3\n")
    assert grade(other, workspace, logs).returncode == 4
    assert not (logs / "reward.json").exists()


def test_outputs_that_lead_out_and_records_of_the_agent_are_not_judged(tmp_path: Path) -> None:
    seen = check("seen", "return 'secret' not in str(outputs['files']) and outputs['exit_code'] is None, 'x'")
    (task, _) = write_tasks(suite(tmp_path, [seen]), tmp_path / "tasks", render=ask)
    workspace, secret = tmp_path / "app", tmp_path / "elsewhere"
    workspace.mkdir()
    secret.mkdir()
    (secret / "a.md").write_text("secret")
    (workspace / "output").symlink_to(secret)
    (workspace / "run_result.json").write_text('{"exit_code": 0}')
    done = grade(task, workspace, tmp_path / "logs")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "logs" / "reward.json").read_text())["reward"] == 1.0


def test_only_our_own_folders_are_written_over(tmp_path: Path) -> None:
    config, output = suite(tmp_path), tmp_path / "tasks"
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").touch()
    with pytest.raises(ConfigError, match="did not write"):
        write_tasks(config, tmp_path / "theirs", render=ask)
    (first, _) = write_tasks(config, output, render=ask)
    (first / "stale").touch()
    (output / "mine").mkdir()
    (output / ".adjudge-harbor.json").write_text('{"tasks": ["c1", "c-2", "../theirs"]}')
    write_tasks(config, output, render=ask)
    assert not (first / "stale").exists()
    assert (output / "mine").is_dir()
    assert (tmp_path / "theirs" / "file").exists()


def test_the_command(tmp_path: Path) -> None:
    suite(tmp_path, execution={"prompt": "Do {ask} { and } {none?}"})
    done = call("harbor", ".", "--output", "tasks", cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, done.stdout) == (0, "2 tasks in tasks\n"), done.stderr
    assert (tmp_path / "tasks" / "c1" / "instruction.md").read_text() == "Do something { and } \n"
    done = call("harbor", "none", "--output", "t", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2
