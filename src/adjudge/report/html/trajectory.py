"""The events of a trajectory as flat records for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


def records(events: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """`[kind, title, text]` each, in order.

    Kinds are `text`, `thinking`, `call`, `result`, `error`, `end` and `other`.
    """
    found: list[list[Any]] = []
    for event in events:
        found += _of(event) if isinstance(event, Mapping) else [["other", "", _text(event)]]
    return found


def _of(event: Mapping[str, Any]) -> list[list[Any]]:
    kind = event.get("type")
    who = "subagent" if event.get("parent_tool_use_id") or event.get("agent_id") else ""
    if kind == "assistant":
        found: list[list[Any]] = []
        if event.get("thinking"):
            found.append(["thinking", who, _text(event["thinking"])])
        if event.get("text"):
            found.append(["text", who, _text(event["text"])])
        tools = event.get("tools")
        for tool in tools if isinstance(tools, list) else []:
            call = tool if isinstance(tool, Mapping) else {"input": tool}
            found.append(["call", _titled(_text(call.get("name", "")), who), _text(call.get("input", ""))])
        return found
    if kind == "tool_result":
        title = _titled(_text(event.get("tool_name") or ""), who)
        return [["error" if event.get("is_error") else "result", title, _text(event.get("content", ""))]]
    rest = {key: value for key, value in event.items() if key not in ("type", "timestamp") and value is not None}
    return [["end" if kind == "result" else "other", _text(kind), _text(rest) if rest else ""]]


def _titled(name: str, who: str) -> str:
    return f"{name} ({who})" if who else name


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        return f"{next(iter(value))}: {only}"
    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (UnicodeEncodeError, OverflowError, TypeError, RecursionError):
        return str(value)
