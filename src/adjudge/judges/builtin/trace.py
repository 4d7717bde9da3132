"""What several builtin judges read of a case record: tool calls with their results, and paths against patterns."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

MODIFIED = "_modified/"


class Call(NamedTuple):
    """One tool call: `given` is its input, `results` are the `tool_result` events that answer it."""

    name: str
    given: Mapping[str, Any]
    id: str
    subagent: bool
    entry: Mapping[str, Any]
    results: tuple[Mapping[str, Any], ...] = ()

    @property
    def failed(self) -> bool:
        """True if a result says that it is an error."""
        return any(told.get("is_error") is True for told in (self.entry, *self.results))


def events(outputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The trajectory, oldest event first."""
    return [event for event in outputs.get("events") or () if isinstance(event, Mapping)]


def tool_results(outputs: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The events that hold what a tool call gave back."""
    return [event for event in events(outputs) if event.get("type") == "tool_result"]


def calls(outputs: Mapping[str, Any]) -> list[Call]:
    """All tool calls in order, of subagents too. Without events, those of `tool_calls`, which have no results."""
    found = events(outputs)
    if not found:
        return [_call(entry, False, ()) for entry in outputs.get("tool_calls") or () if isinstance(entry, Mapping)]
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for event in tool_results(outputs):
        answers.setdefault(str(event.get("tool_use_id") or ""), []).append(event)
    made = []
    for event in found:
        tools = event.get("tools")
        if event.get("type") == "assistant" and isinstance(tools, list):
            subagent = bool(event.get("parent_tool_use_id") or event.get("agent_id"))
            for entry in tools:
                if isinstance(entry, Mapping):
                    name = str(entry.get("id") or "")
                    made.append(_call(entry, subagent, tuple(answers.get(name, ())) if name else ()))
    return made


def recorded_calls(outputs: Mapping[str, Any]) -> list[Call]:
    """As `calls`, for judges to which no trajectory is no answer.

    Raises:
        ValueError: the case has no trajectory.
    """
    if not events(outputs) and not outputs.get("tool_calls"):
        raise ValueError("the case has no trajectory (events.json), so it is not known which tools were called")
    return calls(outputs)


def called(pattern: str, name: str) -> bool:
    """True if a tool's whole name matches a pattern."""
    return fnmatchcase(name, pattern)


def listed(items: Iterable[str], most: int = 5) -> str:
    """A few items, and how many there are more."""
    found = list(items)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def as_text(value: Any) -> str:
    """Text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def content_text(content: Any) -> str:
    """The text of a tool result: of its text blocks, where it is a list."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in content)
    return content if isinstance(content, str) else ""


def output_files(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Path -> content of everything that the agent made or changed, changed files by their own path."""
    everything = {**(outputs.get("files") or {}), **(outputs.get("modified_files") or {})}
    return {path.removeprefix(MODIFIED): content for path, content in everything.items()}


def matching(files: Iterable[str], pattern: str) -> list[str]:
    """The paths that a pattern names, in order."""
    return [path for path in sorted(files) if path_matches(path, pattern)]


def path_matches(path: str, pattern: str) -> bool:
    """True if the pattern names the file, or a folder that it lies in. `*` stays within a folder, `**` does not."""
    regex = _path_regex(pattern.removeprefix("./").removeprefix(MODIFIED).rstrip("/"))
    return any(regex.fullmatch(part) for part in _upwards(path))


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


@functools.lru_cache(maxsize=256)
def _path_regex(pattern: str) -> re.Pattern[str]:
    out = ""
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out, at = out + "(?:[^/]+/)*", at + 3
        elif pattern.startswith("**", at):
            out, at = out + ".*", at + 2
        elif pattern[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif pattern[at] == "?":
            out, at = out + "[^/]", at + 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            if inside[0] in "!^":
                inside = "^/" + inside[1:]
            out, at = f"{out}[{inside}]", end + 1
        else:
            out, at = out + re.escape(pattern[at]), at + 1
    try:
        return re.compile(out, re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern))


def _call(entry: Mapping[str, Any], subagent: bool, results: tuple[Mapping[str, Any], ...]) -> Call:
    given = entry.get("input")
    return Call(
        str(entry.get("name") or ""),
        given if isinstance(given, Mapping) else {},
        str(entry.get("id") or ""),
        subagent,
        entry,
        results,
    )
