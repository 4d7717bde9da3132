"""What a model said and did in a response, as flat events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from adjudge.agents import Event
from adjudge.models.responses import message_text

MAX_TEXT = 50_000
"""Characters of one text of an event; a longer one is cut, with a mark."""
_NAMES = {"shell": "Bash", "local_shell": "Bash", "apply_patch": "Edit", "web_search": "WebSearch"}
"""Kind of a call -> the name of such a tool elsewhere."""


def flat_events(items: Iterable[Mapping[str, Any]]) -> tuple[Event, ...]:
    """The events of a response's items, oldest first. What is neither words nor a call of a tool is left out."""
    return tuple(event for item in items for event in _flat(item))


def _flat(item: Mapping[str, Any]) -> list[Event]:
    kind = str(item.get("type") or "")
    if kind == "message":
        return [{"type": "assistant", "text": _cut(message_text(item))}]
    if kind == "reasoning":
        summary = item.get("summary")
        parts = [part.get("text") for part in summary if isinstance(part, dict)] if isinstance(summary, list) else []
        thinking = "\n".join(part for part in parts if isinstance(part, str))
        return [{"type": "assistant", "text": "", "thinking": _cut(thinking)}] if thinking else []
    if kind.endswith("_call_output"):
        content, bad = _result(item.get("output"))
        bad = bad or item.get("status") in ("failed", "incomplete")
        return [{"type": "tool_result", "tool_use_id": _id(item), "content": _cut(content), "is_error": bad}]
    if not kind.endswith("_call"):
        return []
    call = {"id": _id(item), "name": _name(kind, item), "input": _input(kind, item)}
    events: list[Event] = [{"type": "assistant", "text": "", "tools": [call]}]
    if kind == "mcp_call" and (item.get("output") is not None or item.get("error") is not None):
        error = item.get("error")
        text, _ = _result(item.get("output") if error is None else error)
        bad = error is not None
        events.append({"type": "tool_result", "tool_use_id": _id(item), "content": _cut(text), "is_error": bad})
    return events


def _id(item: Mapping[str, Any]) -> str:
    return str(item.get("call_id") or item.get("id") or "")


def _name(kind: str, item: Mapping[str, Any]) -> str:
    if kind == "mcp_call":
        return f"mcp__{item.get('server_label')}__{item.get('name')}"
    named = item.get("name")
    stem = kind.removesuffix("_call")
    return named if isinstance(named, str) and named else _NAMES.get(stem, stem)


def _input(kind: str, item: Mapping[str, Any]) -> Any:
    """What a tool was called with; commands of a shell are one text, a line each."""
    action = item.get("action")
    commands = action.get("commands") if isinstance(action, dict) else None
    if isinstance(commands, list):
        return {"command": _cut("\n".join(map(str, commands)))}
    given = item.get("arguments")
    if isinstance(given, str):
        try:
            loaded = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError):
            loaded = None
        return loaded if isinstance(loaded, dict) else {"arguments": _cut(given)}
    own = ("id", "call_id", "type", "status", "name", "output", "error")
    return {key: value for key, value in item.items() if key not in own}


def _result(output: Any) -> tuple[str, bool]:
    """(what a tool gave back, whether that was an error)."""
    if isinstance(output, str):
        return output, False
    if not isinstance(output, list):
        return "" if output is None else msgspec.json.encode(output).decode(), False
    texts: list[str] = []
    bad = False
    for part in output:
        if not isinstance(part, dict):
            continue
        texts += [str(part[key]) for key in ("stdout", "stderr", "text") if part.get(key)]
        outcome = part.get("outcome")
        if isinstance(outcome, dict):
            over = outcome.get("type") == "timeout"
            texts += ["[ran out of time]"] if over else []
            bad = bad or over or outcome.get("exit_code", 0) != 0
    return "\n".join(texts), bad


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}[truncated]"
