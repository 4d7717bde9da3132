from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.provider import LoopbackProvider, Reply, Wire
from tests.support.replies import (
    CutBody,
    CutConnection,
    Empty,
    Html,
    HttpError,
    Malformed,
    NotObject,
    Refusal,
    SlowBody,
    Text,
    ToolCall,
    Truncated,
    Usage,
    Verdict,
    WrongShape,
)

PATHS: dict[Wire, str] = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "passed": {"type": "boolean"},
        "rationale": {"type": "string"},
        "score": {"type": "integer", "minimum": 2, "maximum": 5},
    },
    "required": ["rationale", "passed", "score"],
}
SPENT = Usage(input=10, output=7, cache_read=3, cache_write=2, reasoning=4, billed=0.25)
DATA = {"rationale": "größer — 评分", "passed": True}

both_wires = pytest.mark.parametrize("wire", ["anthropic", "openai"])
both_modes = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=5) as client:
        yield client


def body(wire: Wire, *, forced: bool = True, **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"model": "m-1", "messages": [{"role": "user", "content": "is it good?"}]}
    function: dict[str, Any] = {"name": "submit", "parameters": SCHEMA}
    if wire == "anthropic":
        base |= {"system": "judge", "max_tokens": 50}
        tools: dict[str, Any] = {"tools": [{"name": "submit", "input_schema": SCHEMA}]}
        choice: dict[str, Any] = {"type": "tool", "name": "submit"}
    else:
        base["messages"] = [{"role": "system", "content": "judge"}, *base["messages"]]
        tools = {"tools": [{"type": "function", "function": function}]}
        choice = {"type": "function", "function": {"name": "submit"}}
        if more.get("stream"):
            base["stream_options"] = {"include_usage": True}
    return base | (tools | {"tool_choice": choice} if forced else {}) | more


def ask(client: httpx.Client, provider: LoopbackProvider, wire: Wire, **more: Any) -> httpx.Response:
    return client.post(provider.url + PATHS[wire], json=body(wire, **more))


def answer(client: httpx.Client, wire: Wire, reply: Reply, **more: Any) -> httpx.Response:
    with LoopbackProvider([reply]) as provider:
        return ask(client, provider, wire, **more)


def events(response: httpx.Response) -> list[Any]:
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block.split("\n") for block in response.text.removesuffix("\n\n").split("\n\n")]
    datas = [lines[-1].removeprefix("data: ") for lines in blocks]
    if datas[-1] == "[DONE]":
        return [json.loads(data) for data in datas[:-1]]
    decoded = [json.loads(data) for data in datas]
    assert [lines[0] for lines in blocks] == [f"event: {event['type']}" for event in decoded]
    return decoded


def told(wire: Wire, response: httpx.Response, stream: bool) -> tuple[str, str, str, str]:
    """(how it stopped, text or refusal, tool, tool arguments), read as a client of that wire would."""
    assert response.status_code == 200
    if wire == "anthropic":
        if not stream:
            message = response.json()
            text = "".join(block.get("text", "") for block in message["content"])
            calls = [block for block in message["content"] if block["type"] == "tool_use"]
            given = calls[0]["input"] if calls else ""
            arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            return message["stop_reason"], text, calls[0]["name"] if calls else "", arguments
        seen = events(response)
        deltas = [event["delta"] for event in seen if event["type"] == "content_block_delta"]
        names = [event["content_block"].get("name", "") for event in seen if event["type"] == "content_block_start"]
        return (
            seen[-2]["delta"]["stop_reason"],
            "".join(delta.get("text", "") for delta in deltas),
            "".join(names),
            "".join(delta.get("partial_json", "") for delta in deltas),
        )
    if not stream:
        choice = response.json()["choices"][0]
        parts = [choice["message"]]
    else:
        choices = [choice for event in events(response) for choice in event["choices"]]
        choice, parts = choices[-1], [choice["delta"] for choice in choices]
    functions = [call["function"] for part in parts for call in part.get("tool_calls", ())]
    return (
        choice["finish_reason"],
        "".join((part.get("content") or "") + (part.get("refusal") or "") for part in parts),
        "".join(function.get("name", "") for function in functions),
        "".join(function["arguments"] for function in functions),
    )


