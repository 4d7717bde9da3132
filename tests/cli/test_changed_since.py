"""`adjudge run --changed-since`: which golden tasks a change concerns."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.golden import git
from tests.support.llm import call, environment

ALL = ["missing-config", "rate-limit", "unicode-slugs"]


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    """examples/golden within a repository of one commit."""
    folder = tmp_path / "home" / "evals"
    shutil.copytree(ROOT / "examples" / "golden", folder)
    git(folder.parent, "init", "-q", "-b", "main")
    git(folder.parent, "add", "-A")
    git(folder.parent, "commit", "-q", "-m", "Begin")
    return folder


def run(evals: Path, *flags: str, since: str = "HEAD") -> subprocess.CompletedProcess[str]:
    words = ("run", "evals", "--golden", "--no-llm", "-q", "--output", "run", "--changed-since", since, *flags)
    return call(*words, cwd=evals.parent, env=environment(evals.parent))


def judged(evals: Path) -> list[str]:
    return [case["id"] for case in json.loads((evals.parent / "run" / "result.json").read_text())["cases"]]


def touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("\n")


@pytest.mark.parametrize("name", ["task.yaml", "checks.py", "notes/new.md"])
def test_a_task_is_run_for_any_of_its_files(evals: Path, name: str) -> None:
    touch(evals / "tasks" / "rate-limit" / name)
    assert run(evals).returncode == 0
    assert judged(evals) == ["rate-limit"]


@pytest.mark.parametrize("name", ["rubric.md", "golden.yaml", "shared/repository.txt", "tasks/notes.md"])
def test_all_are_run_for_what_is_no_tasks_own(evals: Path, name: str) -> None:
    touch(evals / name)
    assert run(evals).returncode == 0
    assert judged(evals) == ALL


@pytest.mark.skipif(sys.platform != "linux", reason="file names are UTF-8 there")
def test_a_file_whose_name_is_not_utf8_is_a_change_as_any(evals: Path) -> None:
    touch(evals / "tasks" / "rate-limit" / os.fsdecode(b"caf\xe9.txt"))
    git(evals.parent, "add", "-A")
    touch(evals / "tasks" / "unicode-slugs" / os.fsdecode(b"caf\xe9.txt"))
    assert run(evals).returncode == 0
    assert judged(evals) == ["rate-limit", "unicode-slugs"]


def test_runs_that_are_kept_among_the_tasks_are_no_change(evals: Path) -> None:
    touch(evals / ".adjudge" / "runs" / "golden-example" / "1" / "result.json")
    assert "no task differs from HEAD" in run(evals).stderr


def test_a_task_that_was_moved_and_renamed_is_gone(evals: Path) -> None:
    """Git would show the new folder alone."""
    git(evals, "mv", "tasks/rate-limit", "tasks/limits")
    path = evals / "tasks" / "limits" / "task.yaml"
    path.write_text(path.read_text().replace("id: rate-limit", "id: limits"))
    assert run(evals).returncode == 0
    assert judged(evals) == ["limits", "missing-config", "unicode-slugs"]


def test_the_rest_are_run_when_a_task_is_gone(evals: Path) -> None:
    """Else a pull request that deletes a failing task would not meet the gate."""
    shutil.rmtree(evals / "tasks" / "rate-limit")
    assert run(evals).returncode == 0
    assert judged(evals) == ["missing-config", "unicode-slugs"]


@pytest.mark.parametrize("flags", [(), ("--case", "unicode-slugs")], ids=["none changed", "another changed"])
def test_nothing_is_run_when_nothing_that_is_asked_for_differs(evals: Path, flags: tuple[str, ...]) -> None:
    if flags:
        touch(evals / "tasks" / "rate-limit" / "task.yaml")
    touch(evals.parent / "elsewhere.txt")
    done = run(evals, *flags)
    assert done.returncode == 0
    assert "no task differs from HEAD; nothing was run" in done.stderr
    assert not (evals.parent / "run").exists()


@pytest.mark.parametrize("revision", ["nowhere", "--output=written"])
def test_a_revision_that_there_is_not_is_an_error(evals: Path, revision: str) -> None:
    done = run(evals, since=revision)
    assert not list(evals.parent.rglob("written"))
    assert done.returncode == 2
    assert "--changed-since" in done.stderr
