"""Rules and hooks for Claude Code as the agent under test: permissions for paths, and calls that we answer."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.domain import Execution, Interception, PathRule, Permissions

DEFAULT_MODEL = "claude-haiku-4-5-20251001"
_SCOPED = ("Read", "Edit", "Write", "Grep", "Glob")


class Handlers(msgspec.Struct, frozen=True, kw_only=True):
    """What the simulator is told, in a file."""

    interceptions: tuple[Interception, ...]
    model: str
    case: str
    """The case's folder, with its input and answers."""
    log: str


def rules(permissions: Permissions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(allowed, denied) in Claude Code's spelling."""
    return _compiled(permissions.allow, deny=False), _compiled(permissions.deny, deny=True)


def _compiled(entries: Sequence[str | PathRule], *, deny: bool) -> tuple[str, ...]:
    """A path rule names each tool with its path; `Write` follows the rules of `Edit`. A path rule that denies `Bash`
    denies reading and editing the path."""
    found: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            found.append(entry)
            continue
        path = f"{entry.path}**" if entry.path.endswith("/") else entry.path
        tools = [tool for tool in entry.tools or _SCOPED if tool in _SCOPED]
        if deny and "Bash" in entry.tools:
            tools += ["Read", "Edit"]
        found += [f"{'Edit' if tool == 'Write' else tool}({path})" for tool in tools]
    return tuple(dict.fromkeys(found))


def settings_file(
    execution: Execution, settings: Mapping[str, Any], *, scratch: Path, workspace: Path, log: Path
) -> Path | None:
    """The settings that an agent is started with, outside of its workspace; `None` when it needs none."""
    made: dict[str, Any] = dict(settings)
    if execution.interceptions:
        handlers = scratch / "handlers.json"
        told = Handlers(
            interceptions=execution.interceptions,
            model=execution.models.get("hook") or DEFAULT_MODEL,
            case=str(workspace),
            log=str(log),
        )
        handlers.write_bytes(msgspec.json.encode(told))
        # -P: it starts in the workspace, where an agent could plant modules.
        command = shlex.join([sys.executable, "-P", "-m", "adjudge.execution.simulator", str(handlers)])
        entry = {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 120}]}
        hooks = dict(made.get("hooks") or {})
        hooks["PreToolUse"] = [*hooks.get("PreToolUse", []), entry]
        made["hooks"] = hooks
    if not made:
        return None
    path = scratch / "settings.json"
    path.write_bytes(msgspec.json.encode(made))
    return path
