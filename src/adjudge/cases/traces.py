"""The trace of an agent's work on a repository: read from what a run keeps of it, and as judges see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.events import conversation, tool_trace
from adjudge.cases.hunks import capped_diff
from adjudge.domain import ToolUse, TouchedFile, Trace
from adjudge.prompts.budget import cut

TRACE = "trace.json"
PATCH = "patch.diff"


class TraceLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much of a trace a judge is shown, in characters."""

    diff: int = 20_000
    message: int = 4_000
    tools: int = 4_000


def read_trace(home: str) -> Trace:
    """The trace that a run kept in a case's folder.

    Raises:
        OSError: there is none.
        ValueError: it is broken.
    """
    try:
        return msgspec.json.decode(Path(home, TRACE).read_bytes(), type=Trace)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{TRACE} cannot be read: {error}") from None


def last_words(events: Sequence[Mapping[str, Any]]) -> str:
    """The last text of the root assistant."""
    for event in reversed(events):
        said = conversation([dict(event)])
        if said:
            return said
    return ""


def tools_of(events: Sequence[Mapping[str, Any]]) -> tuple[ToolUse, ...]:
    """Every tool call with a line of what it was called with; never what it answered."""
    found = []
    for line in tool_trace([dict(event) for event in events]).splitlines():
        name, _, detail = line.removeprefix("[subagent] ").partition(". ")[2].partition(": ")
        found.append(ToolUse(f"{'[subagent] ' if line.startswith('[subagent]') else ''}{name}", detail))
    return tuple(found)


def shown_trace(trace: Trace, limits: TraceLimits) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(the trace as templates see it, what of it is left out in words). What is cut says so where it stands."""
    diff, notes = capped_diff(trace.diff, limits.diff)
    tools = "\n".join(f"{number}. {use.name}: {use.detail}" for number, use in enumerate(trace.tools, 1))
    left = [*notes]
    for label, text, limit in (
        ("the final message", trace.final_message, limits.message),
        ("the tool calls", tools, limits.tools),
    ):
        if len(text) > limit:
            left.append(f"{label}: {len(text) - limit} of {len(text)} characters are left out")
    shown = {
        "prompt": trace.prompt,
        "start": trace.start,
        "diff": diff or "(no file was changed)",
        "whole_diff": trace.diff,
        "files_touched": "\n".join(map(_line, trace.files)) or "(none)",
        "paths": list(trace.paths),
        "added": trace.added,
        "removed": trace.removed,
        "messages": list(trace.messages),
        "commits": "\n\n".join(trace.messages) or "(no commit was made)",
        "tool_calls": cut(tools, limits.tools) or "(none are known)",
        "final_message": cut(trace.final_message, limits.message) or "(none is known)",
        "source": trace.source,
        "notes": "\n".join([*trace.notes, *left]),
    }
    return shown, (*trace.notes, *left)


def _line(file: TouchedFile) -> str:
    how = f"{file.before} -> {file.path}" if file.before else file.path
    size = "binary" if file.binary else f"+{file.added} -{file.removed}"
    return f"{file.status} {how} ({size})"
