from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from tests.support.provider import LoopbackProvider, Request, Wire, body_key, default_reply
from tests.support.replies import CutBody, CutConnection, HttpError, SlowBody, Stall, Text, Verdict
from tests.support.request import satisfying

PATHS: dict[Wire, str] = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}
BODY: dict[str, Any] = {"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": "is it good?"}]}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}
ANTHROPIC_TOOLS = [{"name": "submit", "input_schema": SCHEMA}]
OPENAI_TOOLS = [{"type": "function", "function": {"name": "submit", "parameters": SCHEMA}}]

both_wires = pytest.mark.parametrize("wire", ["anthropic", "openai"])


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=5) as client:
        yield client


def text_of(response: httpx.Response) -> str:
    payload = response.json()
    text = payload["content"][0]["text"] if "content" in payload else payload["choices"][0]["message"]["content"]
    assert isinstance(text, str)
    return text


def settles(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "the provider did not settle"
        time.sleep(0.01)


def raw(provider: LoopbackProvider, *parts: bytes) -> bytes:
    """Everything the provider says to these bytes before it closes."""
    with socket.create_connection(("127.0.0.1", int(provider.url.rsplit(":", 1)[1])), timeout=5) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.002)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def post(wire: Wire, *headers: str, sent: bytes = json.dumps(BODY).encode(), version: str = "1.1") -> bytes:
    fields = "".join(f"{header}\r\n" for header in headers)
    return f"POST {PATHS[wire]} HTTP/{version}\r\n{fields}content-length: {len(sent)}\r\n\r\n".encode() + sent


@both_wires
def test_a_connection_is_kept_alive(client: httpx.Client, wire: Wire) -> None:
    with LoopbackProvider(lambda request: Text(str(request.index))) as provider:
        seen = []
        for index in range(3):
            more = {"stream": True} if index == 1 else {}
            response = client.post(provider.url + PATHS[wire], json=BODY | more)
            seen.append(response.extensions["network_stream"].get_extra_info("client_addr"))
        assert len(set(seen)) == 1
        assert text_of(response) == "2"


def test_many_calls_at_once() -> None:
    async def load(provider: LoopbackProvider) -> None:
        limits = httpx.Limits(max_connections=40)
        async with httpx.AsyncClient(trust_env=False, timeout=10, limits=limits) as client:
            url = provider.url + PATHS["openai"]
            answers = await asyncio.gather(*(client.post(url, json=BODY) for _ in range(120)))
            assert all(answer.status_code == 200 for answer in answers)

    with LoopbackProvider(latency=0.2) as provider:
        started = time.monotonic()
        asyncio.run(load(provider))
        assert time.monotonic() - started < 120 * 0.2 / 4
        assert 20 <= provider.max_in_flight <= 40
        settles(lambda: provider.in_flight == 0)
        assert [request.index for request in provider.requests] == list(range(120))


@both_wires
def test_the_log_has_one_line_asked_and_one_answered(client: httpx.Client, wire: Wire, tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    log.write_text('{"event":"kept"}\n')
    with LoopbackProvider([HttpError(429), Text("x"), CutBody(), Stall()], log=log) as provider:
        client.post(provider.url + PATHS[wire], json=BODY)
        client.post(provider.url + PATHS[wire], json=dict(reversed(BODY.items())))
        with pytest.raises(httpx.RemoteProtocolError):
            client.post(provider.url + PATHS[wire], json=BODY)
        with pytest.raises(httpx.ReadTimeout):
            client.post(provider.url + PATHS[wire], json=BODY | {"model": "m-2"}, timeout=0.1)
        settles(lambda: provider.in_flight == 0)
    _, *lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["event"], line["index"], line["status"]) for line in lines] == [
        ("asked", 0, None),
        ("answered", 0, 429),
        ("asked", 1, None),
        ("answered", 1, 200),
        ("asked", 2, None),
        ("asked", 3, None),
    ]
    assert {(line["wire"], line["model"], line["key"]) for line in lines[:5]} == {(wire, "m-1", body_key(BODY))}
    assert (lines[5]["model"], lines[5]["key"]) == ("m-2", body_key(BODY | {"model": "m-2"}))
    assert len({line["prompt_sha"] for line in lines}) == 1


