"""What agent programs print, as flat events and figures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adjudge.cases.events import conversation, reasoning, subagents, tool_calls, tool_trace
from adjudge.cases.stream_lines import MAX_TEXT
from adjudge.cases.streams import Stream, events_of, with_subagents
from adjudge.domain import Metrics, TokenUsage

Event = dict[str, Any]


def lines(*events: Any) -> str:
    return "\n".join(event if isinstance(event, str) else json.dumps(event) for event in events)


def read(*events: Any, **transcripts: str) -> Stream:
    return events_of(lines(*events), subagents={f"{name}.jsonl": text for name, text in transcripts.items()})


def wrote(key: str | None, *blocks: Event, **keys: Any) -> Event:
    """A line of Claude Code's."""
    usage = keys.pop("usage", None)
    message: Event = {"id": key, "model": keys.pop("model", "m1"), "role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": message | ({"usage": usage} if usage else {}), **keys}


def text(said: Any) -> Event:
    return {"type": "text", "text": said}


def thinking(said: Any) -> Event:
    return {"type": "thinking", "thinking": said, "signature": "x"}


def use(key: str, name: str = "Bash", **given: Any) -> Event:
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def gave(key: str, content: Any, **keys: Any) -> Event:
    block = {"type": "tool_result", "tool_use_id": key, "content": content, **keys.pop("block", {})}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **keys}


def tokens(*figures: int) -> Event:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return dict(zip(names, figures, strict=False))


def done(**keys: Any) -> Event:
    return {"type": "result", "subtype": "success", **keys}


def by_model(cost: float, *figures: int) -> Event:
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return {**dict(zip(names, figures, strict=False)), "costUSD": cost}


TALK = (
    {"type": "system", "subtype": "init", "model": "m1", "session_id": "s", "timestamp": "2025-01-01T00:00:00Z"},
    wrote("a", thinking("Hm."), timestamp="2025-01-01T00:00:01Z"),
    wrote("a", text("Looking."), use("t1", command="ls"), timestamp="2025-01-01T00:00:02Z"),
    gave("t1", [text("x.md")], timestamp="2025-01-01T00:00:03Z"),
    wrote("b", text("Done.")),
    done(total_cost_usd=0.5, num_turns=2, duration_ms=1500, result="Done."),
)


def test_claude_code() -> None:
    stream = read(*TALK)
    assert stream.events == (
        {"type": "system", "subtype": "init", "timestamp": "2025-01-01T00:00:00Z", "model": "m1"},
        {
            "type": "assistant",
            "text": "",
            "tools": [],
            "timestamp": "2025-01-01T00:00:01Z",
            "thinking": "Hm.",
            "_msg_id": "a",
        },
        {
            "type": "assistant",
            "text": "Looking.",
            "timestamp": "2025-01-01T00:00:02Z",
            "_msg_id": "a",
            "tools": [{"name": "Bash", "id": "t1", "input": {"command": "ls"}}],
        },
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "tool_name": "Bash",
            "content": "x.md",
            "is_error": False,
            "timestamp": "2025-01-01T00:00:03Z",
        },
        {"type": "assistant", "text": "Done.", "tools": [], "timestamp": None, "_msg_id": "b"},
        {"type": "result", "cost_usd": 0.5, "num_turns": 2, "timestamp": None},
    )
    assert stream.metrics == Metrics(duration_s=1.5, cost_usd=0.5, num_turns=2)
    assert (stream.models, stream.per_model_turns, stream.skipped, stream.recognised) == (("m1",), {"m1": 2}, 0, 6)


