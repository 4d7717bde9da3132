"""Trajectories in the flat event form, and verdicts on them."""

from __future__ import annotations

from typing import Any

from adjudge.cases.record import case_record
from adjudge.domain import Case
from adjudge.judges.builtin import load_builtin

Event = dict[str, Any]


def call(name: str, id: str = "", **given: Any) -> Event:
    """One tool call of the root agent."""
    return {"type": "assistant", "text": "", "tools": [{"id": id or f"t-{name}", "name": name, "input": given}]}


def sub(event: Event) -> Event:
    """The same of a subagent."""
    return {**event, "parent_tool_use_id": "t-Task"}


def result(id: str, content: Any = "fine", **fields: Any) -> Event:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def verdict(
    name: str,
    events: list[Event],
    annotations: dict[str, Any] | None = None,
    record: dict[str, Any] | None = None,
    **arguments: Any,
) -> bool:
    """Whether a builtin judge passes a case of these events; `record` is laid over its record."""
    case = Case(id="c", events=tuple(events), annotations=annotations or {})
    passes, rationale = load_builtin(name)({**case_record(case), **(record or {})}, **arguments)
    assert isinstance(passes, bool)
    assert rationale
    return passes
