"""Logs of agents' sessions that were held elsewhere: of Claude Code, of Codex, ATIF, or flat events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.agents.base import listing, mapping
from adjudge.cases.events import Event
from adjudge.cases.traces import last_words, tools_of
from adjudge.domain import ToolUse

MAX_BYTES = 256 * 1024 * 1024


class Session(msgspec.Struct, frozen=True):
    """What a log tells: events in the flat form, oldest first, and whose log it is."""

    events: tuple[Event, ...]
    kind: str
    skipped: int = 0

    @property
    def final_message(self) -> str:
        return last_words(self.events)

    @property
    def tools(self) -> tuple[ToolUse, ...]:
        return tools_of(self.events)


def read_session(path: Path) -> Session:
    """Read a log.

    Raises:
        OSError: it cannot be read.
        ValueError: it is larger than may be read, or nothing in it is an event.
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path} is larger than {MAX_BYTES} bytes")
    text = path.read_bytes().decode("utf-8", "replace")
    whole = _decoded(text)
    if isinstance(whole, dict) and isinstance(whole.get("steps"), list):
        return Session(tuple(_atif(whole["steps"])), "ATIF")
    if isinstance(whole, list):
        text = "\n".join(msgspec.json.encode(event).decode() for event in whole if isinstance(event, dict))
    lines = [decoded for line in text.split("\n") if isinstance(decoded := _decoded(line), dict)]
    if any(line.get("type") in ("response_item", "session_meta") for line in lines):
        return Session(tuple(_codex(lines)), "Codex session")
    from adjudge.cases import streams

    stream = streams.events_of(text)
    if not stream.events:
        raise ValueError(f"{path}: nothing in it is an event of an agent's session")
    claude = any("sessionId" in line or "session_id" in line for line in lines)
    return Session(stream.events, "Claude Code session" if claude else "events", stream.skipped)


def _decoded(text: str) -> Any:
    if not text.strip():
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _assistant(text: str, tools: list[dict[str, Any]], time: Any) -> Event:
    return {"type": "assistant", "text": text, "tools": tools, "timestamp": time}


def _codex(lines: list[dict[str, Any]]) -> Iterator[Event]:
    """`response_item` lines, each with a message, a call of a function, or its output."""
    for line in lines:
        item, time = mapping(line.get("payload")), line.get("timestamp")
        kind = item.get("type")
        if line.get("type") != "response_item" or not isinstance(kind, str):
            continue
        if kind == "message" and item.get("role") == "assistant":
            texts = [mapping(part).get("text") for part in listing(item.get("content"))]
            said = "\n".join(text for text in texts if isinstance(text, str))
            if said.strip():
                yield _assistant(said, [], time)
        elif kind.endswith("_call"):
            given = item.get("arguments", item.get("input", item.get("action")))
            decoded = _decoded(given) if isinstance(given, str) else given
            arguments = decoded if isinstance(decoded, dict) else {"input": given}
            command = arguments.get("command")
            if isinstance(command, list):
                arguments = {**arguments, "command": " ".join(map(str, command))}
            name = str(item.get("name") or kind.removesuffix("_call"))
            yield _assistant("", [{"name": name, "id": item.get("call_id"), "input": arguments}], time)
        elif kind.endswith("_call_output"):
            output = item.get("output")
            content = output if isinstance(output, str) else str(mapping(output).get("content") or "")
            yield {"type": "tool_result", "tool_use_id": item.get("call_id"), "tool_name": "", "content": content}


def _atif(steps: list[Any]) -> Iterator[Event]:
    """The steps of the agent; of each its message, its calls, and what they answered."""
    for step in steps:
        one: Mapping[str, Any] = mapping(step)
        if one.get("source") not in ("agent", "assistant"):
            continue
        message = one.get("message")
        if isinstance(message, list):
            message = "\n".join(str(mapping(part).get("text") or "") for part in message)
        calls: list[dict[str, Any]] = [
            {
                "name": str(call.get("function_name") or call.get("name") or "?"),
                "id": call.get("tool_call_id") or call.get("id"),
                "input": call.get("arguments") if isinstance(call.get("arguments"), dict) else {},
            }
            for call in [mapping(given) for given in listing(one.get("tool_calls"))]
        ]
        yield _assistant(message if isinstance(message, str) else "", calls, one.get("timestamp"))
        for result in [mapping(one_result) for one_result in listing(mapping(one.get("observation")).get("results"))]:
            content = result.get("content")
            yield {
                "type": "tool_result",
                "tool_use_id": result.get("source_call_id"),
                "tool_name": "",
                "content": content if isinstance(content, str) else "",
            }
