"""What is kept of an agent's work on a repository does not depend on where it worked, nor on what tools leave."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from adjudge.domain import Repository
from adjudge.execution.repository import _subjects, check_out, keep_work
from adjudge.sandbox import Checkout
from tests.support.golden import git, make_repository


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    make_repository(tmp_path / "repo")
    return check_out(Repository(location=str(tmp_path / "repo"), revision="main"), tmp_path / "work", os.environ)


def kept(checkout: Checkout, *calls: dict[str, str]) -> dict[str, object]:
    events = [{"type": "assistant", "tools": [{"name": "Tool", "input": call}]} for call in calls]
    keep_work(checkout, checkout.folder.parent / "home", prompt="p", events=events, said="done", source="test")
    found: dict[str, object] = json.loads((checkout.folder.parent / "home" / "trace.json").read_text())
    return found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{work}/app.py", "app.py"),
        ("{work}/a/b.py", "a/b.py"),
        ("cd {work} && python {work}/app.py", "cd . && python app.py"),
        ("ls '{work}'", "ls '.'"),
        ("{work}-two/app.py", "{work}-two/app.py"),
        ("{work}.py", "{work}.py"),
        ("/etc/passwd", "/etc/passwd"),
    ],
)
def test_paths_of_tool_calls_start_at_the_checkout(checkout: Checkout, given: str, told: str) -> None:
    work = str(checkout.folder)
    trace = kept(checkout, {"command": given.format(work=work)})
    assert trace["tools"] == [{"name": "Tool", "detail": told.format(work=work)}]


def test_a_checkout_that_is_reached_by_a_link_is_left_out_too(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(checkout.folder)
    other = Checkout(folder=tmp_path / "link", shadow=checkout.shadow, start=checkout.start, state=checkout.state)
    trace = kept(other, {"command": f"cat {tmp_path}/link/a.py {checkout.folder.resolve()}/b.py"})
    assert trace["tools"] == [{"name": "Tool", "detail": "cat a.py b.py"}]


@pytest.mark.parametrize("folder", ["__pycache__", "pkg/__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"])
def test_caches_that_tools_leave_are_no_work_though_no_ignore_rule_names_them(checkout: Checkout, folder: str) -> None:
    """Nor when the agent committed them; a file of such a name is."""
    place = checkout.folder / folder
    place.mkdir(parents=True)
    (place / "left.bin").write_text("x")
    (checkout.folder / "new.py").write_text("x = 1\n")
    git(checkout.folder, "add", "--all")
    git(checkout.folder, "commit", "-q", "-m", "Work")
    trace = kept(checkout)
    assert [file["path"] for file in trace["files"]] == ["new.py"]  # type: ignore[attr-defined]
    assert "left.bin" not in str(trace["diff"])


def test_a_file_that_is_called_like_a_cache_is_work(checkout: Checkout) -> None:
    (checkout.folder / ".ruff_cache").write_text("x")
    assert [file["path"] for file in kept(checkout)["files"]] == [".ruff_cache"]  # type: ignore[attr-defined]


def test_a_file_of_the_repository_counts_though_an_ignore_rule_names_it(tmp_path: Path) -> None:
    files = {"dist/a.txt": "one\n", "__pycache__/kept.txt": "one\n"}
    make_repository(tmp_path / "repo", files)
    (tmp_path / "repo" / ".gitignore").write_text("dist/\n")
    git(tmp_path / "repo", "add", "--all")
    git(tmp_path / "repo", "commit", "-q", "-m", "Ignore what is there")
    checkout = check_out(Repository(location=str(tmp_path / "repo"), revision="main"), tmp_path / "work", os.environ)
    for name in files:
        (checkout.folder / name).write_text("two\n")
        (checkout.folder / name).with_name("new.txt").write_text("new\n")
    trace = kept(checkout)
    assert [file["path"] for file in trace["files"]] == sorted(files)  # type: ignore[attr-defined]
    assert "+two" in str(trace["diff"])


def test_work_in_the_folder_of_an_absent_submodule_is_seen(tmp_path: Path) -> None:
    make_repository(tmp_path / "inner")
    make_repository(tmp_path / "repo")
    add = ("submodule", "add", "-q", str(tmp_path / "inner"))
    for name in ("one", "two"):
        git(tmp_path / "repo", "-c", "protocol.file.allow=always", *add, name)
    git(tmp_path / "repo", "commit", "-q", "-m", "Take others in")
    checkout = check_out(Repository(location=str(tmp_path / "repo"), revision="main"), tmp_path / "work", os.environ)
    (checkout.folder / "two" / "new.py").write_text("x = 1\n")
    trace = kept(checkout)
    assert [file["path"] for file in trace["files"]] == ["two/new.py"]  # type: ignore[attr-defined]
    assert trace["notes"] == ["the repository has submodules, which are absent"]


def test_files_of_a_repository_without_a_commit_are_work(checkout: Checkout) -> None:
    """An agent that ran `git init` somewhere would else have worked for nothing: git refuses to record that."""
    inner = checkout.folder / "pkg" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    (inner / "new.py").write_text("x = 1\n")
    trace = kept(checkout)
    assert [file["path"] for file in trace["files"]] == ["pkg/inner/new.py"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("subject", ["Mend load()", "Añade " + "una función " * 9 + "más", "[core] Mend load()"])
@pytest.mark.parametrize("body", ["", "Because.\n\nFrom here on it works.\nSubject: none"])
def test_messages_of_a_mailed_patch_are_those_of_its_commits(tmp_path: Path, subject: str, body: str) -> None:
    make_repository(tmp_path / "repo")
    (tmp_path / "repo" / "app.py").write_text("x = 1\n")
    git(tmp_path / "repo", "commit", "-q", "-a", "-m", subject, *(["-m", body] if body else []))
    (tmp_path / "repo" / "app.py").write_text("x = 2\n")
    git(tmp_path / "repo", "commit", "-q", "-a", "-m", "Another")
    patch = git(tmp_path / "repo", "format-patch", "--stdout", "-2")
    assert _subjects(patch) == (f"{subject}\n\n{body}".strip(), "Another")
