"""An agent's trajectory in the flat event form, and the texts that judges see of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.cases.files import CUT, MAX_CASE_BYTES, MAX_FILE_BYTES, decoded, plain_files, read_text, stamps
from adjudge.domain import Metrics

if TYPE_CHECKING:
    from adjudge.cases.streams import Stream

_DETAIL_KEYS = ("file_path", "path", "command", "pattern", "url", "query", "prompt", "description", "skill")
_TRAJECTORY_FILES = ("events.json", "events.jsonl", "stdout.log")
_RAW = frozenset({"message", "part", "item"})
"""Keys that raw events have and flat ones do not."""
MAX_REASONING = 400_000
MAX_RESULT = 2_000

Event = dict[str, Any]


class Trajectory(msgspec.Struct, frozen=True):
    """Events, and what a raw stream told of cost and tokens; `None` when it was no raw stream."""

    events: tuple[Event, ...] = ()
    metrics: Metrics | None = None


def read_case_events(
    home: str,
    run_root: str = "",
    *,
    notes: list[str],
    present: Collection[str] | None = None,
    stdout: str | None = None,
) -> Trajectory:
    """The trajectory of a case: `events.json`, else `events.jsonl`, else a raw stream in `stdout.log`, else those of
    the run's root, where a batch has them, with a note that they are of the whole batch.

    `present` are the plain files of `home`, and `stdout` the text of its `stdout.log`, where they are known already;
    an empty text is taken for one that must not be read. Events of a run's root may be shared between cases.

    Raises:
        ValueError: there is more than may be read, or `events.json` is broken; half a trajectory would mislead.
        OSError: a file cannot be read.
    """
    names = plain_files(home) if present is None else present
    found = _recorded(home, names, notes)
    if found is None and "stdout.log" in names and stdout != "":
        text = read_text(f"{home}/stdout.log", notes, "stdout.log") if stdout is None else stdout
        found = _printed(home, text, notes)
    if found is None and run_root:
        found = _of_run(run_root, notes, printed=stdout != "" or "stdout.log" not in names)
    return found or Trajectory()


def read_events(home: str, present: Collection[str], notes: list[str]) -> tuple[Event, ...]:
    """Events from `events.json` (an array) or `events.jsonl` (flat or raw); what is no event is noted and left out.

    Raises:
        ValueError: there is more than may be read, or `events.json` is broken.
    """
    return (_recorded(home, present, notes) or Trajectory()).events


def _recorded(home: str, present: Collection[str], notes: list[str]) -> Trajectory | None:
    if "events.json" in present:
        return _array(home, _bytes(Path(home, "events.json"), MAX_FILE_BYTES), notes)
    if "events.jsonl" in present:
        text = _bytes(Path(home, "events.jsonl"), MAX_CASE_BYTES).decode("utf-8", "replace")
        return _told(_stream(home, text), "events.jsonl", notes)
    return None


def _bytes(path: Path, most: int) -> bytes:
    if path.stat().st_size > most:
        raise ValueError(f"{path.name} is larger than {most} bytes")
    return path.read_bytes()


def _array(home: str, data: bytes, notes: list[str]) -> Trajectory:
    try:
        entries = decoded(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"events.json cannot be read: {error}") from None
    if not isinstance(entries, list):
        raise ValueError("events.json holds no list")
    events = tuple([item for item in entries if isinstance(item, dict)])
    if len(events) < len(entries):
        notes.append(f"events.json: {len(entries) - len(events)} entries are not JSON objects and were left out")
    if not all(map(_RAW.isdisjoint, events)):
        lines = "\n".join([msgspec.json.encode(event).decode() for event in events])
        return _told(_stream(home, lines), "events.json", notes)
    if os.path.isdir(f"{home}/subagents") and not any("agent_id" in event for event in events):  # noqa: PTH112
        from adjudge.cases.streams import with_subagents

        return Trajectory(with_subagents(events, _subagents(home)))
    return Trajectory(events)


def _printed(home: str, text: str, notes: list[str]) -> Trajectory | None:
    """The trajectory in what a program printed, when most of its lines are events: a text that quotes one is none."""
    if '"type"' not in text:
        return None
    if text.endswith(CUT):
        text = _bytes(Path(home, "stdout.log"), MAX_CASE_BYTES).decode("utf-8", "replace")
    stream = _stream(home, text)
    if not stream.events or stream.skipped > stream.recognised:
        return None
    return _told(stream, "stdout.log", notes)


def _stream(home: str, text: str) -> Stream:
    from adjudge.cases.streams import events_of  # it knows the agent programs, which few cases need

    return events_of(text, subagents=_subagents(home))


def _told(stream: Stream, shown: str, notes: list[str]) -> Trajectory:
    if stream.skipped:
        notes.append(f"{shown}: {stream.skipped} lines are no events and were left out")
    return Trajectory(stream.events, stream.metrics)


def _subagents(home: str) -> dict[str, str]:
    """The transcripts of subagents beside a stream: name of the file -> text."""
    folder = f"{home}/subagents"
    if os.path.islink(folder) or not os.path.isdir(folder):  # noqa: PTH112, PTH114
        return {}
    found: dict[str, str] = {}
    left = MAX_CASE_BYTES
    for name in sorted(plain_files(folder)):
        if name.endswith(".jsonl"):
            data = _bytes(Path(folder, name), left)
            left -= len(data)
            found[name] = data.decode("utf-8", "replace")
    return found


def _of_run(root: str, notes: list[str], *, printed: bool) -> Trajectory | None:
    wanted = _TRAJECTORY_FILES if printed else _TRAJECTORY_FILES[:2]
    found, told = _read_of_run(root, stamps(root, wanted))
    if found is not None:
        notes += [*told, "the trajectory is that of the whole batch: the case has none of its own"]
    return found


@lru_cache(maxsize=2)
def _read_of_run(root: str, stamp: tuple[tuple[str, int, int], ...]) -> tuple[Trajectory | None, tuple[str, ...]]:
    """Read once for all cases of a batch, as long as the files stay as they are."""
    notes: list[str] = []
    names = {name for name, _, _ in stamp}
    found = _recorded(root, names, notes)
    if found is None and "stdout.log" in names:
        found = _printed(root, read_text(f"{root}/stdout.log", notes, "stdout.log"), notes)
    return found, tuple(notes)


def conversation(events: Sequence[Event]) -> str:
    """The visible text of the root assistant; subagents, tool calls and thinking are left out."""
    return "\n\n".join([text for event in _root(events) if (text := _text(event)) and not text.isspace()])


def reasoning(events: Sequence[Event]) -> str:
    """Like `conversation`, with the thinking before each text."""
    parts = []
    for event in _root(events):
        thinking = event.get("thinking")
        if isinstance(thinking, str) and thinking.strip():
            parts.append(f"[thinking]\n{thinking}")
        said = _text(event)
        if said and not said.isspace():
            parts.append(said)
    text = "\n\n".join(parts)
    return text if len(text) <= MAX_REASONING else f"{text[:MAX_REASONING]}\n[... cut: {len(text)} characters in all]"


def tool_trace(events: Sequence[Event]) -> str:
    """The tool calls in order, one numbered line each."""
    lines: list[str] = []
    for event, call in _calls(events):
        mark = "[subagent] " if of_subagent(event) else ""
        name = " ".join(str(call.get("name", "?")).split())
        lines.append(f"{mark}{len(lines) + 1}. {name}: {_detail(call)}")
    return "\n".join(lines)


def tool_calls(events: Sequence[Event], patterns: Collection[str] = ()) -> list[dict[str, Any]]:
    """The root assistant's tool calls as {name, input, id, result, is_error}, oldest first.

    `patterns` are globs for the whole name, with upper and lower case told apart; none mean every tool. `result` is the
    beginning of what the tool gave back; it and `is_error` are `None` for a call that got no answer. A call without an
    id, which no answer can name, has its name and input only.
    """
    answers = {
        event["tool_use_id"]: event
        for event in events
        if event.get("type") == "tool_result" and isinstance(event.get("tool_use_id"), str)
    }
    found = []
    for event, call in _calls(events):
        name = call.get("name", "")
        if event.get("parent_tool_use_id") or event.get("agent_id"):
            continue
        if patterns and not any(fnmatchcase(str(name), glob) for glob in patterns):
            continue
        one = {"name": name, "input": call.get("input", {})}
        key = call.get("id")
        if key is not None:
            answer = answers.get(key) if isinstance(key, str) else None
            one["id"] = key
            one["result"] = None if answer is None else _content(answer.get("content"))[:MAX_RESULT]
            one["is_error"] = None if answer is None else bool(answer.get("is_error"))
        found.append(one)
    return found


def subagents(events: Sequence[Event]) -> dict[str, str]:
    """What each subagent said, by its `agent_id`, else by the call that started it; empty for one that only worked."""
    texts: dict[str, list[str]] = {}
    for event in events:
        if of_subagent(event) and event.get("type") == "assistant":
            said = texts.setdefault(str(event.get("agent_id") or event.get("parent_tool_use_id")), [])
            if _text(event).strip():
                said.append(_text(event))
    return {name: "\n\n".join(said) for name, said in texts.items()}


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return "" if content is None else str(content)


def _root(events: Iterable[Event]) -> Iterator[Event]:
    return (
        event
        for event in events
        if event.get("type") == "assistant" and not (event.get("parent_tool_use_id") or event.get("agent_id"))
    )


def of_subagent(event: Event) -> bool:
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
