"""Enough of a GitHub runner to carry out the shell steps of a job: expressions, files for outputs and summaries, and
workflow commands in what a step prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.llm import environment

SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
REGISTERED = {
    *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "notice", "remove-matcher"),
    *("save-state", "set-env", "set-output", "stop-commands", "warning"),
}
GH = """\
#!{python}
import json, os, subprocess, sys

words = sys.argv[1:]
folder = os.environ["GH_FOLDER"]
body = next((w.removeprefix("body=@") for w in words if w.startswith("body=@")), "")
with open(f"{{folder}}/calls.jsonl", "a") as file:
    text = open(body).read() if body else ""
    file.write(json.dumps({{"words": words, "body": text, "token": os.environ.get("GH_TOKEN", "")}}) + "\\n")
if os.path.exists(f"{{folder}}/forbidden"):
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
if "--jq" in words:
    sys.exit(subprocess.run(["jq", "-r", words[words.index("--jq") + 1], f"{{folder}}/comments.json"]).returncode)
"""


@dataclass(frozen=True)
class Command:
    """A workflow command, as the runner carries it out."""

    name: str
    data: str
    properties: Mapping[str, str] = field(default_factory=dict)


def commands(printed: str) -> list[Command]:
    """What the runner would carry out of what a step prints: `::name k=v,k=v::data` after blanks, or `##[name]data`
    anywhere in a line, and nothing between stop-commands and its token."""
    found: list[Command] = []
    token = ""
    for line in re.split(r"\r\n|\r|\n", printed):
        command = _parsed(line, {*REGISTERED, token} - {""})
        if command is None or (token and command.name != token):
            continue
        if token:
            token = ""
            continue
        found.append(command)
        if command.name == "stop-commands":
            token = command.data
    return found


def _parsed(line: str, names: set[str]) -> Command | None:
    for pattern, between in (
        (r"\s*::([^\s:]+)( (?:(?!::).)*)?::(.*)", ","),
        (r".*?##\[([^\s\]]+)( [^\]]*)?\](.*)", ";"),
    ):
        match = re.match(pattern, line)
        if match and match[1] in names:
            pairs = (pair.partition("=") for pair in (match[2] or "").strip().split(between) if "=" in pair)
            return Command(match[1], _plain(match[3]), {name: _plain(value) for name, _, value in pairs})
    return None


def _plain(text: str) -> str:
    for token, escape in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        text = text.replace(escape, token)
    return text


def evaluated(expression: str, contexts: Mapping[str, Any]) -> Any:
    """An expression of `if:` or of `${{ }}`; what no context has is the empty text."""

    def value(match: re.Match[str]) -> str:
        found: Any = contexts
        for name in match[0].split("."):
            found = found.get(name, "") if isinstance(found, Mapping) else ""
        return repr(found)

    parts = re.split(r"('[^']*')", expression)
    parts[::2] = [re.sub(r"[a-z_]+(\.[\w-]+)+", value, part) for part in parts[::2]]
    python = " ".join("".join(parts).replace("&&", " and ").replace("||", " or ").split())
    return eval(python, {"__builtins__": {}}, {"always": lambda: True, "true": True, "false": False})  # noqa: S307


def filled(text: Any, contexts: Mapping[str, Any]) -> str:
    """A value of YAML with its expressions replaced."""

    def value(match: re.Match[str]) -> str:
        found = evaluated(match[1], contexts)
        return str(found).lower() if isinstance(found, bool) else str(found)

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text), flags=re.DOTALL)


@dataclass
class Job:
    """A checkout, and the shell steps that are carried out in it."""

    workspace: Path
    contexts: dict[str, Any]
    env: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    failed: bool = False
    code: int = 0

    def __post_init__(self) -> None:
        self.home = self.workspace.parent / "runner"
        tools = self.home / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        self._tool("adjudge", f'#!/bin/sh\nexec {sys.executable} -m adjudge "$@"\n')
        self._tool("python", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        self._tool("gh", GH.format(python=sys.executable))
        (self.home / "comments.json").write_text("[]")
        self.summary_file = self.home / "summary.md"
        self.summary_file.unlink(missing_ok=True)
        base = environment(self.home, GH_FOLDER=str(self.home), GITHUB_STEP_SUMMARY=str(self.summary_file))
        base["PATH"] = f"{tools}:{base['PATH']}"
        told = {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_WORKSPACE": str(self.workspace)}
        told |= {"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "7", "GITHUB_SERVER_URL": "https://host"}
        self.env = {**base, **told, **self.env}

    def _tool(self, name: str, text: str) -> None:
        path = self.home / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    @property
    def summary(self) -> str:
        return self.summary_file.read_text() if self.summary_file.exists() else ""

    @property
    def commands(self) -> list[Command]:
        return [command for text in self.printed.values() for command in commands(text)]

    @property
    def gh(self) -> list[dict[str, Any]]:
        path = self.home / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def seen(self) -> dict[str, Any]:
        """The contexts of expressions, as they are now."""
        return {**self.contexts, "steps": {name: {"outputs": values} for name, values in self.outputs.items()}}

    def run(self, steps: Sequence[Mapping[str, Any]]) -> Job:
        """Carry out the shell steps, as their conditions say; the rest needs GitHub."""
        for step in steps:
            condition = str(step.get("if", "true"))
            if "run" not in step or (self.failed and "always()" not in condition):
                continue
            if not evaluated(condition, self.seen):
                continue
            with self.started(step) as process:
                printed, _ = process.communicate(timeout=120)
            self.ended(step, process.returncode, printed)
        return self

    def started(self, step: Mapping[str, Any]) -> subprocess.Popen[str]:
        """The shell of a step, under way."""
        script = self.home / "step.sh"
        script.write_text(step["run"])
        output = self.home / "output"
        output.write_text("")
        given = {name: filled(value, self.seen) for name, value in step.get("env", {}).items()}
        return subprocess.Popen(
            [*SHELL, str(script)],
            cwd=self.workspace,
            env={**self.env, **given, "GITHUB_OUTPUT": str(output)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
        )

    def ended(self, step: Mapping[str, Any], code: int, printed: str) -> None:
        pairs = (line.partition("=") for line in (self.home / "output").read_text().splitlines())
        self.outputs[step.get("id", step.get("name", ""))] = {name: value for name, _, value in pairs}
        self.printed[step.get("name", "")] = printed
        if code and not self.failed:
            self.failed, self.code = True, code