def test_codex() -> None:
    def item(kind: str, **keys: Any) -> Event:
        return {"type": "item.completed", "item": {"id": f"i-{kind}", "type": kind, **keys}}

    stream = read(
        {"type": "thread.started", "thread_id": "x"},
        {"type": "turn.started"},
        item("reasoning", text="Hm."),
        item("command_execution", command="ls", aggregated_output="a", exit_code=1, status="failed"),
        item("command_execution", command="rm", status="declined"),
        item("mcp_tool_call", server="s", tool="t", arguments={"q": 1}, result={"ok": True}),
        item("agent_message", text="Done."),
        {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
    )
    assert conversation(stream.events) == "Done."
    assert reasoning(stream.events) == "[thinking]\nHm.\n\nDone."
    assert [call["name"] for call in tool_calls(stream.events)] == ["Bash", "Bash", "mcp__s__t"]
    assert tool_calls(stream.events)[0]["is_error"]
    assert [event["tool_name"] for event in stream.events if event["type"] == "tool_result"][-1] == "mcp__s__t"
    assert [event for event in stream.events if event["type"] == "result"] == [
        {"type": "result", "cost_usd": None, "num_turns": 2, "timestamp": None}
    ]
    assert stream.metrics == Metrics(num_turns=2, token_usage=TokenUsage(input=7, output=4, cache_read=4))
    assert [denial["tool_name"] for denial in stream.denials] == ["Bash"]


def test_opencode() -> None:
    call = {"callID": "c1", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "output": "a"}}
    use = {"input": 5, "output": 2, "cache": {"read": 1, "write": 0}}
    stream = read(
        {"type": "step_start", "timestamp": 1735689600000, "part": {}},
        {"type": "tool_use", "timestamp": 1735689601000, "part": call},
        {"type": "text", "timestamp": 1735689602000, "part": {"text": "Done."}},
        {"type": "step_finish", "part": {"reason": "stop", "cost": 0.25, "tokens": use}},
    )
    assert conversation(stream.events) == "Done."
    assert tool_calls(stream.events)[0]["result"] == "a"
    assert stream.events[0]["timestamp"] == 1735689601000
    assert stream.metrics == Metrics(cost_usd=0.25, num_turns=1, token_usage=TokenUsage(5, 2, 1))


def test_gemini() -> None:
    stats = {"input_tokens": 10, "cached": 4, "output_tokens": 2, "models": {"g": {}}}
    stream = read(
        {"type": "init", "session_id": "s", "model": "g", "timestamp": "2025-01-01T00:00:00Z"},
        {"type": "message", "role": "user", "content": "ask"},
        {"type": "message", "role": "assistant", "content": "Loo", "delta": True, "timestamp": "2025-01-01T00:00:01Z"},
        {"type": "message", "role": "assistant", "content": "king.", "delta": True},
        {"type": "tool_use", "tool_name": "read_file", "tool_id": "t", "parameters": {"path": "a"}},
        {"type": "tool_result", "tool_id": "t", "status": "error", "error": {"type": "policy_violation"}},
        {"type": "message", "role": "assistant", "content": "Done.", "delta": True},
        {"type": "result", "status": "success", "stats": stats},
    )
    assert conversation(stream.events) == "Looking.\n\nDone."
    assert stream.events[1]["timestamp"] == "2025-01-01T00:00:01Z"
    (call,) = tool_calls(stream.events)
    assert (call["name"], call["is_error"]) == ("read_file", True)
    assert stream.metrics == Metrics(num_turns=3, token_usage=TokenUsage(6, 2, 4))
    assert stream.models == ("g",)
    assert [denial["tool_name"] for denial in stream.denials] == ["read_file"]
    assert not stream.skipped


def test_flat_events_stay_as_they_are() -> None:
    events = (
        {"type": "system", "subtype": "init", "timestamp": None, "model": "m"},
        {"type": "assistant", "text": "Hi.", "tools": [{"name": "Bash", "id": "t", "input": {}}], "timestamp": None},
        {"type": "tool_result", "tool_use_id": "t", "tool_name": "Bash", "content": "a", "is_error": False},
        {"type": "result", "cost_usd": 0.1, "num_turns": 3, "timestamp": None},
    )
    stream = read(*events)
    assert stream.events == events
    assert stream.metrics == Metrics(cost_usd=0.1, num_turns=3)


JUNK = ["plain text", "42", "null", "[1, 2]", '"x"', "true", '{"type": "assistant", "mess', "{}", '{"type": 5}']
JUNK += ['{"level": "info", "msg": "x"}', '{"type": "assistant", "message": null}', '{"type": "user", "message": 5}']
JUNK += ['{"type": "assistant"}', '{"type": "system"}', '{"a": NaN}', '{"a":' * 900 + "1" + "}" * 900]


@pytest.mark.parametrize("junk", JUNK)
def test_a_line_that_is_no_event_is_skipped_and_counted(junk: str) -> None:
    stream = read(*TALK[:2], junk, *TALK[2:], junk)
    assert stream.events == read(*TALK).events
    assert (stream.skipped, stream.recognised) == (2, 6)


@pytest.mark.parametrize("kind", ["stream_event", "rate_limit_event", "summary"])
def test_a_known_event_that_judges_do_not_see_is_no_junk(kind: str) -> None:
    stream = read({"type": kind}, *TALK)
    assert (stream.events, stream.skipped) == (read(*TALK).events, 0)


