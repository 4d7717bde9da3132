"""Ready criteria on what changed: real repositories, some of them arranged to hide it."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.repository import git_diff_within, no_new_files

WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(home: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *WHO, *arguments], cwd=home, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(home: Path, path: str, text: str) -> None:
    (home / path).parent.mkdir(parents=True, exist_ok=True)
    (home / path).write_text(text)


def commit(home: Path) -> str:
    git(home, "add", "-A")
    git(home, "commit", "-q", "-m", "x")
    return git(home, "rev-parse", "HEAD")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "repository"
    home.mkdir()
    git(home, "init", "-q")
    write(home, "src/a.py", "one\n")
    write(home, "src/deep/b.py", "two\n")
    write(home, "docs/c.md", "three\n")
    write(home, ".gitignore", "build/\n*.log\n!keep.log\n")
    write(home, "src/.gitignore", "/made.py\n")
    (home / "link").symlink_to("docs/c.md")
    commit(home)
    return home


def test_nothing_changed(home: Path) -> None:
    assert git_diff_within(home, ["src"]) == Finding(True, "0 files are changed since HEAD, none outside the globs")
    assert git_diff_within(home, []).value is True
    assert no_new_files(home) == Finding(True, "0 files are new since HEAD, none not allowed")


@pytest.mark.parametrize(
    ("globs", "value"),
    [("src", True), ("src/**", True), (["src/*.py"], True), (["docs"], False), (["src/a.*", "x"], True), ([], False)],
)
def test_globs(home: Path, globs: Any, value: bool) -> None:
    write(home, "src/a.py", "changed\n")
    assert git_diff_within(home, globs).value is value


@pytest.mark.parametrize("staged", [False, True])
def test_every_kind_of_change_is_seen(home: Path, staged: bool) -> None:
    write(home, "docs/c.md", "changed\n")
    write(home, "new.txt", "new\n")
    (home / "src/a.py").unlink()
    (home / "src/deep/b.py").chmod(0o755)
    (home / "link").unlink()
    (home / "link").symlink_to("src/deep/b.py")
    if staged:
        git(home, "add", "-A")
    finding = git_diff_within(home, ["nothing"])
    assert finding.value is False
    assert finding.evidence.endswith("5 outside the globs: 'docs/c.md', 'link', 'new.txt', 'src/a.py', 'src/deep/b.py'")
    assert git_diff_within(home, ["docs", "link", "new.txt", "src"]).value is True


def test_only_new_files_are_new(home: Path) -> None:
    write(home, "src/a.py", "changed\n")
    assert no_new_files(home).value is True
    write(home, "src/new.py", "")
    (home / "other").symlink_to("/etc")
    finding = no_new_files(home)
    assert finding == Finding(False, "2 files are new since HEAD, 2 not allowed: 'other', 'src/new.py'")
    assert no_new_files(home, allowed=["src/*.py", "other"]).value is True


def test_what_the_commit_ignores_is_no_change(home: Path) -> None:
    for path in ("build/out.bin", "deep/build/x", "a.log", "src/made.py"):
        write(home, path, "")
    assert no_new_files(home).value is True
    assert git_diff_within(home, []).value is True
    for path in ("keep.log", "made.py", "src/deep/made.py"):
        write(home, path, "")
    assert no_new_files(home).evidence.endswith("3 not allowed: 'keep.log', 'made.py', 'src/deep/made.py'")


def test_rules_of_the_work_hide_nothing(home: Path, tmp_path: Path) -> None:
    write(home, ".git/info/exclude", "*\n")
    git(home, "config", "core.excludesFile", str(tmp_path / "all"))
    write(tmp_path, "all", "*\n")
    write(home, "secret/.gitignore", "*\n")
    write(home, "secret/x", "")
    write(home, ".gitignore", "*\n")
    assert no_new_files(home).evidence.endswith("2 not allowed: 'secret/.gitignore', 'secret/x'")
    assert "'.gitignore'" in git_diff_within(home, ["secret"]).evidence


def test_marks_in_the_index_and_filters_hide_nothing(home: Path) -> None:
    git(home, "update-index", "--assume-unchanged", "src/a.py")
    git(home, "update-index", "--skip-worktree", "docs/c.md")
    git(home, "config", "filter.hide.clean", "echo two")
    write(home, ".git/info/attributes", "*.py filter=hide\n")
    for path in ("src/a.py", "src/deep/b.py", "docs/c.md"):
        write(home, path, "changed\n")
    assert git_diff_within(home, []).evidence.startswith("3 files are changed")


def test_settings_of_the_work_run_nothing(home: Path) -> None:
    trap = f"touch {home.parent}/ran; false"
    for name in (
        "core.fsmonitor",
        "diff.external",
        "core.sshCommand",
        "core.pager",
        "filter.x.clean",
        "filter.x.smudge",
    ):
        git(home, "config", name, trap)
    git(home, "config", "extensions.partialClone", "origin")
    git(home, "config", "remote.origin.url", f"ext::sh -c '{trap}'")
    write(home, ".gitattributes", "* filter=x diff=x\n")
    write(home, "src/a.py", "changed\n")
    git_diff_within(home, [])
    no_new_files(home)
    assert not (home.parent / "ran").exists()


def test_a_repository_within_hides_nothing(home: Path) -> None:
    (home / "inner").mkdir()
    git(home / "inner", "init", "-q")
    write(home, "inner/x", "")
    assert "'inner/x'" in no_new_files(home).evidence


def test_a_folder_that_became_a_link_is_new(home: Path) -> None:
    (home / "src").rename(home.parent / "src")
    (home / "src").symlink_to(home.parent / "src")
    assert "'src'" in no_new_files(home).evidence


def test_a_commit_moves_head_but_no_hash(home: Path) -> None:
    base = git(home, "rev-parse", "HEAD")
    write(home, "docs/c.md", "changed\n")
    write(home, "new.txt", "")
    commit(home)
    assert git_diff_within(home, ["src"]).value is True
    assert git_diff_within(home, ["src"], base=base).value is False
    assert no_new_files(home, base=base[:12]).value is False


def test_ends_of_lines_are_no_change(home: Path) -> None:
    (home / "src/a.py").write_bytes(b"one\r\n")
    assert git_diff_within(home, []).value is True


def test_in_a_folder_only_that_counts(home: Path) -> None:
    write(home, "docs/c.md", "changed\n")
    write(home, "src/deep/b.py", "changed\n")
    write(home, "src/made.py", "ignored by src/.gitignore\n")
    write(home, "src/x.log", "ignored by .gitignore\n")
    assert git_diff_within(home, ["deep"], cwd="src").value is True
    assert git_diff_within(home, ["*"], cwd="src") == Finding(
        True, "1 file is changed since HEAD, none outside the globs"
    )
    assert git_diff_within(home, ["other"], cwd="src").value is False
    assert no_new_files(home / "src").value is True


def test_names_of_any_kind(home: Path) -> None:
    names = ["with space", "tab\there", 'quote"', "caf\u00e9", "-dash", "new\nline"]
    for name in names:
        write(home, name, "")
    (Path(os.fsdecode(os.fsencode(home) + b"/\xff\xfe"))).touch()
    assert no_new_files(home).evidence.startswith("7 files are new")
    commit(home)
    assert no_new_files(home).value is True
    assert git_diff_within(home, []).value is True


def test_hashes_of_256_bits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256")
    write(tmp_path, "a", "x")
    commit(tmp_path)
    assert git_diff_within(tmp_path, []).value is True
    write(tmp_path, "a", "y")
    assert git_diff_within(tmp_path, []).value is False


def test_large_files_are_compared(home: Path) -> None:
    (home / "large").write_bytes(bytes(20 * 1024 * 1024))
    commit(home)
    assert git_diff_within(home, []).value is True
    with (home / "large").open("r+b") as file:
        file.write(b"x")
    assert git_diff_within(home, []).evidence.endswith("'large'")


def test_no_repository_or_no_such_commit_is_false(tmp_path: Path, home: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (tmp_path / "fresh").mkdir()
    git(tmp_path / "fresh", "init", "-q")
    within: Callable[..., Finding] = functools.partial(git_diff_within, paths="x")
    for criterion in (within, no_new_files):
        assert "not a git repository" in criterion(bare).evidence
        assert "the repository has no commit 'HEAD'" in criterion(tmp_path / "fresh").evidence
        assert "the repository has no commit 'v9'" in criterion(home, base="v9").evidence
        assert criterion(tmp_path / "nope").value is False
    assert git_diff_within(home, "x", cwd="nope").value is False


@pytest.mark.parametrize("base", ["", "--all", "a\nb", None])
def test_a_base_that_names_no_commit_is_the_authors(home: Path, base: Any) -> None:
    with pytest.raises(ValueError, match="base must"):
        no_new_files(home, base=base)


@pytest.mark.parametrize("globs", [3, [3], ["/etc"], ["../x"], None])
def test_bad_globs_are_the_authors(home: Path, globs: Any) -> None:
    with pytest.raises(ValueError, match="glob"):
        git_diff_within(home, globs)


def test_without_git_that_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home))
    with pytest.raises(MissingExtraError, match="need git"):
        no_new_files(home)
