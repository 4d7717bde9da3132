"""The golden task that `adjudge init --format golden` writes runs as it stands, within a repository and outside."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.golden import git, make_repository, scoring
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider

TASK = Path("evals/tasks/mixed-durations")
WRITTEN = {
    ".gitignore",
    "evals/golden.yaml",
    "evals/rubric.md",
    *(str(TASK / name) for name in ("task.yaml", "checks.py", "golden.json", "golden.patch", "repo.bundle")),
}
HALF = """\
diff --git a/durations.py b/durations.py
--- a/durations.py
+++ b/durations.py
@@ -5,5 +5,5 @@

 def seconds(text):
     \"\"\"How many seconds a duration has.\"\"\"
-    if text[-1:] not in _SECONDS or not text[:-1].isdecimal():
+    if text[-1:] not in _SECONDS:
         raise ValueError(f"no duration: {text!r}")
"""


def adjudge(folder: Path, *words: str, provider: LoopbackProvider | None = None) -> subprocess.CompletedProcess[str]:
    return call(*words, cwd=folder, env=environment(folder, provider, NO_COLOR="1"))


def written(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(params=["outside of any repository", "within a repository"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    if "within" in request.param:
        make_repository(folder, {"README.md": "mine\n"})
    else:
        folder.mkdir()
    done = adjudge(folder, "init", "--format", "golden")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "next: adjudge run evals --golden --no-llm"
    return folder


def test_everything_is_written_and_valid(project: Path) -> None:
    assert set(written(project)) - {"README.md"} == WRITTEN
    for path in (".", "evals"):
        done = adjudge(project, "validate", path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "valid (golden): 1 case" in done.stdout


def test_its_reference_solution_passes_without_a_key(project: Path) -> None:
    done = adjudge(project, "run", "evals", "--golden", "--no-llm", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["gate"]["decision"] == "pass"
    assert {score["value"] for score in result["scores"]} == {True}
    assert {"checks", "expected_files", "blast_radius"} <= {score["judge"] for score in result["scores"]}


def test_a_wrong_patch_fails(project: Path, tmp_path: Path) -> None:
    (tmp_path / "half.patch").write_text(HALF)
    done = adjudge(project, "run", "evals", "--patch", str(tmp_path / "half.patch"), "--no-llm", "--json")
    assert done.returncode == 1, done.stderr
    failed = {score["judge"] for score in json.loads(done.stdout)["scores"] if score["value"] is False}
    assert failed == {"checks", "expected_files"}


def test_work_that_changes_nothing_fails(project: Path, tmp_path: Path) -> None:
    (tmp_path / "none.patch").write_text("")
    assert adjudge(project, "run", "evals", "--patch", str(tmp_path / "none.patch"), "--no-llm").returncode == 1


def test_its_rubric_is_scored_and_becomes_a_baseline(project: Path) -> None:
    names = ("correctness_beyond_tests", "minimal_diff", "code_quality", "communication")
    with LoopbackProvider(scoring(**dict.fromkeys(names, 5))) as provider:
        words = ("run", "evals", "--golden", "--update-baseline", "accept")
        done = adjudge(project, *words, provider=provider)
    assert done.returncode == 0, done.stderr
    assert len(provider.requests) == 3
    kept = json.loads((project / "evals/baseline.json").read_text())
    assert kept["tasks"]["mixed-durations"]["scores"] == {name: [5, 5, 5] for name in names}


def test_a_task_of_ones_own_is_a_copy_with_the_repository_that_the_comment_names(tmp_path: Path) -> None:
    """Where init is run within a repository, its task.yaml says how that repository would be named."""
    project = tmp_path / "with space"
    commit = make_repository(project, {"README.md": "mine\n"})
    assert adjudge(project, "init", "--format", "golden", "quality").returncode == 0
    suite = project / "quality" / "evals"
    (task,) = (suite / "tasks").iterdir()
    lines = (task / "task.yaml").read_text().splitlines()
    shown = yaml.safe_load("\n".join(line.lstrip("# ") for line in lines if line.startswith("#   re")))
    assert shown["revision"] == commit
    own = yaml.safe_load((task / "task.yaml").read_text())
    own |= {**shown, "id": "own", "expected_files_touched": ["README.md"]}
    (suite / "tasks" / "own").mkdir()
    (suite / "tasks" / "own" / "task.yaml").write_text(yaml.safe_dump(own))
    checks = 'def run_checks(workdir):\n    return [{"name": "there", "passed": (workdir / "README.md").exists()}]\n'
    (suite / "tasks" / "own" / "checks.py").write_text(checks)
    (project / "README.md").write_text("ours\n")
    (tmp_path / "own.patch").write_text(git(project, "diff") + "\n")
    done = adjudge(project, "run", "quality", "--patch", str(tmp_path / "own.patch"), "--no-llm")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_bytes_are_written_every_time_and_everywhere(tmp_path: Path) -> None:
    """Also where git is set up otherwise, and where the folder is called `evals` itself."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[init]\n\tdefaultBranch = trunk\n[user]\n\tname = me\n[core]\n\tautocrlf = true\n[commit]\n\tgpgsign = true\n"
        "[diff]\n\tnoprefix = true\n"
    )
    env = {**environment(home), "GIT_AUTHOR_NAME": "me", "GIT_DIR": str(tmp_path), "TZ": "Asia/Tokyo"}
    assert call("init", "--format", "golden", "a", cwd=tmp_path, env=environment(tmp_path)).returncode == 0
    assert call("init", "--format", "golden", "b/evals", cwd=tmp_path, env=env).returncode == 0
    first, second = written(tmp_path / "a" / "evals"), written(tmp_path / "b" / "evals")
    assert second.pop(".gitignore")
    assert first == second


@pytest.mark.parametrize("name", sorted(WRITTEN - {".gitignore"}))
def test_nothing_that_is_there_is_written_over(tmp_path: Path, name: str) -> None:
    """Nor anything beside it, nor what a link leads to."""
    outside = tmp_path / "outside"
    (tmp_path / "project" / name).parent.mkdir(parents=True)
    (tmp_path / "project" / name).symlink_to(outside)
    done = adjudge(tmp_path / "project", "init", "--format", "golden")
    assert done.returncode == 2
    assert f"{name} is there already" in done.stderr
    assert not outside.exists()
    assert [path for path in (tmp_path / "project").rglob("*") if not path.is_dir()] == [tmp_path / "project" / name]


def test_force_renews_its_own_files_and_leaves_others(tmp_path: Path) -> None:
    assert adjudge(tmp_path, "init", "--format", "golden").returncode == 0
    before = written(tmp_path)
    (tmp_path / "evals" / "rubric.md").write_text("mine")
    (tmp_path / "evals" / "baseline.json").write_text("{}")
    (tmp_path / ".gitignore").write_text("mine\n")
    done = adjudge(tmp_path, "init", "--format", "golden", "--force")
    assert done.returncode == 0
    assert ".gitignore" not in done.stdout
    assert written(tmp_path) == {**before, "evals/baseline.json": b"{}", ".gitignore": b"mine\n"}


def test_without_git_that_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    env = {**environment(tmp_path), "PATH": str(tmp_path)}
    done = call("init", "--format", "golden", "new", cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert "git is not installed" in done.stderr
    assert not (tmp_path / "new").exists()