@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\x0b", "\x1c"], ids=repr)
def test_only_a_newline_ends_an_event(odd: str) -> None:
    line = '{"type": "assistant", "text": "a\u2028b\u0085c"}'
    assert [event["text"] for event in events_of(f"\ufeff{line}\r\n{line}{odd}").events] == ["a\u2028b\u0085c"] * 2


def test_null_thinking_and_text_are_nothing_and_redacted_thinking_is_marked() -> None:
    stream = read(
        wrote("a", thinking(None), text(None), {"type": "redacted_thinking", "data": "xx"}), wrote("b", text("x"))
    )
    assert stream.events[0]["thinking"] == "[redacted thinking]"
    assert "None" not in reasoning(stream.events)
    assert "xx" not in reasoning(stream.events)


def test_a_result_without_any_message_still_has_its_answer() -> None:
    assert conversation(read(done(result="The answer.", usage=tokens(1, 2))).events) == "The answer."
    assert read(done(result="x", usage=tokens(1, 2))).metrics.token_usage == TokenUsage(1, 2)


def test_plain_text_of_the_user_is_dropped() -> None:
    stream = read({"type": "user", "message": {"role": "user", "content": "ask"}}, {"type": "user", "text": "ask"})
    assert (stream.events, stream.skipped) == ((), 0)


def test_long_strings_are_cut_with_a_mark_and_their_length() -> None:
    long = "x" * (MAX_TEXT + 1)
    cut = long[:MAX_TEXT] + "[truncated]"
    flat = {"type": "tool_result", "tool_use_id": "f", "content": long}
    stream = read(wrote("a", text(long), use("t", deep=[{"a": long}])), gave("t", long), flat)
    first, second, third = stream.events
    assert first["text"] == cut
    assert first["tools"][0]["input"] == {"deep": [{"a": cut}]}
    for event in (second, third):
        assert (event["content"], event["truncated"], event["original_length"]) == (cut, True, MAX_TEXT + 1)
    assert "truncated" not in read(wrote("a", text("x" * MAX_TEXT))).events[0]


def test_a_message_in_pieces_that_are_each_short_is_cut_too() -> None:
    piece = {"type": "message", "role": "assistant", "content": "x" * 10_000, "delta": True}
    assert read(*[piece] * 6).events[0]["original_length"] == 60_000


SUB = lines(
    {"type": "user", "message": {"role": "user", "content": "task"}, "timestamp": "2025-01-01T00:00:02Z"},
    wrote("s1", text("In the subagent."), use("u1", "Grep"), timestamp="2025-01-01T00:00:02.500Z", usage=tokens(1, 1)),
    gave("u1", "hit", timestamp="2025-01-01T00:00:02.600Z"),
)


def test_a_transcript_is_of_a_subagent_and_in_order_of_time() -> None:
    stream = read(*TALK, worker=SUB)
    assert conversation(stream.events) == "Looking.\n\nDone."
    assert [call["name"] for call in tool_calls(stream.events)] == ["Bash"]
    assert "[subagent] 2. Grep" in tool_trace(stream.events)
    assert subagents(stream.events) == {"worker": "In the subagent."}
    assert [event.get("agent_id") for event in stream.events] == [None, None, None, "worker", "worker", *[None] * 3]
    assert [event["type"] for event in stream.events[-2:]] == ["assistant", "result"]
    assert stream.metrics.num_turns == 3
    assert stream.metrics.token_usage == TokenUsage(1, 1)


def test_what_a_stream_and_a_transcript_both_hold_is_told_once() -> None:
    root = wrote("s1", text("In the subagent."), parent_tool_use_id="t1")
    other = wrote("s1", use("u1", "Grep"), parent_tool_use_id="t1")
    stream = read(root, other, gave("u1", "hit", parent_tool_use_id="t1"), worker=SUB)
    assert [event["type"] for event in stream.events] == ["assistant", "assistant", "tool_result"]
    assert {event["agent_id"] for event in stream.events if event["type"] == "assistant"} == {"worker"}
    assert stream.metrics.num_turns == 1


def test_several_lines_of_one_message_are_all_kept() -> None:
    stream = read(
        wrote("a", thinking("Hm.")), wrote("a", text("One.")), wrote("a", use("t1")), wrote("a", text("One."))
    )
    assert reasoning(stream.events) == "[thinking]\nHm.\n\nOne."
    assert len(tool_calls(stream.events)) == 1
    assert len(stream.events) == 3