@both_wires
@both_modes
def test_the_default_reply_satisfies_the_forced_tool(client: httpx.Client, wire: Wire, stream: bool) -> None:
    with LoopbackProvider() as provider:
        first = ask(client, provider, wire, stream=stream)
        assert provider.requests[0].index == 0
    stop, text, tool, arguments = told(wire, first, stream)
    assert (stop, text, tool) == ("tool_use" if wire == "anthropic" else "stop", "", "submit")
    assert list(json.loads(arguments).items()) == [("rationale", "ok"), ("passed", True), ("score", 2)]
    assert answer(client, wire, Verdict(json.loads(arguments)), stream=stream).content == first.content


@both_modes
@pytest.mark.parametrize(
    ("reply", "anthropic", "openai"),
    [
        (Text("héllo " * 20), ("end_turn", "héllo " * 20, "", ""), ("stop", "héllo " * 20, "", "")),
        (ToolCall("other", {"a": 1}), ("tool_use", "", "other", '{"a":1}'), ("stop", "", "other", '{"a":1}')),
        (ToolCall("submit", "{bad"), ("tool_use", "", "submit", "{bad"), ("stop", "", "submit", "{bad")),
        (Refusal("no"), ("refusal", "no", "", ""), ("stop", "no", "", "")),
        (Refusal(), ("refusal", "", "", ""), ("content_filter", "", "", "")),
        (Empty(), ("end_turn", "", "", ""), ("stop", "", "", "")),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Reply) else "",
)
def test_model_replies(
    client: httpx.Client, stream: bool, reply: Reply, anthropic: tuple[str, ...], openai: tuple[str, ...]
) -> None:
    got = told("anthropic", answer(client, "anthropic", reply, stream=stream), stream)
    assert tuple(part.replace('": ', '":') for part in got) == anthropic
    assert told("openai", answer(client, "openai", reply, stream=stream), stream) == openai


@both_wires
@both_modes
def test_a_verdict_takes_the_structure_asked_for(client: httpx.Client, wire: Wire, stream: bool) -> None:
    text = json.dumps(DATA, ensure_ascii=False, separators=(",", ":"))
    plain = told(wire, answer(client, wire, Verdict(DATA), stream=stream, forced=False), stream)
    assert plain == ("end_turn" if wire == "anthropic" else "stop", text, "", "")
    auto = {"type": "auto"} if wire == "anthropic" else "auto"
    offered = answer(client, wire, Verdict(DATA), stream=stream, tool_choice=auto)
    stop, _, tool, arguments = told(wire, offered, stream)
    assert (stop, tool) == ("tool_use" if wire == "anthropic" else "tool_calls", "submit")
    assert json.loads(arguments) == DATA
    if wire == "openai":
        response_format = {"type": "json_schema", "json_schema": {"name": "v", "schema": SCHEMA}}
        more = {"stream": stream, "forced": False, "response_format": response_format}
        assert json.loads(told(wire, answer(client, wire, Verdict(DATA), **more), stream)[1]) == DATA


@both_modes
def test_truncation_cuts_the_arguments_in_half(client: httpx.Client, stream: bool) -> None:
    reply = Truncated({"rationale": "short", "passed": True, "notes": "n" * 60})
    openai = told("openai", answer(client, "openai", reply, stream=stream), stream)
    assert openai == ("length", "", "submit", '{"rationale":"short","passed":true,"notes":"nnnnnnnnn')
    stop, _, tool, arguments = told("anthropic", answer(client, "anthropic", reply, stream=stream), stream)
    assert (stop, tool) == ("max_tokens", "submit")
    assert arguments == (openai[3] if stream else '{"rationale": "short", "passed": true}')
    for wire in PATHS:
        assert told(wire, answer(client, wire, reply, stream=stream, forced=False), stream)[1] == openai[3]


@both_modes
def test_usage_is_spelled_as_the_providers_do(client: httpx.Client, stream: bool) -> None:
    response = answer(client, "anthropic", Text("x", SPENT), stream=stream)
    if stream:
        start, end = events(response)[0]["message"]["usage"], events(response)[-2]["usage"]
        assert (start["output_tokens"], end["output_tokens"]) == (1, 7)
        usage = start | end
    else:
        usage = response.json()["usage"]
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    assert [usage[name] for name in names] == [10, 7, 3, 2]
    assert usage["output_tokens_details"] == {"thinking_tokens": 4}
    response = answer(client, "openai", Text("x", SPENT), stream=stream, stream_options=None)
    usage = (events(response)[-1] if stream else response.json())["usage"]
    assert [usage[name] for name in ("prompt_tokens", "completion_tokens", "total_tokens", "cost")] == [15, 7, 22, 0.25]
    assert usage["prompt_tokens_details"]["cached_tokens"] == 3
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 4
    unasked = answer(client, "openai", Text("x"), stream=stream, stream_options=None)
    assert ("usage" in unasked.text) is not stream
    assert "cost" not in unasked.text


