"""No text that an agent program prints stops the reader of streams."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from adjudge.cases.events import conversation, reasoning, subagents, tool_calls, tool_trace
from adjudge.cases.streams import events_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TYPES = ["assistant", "user", "result", "system", "tool_result", "tool_use", "message", "init", "item.completed"]
TYPES += ["turn.completed", "thread.started", "step_finish", "text", "error"]
KEYS = [
    "message",
    "part",
    "item",
    "text",
    "tools",
    "subtype",
    "status",
    "stats",
    "error",
    "usage",
    "modelUsage",
    "cost",
]
KEYS += ["permission_denials", "tool_use_id", "tool_id", "content", "role", "timestamp", "total_cost_usd", "_msg_id"]
BLOCK = st.dictionaries(
    st.sampled_from(["type", "text", "id", "name", "input", "thinking", "tool_use_id", "content", "state", "server"]),
    JSON | st.sampled_from(["text", "tool_use", "thinking", "tool_result", "mcp_tool_call", "command_execution"]),
    max_size=6,
)
MESSAGE = st.fixed_dictionaries(
    {"content": st.lists(BLOCK, max_size=3) | JSON, "id": st.sampled_from(["a", "b"]) | JSON, "model": JSON}
)
EVENT = st.dictionaries(st.sampled_from(KEYS), JSON | BLOCK | MESSAGE, max_size=6).flatmap(
    lambda event: (st.sampled_from(TYPES) | JSON).map(lambda kind: {**event, "type": kind})
)
LINE = st.text(max_size=30) | EVENT.map(json.dumps) | JSON.map(json.dumps)


@given(st.lists(LINE, max_size=8), st.lists(LINE, max_size=4))
def test_no_lines_raise(rows: list[str], more: list[str]) -> None:
    stream = events_of("\n".join(rows), subagents={"a.jsonl": "\n".join(more)})
    msgspec.json.encode(stream)
    for told in (conversation, reasoning, tool_trace, tool_calls, subagents):
        told(stream.events)
    rows = [row for part in (*rows, *more) for row in part.removeprefix("\ufeff").split("\n") if row.strip()]
    assert stream.skipped + stream.recognised <= len(rows) + 2


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert events_of(text, subagents={"x": text}).events == ()