def test_a_sequence_is_used_in_order_and_its_last_repeated(client: httpx.Client) -> None:
    with LoopbackProvider([HttpError(500), Text("a"), Text("b", delay=0.1)]) as provider:
        url = provider.url + PATHS["anthropic"]
        assert client.post(url, json=BODY).status_code == 500
        assert text_of(client.post(url, json=BODY)) == "a"
        started = time.monotonic()
        assert [text_of(client.post(url, json=BODY)) for _ in range(2)] == ["b", "b"]
        assert time.monotonic() - started > 0.19
    with pytest.raises(ValueError, match="empty"):
        LoopbackProvider([])


@pytest.mark.parametrize("bad", [lambda request: 1 / 0, lambda request: "text", [SlowBody(CutConnection(), 0.1)]])
def test_a_failing_script_is_answered_and_fails_the_block(client: httpx.Client, bad: Any) -> None:
    with pytest.raises(AssertionError, match="provider failed"), LoopbackProvider(bad) as provider:
        assert client.post(provider.url + PATHS["openai"], json=BODY).status_code == 400


def test_leaving_the_block_ends_calls_that_wait(client: httpx.Client) -> None:
    with LoopbackProvider([Stall()]) as provider:
        port = int(provider.url.rsplit(":", 1)[1])
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
        connection.sendall(post("anthropic"))
        settles(lambda: provider.in_flight == 1)
    with connection:
        assert connection.recv(1) == b""
    with pytest.raises(httpx.ConnectError):
        client.post(f"http://127.0.0.1:{port}/v1/messages", json=BODY)


def test_a_request_reads_the_same_on_both_wires(client: httpx.Client) -> None:
    blocks = [{"type": "text", "text": "two"}, {"type": "image"}, {"type": "text", "text": "three"}]
    turns = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "not asked"},
        {"role": "user", "content": blocks},
    ]
    system = [{"type": "text", "text": "be"}, {"type": "text", "text": "strict"}]
    opening = [{"role": "system", "content": "be"}, {"role": "developer", "content": "strict"}]
    openai = {"messages": [*opening, *turns], "tools": OPENAI_TOOLS}
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("/v1/messages?beta=true", {"system": system, "messages": turns, "tools": ANTHROPIC_TOOLS}),
        ("/v1/chat/completions", openai),
        ("/chat/completions", openai),
    ]
    with LoopbackProvider() as provider:
        for path, body in bodies:
            anthropic = "messages" in path
            forced = {"type": "tool", "name": "submit"}
            choice = forced if anthropic else {"type": "function", "function": {"name": "submit"}}
            client.post(provider.url + path, json=body | {"model": "m-1", "tool_choice": choice}, headers={"X-A": "b"})
    for request, (path, _) in zip(provider.requests, bodies, strict=True):
        assert (request.wire == "anthropic") is ("messages" in path)
        assert (request.path, request.headers["x-a"]) == (path.partition("?")[0], "b")
        assert (request.model, request.system, request.prompt) == ("m-1", "be\nstrict", "one\ntwo\nthree")
        assert (request.tool_name, request.schema) == ("submit", SCHEMA)
        assert json.loads(request.raw) == request.body