@pytest.mark.parametrize(
    ("status", "anthropic", "openai", "code"),
    [
        (400, "invalid_request_error", "invalid_request_error", None),
        (401, "authentication_error", "invalid_request_error", "invalid_api_key"),
        (403, "permission_error", "invalid_request_error", None),
        (404, "not_found_error", "invalid_request_error", "model_not_found"),
        (413, "request_too_large", "invalid_request_error", None),
        (429, "rate_limit_error", "tokens", "rate_limit_exceeded"),
        (500, "api_error", "server_error", None),
        (503, "api_error", "server_error", None),
        (529, "overloaded_error", "server_error", None),
    ],
)
def test_http_errors(client: httpx.Client, status: int, anthropic: str, openai: str, code: str | None) -> None:
    reply = HttpError(status, retry_after=0.5, message="boom", headers={"x-extra": "1"})
    refused = answer(client, "anthropic", reply, stream=True)
    error = {"type": anthropic, "message": "boom"}
    assert refused.json() == {"type": "error", "error": error, "request_id": refused.headers["request-id"]}
    assert (refused.status_code, refused.headers["retry-after"], refused.headers["x-extra"]) == (status, "0.5", "1")
    refused = answer(client, "openai", reply)
    assert refused.json()["error"] == {"message": "boom", "type": openai, "param": None, "code": code}
    assert refused.status_code == status


def test_error_kinds(client: httpx.Client) -> None:
    quota = HttpError(429, retry_after="Fri, 31 Dec 2100 23:59:59 GMT", kind="insufficient_quota")
    error = answer(client, "openai", quota)
    assert (error.json()["error"]["type"], error.json()["error"]["code"]) == ("insufficient_quota",) * 2
    assert error.headers["retry-after"] == quota.retry_after
    error = answer(client, "openai", HttpError(400, kind="context_length_exceeded"))
    assert (error.json()["error"]["type"], error.json()["error"]["code"]) == (
        "invalid_request_error",
        "context_length_exceeded",
    )
    assert answer(client, "anthropic", HttpError(400, kind="billing_error")).json()["error"]["type"] == "billing_error"


@both_wires
@both_modes
def test_cut_answers(client: httpx.Client, wire: Wire, stream: bool) -> None:
    with LoopbackProvider([CutBody(after=7), CutBody(after=10**6), CutConnection()]) as provider:
        for _ in range(2):
            with client.stream("POST", provider.url + PATHS[wire], json=body(wire, stream=stream)) as response:
                assert response.status_code == 200
                with pytest.raises(httpx.RemoteProtocolError, match="closed connection"):
                    response.read()
        with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
            ask(client, provider, wire, stream=stream)


@both_wires
@both_modes
def test_success_that_is_no_answer(client: httpx.Client, wire: Wire, stream: bool) -> None:
    for reply, payload in ((Malformed(), '{"id":"cut'), (NotObject(), "[]"), (WrongShape(), '{"ok":true}')):
        response = answer(client, wire, reply, stream=stream)
        assert response.status_code == 200
        assert response.text.strip().split("\n")[-1].removeprefix("data: ") == payload
    assert answer(client, wire, HttpError(522)).status_code == 522
    page = answer(client, wire, Html(503), stream=stream)
    assert (page.status_code, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "<h1>Service Unavailable</h1>" in page.text


@both_wires
@both_modes
def test_a_slow_body_drips(client: httpx.Client, wire: Wire, stream: bool) -> None:
    with LoopbackProvider([SlowBody(Verdict(DATA), seconds=0.3)]) as provider:
        started = time.monotonic()
        with client.stream("POST", provider.url + PATHS[wire], json=body(wire, stream=stream)) as response:
            headed = time.monotonic() - started
            response.read()
        assert headed < 0.3 <= time.monotonic() - started + 0.01
    assert json.loads(told(wire, response, stream)[3]) == DATA
