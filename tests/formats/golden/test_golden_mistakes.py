"""What is wrong in the files of golden tasks is told with its key, all of it at once, and never by a traceback."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from adjudge import formats
from adjudge.domain import ConfigError
from tests.cli.test_cli import run as adjudge
from tests.support.golden import git, scoring, write_suite
from tests.support.provider import LoopbackProvider


def problems(root: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        formats.load(root)
    return [f"{problem.key}: {problem.message}" for problem in caught.value.problems if not problem.warning]


def settings(root: Path, **given: Any) -> Path:
    path = root / "golden.yaml"
    path.write_text(yaml.safe_dump({**(yaml.safe_load(path.read_text()) or {}), **given}))
    return root


def test_a_level_that_there_is_not(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    task = next(root.glob("tasks/*/task.yaml"))
    with task.open("a") as file:
        file.write("\nchecks: {weakened_tests: strict, hard_coded_value: hard}\ninstall_timeout: -1\n")
    assert problems(root) == [
        "install_timeout: must be more than 0, got -1",
        "checks.weakened_tests: must be hard, soft or off, got 'strict'",
        "checks.hard_coded_value: there is no such built-in check",
    ]


def test_a_revision_that_moves_is_told_of(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    told = [problem for problem in formats.load(root).warnings if problem.key == "revision"]
    assert [problem.message for problem in told] == ["main may be another commit tomorrow"]
    commit = git(root / "repo", "rev-parse", "HEAD")
    write_suite(tmp_path, {"fix-load": {"revision": commit}})
    assert not [problem for problem in formats.load(root).warnings if problem.key == "revision"]


def test_looking_at_a_repository_within_a_task_changes_no_task(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    task = root / "tasks" / "fix-load"
    (root / "repo").rename(task / "repo")
    write_suite(tmp_path, {"fix-load": {"repo": "repo"}})
    rules = formats.load(root).tasks
    (task / "repo" / "app.py").touch()
    git(task / "repo", "status")
    again = formats.load(root).tasks
    assert rules is not None
    assert again is not None
    assert rules.digests == again.digests


def test_a_dimension_that_a_label_sheet_has_a_column_for(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    (root / "rubric.md").write_text("1. diff\n   - 5: good\n   - 1: bad\n")
    assert problems(root) == ["rubric: a dimension cannot be called diff: label sheets have a column of that name"]


def test_a_command_that_no_shell_could_split(tmp_path: Path) -> None:
    root = settings(write_suite(tmp_path), agent={"type": "cli", "command": "echo 'x"})
    assert problems(root) == ["agent.command: cannot be split into words: No closing quotation"]


def test_numbers_that_make_no_sense(tmp_path: Path) -> None:
    root = settings(
        write_suite(tmp_path),
        agent={"timeout": -4, "max_budget_usd": 0},
        judge={"max_tokens": 0, "timeout": 0, "samples": 0},
        shown={"diff": -1, "tool_calls": 0},
    )
    assert problems(root) == [
        "judge.samples: must be 1 or more, got 0",
        "judge.max_tokens: must be 1 or more, got 0",
        "shown.diff: must be 0 or more, got -1",
        "agent.timeout: must be more than 0, got -4",
        "judge.timeout: must be more than 0, got 0",
        "agent.max_budget_usd: must be more than 0, got 0",
    ]


def test_a_certificate_that_cannot_be_read_stops_the_run_before_anything_is_paid(tmp_path: Path) -> None:
    root = write_suite(tmp_path, agent={"type": "cli", "command": "true"})
    (root / "certificate.json").write_text("{")
    with LoopbackProvider(scoring(correctness=5, scope=5)) as provider:
        done = adjudge("run", str(root), cwd=tmp_path, **provider.env())
    assert done.returncode == 2
    assert "certificate.json is no certificate" in done.stderr
    assert "Traceback" not in done.stderr
    assert provider.requests == []


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 there")
def test_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    before = formats.load(root).tasks
    (next(root.glob("tasks/*/task.yaml")).parent / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    after = formats.load(root).tasks
    assert before is not None
    assert after is not None
    assert before.digests.keys() == after.digests.keys()
    assert before.digests != after.digests
