"""What `adjudge init --format golden` writes: a task on a tiny repository of its own, so that it runs as it stands."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from adjudge.cli.starters import Starter
from adjudge.sandbox import GitError, git

HOME = "evals"
_TASK = "tasks/mixed-durations"
_DAY = "2024-01-01T00:00:00Z"
_WHO = {
    "GIT_AUTHOR_NAME": "adjudge",
    "GIT_AUTHOR_EMAIL": "adjudge@localhost",
    "GIT_AUTHOR_DATE": _DAY,
    "GIT_COMMITTER_NAME": "adjudge",
    "GIT_COMMITTER_EMAIL": "adjudge@localhost",
    "GIT_COMMITTER_DATE": _DAY,
}


def golden_starter(folder: Path) -> Starter:
    """The files for a folder: below `evals`, unless the folder itself is called so.

    Raises:
        GitError: git is not there.
    """
    inner = "" if folder.resolve().name == HOME else HOME
    bundle, patch = _repository()
    texts: dict[str, str | bytes] = {
        "golden.yaml": _SETTINGS,
        "rubric.md": _RUBRIC,
        f"{_TASK}/task.yaml": _TASK_YAML.replace("{own}", _own_repository(folder / inner / _TASK)),
        f"{_TASK}/checks.py": _CHECKS,
        f"{_TASK}/golden.json": _GOLDEN,
        f"{_TASK}/golden.patch": patch,
        f"{_TASK}/repo.bundle": bundle,
    }
    files = {".gitignore": ".adjudge/\n", **{str(Path(inner, name)): text for name, text in texts.items()}}
    return Starter(files, verb="run", target=inner, flags=" --golden --no-llm", kept=frozenset({".gitignore"}))


def _repository() -> tuple[bytes, str]:
    """(a bundle of the repository, the patch that solves the task); the same bytes at every call."""
    with tempfile.TemporaryDirectory(prefix="adjudge-init-") as name:
        home = Path(name)
        git("init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main", cwd=home)
        _write(home, {"durations.py": _SOURCE, "test_durations.py": _TEST})
        git("add", "--all", cwd=home)
        git("commit", "--quiet", "--message", "Read durations of one unit", cwd=home, more=_WHO)
        git("-c", "pack.threads=1", "bundle", "create", "--quiet", "repo.bundle", "HEAD", "main", cwd=home)
        _write(home, {"durations.py": _SOLVED, "test_durations.py": _SOLVED_TEST})
        patch = git("diff", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", cwd=home)
        return Path(home, "repo.bundle").read_bytes(), patch


def _write(home: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        Path(home, name).write_text(text, encoding="utf-8", newline="\n")


def _own_repository(task: Path) -> str:
    """`repo` and `revision` for the repository that the task's folder lies in, or what they could be."""
    there = next(path for path in task.resolve().parents if path.is_dir())
    try:
        top = git("rev-parse", "--show-toplevel", cwd=there).rstrip("\n")
        head = git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=there).strip()
    except GitError:
        return "#   repo: https://example.com/team/project.git\n#   revision: 4f2c1e9..."
    path = os.path.relpath(top, task.resolve())
    shown = path if path.isprintable() else "..."
    return f"#   repo: {shown}\n#   revision: {head}"