def test_thinking_between_texts_stays_where_it_was() -> None:
    stream = read(wrote("a", text("One.")), wrote("a", thinking("Hm.")), wrote("a", text("Two.")))
    assert reasoning(stream.events) == "One.\n\n[thinking]\nHm.\n\nTwo."


@pytest.mark.parametrize("first", [True, False])
def test_thinking_is_filled_in_from_whichever_has_it(first: bool) -> None:
    bare = wrote("s1", text("Said."), parent_tool_use_id="t")
    full = wrote("s1", thinking("Because."), text("Said."))
    redacted = wrote("s1", {"type": "redacted_thinking"}, text("Said."), parent_tool_use_id="t")
    for known in (bare, redacted):
        pair = (known, full) if first else (full, known)
        stream = read(pair[0], worker=lines(pair[1]))
        assert [(event["text"], event["thinking"]) for event in stream.events] == [("Said.", "Because.")]


def test_the_root_is_never_hidden_by_a_transcript_that_repeats_it() -> None:
    stream = read(wrote("a", text("Root.")), worker=lines(wrote("a", text("Root."))))
    assert conversation(stream.events) == "Root."


def test_flat_events_take_transcripts_in() -> None:
    flat = read(*TALK).events
    merged = with_subagents(flat, {"worker.jsonl": SUB})
    assert merged == read(*TALK, worker=SUB).events


@pytest.mark.parametrize(
    ("total", "parts", "cost"),
    [(0.3, [1.47], 1.47), (0.3, [0.305], 0.3), (1.0, [0.5], 1.0), (None, [0.2, 0.3], 0.5), (0.3, [], 0.3)],
)
def test_the_cost_is_the_larger_sum_when_it_is_larger_by_a_cent(
    total: float | None, parts: list[float], cost: float
) -> None:
    usage = {f"m{k}": by_model(part, 1, 1) for k, part in enumerate(parts)}
    assert read(*TALK[:-1], done(total_cost_usd=total, modelUsage=usage)).metrics.cost_usd == pytest.approx(cost)


def test_usage_is_that_of_the_last_result_by_model() -> None:
    early = done(modelUsage={"m1": by_model(1, 1, 1, 1, 1)})
    last = done(modelUsage={"m1": by_model(0.5, 1, 2, 3, 4), "m2": by_model(0.25, 10, 20), "<synthetic>": by_model(0)})
    stream = read(wrote("a", usage=tokens(9, 9)), early, last)
    assert stream.metrics.token_usage == TokenUsage(11, 22, 3, 4)
    assert stream.per_model_usage == {
        "m1": {"input": 1, "output": 2, "cache_read": 3, "cache_create": 4, "cost_usd": 0.5},
        "m2": {"input": 10, "output": 20, "cache_read": 0, "cache_create": 0, "cost_usd": 0.25},
    }
    assert stream.models == ("m1", "m2")


def test_without_a_result_usage_is_summed_over_messages_each_once() -> None:
    stream = read(
        wrote("a", text("x"), usage=tokens(5, 1)),
        wrote("a", use("t"), usage=tokens(5, 7)),
        wrote("b", text("y"), usage=tokens(1, 1), model="m2"),
        wrote("c", text("no"), usage=tokens(99, 99), model="<synthetic>"),
        worker=lines(wrote("d", text("z"), usage=tokens(2, 2)), wrote("b", text("y"), usage=tokens(1, 1), model="m2")),
    )
    assert stream.metrics.token_usage == TokenUsage(8, 10)
    assert stream.metrics.cost_usd is None
    assert {model: part["input"] for model, part in stream.per_model_usage.items()} == {"m1": 7, "m2": 1}
    assert stream.per_model_turns == {"m1": 2, "m2": 1}
    assert stream.metrics.num_turns == 3
    assert stream.models == ("m1", "m2")


def test_what_is_unknown_is_not_zero() -> None:
    assert read("nothing").metrics == Metrics()
    assert read(wrote("a", text("x"))).metrics == Metrics(num_turns=1)
    assert read(done(num_turns=0)).metrics.num_turns == 0


def test_denials_of_all_results_are_told_once_each() -> None:
    one: Event = {"tool_name": "Bash", "tool_use_id": "a", "tool_input": {}}
    two = {**one, "tool_use_id": "b"}
    stream = read(done(permission_denials=[one, 5]), done(permission_denials=[two, one]), done(permission_denials=None))
    assert stream.denials == (one, two)
