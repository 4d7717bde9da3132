"""An agent's trajectory in the flat event form, and the texts that judges see of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.files import MAX_FILE_BYTES

_DETAIL_KEYS = ("file_path", "path", "command", "pattern", "url", "query", "prompt", "description", "skill")

Event = dict[str, Any]


def read_events(home: str, present: Collection[str], notes: list[str]) -> tuple[Event, ...]:
    """Events of a case from `events.json` (an array) or `events.jsonl`; what is not an object is noted and left out."""
    for name in ("events.json", "events.jsonl"):
        if name not in present:
            continue
        path = Path(home, name)
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"{name} is larger than {MAX_FILE_BYTES} bytes")
        data = path.read_bytes()
        items, broken = _array(data) if name.endswith(".json") else _lines(data)
        events = tuple(item for item in items if isinstance(item, dict))
        broken += len(items) - len(events)
        if broken:
            notes.append(f"{name}: {broken} entries are not JSON objects and were left out")
        return events
    return ()


def _array(data: bytes) -> tuple[list[Any], int]:
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"events.json cannot be read: {error}") from None
    if not isinstance(decoded, list):
        raise ValueError("events.json holds no list")
    return decoded, 0


def _lines(data: bytes) -> tuple[list[Any], int]:
    items: list[Any] = []
    broken = 0
    for line in data.splitlines():
        if not line.strip():
            continue
        try:
            items.append(msgspec.json.decode(line))
        except (msgspec.DecodeError, RecursionError):
            broken += 1
    return items, broken


def conversation(events: Sequence[Event]) -> str:
    """The visible text of the root assistant; subagents, tool calls and thinking are left out."""
    return "\n\n".join(_text(event) for event in _root(events) if _text(event).strip())


def reasoning(events: Sequence[Event]) -> str:
    """Like `conversation`, with the thinking before each text."""
    parts = []
    for event in _root(events):
        thinking = event.get("thinking")
        if isinstance(thinking, str) and thinking.strip():
            parts.append(f"[thinking]\n{thinking}")
        if _text(event).strip():
            parts.append(_text(event))
    return "\n\n".join(parts)


def tool_trace(events: Sequence[Event]) -> str:
    """The tool calls in order, one numbered line each."""
    lines: list[str] = []
    for event, call in _calls(events):
        mark = "[subagent] " if _of_subagent(event) else ""
        name = " ".join(str(call.get("name", "?")).split())
        lines.append(f"{mark}{len(lines) + 1}. {name}: {_detail(call)}")
    return "\n".join(lines)


def tool_calls(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The root assistant's tool calls as {name, input}."""
    return [
        {"name": call.get("name", ""), "input": call.get("input", {})}
        for event, call in _calls(events)
        if not _of_subagent(event)
    ]


def _root(events: Iterable[Event]) -> Iterator[Event]:
    return (event for event in events if event.get("type") == "assistant" and not _of_subagent(event))


def _of_subagent(event: Event) -> bool:
    return bool(event.get("parent_tool_use_id") or event.get("agent_id"))


def _text(event: Event) -> str:
    text = event.get("text")
    return text if isinstance(text, str) else ""


def _calls(events: Iterable[Event]) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    for event in events:
        if event.get("type") == "assistant" and isinstance(event.get("tools"), list):
            for call in event["tools"]:
                if isinstance(call, dict):
                    yield event, call


def _detail(call: Mapping[str, Any]) -> str:
    given = call.get("input")
    if not isinstance(given, dict):
        return ""
    value = next((given[key] for key in _DETAIL_KEYS if isinstance(given.get(key), str)), None)
    text = value if value is not None else msgspec.json.encode(given).decode()
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:200] + "..."
