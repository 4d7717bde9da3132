"""A small folder of golden tasks, with a repository of its own, for tests to change."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
import yaml

import adjudge
from adjudge.cli import main
from adjudge.domain import RunResult, Score, Suite, Trace
from adjudge.formats.golden.load import HARDNESS
from tests.support.configs import asked
from tests.support.llm import environment
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


UNCHECKED: dict[str, Any] = {"checks": dict.fromkeys(HARDNESS, "off")}
"""Keys of a task that no built-in check looks at, where only the judge matters."""


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
SOLVES = """\
set -e
printf 'def load(config):\\n    return config.get("name", "unnamed")\\n' > app.py
printf '\\n\\ndef test_unnamed():\\n    assert load({}) == "unnamed"\\n' >> test_app.py
echo "Made load() fall back to unnamed."
"""
"""What an agent does that solves `TASK`."""


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


def write_done(folder: Path, *names: str, checked: bool = False, **settings: Any) -> Path:
    """`evals/` with tasks that are done: `work/` beside it holds a solution of each. They have no checks unless
    `checked`."""
    keys = {} if checked else UNCHECKED
    tasks = {name: {"prompt": f"Mend load(): this is {name}.", **keys} for name in names}
    root = write_suite(folder, tasks, **settings)
    patch = patch_of(root / "repo", SOLUTION)
    (folder / "work").mkdir()
    for name in names:
        (folder / "work" / f"{name}.patch").write_text(patch)
        if not checked:
            (root / "tasks" / name / "checks.py").unlink()
    return root


def agent(folder: Path, script: str) -> dict[str, Any]:
    """`agent:` of golden.yaml for a shell script that is run in the checkout."""
    path = folder / "agent.sh"
    path.write_text(script)
    return {"type": "cli", "command": ["bash", str(path)]}


def by_prompt(scripts: Mapping[str, str]) -> str:
    """The script of an agent that runs the one whose name its prompt holds."""
    cases = "".join(f'*"{name}"*) {script}\n;;\n' for name, script in scripts.items())
    return f'case "$(cat)" in\n{cases}esac\n'


def scoring(**scores: int | None) -> Callable[[Request], Reply]:
    """A judge's answers: dimension -> score."""
    return lambda _: Verdict({name: {"rationale": "seen", "score": score} for name, score in scores.items()})


def judged(root: Path | Suite, provider: LoopbackProvider, **options: Any) -> RunResult:
    """Run the suite with a judge that the loopback provider answers for."""
    return asked(root, provider, **{"output": Path("run"), "workers": 1, **options})


@dataclass(frozen=True)
class Ran:
    """What a user of the command has of one run: what it printed and wrote, and what it asked of the model."""

    root: Path
    folder: Path
    done: subprocess.CompletedProcess[str] = field(repr=False)
    requests: tuple[Request, ...] = field(repr=False)

    @cached_property
    def result(self) -> RunResult:
        assert (self.folder / "result.json").is_file(), self.done.stdout + self.done.stderr
        return adjudge.read(self.folder)

    def score(self, task: str, judge: str, criterion: str | None = None) -> Score:
        return self.result.score(task, judge, criterion)

    def trace(self, task: str) -> Trace:
        return msgspec.json.decode((self.folder / "cases" / task / "trace.json").read_bytes(), type=Trace)

    def log(self, task: str) -> str:
        return (self.folder / "cases" / task / "stdout.log").read_text()


def ran(root: Path, reply: Callable[[Request], Reply], *flags: str | Path, output: str = "run", **env: str) -> Ran:
    """`adjudge run` on the suite, in the folder that holds it, with a judge that answers by `reply`."""
    home = root.parent
    with LoopbackProvider(reply) as provider:
        done = typed("run", root, "--output", output, *flags, cwd=home, env=environment(home, provider, **env))
        asked_for = tuple(provider.requests)
    return Ran(root, home / output, done, asked_for)


def ran_done(root: Path, reply: Callable[[Request], Reply], *flags: str | Path, output: str = "run", **env: str) -> Ran:
    """`adjudge run` on tasks of `write_done`; whatever was asked before is asked anew."""
    return ran(root, reply, "--patch", root.parent / "work", "--fresh", *flags, output=output, **env)


def typed(*words: str | Path, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The `adjudge` command with these words, in this process, which saves starting one."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    arguments = ["adjudge", *map(str, words)]
    with (
        mock.patch.dict(os.environ, env, clear=True),
        mock.patch.object(sys, "argv", arguments),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    printed, told = (stream.buffer.getvalue().decode() for stream in (out, err))
    assert "Traceback" not in told, told
    return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), printed, told)
