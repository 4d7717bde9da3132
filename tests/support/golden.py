"""A small folder of golden tasks, with a repository of its own, for tests to change."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from adjudge.domain import RunResult, Suite
from tests.support.configs import asked
from tests.support.provider import LoopbackProvider, Reply, Request
from tests.support.replies import Verdict

RUBRIC = """\
You grade a coding agent's patch against its task. Use 0 if the trace does not say enough.

Dimensions:

1. correctness
   - 5: solves the stated problem without side effects.
   - 3: one questionable choice.
   - 1: passes by weakening a test.

2. scope
   - 5: only what was asked.
   - 3: one or two unrelated edits.
   - 1: rewrites unrelated code.

Output schema:
{"correctness": {"score": 1, "reason": "..."}}
"""
SOURCE = "def load(config):\n    return config['name']\n"
FIXED = "def load(config):\n    return config.get('name', 'unnamed')\n"
TEST = "from app import load\n\n\ndef test_named():\n    assert load({'name': 'x'}) == 'x'\n"
MORE = TEST + "\n\ndef test_unnamed():\n    assert load({}) == 'unnamed'\n"
CHECKS = """\
import subprocess, sys


def run_checks(workdir):
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=workdir,
                         capture_output=True, text=True, timeout=120)
    return [{"name": "tests_pass", "passed": ran.returncode == 0, "detail": ran.stdout[-500:]}]
"""
QUICK = """\
def run_checks(workdir):
    return [{"name": "there", "passed": (workdir / "app.py").exists(), "detail": "app.py"}]
"""
TASK: dict[str, Any] = {
    "repo": "../../repo",
    "revision": "main",
    "prompt": "load() raises KeyError without a name. Make it return 'unnamed', and add a test.",
    "expected_files_touched": ["app.py", "test_app.py"],
    "max_files_touched": 3,
}


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=someone", "-c", "user.email=someone@localhost")
    ended = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return ended.stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str] = {"app.py": SOURCE, "test_app.py": TEST}) -> str:
    """A repository with one commit on `main`; returns the commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    return git(folder, "rev-parse", "HEAD")


def patch_of(repository: Path, change: Mapping[str, str | None]) -> str:
    """The patch that makes files hold other texts (`None` deletes one); the repository stays as it is."""
    for name, text in change.items():
        if text is None:
            (repository / name).unlink()
        else:
            (repository / name).parent.mkdir(parents=True, exist_ok=True)
            (repository / name).write_text(text)
    git(repository, "add", "-A")
    patch = subprocess.run(
        ["git", "diff", "--cached", "--binary"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout
    git(repository, "reset", "-q", "--hard")
    return patch


SOLUTION = {"app.py": FIXED, "test_app.py": MORE}


def write_suite(
    folder: Path, tasks: Mapping[str, Mapping[str, Any]] = {"fix-load": {}}, *, checks: str = QUICK, **settings: Any
) -> Path:
    """`evals/` with the tasks, each on the repository beside them, and an agent that writes the solution."""
    root = folder / "evals"
    if not (root / "repo").exists():
        make_repository(root / "repo")
    (root / "rubric.md").write_text(RUBRIC)
    for name, keys in tasks.items():
        place = root / "tasks" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "task.yaml").write_text(yaml.safe_dump({"id": name, **TASK, **keys}, sort_keys=False))
        (place / "checks.py").write_text(checks)
    given = {"judge": {"model": "claude-sonnet-4-6", "samples": 1}, **settings}
    (root / "golden.yaml").write_text(yaml.safe_dump(given))
    return root


def agent(folder: Path, script: str) -> dict[str, Any]:
    """`agent:` of golden.yaml for a shell script that is run in the checkout."""
    path = folder / "agent.sh"
    path.write_text(script)
    return {"type": "cli", "command": ["bash", str(path)]}


def scoring(**scores: int | None) -> Callable[[Request], Reply]:
    """A judge's answers: dimension -> score."""
    return lambda _: Verdict({name: {"rationale": "seen", "score": score} for name, score in scores.items()})


def judged(root: Path | Suite, provider: LoopbackProvider, **options: Any) -> RunResult:
    """Run the suite with a judge that the loopback provider answers for."""
    return asked(root, provider, **{"output": Path("run"), "workers": 1, **options})
