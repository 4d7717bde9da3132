"""Projects with `eval_checks/` folders, and the command on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import ConfigError
from adjudge.formats.banana import Flags, Loaded, load_project

ROOT = Path(__file__).parent.parent.parent.parent
CONFIG = ".eval-banana/config.toml"
PASS = '{"score": 1, "reason": "all is well"}'


def script(name: str, body: str = "pass", more: str = "") -> str:
    """A deterministic check with an inline script."""
    lines = "".join(f"  {line}\n" for line in body.splitlines())
    return f"schema_version: 1\nid: {name}\ntype: deterministic\ndescription: About {name}.\n{more}script: |\n{lines}"


def judge(name: str, more: str = "") -> str:
    """A check by an agent."""
    head = f"schema_version: 1\nid: {name}\ntype: harness_judge\ndescription: About {name}.\n"
    return f"{head}{more}instructions: Read README.md.\n"


def agent(*, keys: str = "", harness: str = "", name: str = "fake", command: str = '["./agent.sh"]') -> str:
    """A config whose agent is a program of the project."""
    return f'[harness]\nagent = "{name}"\n{harness}\n[agents.{name}]\ncommand = {command}\n{keys}\n'


def says(text: str, before: str = "", after: str = "exit 0") -> str:
    """An agent that prints its arguments one to a line to standard error, and then a text."""
    return f"#!/bin/sh\nprintf '<%s>\\n' \"$@\" >&2\n{before}\ncat <<'THE_END'\n{text}\nTHE_END\n{after}\n"


def write_project(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a project; those that begin with `#!` may be run."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return folder


def loaded(folder: Path, *, judges: bool = True, **flags: Any) -> Loaded:
    return load_project(folder, Flags(**flags), judges=judges)


def ids(folder: Path, **flags: Any) -> list[str]:
    """The ids of a project's checks, in order."""
    return [check.id for check in loaded(folder, judges=False, **flags).checks]


def refused(folder: Path, *, judges: bool = True, **flags: Any) -> str:
    """Why a project cannot be read: every problem."""
    with pytest.raises(ConfigError) as caught:
        loaded(folder, judges=judges, **flags)
    return "\n".join(str(problem) for problem in caught.value.problems if not problem.warning)


def adjudge(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Any verb, in an environment that holds nothing of the machine but the path."""
    base = {"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    return subprocess.run(
        [sys.executable, "-m", "adjudge", *map(str, arguments)],
        check=False,
        cwd=cwd,
        env={**base, **env},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=100,
    )


def run_banana(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """`adjudge banana ...`."""
    done = adjudge("banana", *arguments, cwd=cwd, **env)
    assert "Traceback" not in done.stderr
    return done


class Ran:
    """A run of a project's checks, with its reports in `out/`."""

    def __init__(self, folder: Path, done: subprocess.CompletedProcess[str]) -> None:
        self.folder, self.code, self.out, self.err = folder, done.returncode, done.stdout, done.stderr
        self.run = folder / "out"

    @property
    def report(self) -> Any:
        return json.loads((self.run / "report.json").read_text(encoding="utf-8"))

    @property
    def checks(self) -> dict[str, Any]:
        return {check["check_id"]: check for check in self.report["checks"]}


def ran(folder: Path, files: dict[str, str], *arguments: str | Path, **env: str) -> Ran:
    """Write a project, and run its checks into `out/`."""
    write_project(folder, files)
    done = run_banana("run", "--output-dir", "out", "--flat-output", *arguments, cwd=folder, **env)
    return Ran(folder, done)


def checked(folder: Path, body: str, more: dict[str, str] | None = None, config: str = "") -> Any:
    """What the report says of one inline script."""
    files = {"eval_checks/a.yaml": script("a", body), CONFIG: config, **(more or {})}
    return ran(folder, files).checks["a"]


def judged(folder: Path, program: str, config: str = "", *arguments: str, check: str = "", **env: str) -> Ran:
    """A project with one judge whose agent is `program`."""
    files = {"eval_checks/a.yaml": check or judge("a"), "agent.sh": program, CONFIG: config or agent()}
    return ran(folder, files, *arguments, **env)


def argv(found: Ran) -> list[str]:
    """The arguments of the agent, with PROMPT for the prompt."""
    text = found.checks["a"]["stderr"]
    prompt = next(found.run.glob("checks/*.prompt.txt")).read_text(encoding="utf-8")
    assert prompt in text
    return [line[1:-1] for line in text.replace(prompt, "PROMPT").splitlines()]
