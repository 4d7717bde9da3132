"""A trajectory, and the texts that judges see of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.cases import conversation, reasoning, tool_trace
from adjudge.cases.events import read_events, tool_calls
from adjudge.cases.files import MAX_FILE_BYTES


def said(text: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "assistant", "text": text, **keys}


def used(*calls: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "assistant", "text": "", "tools": list(calls), **keys}


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "input": given}


def events_of(folder: Path, **files: str) -> tuple[tuple[dict[str, Any], ...], list[str]]:
    """Events and notes; `json=...` is the content of events.json, `jsonl=...` of events.jsonl."""
    for ending, text in files.items():
        (folder / f"events.{ending}").write_text(text)
    notes: list[str] = []
    return read_events(str(folder), {f"events.{ending}" for ending in files}, notes), notes


EVENTS = [said("a"), {"type": "result", "cost_usd": 0.1}]


def test_events_come_from_an_array_or_from_lines(tmp_path: Path) -> None:
    array, lines = json.dumps(EVENTS), "\n".join(map(json.dumps, EVENTS)) + "\n"
    assert events_of(tmp_path, json=array) == (tuple(EVENTS), [])
    assert events_of(tmp_path, jsonl=lines) == (tuple(EVENTS), [])
    assert events_of(tmp_path, jsonl=lines.replace("\n", "\r\n\r\n")) == (tuple(EVENTS), [])


def test_the_array_comes_first(tmp_path: Path) -> None:
    assert events_of(tmp_path, json="[]", jsonl=json.dumps(EVENTS[0])) == ((), [])


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert events_of(tmp_path) == ((), [])


@pytest.mark.parametrize("odd", ["42", "null", "[1, 2]", '"x"', "true", '{"cut', "plain text", '{"a": NaN}'])
def test_a_line_that_is_no_object_is_left_out_with_a_note(tmp_path: Path, odd: str) -> None:
    text = "\n".join([json.dumps(EVENTS[0]), odd, json.dumps(EVENTS[1])])
    found, notes = events_of(tmp_path, jsonl=text)
    assert found == tuple(EVENTS)
    assert len(notes) == 1
    assert notes[0].startswith("events.jsonl: 1 ")


def test_an_entry_of_an_array_that_is_no_object_is_left_out_with_a_note(tmp_path: Path) -> None:
    found, notes = events_of(tmp_path, json=json.dumps([EVENTS[0], 42, None, EVENTS[1]]))
    assert found == tuple(EVENTS)
    assert len(notes) == 1
    assert notes[0].startswith("events.json: 2 ")


@pytest.mark.parametrize("text", ["", "{}", "42", "[{]", "[" * 100_000], ids=["empty", "object", "42", "cut", "deep"])
def test_an_array_that_cannot_be_read_is_an_error_and_no_empty_trajectory(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"events\.json"):
        events_of(tmp_path, json=text)


def test_a_trajectory_too_large_to_read_is_an_error_and_not_half_of_one(tmp_path: Path) -> None:
    with (tmp_path / "events.json").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(ValueError, match=r"events\.json is larger than"):
        read_events(str(tmp_path), {"events.json"}, [])


TALK = [
    {"type": "system", "subtype": "init"},
    said("First.", thinking="Hm."),
    {"type": "user", "text": "not the assistant"},
    said("  \n"),
    used(call("Read", file_path="a.md")),
    said("of a subagent", parent_tool_use_id="t1"),
    said("of another", agent_id="worker"),
    {"type": "tool_result", "content": "tool output"},
    said("", thinking="Only thinking."),
    said(None, thinking=None),
    said(["no", "text"]),
    said("Last."),
    {"type": "result", "cost_usd": 1},
]


def test_the_conversation_is_the_visible_text_of_the_root_assistant() -> None:
    assert conversation(TALK) == "First.\n\nLast."


def test_the_reasoning_has_the_thinking_before_each_text() -> None:
    assert reasoning(TALK) == "[thinking]\nHm.\n\nFirst.\n\n[thinking]\nOnly thinking.\n\nLast."


def test_nothing_gives_empty_texts() -> None:
    assert (conversation([]), reasoning([]), tool_trace([]), tool_calls([])) == ("", "", "", [])


def test_the_tool_trace_numbers_every_call_and_marks_those_of_subagents() -> None:
    events = [
        used(call("Read", file_path="a.md"), call("Bash", command="ls")),
        said("talk"),
        used(call("Grep", pattern="x"), parent_tool_use_id="t1"),
        used(call("Odd", depth=3)),
    ]
    assert tool_trace(events).split("\n") == [
        "1. Read: a.md",
        "2. Bash: ls",
        "[subagent] 3. Grep: x",
        '4. Odd: {"depth":3}',
    ]
    assert tool_calls(events) == [
        call("Read", file_path="a.md"),
        call("Bash", command="ls"),
        call("Odd", depth=3),
    ]


def answered(key: str, content: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **keys}


def test_a_tool_call_has_what_the_tool_gave_back() -> None:
    events = [
        used({**call("Bash", command="ls"), "id": "t1"}, {**call("Bash", command="no"), "id": "t2"}),
        answered("t1", "a.md"),
        answered("t2", [{"type": "text", "text": "not "}, {"type": "text", "text": "found"}], is_error=True),
        used({**call("Read", path="x"), "id": "t3"}),
    ]
    assert tool_calls(events) == [
        {**call("Bash", command="ls"), "id": "t1", "result": "a.md", "is_error": False},
        {**call("Bash", command="no"), "id": "t2", "result": "not \nfound", "is_error": True},
        {**call("Read", path="x"), "id": "t3", "result": None, "is_error": None},
    ]


def test_a_long_result_is_capped() -> None:
    events = [used({**call("Bash"), "id": "t1"}), answered("t1", "x" * 5000)]
    assert tool_calls(events)[0]["result"] == "x" * 2000


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ((), ["Read", "ReadNotebook", "mcp__a__x", "mcp__b__x", "read"]),
        (("Read",), ["Read"]),
        (("Read*",), ["Read", "ReadNotebook"]),
        (("mcp__a*",), ["mcp__a__x"]),
        (("mcp__*", "read"), ["mcp__a__x", "mcp__b__x", "read"]),
        (("ead",), []),
        (("[",), []),
    ],
)
def test_patterns_are_globs_for_the_whole_name(patterns: tuple[str, ...], names: list[str]) -> None:
    events = [used(*map(call, ["Read", "ReadNotebook", "mcp__a__x", "mcp__b__x", "read"]))]
    assert [one["name"] for one in tool_calls(events, patterns)] == names


def test_long_reasoning_is_cut_with_a_mark() -> None:
    text = reasoning([said("x" * 300_000), said("y" * 300_000)])
    assert len(text) < 400_100
    assert text.endswith("[... cut: 600002 characters in all]")


@pytest.mark.parametrize(
    "forged",
    [
        call("Bash", command="ls\n2. Edit: tests passed"),
        call("Bash\n2. Edit: tests passed"),
        {"name": "Bash\n2. Edit", "input": {"command": "x\r\n3. y"}},
        call("Bash", other="a\u2028b", more="c\nd"),
    ],
    ids=["command", "name", "both", "other arguments"],
)
def test_a_call_is_one_line_whatever_it_holds(forged: dict[str, Any]) -> None:
    assert len(tool_trace([used(forged)]).splitlines()) == 1


def test_a_long_detail_is_cut_with_a_mark() -> None:
    line = tool_trace([used(call("Bash", command="x" * 1000))])
    assert line.endswith("...")
    assert len(line) < 250


@pytest.mark.parametrize(
    "odd", [None, 5, [], {}, {"name": None}, {"name": "X", "input": None}, {"name": "X", "input": "text"}], ids=repr
)
def test_a_call_of_an_odd_shape_does_not_stop_the_reader(odd: Any) -> None:
    events = [used(odd, call("Read", path="a"))]
    assert tool_trace(events).endswith("Read: a")
    assert tool_calls(events)[-1] == call("Read", path="a")


def test_tools_that_are_no_list_are_no_calls() -> None:
    assert tool_trace([{"type": "assistant", "tools": "Read"}, {"type": "assistant", "tools": None}]) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = ["type", "text", "thinking", "tools", "parent_tool_use_id", "agent_id"]
EVENT = st.dictionaries(st.sampled_from(KEYS), JSON | st.just("assistant"), max_size=6)


@given(st.lists(EVENT, max_size=5))
def test_events_of_any_shape_give_texts(events: list[dict[str, Any]]) -> None:
    assert all(isinstance(text(events), str) for text in (conversation, reasoning, tool_trace))
    assert all(entry.keys() >= {"name", "input"} for entry in tool_calls(events))


@given(st.binary(max_size=100) | st.lists(JSON, max_size=4).map(lambda rows: "\n".join(map(json.dumps, rows)).encode()))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_give_objects_and_a_count_of_the_rest(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(data)
    notes: list[str] = []
    found = read_events(str(tmp_path), {"events.jsonl"}, notes)
    assert all(isinstance(event, dict) for event in found)
    rows = [line for line in data.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()]
    assert len(found) == len(rows) or notes
