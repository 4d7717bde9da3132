"""Agent programs: how each is started, what its output means, and running one."""

from __future__ import annotations

import datetime
import functools
import importlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from adjudge.agents.base import (
    Agent,
    AgentError,
    Ask,
    Event,
    Launch,
    Task,
    Told,
    expand,
    expanded,
    json_lines,
    last_line,
)
from adjudge.agents.process import Ran, run_process
from adjudge.domain import AGENTS, AgentSpec, ErrorKind
from adjudge.whole_files import write_whole

__all__ = [
    "Agent",
    "AgentError",
    "Ask",
    "Event",
    "Launch",
    "Ran",
    "Task",
    "Told",
    "absence",
    "agent_of",
    "check_version",
    "expand",
    "expanded",
    "json_lines",
    "run_process",
    "secrets_of",
    "version_of",
    "without_secrets",
]


def agent_of(spec: AgentSpec) -> Agent:
    """The program of a specification. Each agent is a module of this folder, imported when it is wanted.

    Raises:
        AgentError: there is none of this name, and no template either.
    """
    if spec.template is not None:
        from adjudge.agents.command import Command

        return Command(spec.name, spec.template)
    if spec.name not in AGENTS:
        raise AgentError(ErrorKind.CONFIG, f"there is no agent {spec.name!r}; there are: {', '.join(AGENTS)}")
    module = importlib.import_module(f"adjudge.agents.{spec.name.replace('-', '_')}")
    agent: Agent = module.AGENT
    return agent


def secrets_of(ask: Ask) -> list[str]:
    """The values that no transcript may hold: of the variables that the agent gets as credentials."""
    names = agent_of(ask.spec).credentials
    beginnings = tuple(name[:-1] for name in names if name.endswith("*"))
    words = ("KEY", "TOKEN", "SECRET", "AUTH", "PASSWORD")
    chosen = {
        value
        for name, value in ask.environ.items()
        if (name in names or (beginnings and name.startswith(beginnings)) or name in ask.spec.env)
        and any(word in name.upper() for word in words)
    }
    chosen |= {ask.environ[name] for name in ("OPENAI_API_KEY", "CODEX_API_KEY") if ask.environ.get(name)}
    return sorted((value for value in chosen if len(value) >= 8), key=len, reverse=True)


def without_secrets(path: Path, secrets: Iterable[str]) -> None:
    """Take secrets out of a file, longest first, if it is there and holds any."""
    if not path.exists():
        return
    given = data = path.read_bytes()
    for secret in sorted(set(secrets), key=len, reverse=True):
        data = data.replace(os.fsencode(secret), b"[secret]")
    if data != given:
        write_whole(path, data)


def absence(agent: Agent, env: Mapping[str, str]) -> str:
    """Why an agent's program cannot be started; empty when it is on the path."""
    if shutil.which(agent.binary, path=env.get("PATH")) is not None:
        return ""
    how = f" ({agent.install})" if agent.install else ""
    return f"the agent {agent.name} needs {agent.binary}, which is not on the PATH{how}"


def check_version(agent: Agent, spec: AgentSpec, env: Mapping[str, str]) -> None:
    """Keep an agent from being run without the flags that confine it, or in another version than is asked for.

    Raises:
        AgentError: it is not installed, too old, or of another version.
    """
    path = shutil.which(agent.binary, path=env.get("PATH"))
    if path is None:
        raise AgentError(ErrorKind.CONFIG, absence(agent, env))
    if agent.needs:
        told = _output(path, _changed(path), "--help")
        missing = [flag for flag in agent.needs if flag not in told]
        if missing:
            version = version_of(agent, env) or "of an unknown version"
            text = f"{agent.binary} {version} does not know {', '.join(missing)}; a newer one is needed"
            raise AgentError(ErrorKind.CONFIG, text)
    if spec.version and spec.version.lstrip("v") not in (version := version_of(agent, env)):
        raise AgentError(ErrorKind.CONFIG, f"{agent.name} {spec.version} is asked for, and {version!r} is installed")


def version_of(agent: Agent, env: Mapping[str, str]) -> str:
    """What the installed program says of its version; empty when it says nothing. A program that we do not know is not
    asked, since it may take the question for a task: its file stands for its version."""
    path = shutil.which(agent.binary, path=env.get("PATH"))
    if path and not agent.install:
        changed = datetime.datetime.fromtimestamp(_changed(path) / 1e9, tz=datetime.UTC)
        return f"{Path(path).name} of {changed:%Y-%m-%d %H:%M:%S.%f}, {Path(path).stat().st_size} bytes"
    return last_line(_output(path, _changed(path), "--version")) if path else ""


def _changed(path: str) -> int:
    return Path(path).stat().st_mtime_ns


@functools.cache
def _output(path: str, _changed: int, flag: str) -> str:
    with tempfile.TemporaryDirectory(prefix="adjudge-", ignore_cleanup_errors=True) as home:
        env = {"PATH": f"{Path(path).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": home, "NO_COLOR": "1"}
        try:
            ended = subprocess.run(
                [path, flag], check=False, capture_output=True, timeout=30, stdin=subprocess.DEVNULL, env=env, cwd=home
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    return (ended.stdout + ended.stderr).decode("utf-8", "replace")
