"""The lines of a stream as objects, long strings cut, and the moment of an event."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from adjudge.cases.events import Event
from adjudge.cases.files import decoded

MAX_TEXT = 50_000
"""Characters of one string of an event; a longer one is cut, with a mark."""
MAX_DEPTH = 200
_MARK = "[truncated]"


def objects(text: str) -> Iterator[tuple[Event | None, bool]]:
    """(the object of a line or `None`, whether it may hold a string that is too long); blank lines are left out.

    Only a newline ends a line: a string in JSON may hold the other characters that end one elsewhere.
    """
    for raw in text.removeprefix("\ufeff").split("\n"):
        line = raw.strip()
        if not line:
            continue
        value = None
        if line[0] == "{":
            try:
                value = decoded(line.encode("utf-8", "replace"))
            except (ValueError, RecursionError):
                value = None
            if line.count("{") + line.count("[") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
                value = None
        yield value, len(line) > MAX_TEXT


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 0)]
    while pending and deepest <= MAX_DEPTH:
        inner, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(inner, dict | list):
            pending += [(part, depth + 1) for part in (inner.values() if isinstance(inner, dict) else inner)]
    return deepest


def cut_strings(event: Event, *, deep: bool) -> None:
    """Cut the long strings of an event in place; `original_length` is that of its longest."""
    lengths: list[int] = []
    for key in list(event) if deep else ("text", "thinking", "content"):
        value = event.get(key)
        if (isinstance(value, str) and len(value) > MAX_TEXT) or (deep and isinstance(value, dict | list)):
            event[key] = _shorter(value, lengths)
    if lengths:
        event["truncated"] = True
        event["original_length"] = max(lengths)


def _shorter(value: Any, lengths: list[int]) -> Any:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        lengths.append(len(value))
        return value[:MAX_TEXT] + _MARK
    if isinstance(value, dict):
        return {key: _shorter(part, lengths) for key, part in value.items()}
    return [_shorter(part, lengths) for part in value] if isinstance(value, list) else value


def moment(event: Event) -> tuple[bool, float]:
    """Seconds since the epoch; an event without a readable time comes last."""
    time = event.get("timestamp")
    if isinstance(time, str):
        try:
            read = datetime.fromisoformat(time)
            return False, (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return True, 0.0
    if isinstance(time, int | float) and not isinstance(time, bool) and abs(time) < 2**53:
        return False, time / 1000 if time > 1e11 else float(time)
    return True, 0.0
