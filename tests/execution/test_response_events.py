"""A response's items as events, and what a response says of itself."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

from adjudge.cases import conversation, reasoning, tool_calls
from adjudge.domain import ErrorKind
from adjudge.execution.response_events import MAX_TEXT, flat_events
from adjudge.models import CallError
from adjudge.models.responses import read_response
from tests.support.hosted import USAGE, message, shell

ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "content": None},
    message("looking"),
    *shell("ls\ncat x", "a\n", stderr="no x", exit_code=1),
    {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "docs",
        "name": "find",
        "arguments": '{"q": 1}',
        "output": "found",
        "error": None,
    },
    {"type": "function_call", "id": "fc_1", "call_id": "c2", "name": "add", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "id": "fo_1", "call_id": "c2", "output": "2", "status": "completed"},
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x", "queries": ["x"]},
    },
    message("done"),
]


def test_every_kind_of_item_is_an_event() -> None:
    events = flat_events(ITEMS)
    calls = [(call["name"], call["input"], call["result"], call["is_error"]) for call in tool_calls(events)]
    assert calls == [
        ("Bash", {"command": "ls\ncat x"}, "a\n\nno x", True),
        ("mcp__docs__find", {"q": 1}, "found", False),
        ("add", {"a": 1}, "2", False),
        ("WebSearch", {"action": {"type": "search", "query": "x", "queries": ["x"]}}, None, None),
    ]
    assert conversation(events) == "looking\n\ndone"
    assert reasoning(events).startswith("[thinking]\nhm")


def test_the_sdk_reads_the_same_items() -> None:
    """The items above are such as the real interface has them."""
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    asked = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    official = Response.model_validate({**whole, **asked, "output": ITEMS, "usage": USAGE})
    assert [item.type for item in official.output] == [item["type"] for item in ITEMS]
    mine = read_response({**whole, "output": ITEMS, "usage": USAGE}, model="m")
    assert "".join(mine.messages) == official.output_text
    assert official.usage is not None
    assert mine.usage.input + mine.usage.cache_read == official.usage.input_tokens
    assert (mine.usage.output, mine.usage.reasoning) == (official.usage.output_tokens, 10)


def test_a_command_that_ran_out_of_time_is_an_error() -> None:
    call, output = shell("sleep 99")
    output["output"] = [{"stdout": "so far", "stderr": "", "outcome": {"type": "timeout"}}]
    (used,) = tool_calls(flat_events([call, output]))
    assert (used["result"], used["is_error"]) == ("so far\n[ran out of time]", True)


def test_an_mcp_call_that_failed_says_why() -> None:
    item = {"type": "mcp_call", "id": "m", "server_label": "s", "name": "t", "arguments": "", "error": "no such tool"}
    (used,) = tool_calls(flat_events([item]))
    assert (used["result"], used["is_error"]) == ("no such tool", True)


def test_a_long_text_is_cut_with_a_mark() -> None:
    for event in flat_events([message("x" * 200_000), *shell("y" * 200_000, "z" * 200_000)]):
        texts = [event.get("text", ""), event.get("content", ""), str(event.get("tools", ""))]
        assert max(map(len, texts)) < MAX_TEXT + 200
    assert flat_events([message("x" * 200_000)])[0]["text"].endswith("x[truncated]")


def test_arguments_that_are_no_object_are_kept_as_they_are() -> None:
    for text in ("{", "[1]", "null", '{"a": NaN}'):
        (used,) = tool_calls(flat_events([{"type": "function_call", "call_id": "c", "name": "f", "arguments": text}]))
        assert used["input"] == {"arguments": text}


_KEYS = st.sampled_from(
    [*("type", "content", "text", "output", "outcome", "exit_code", "stdout", "summary", "action", "commands", "id")]
) | st.text(max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=20,
)
_TYPES = st.sampled_from(["message", "reasoning", "shell_call", "shell_call_output", "mcp_call", "x_call", "other", 7])


@given(st.lists(st.tuples(_TYPES, st.dictionaries(_KEYS, JSON, max_size=5)), max_size=5))
def test_nothing_that_a_provider_sends_as_an_item_raises(items: list[tuple[Any, dict[str, Any]]]) -> None:
    for event in flat_events([{**item, "type": kind} for kind, item in items]):
        assert event["type"] in ("assistant", "tool_result")


@given(JSON, st.dictionaries(st.sampled_from(["id", "status", "output", "error", "usage", "model"]), JSON))
def test_nothing_that_a_provider_sends_as_a_response_raises_anything_else(payload: Any, fields: dict[str, Any]) -> None:
    for given_ in (payload, fields, {**fields, "output": []}):
        with contextlib.suppress(CallError):
            answer = read_response(given_, model="m")
            assert not answer.pending or answer.id


@pytest.mark.parametrize("payload", [None, [], {}, {"status": "queued"}, {"status": 7, "output": []}, {"output": "x"}])
def test_what_is_no_response_may_be_asked_for_again(payload: Any) -> None:
    with pytest.raises(CallError) as error:
        read_response(payload, model="m")
    assert (error.value.kind, error.value.retryable) == (ErrorKind.PROVIDER_ERROR, True)


@pytest.mark.parametrize("usage", [None, {}, [], {"input_tokens": "many"}, {"input_tokens": -1, "output_tokens": 2.5}])
def test_usage_that_is_none_is_not_known(usage: Any) -> None:
    answer = read_response({"id": "r", "status": "completed", "output": [], "usage": usage}, model="gpt-5.2")
    assert (answer.usage.input, answer.usage.output) == (0, 0)
    assert not answer.usage.cost_usd


def test_the_older_names_of_tokens_and_a_billed_cost_are_read() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "cost": 0.5}
    answer = read_response({"id": "r", "output": [], "usage": usage}, model="gpt-5.2")
    assert (answer.usage.input, answer.usage.output, answer.usage.cost_usd) == (7, 3, 0.5)
