"""Agents of an eval.yaml that work in the project itself: what they change there is found."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from adjudge.domain import Decision, RunResult, RunState
from tests.support.agents import with_claude
from tests.support.configs import judged, write_suite


def repository(folder: Path) -> None:
    (folder / "src.txt").write_text("source\n")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "src.txt"], [*identity, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


DOES = {"type": "claude-code", "workspace_mode": "repo"}


def in_repo(folder: Path, prompt: str) -> RunResult:
    """Run a stand-in for claude in the project itself; `prompt` is a line of Python."""
    environ = with_claude(folder.parent / f"{folder.name}-bin")
    execution = {"prompt": f"DO: {prompt}\nSAY: done"}
    config = write_suite(folder, cases={"a": {"input.yaml": "request: a\n"}}, runner=DOES, execution=execution)
    return judged(config, environ=environ, cache=folder.parent / f"{folder.name}-cache.db")


def test_an_agent_in_the_project_that_changes_nothing_is_well(tmp_path: Path) -> None:
    repository(tmp_path)
    found = in_repo(tmp_path, "assert open('src.txt').read() == 'source\\n'")
    assert found.execution is not None
    assert found.execution.cases[0].state is RunState.OK, found.execution.cases[0].error
    assert found.execution.cases[0].repo_modified == ()


@pytest.mark.parametrize(
    ("does", "name"),
    [
        ("open('new.txt', 'w').write('x')", "new.txt"),
        ("open('src.txt', 'w').write('x')", "src.txt"),
        ("os.remove('src.txt')", "src.txt"),
        ("open('dirty.txt', 'w').write('dirtier')", "dirty.txt"),
        ("os.system('git rm -q src.txt && git -c user.name=a -c user.email=a@b commit -qm x')", "src.txt"),
    ],
)
def test_an_agent_that_changes_the_project_has_failed(tmp_path: Path, does: str, name: str) -> None:
    repository(tmp_path)
    (tmp_path / "dirty.txt").write_text("was dirty before")
    found = in_repo(tmp_path, does)
    assert found.execution is not None
    assert found.execution.cases[0].state is RunState.FAILED
    assert found.execution.cases[0].repo_modified == (name,)
    assert found.gate.decision is Decision.FAIL
    assert json.loads((tmp_path / "run/run_result.json").read_text())["per_case"]["a"]["repo_modified"] == [name]


def test_a_project_without_a_repository_is_said(tmp_path: Path) -> None:
    found = in_repo(tmp_path, "open('new.txt', 'w').write('x')")
    assert found.execution is not None
    assert any("no git repository" in note for note in found.execution.cases[0].notes)


@pytest.mark.parametrize(
    ("does", "name"),
    [
        ("open('.env', 'w').write('KEY=2')", ".env"),
        ("open('.env', 'a').write('MORE=1')", ".env"),
        ("os.remove('.env')", ".env"),
        ("open('build/sub/x', 'w').write('2')", "build/"),
        ("open('build/new', 'w').write('2')", "build/"),
        ("os.mkdir('other'); open('other/x', 'w').write('1')", "other/"),
        ("open('sub/late.log', 'w').write('1')", "sub/late.log"),
    ],
)
def test_a_change_of_what_git_ignores_is_one(tmp_path: Path, does: str, name: str) -> None:
    ignoring(tmp_path)
    found = in_repo(tmp_path, does)
    assert found.execution is not None
    assert found.execution.cases[0].repo_modified == (name,)
    assert found.execution.cases[0].state is RunState.FAILED


@pytest.mark.parametrize(
    "does",
    [
        "open('.env').read(); open('build/sub/x').read()",
        "os.makedirs('sub/__pycache__'); open('sub/__pycache__/a.pyc', 'w').write('1')",
        "os.makedirs('__pycache__'); open('__pycache__/a.pyc', 'w').write('1')",
        "os.makedirs('.mypy_cache'); open('.mypy_cache/a', 'w').write('1')",
        "os.makedirs('build/.pytest_cache'); open('build/.pytest_cache/v', 'w').write('1')",
    ],
)
def test_looking_at_what_git_ignores_and_caches_of_tools_are_none(tmp_path: Path, does: str) -> None:
    ignoring(tmp_path)
    found = in_repo(tmp_path, does)
    assert found.execution is not None
    assert found.execution.cases[0].repo_modified == ()
    assert found.execution.cases[0].state is RunState.OK, found.execution.cases[0].error


def test_our_own_run_directory_is_no_change_where_git_ignores_it(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / ".gitignore").write_text("run/\n.adjudge/\n")
    found = in_repo(tmp_path, "pass")
    assert found.execution is not None
    assert found.execution.cases[0].state is RunState.OK, found.execution.cases[0].error


def test_a_project_that_an_outer_repository_ignores_is_looked_at_as_well(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "one"
    project.mkdir(parents=True)
    repository(tmp_path)
    (tmp_path / ".gitignore").write_text("projects/\n")
    (project / "notes").write_text("1")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        assert modified(in_repo(project, "open('notes').read()")) == ()
        assert modified(in_repo(project, "open('notes', 'w').write('22')")) == ("./",)


def test_a_repository_that_is_gone_afterwards_was_changed(tmp_path: Path) -> None:
    repository(tmp_path)
    assert modified(in_repo(tmp_path, "import shutil; shutil.rmtree('.git')")) == (".git",)


def modified(found: RunResult) -> tuple[str, ...]:
    assert found.execution is not None
    return found.execution.cases[0].repo_modified


def ignoring(folder: Path) -> None:
    """A repository with files and folders that it ignores."""
    repository(folder)
    (folder / ".gitignore").write_text(".env\nbuild/\nother/\n*.log\n__pycache__/\n")
    (folder / ".env").write_text("KEY=1")
    (folder / "build/sub").mkdir(parents=True)
    (folder / "build/sub/x").write_text("1")
    (folder / "sub").mkdir()
