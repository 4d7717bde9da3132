"""Judges of tool calls: errors, which tools, in which order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.judges.builtin.trajectories import Event, call, result, sub, verdict


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        (result("t1", "fine"), True),
        (result("t1", "fine", is_error=False), True),
        (result("t1", "no such file", is_error=True), False),
        (result("t1", {"error": "boom"}), False),
        (result("t1", {"error": None}), True),
        (result("t1", {"ok": 1}), True),
        (result("t1", "Error: no such file"), False),
        (result("t1", "fatal ERROR"), False),
        (result("t1", "<tool_use_error>Not found"), False),
        (result("t1", "errors: none"), True),
        (result("t1", "the terrors"), True),
        (result("t1", "x" * 44 + " error"), False),
        (result("t1", "x" * 44 + " errors"), True),
        (result("t1", "x" * 45 + " error"), True),
        (result("t1", [{"type": "text", "text": "Error: x"}]), False),
        (result("t1", ""), True),
        (result("t1", None), True),
    ],
)
def test_a_tool_result_that_is_an_error_fails(given: Event, passes: bool) -> None:
    events = [call("Read", "t0"), result("t0"), call("Bash", "t1"), given]
    assert verdict("tool_call_validation", events) is passes


def test_it_is_said_which_calls_failed() -> None:
    from adjudge.judges.builtin import load_builtin

    events = [call("Read", "t0"), result("t0"), call("Bash", "t1"), result("t1", "exit 1", is_error=True)]
    assert load_builtin("tool_call_validation")({"events": events}) == (
        False,
        "1 of 2 tool calls failed: 2. Bash: exit 1",
    )


def test_errors_of_subagents_and_of_calls_that_are_not_known_count() -> None:
    assert not verdict("tool_call_validation", [sub(call("Bash", "t1")), sub(result("t1", is_error=True))])
    assert not verdict("tool_call_validation", [call("Bash", "t1"), result("t1"), result("t9", is_error=True)])
    assert not verdict("tool_call_validation", [result("t9", is_error=True)])


def test_a_call_may_carry_its_own_result() -> None:
    event = {"type": "assistant", "tools": [{"name": "Bash", "input": {}, "result": {"error": "boom"}}]}
    assert not verdict("tool_call_validation", [event])
    made = {"name": "Bash", "input": {}, "result": "exit 1"}
    assert not verdict("tool_call_validation", [], record={"tool_calls": [{**made, "is_error": True}]})
    assert verdict("tool_call_validation", [], record={"tool_calls": [{**made, "is_error": False}]})


def test_no_calls_are_valid_and_calls_without_any_result_are_no_verdict() -> None:
    assert verdict("tool_call_validation", [])
    assert verdict("tool_call_validation", [{"type": "assistant", "text": "hello"}])
    with pytest.raises(ValueError, match="no result of any"):
        verdict("tool_call_validation", [call("Bash", "t1")])
    assert verdict("tool_call_validation", [call("Read", "t0"), result("t0"), call("Bash", "t1")])


MADE = [
    call("Read", file_path="src/a.py"),
    call("mcp__a_b__c", query={"k": 1}),
    call("Read", file_path="README.md"),
    sub(call("Bash", command="rm -rf x")),
]


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ({"tool": "Read"}, True),
        ({"tool": "Read", "min_calls": 2}, True),
        ({"tool": "Read", "min_calls": 3}, False),
        ({"tool": "mcp__a*"}, True),
        ({"tool": "Rea"}, False),
        ({"tool": "read"}, False),
        ({"tool": "*ead"}, True),
        ({"tool": "Bash"}, True),
        ({"tool": "Read", "input_matches": {"file_path": "src/*.py"}}, True),
        ({"tool": "Read", "input_matches": {"file_path": "src"}}, False),
        ({"tool": "Read", "input_matches": {"file_path": "*", "limit": "*"}}, False),
        ({"tool": "Read", "min_calls": 2, "input_matches": {"file_path": "src/*"}}, False),
        ({"tool": "mcp__*", "input_matches": {"query": '{"k": 1}'}}, True),
    ],
)
def test_tool_used(arguments: dict[str, Any], passes: bool) -> None:
    assert verdict("tool_used", MADE, **arguments) is passes


@pytest.mark.parametrize(
    ("tool", "passes"),
    [("Write", True), ("Read", False), ("Bash", False), ("mcp__*", False), ("Ba", True), ("*", False)],
)
def test_tool_not_used(tool: str, passes: bool) -> None:
    assert verdict("tool_not_used", MADE, tool=tool) is passes


def test_read_is_not_read_notebook() -> None:
    assert verdict("tool_not_used", [call("ReadNotebook")], tool="Read")
    assert not verdict("tool_used", [call("ReadNotebook")], tool="Read")


@pytest.mark.parametrize(
    ("tools", "mode", "passes"),
    [
        (["Read", "Read"], "in_order", True),
        (["Read", "mcp__*"], "in_order", True),
        (["mcp__*", "Read", "Read"], "in_order", False),
        (["Read", "Bash"], "in_order", False),
        (["Read", "mcp__*", "Read"], "exact", True),
        (["Read", "Read"], "exact", False),
        (["Read", "mcp__*", "Read", "Bash"], "exact", False),
        (["Read", "Read", "mcp__*"], "any_order", True),
        (["Read", "Read", "Read"], "any_order", False),
        (["*", "mcp__*", "Read"], "any_order", True),
        (["*", "*", "*", "*"], "any_order", False),
    ],
)
def test_tool_sequence(tools: list[str], mode: str, passes: bool) -> None:
    assert verdict("tool_sequence", MADE, tools=tools, mode=mode) is passes


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("tool_used", {"tool": "Read"}), ("tool_not_used", {"tool": "Read"}), ("tool_sequence", {"tools": ["Read"]})],
)
def test_without_a_trajectory_it_is_not_known_what_was_called(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no trajectory"):
        verdict(name, [], **arguments)
    assert verdict(name, [{"type": "assistant", "text": "done"}], **arguments) is (name == "tool_not_used")


@pytest.mark.parametrize(
    ("event", "passes"),
    [
        ({"type": "result", "subtype": "success", "is_error": False}, True),
        ({"type": "result", "subtype": "error_max_turns"}, False),
        ({"type": "result", "is_error": True}, False),
        ({"type": "error", "message": "overloaded"}, False),
        ({"type": "system", "subtype": "api_error"}, False),
        ({"type": "system", "subtype": "init"}, True),
        (result("t1", "Error: in the text alone"), True),
        (result("t1", "x", is_error=True), False),
        ({"type": "assistant", "text": "an error"}, True),
    ],
)
def test_no_error_events(event: Event, passes: bool) -> None:
    assert verdict("no_error_events", [call("Read", "t1"), event]) is passes


def test_an_exit_code_is_an_error_also_without_a_trajectory() -> None:
    assert not verdict("no_error_events", [], record={"exit_code": 1})
    assert not verdict("no_error_events", [call("Read")], record={"exit_code": -9})
    assert verdict("no_error_events", [call("Read")], record={"exit_code": 0})
    with pytest.raises(ValueError, match="no trajectory"):
        verdict("no_error_events", [], record={"exit_code": 0})