_SETTINGS = """\
# Settings of all tasks below tasks/. `adjudge validate` checks them, `adjudge plan` shows what a run would ask.
#
#   adjudge run evals --golden --no-llm      do the reference solutions pass the checks? Needs no key and no agent
#   adjudge run evals                        the agent works on every task, and what it made is judged
#   adjudge run evals --update-baseline accept      keep this run's scores; later runs are held against them
name: starter

# Who works on the tasks: claude-code, codex, gemini, opencode, ...; `adjudge doctor` shows which are installed here.
agent:
  type: claude-code
  timeout: 1800          # seconds for one task
  # What Claude Code may do besides changing files in the checkout; there is nobody whom it could ask.
  allow: ["Bash(python -m unittest:*)", "Bash(python3 -m unittest:*)"]
  # model: claude-opus-4-7
  # max_budget_usd: 2

# Who scores by rubric.md what the checks let through. It needs a key: ANTHROPIC_API_KEY, or that of another model.
judge:
  # model: claude-sonnet-4-6
  samples: 3             # one sample cannot tell a fall from noise

max_drop: 0.3            # a dimension whose mean falls further than this, and further than chance, fails the run
"""
_RUBRIC = """\
You grade a coding agent's patch against its task. Score each dimension from 1 (worst) to 5 (best), with a short
reason. Use 0 for a dimension that the trace does not say enough about.

Dimensions:

1. correctness_beyond_tests
   - 5: solves what was asked, also where no test looks, without side effects.
   - 3: solves what was asked, with one choice that a reviewer would question.
   - 1: looks solved only because a test was weakened or an expected value written down.

2. minimal_diff
   - 5: every changed line serves the task.
   - 3: one or two edits that nobody asked for.
   - 1: rewrites code that the task does not touch.

3. code_quality
   - 5: fits the code around it; nothing in it is dead or clever.
   - 3: works, with a name or a branch that does not fit.
   - 1: leaves the code harder to read than before.

4. communication
   - 5: the final message says what was changed and why, in a few lines.
   - 3: says what was changed and not why, or takes a page for it.
   - 1: says nothing, or claims what is not in the diff.
"""
_TASK_YAML = """\
# A golden task: what an agent is asked, of which repository, at which revision.
id: mixed-durations        # scores are kept by it; do not change it later

# A folder, a bundle or a URL. Paths start here, then at the folder that holds tasks/.
# For a task of your own copy this folder, and name the commit from before the work was done:
{own}
repo: repo.bundle
revision: main

prompt: |
  seconds("1h30m") in durations.py raises ValueError. Make it add the parts up: 5400.
  Durations of one part keep their values, and what is no duration is a ValueError. Add a test.

expected_files_touched: [durations.py, test_durations.py]   # each must be in the patch
max_files_touched: 2
# max_lines_changed: 40
# install: [python -m pip install --quiet -r requirements.txt]   # run in the checkout, before the agent comes
# checks: {commit_message: hard}   # hard, soft or off: what a failure of a built-in check means
tags: [bug]
"""
_CHECKS = '''\
"""What is checked without a model. A result that fails fails the task, and no judge is asked; one with `"hard": False`
is only shown. `workdir` is a fresh checkout with the patch laid over it."""

import subprocess
import sys
from pathlib import Path


def run_checks(workdir: Path) -> list[dict]:
    tests = python(workdir, "-m", "unittest", "-q")
    behaviour = python(workdir, "-c", BEHAVIOUR)
    return [
        {"name": "tests_pass", "passed": tests.returncode == 0, "detail": tests.stderr[-500:]},
        {"name": "behaves", "passed": behaviour.returncode == 0, "detail": behaviour.stderr[-500:]},
    ]


def python(workdir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=workdir, capture_output=True, text=True, timeout=120, check=False
    )


# The agent does not see this: it cannot be satisfied by writing down the values of its own tests.
BEHAVIOUR = """
from durations import seconds

assert seconds("15m") == 900
assert seconds("1h30m") == 5400
assert seconds("2h0m5s") == 7205
for text in ("", "h", "30", "1h30", "1x", "m5"):
    try:
        seconds(text)
    except ValueError:
        continue
    raise AssertionError(f"{text!r} is no duration")
"""
'''
_GOLDEN = """\
{
  "patch_file": "golden.patch",
  "author": "a person",
  "final_message": "seconds() now adds up all parts, and refuses text that is not made of parts. Added tests of both."
}
"""
_SOURCE = '''\
"""Durations as people write them: 90s, 15m, 2h."""

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """How many seconds a duration has."""
    if text[-1:] not in _SECONDS or not text[:-1].isdecimal():
        raise ValueError(f"no duration: {text!r}")
    return int(text[:-1]) * _SECONDS[text[-1]]
'''
_SOLVED = '''\
"""Durations as people write them: 90s, 15m, 2h, 1h30m."""

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """How many seconds a duration has."""
    if not re.fullmatch(r"([0-9]+[smh])+", text):
        raise ValueError(f"no duration: {text!r}")
    return sum(int(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9]+)([smh])", text))
'''
_TEST = """\
import unittest

from durations import seconds


class DurationsTest(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual([seconds(text) for text in ("90s", "15m", "2h")], [90, 900, 7200])

    def test_what_is_no_duration(self):
        with self.assertRaises(ValueError):
            seconds("soon")


if __name__ == "__main__":
    unittest.main()
"""
_SOLVED_TEST = _TEST.replace(
    "    def test_what_is_no_duration",
    """\
    def test_parts_add_up(self):
        self.assertEqual([seconds(text) for text in ("1h30m", "1h0m5s")], [5400, 3605])

    def test_a_number_without_its_unit(self):
        with self.assertRaises(ValueError):
            seconds("1h30")

    def test_what_is_no_duration""",
)