@pytest.mark.parametrize(
    ("wire", "body", "name", "schema"),
    [
        ("anthropic", {"tools": ANTHROPIC_TOOLS}, None, None),
        ("anthropic", {"tools": ANTHROPIC_TOOLS, "tool_choice": {"type": "auto"}}, None, None),
        ("anthropic", {"tools": ANTHROPIC_TOOLS, "tool_choice": {"type": "any"}}, "submit", SCHEMA),
        ("anthropic", {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}, None, SCHEMA),
        ("openai", {"tools": OPENAI_TOOLS, "tool_choice": "required"}, "submit", SCHEMA),
        ("openai", {"tools": OPENAI_TOOLS, "tool_choice": "none"}, None, None),
        ("openai", {"response_format": {"json_schema": {"name": "v", "schema": SCHEMA}}}, "v", SCHEMA),
        ("openai", {"tools": "no", "messages": [1, {"role": "user"}], "tool_choice": {"type": "function"}}, None, None),
    ],
)
def test_what_is_forced(wire: Wire, body: dict[str, Any], name: str | None, schema: dict[str, Any] | None) -> None:
    request = Request(0, wire, PATHS[wire], {}, body, b"")
    assert (request.tool_name, request.schema) == (name, schema)
    assert default_reply(request) == (Text("ok") if schema is None else Verdict({"passed": True}))


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        {"type": "number", "minimum": 0.5},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "number", "minimum": 1, "maximum": 5, "multipleOf": 0.5},
        {"type": "integer", "exclusiveMinimum": 2},
        {"type": "integer", "maximum": 0},
        {"type": "integer", "minimum": 0.5},
        {"type": ["null", "string"]},
        {"type": "string", "minLength": 5},
        {"type": "string", "maxLength": 1},
        {"enum": ["low", "high"]},
        {"const": 7},
        {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]},
        {"type": "array", "minItems": 2, "items": {"type": "object", "properties": {"a": {"enum": [1]}}}},
        {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}},
        {"type": "array", "maxItems": 0},
        {
            "properties": {"left": {"$ref": "#"}, "n": {"$ref": "#/$defs/n"}},
            "required": ["n"],
            "$defs": {"n": {"type": "null"}},
        },
        {"type": "object", "required": ["free"]},
    ],
)
def test_default_answers_satisfy_their_schema(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(satisfying(schema))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GARBAGE\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nbad : name\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: -1\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", 411),
        (b"POST /v1/messages HTTP/1.1\r\nx: " + b"y" * 70_000, 431),
        (b"POST /v1/elsewhere HTTP/1.1\r\n\r\n", 404),
        (b"GET /v1/messages HTTP/1.1\r\n\r\n", 405),
        (post("openai", sent=b"{"), 400),
        (post("openai", sent=b"[]"), 400),
    ],
)
def test_bad_http_is_refused(sent: bytes, status: int) -> None:
    with LoopbackProvider() as provider:
        head, _, payload = raw(provider, sent).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert json.loads(payload)["error"]["message"]
        assert provider.requests == []


def test_requests_may_come_in_any_pieces() -> None:
    with LoopbackProvider(lambda request: Text(f"<{request.index}>"), latency=0.01) as provider:
        last = post("openai", "connection: close")
        together = raw(provider, post("anthropic") + post("openai") + last)
        assert together.count(b"HTTP/1.1 200 OK") == 3
        assert together.index(b"<0>") < together.index(b"<1>") < together.index(b"<2>")
        cuts = [last[start : start + 9] for start in range(0, len(last), 9)]
        assert b"<3>" in raw(provider, *cuts)
        assert b"<4>" in raw(provider, post("anthropic", version="1.0"))
        assert raw(provider, post("openai", "expect: 100-continue", "connection: close")).startswith(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"
        )


def test_env() -> None:
    with LoopbackProvider() as provider:
        openai = {"OPENAI_BASE_URL": provider.url + "/v1", "OPENAI_API_KEY": "dummy-key"}
        anthropic = {"ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": "dummy-key"}
        assert provider.env() == anthropic | openai
        assert (provider.env("anthropic"), provider.env("openai")) == (anthropic, openai)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_as_a_process(client: httpx.Client, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "scripted.py").write_text(
        "from tests.support.replies import Text\ndef reply(request):\n    return Text(request.prompt)\n"
    )
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "tests.support.provider", "--port", "0", "--latency", "0.01"]
    command += ["--log", str(tmp_path / "log"), "--port-file", str(tmp_path / "port"), "--replies", "scripted:reply"]
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            assert url == f"http://127.0.0.1:{(tmp_path / 'port').read_text()}"
            assert text_of(client.post(url + "/v1/messages", json=BODY)) == "is it good?"
            process.send_signal(number)
            assert process.wait(timeout=5) == 0
        finally:
            process.kill()
    assert len((tmp_path / "log").read_text().splitlines()) == 2
