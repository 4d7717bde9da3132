"""Copies of repositories: the commit that is meant, and no other repository than the one that is meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adjudge.domain import Repository
from adjudge.sandbox import make_checkout
from tests.support.golden import SOLVES, UNCHECKED, agent, git, make_repository, ran, scoring, write_suite


def checked_out(folder: Path, repository: Path, *, revision: str = "HEAD", install: tuple[str, ...] = ()) -> str:
    wanted = Repository(location=str(repository), revision=revision, install=install)
    store = folder / "store"
    return make_checkout(wanted, folder / "work", folder / "shadow", environ=os.environ, store=store).start


def test_head_is_that_of_the_repository_though_it_has_a_branch_of_the_usual_name(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    first = make_repository(repository)
    git(repository, "branch", "master")
    (repository / "new.py").write_text("")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Go on")
    git(repository, "branch", "stale", first)
    assert checked_out(tmp_path, repository) == git(repository, "rev-parse", "HEAD")
    assert checked_out(tmp_path, repository, revision="HEAD~1") == first
    assert checked_out(tmp_path, repository, revision="stale") == first


@pytest.mark.parametrize("given", [("GIT_DIR",), ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")], ids=len)
def test_a_repository_whose_hook_we_run_in_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    """git tells its hooks of their repository by variables, which count for more than the folder."""
    make_repository(tmp_path / "repo")
    user = tmp_path / "user"
    make_repository(user, {"mine.py": ""})
    git(user, "checkout", "-q", "-b", "work")
    before = git(user, "show-ref"), git(user, "status", "--porcelain")
    places = {
        "GIT_DIR": user / ".git",
        "GIT_WORK_TREE": user,
        "GIT_INDEX_FILE": user / ".git" / "index",
    }
    with monkeypatch.context() as patched:
        for name in given:
            patched.setenv(name, str(places[name]))
        checked_out(tmp_path, tmp_path / "repo", install=("git tag installed && git rm -q --cached app.py",))
    assert (git(user, "show-ref"), git(user, "status", "--porcelain")) == before


def test_an_agent_that_is_run_from_a_hook_commits_to_its_checkout(tmp_path: Path) -> None:
    user = tmp_path / "user"
    make_repository(user, {"mine.py": ""})
    before = git(user, "show-ref")
    commits = "git add -A; git -c user.name=a -c user.email=a commit -q -m done; git tag mark\n"
    root = write_suite(tmp_path, {"a": UNCHECKED}, agent=agent(tmp_path, SOLVES + commits))
    done = ran(root, scoring(correctness=5, scope=5), GIT_DIR=str(user / ".git"), GIT_PREFIX="x/")
    assert done.trace("a").messages == ("done",)
    assert git(user, "show-ref") == before


@pytest.mark.parametrize(
    "attributes",
    ["*.py -diff\n", "* binary\n", "* working-tree-encoding=UTF-16\n", "*.py filter=x ident\n", "* -text\n"],
)
def test_attributes_that_the_work_brings_hide_nothing_of_it(tmp_path: Path, attributes: str) -> None:
    make_repository(tmp_path / "repo")
    wanted = Repository(location=str(tmp_path / "repo"), revision="HEAD")
    made = make_checkout(wanted, tmp_path / "work", tmp_path / "shadow", environ=os.environ, store=tmp_path / "store")
    before = made.shadow.record()
    (tmp_path / "work" / ".gitattributes").write_text(attributes)
    (tmp_path / "work" / "app.py").write_text("hidden = '$Id$'\n")
    after = made.shadow.record()
    assert "+hidden = '$Id$'" in made.shadow.patch(before, after)
    assert {file.path: file.binary for file in made.shadow.touched(before, after)} == {
        ".gitattributes": False,
        "app.py": False,
    }


def test_files_that_were_locked_are_part_of_the_work(tmp_path: Path) -> None:
    make_repository(tmp_path / "repo")
    wanted = Repository(location=str(tmp_path / "repo"), revision="HEAD")
    made = make_checkout(wanted, tmp_path / "work", tmp_path / "shadow", environ=os.environ, store=tmp_path / "store")
    before = made.shadow.record()
    (tmp_path / "work" / "inner").mkdir()
    for name in ("inner/a.py", "app.py"):
        (tmp_path / "work" / name).write_text("locked = 1\n")
        (tmp_path / "work" / name).chmod(0)
    (tmp_path / "work" / "inner").chmod(0)  # where root runs the tests, this locks nothing
    assert made.shadow.patch(before, made.shadow.record()).count("+locked = 1") == 2
