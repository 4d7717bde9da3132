"""Telling an event stream that we know from a text that merely holds parts of one."""

from __future__ import annotations

from adjudge.agents import claude_code, codex, gemini, opencode
from adjudge.agents.base import Ask, Event, Told, json_lines, lines_of
from adjudge.agents.process import Ran


def story(ran: Ran, ask: Ask) -> Told | None:
    """What an output says when all of it is an event stream of a form that we know; `None` for any other text.

    One line that is no event makes it a text: a program that shows a file to us must not speak with its voice.
    """
    text = ran.text()
    lines, events = lines_of(text), json_lines(text)
    if not events or len(events) != len(lines) or any(not isinstance(event.get("type"), str) for event in events):
        return None
    if _is_claude(events):
        return claude_code.read(events, ran)
    if any(event["type"] in ("thread.started", "turn.completed", "turn.failed") for event in events):
        return codex.read(events, ran, ask)
    if events[0]["type"] == "init" and events[-1]["type"] == "result" and "status" in events[-1]:
        return gemini.read(events, ran)
    if any(event["type"] == "step_finish" for event in events):
        return opencode.read(events, ran, ask)
    return None


def _is_claude(events: list[Event]) -> bool:
    return events[-1]["type"] == "result" and "subtype" in events[-1]
