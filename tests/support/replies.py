"""What a `LoopbackProvider` can answer, and how each answer is spelled on each wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Literal

from tests.support.request import Request, dig

Json = dict[str, Any]
Stop = Literal["end", "call", "length", "refusal"]

_REASONS = {known.value: known.phrase for known in HTTPStatus} | {529: "Overloaded"}
PIECE = 24
CREATED = 1_700_000_000


@dataclass(frozen=True)
class Usage:
    """`input` leaves out cache reads and writes (OpenAI's prompt_tokens adds them); `output` includes `reasoning`."""

    input: int = 100
    output: int = 20
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    billed: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """`delay` comes on top of the provider's latency, before the first byte."""

    delay: float = 0.0


@dataclass(frozen=True)
class Verdict(Reply):
    """Answers in the structure asked for: the forced tool (else the first offered), else JSON text."""

    data: Mapping[str, Any]  # for JEV a number, or a number and a confidence, for each question
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Text(Reply):
    text: str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class ToolCall(Reply):
    """String `arguments` go out as they are, save that Anthropic's unstreamed `input` is their JSON if they parse."""

    name: str
    arguments: Mapping[str, Any] | str
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Refusal(Reply):
    """On OpenAI a text is the model's own `refusal` (finish_reason "stop"); no text is the content filter's."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Empty(Reply):
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Truncated(Reply):
    """`Verdict(data)` stopped half-way by the cap on output tokens."""

    data: Mapping[str, Any]
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class HttpError(Reply):
    """`kind` is Anthropic's error.type; on OpenAI it is error.type if it ends in "_error", else error.code."""

    status: int
    retry_after: str | float | None = None
    kind: str | None = None
    message: str = "the loopback provider was told to fail"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CutBody(Reply):
    """Announces a whole answer, sends the first `after` bytes of its body, closes."""

    after: int = 20


@dataclass(frozen=True)
class CutConnection(Reply):
    """Closes without a response."""


@dataclass(frozen=True)
class Stall(Reply):
    """Never answers; closes after `seconds`, or once the client or the server goes."""

    seconds: float = 3600.0


@dataclass(frozen=True)
class SlowBody(Reply):
    """Sends the head of `reply` at once and its body in pieces over `seconds`."""

    reply: Reply
    seconds: float


@dataclass(frozen=True)
class Malformed(Reply):
    """Success with a body (or stream event) that is not JSON."""


@dataclass(frozen=True)
class NotObject(Reply):
    """Success with the JSON `[]`."""


@dataclass(frozen=True)
class WrongShape(Reply):
    """Success with a JSON object that has none of the required fields."""


@dataclass(frozen=True)
class Payload(Reply):
    """Success with this JSON."""

    data: Mapping[str, Any]


@dataclass(frozen=True)
class Raw(Reply):
    """Success with these bytes, whatever they are."""

    body: bytes


@dataclass(frozen=True)
class Html(Reply):
    """A proxy's error page."""

    status: int = 502


@dataclass(frozen=True)
class Response:
    """Bytes ready for the socket; one that is not `whole` ends with the connection."""

    status: int
    head: bytes
    body: bytes
    whole: bool = True


def respond(reply: Reply, request: Request) -> Response:
    """The response that writes `reply` to `request`; faults of the connection itself have none."""
    raw = {Malformed: b'{"id":"cut', NotObject: b"[]", WrongShape: b'{"ok":true}'}.get(type(reply))
    if raw is not None:
        event = b"event: message_start\n" if request.wire == "anthropic" else b""
        return _success(request, [b"%bdata: %b\n\n" % (event, raw)] if request.streams else raw)
    if isinstance(reply, Html):
        reason = reason_of(reply.status)
        page = f"<html><head><title>{reply.status} {reason}</title></head><body><h1>{reason}</h1></body></html>"
        return response(reply.status, page.encode(), {"content-type": "text/html; charset=utf-8"})
    if isinstance(reply, Raw):
        return response(200, reply.body, {"content-type": "application/octet-stream", **_trace(request)})
    if isinstance(reply, HttpError):
        return _error(reply, request)
    if isinstance(reply, Payload):
        return _success(request, dict(reply.data))
    if request.wire == "jev":
        return _success(request, _decisions(reply, request))
    turn = _turn(reply, request)
    if request.wire == "anthropic":
        return _success(request, _anthropic_events(turn, request) if request.streams else _anthropic(turn, request))
    return _success(request, _openai_events(turn, request) if request.streams else _openai(turn, request))


def response(status: int, body: bytes | Sequence[bytes], headers: Mapping[str, str]) -> Response:
    """A body given in parts goes out chunked, one chunk a part."""
    if isinstance(body, bytes):
        framing = f"content-length: {len(body)}"
    else:
        framing = "transfer-encoding: chunked"
        body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in body) + b"0\r\n\r\n"
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {status} {reason_of(status)}\r\n{fields}{framing}\r\n\r\n"
    return Response(status, head.encode("latin-1"), body)


def reason_of(status: int) -> str:
    return _REASONS.get(status, "Unknown")


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _success(request: Request, body: Json | bytes | Sequence[bytes]) -> Response:
    kind = "text/event-stream; charset=utf-8" if request.streams else "application/json"
    payload = to_json(body).encode() if isinstance(body, dict) else body
    return response(200, payload, {"content-type": kind, **_trace(request)})


def _trace(request: Request) -> dict[str, str]:
    return {"request-id" if request.wire == "anthropic" else "x-request-id": f"req_{request.index:024d}"}


_ANTHROPIC_ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def _error(reply: HttpError, request: Request) -> Response:
    status, kind = reply.status, reply.kind
    headers = {"content-type": "application/json", **_trace(request)}
    if reply.retry_after is not None:
        headers["retry-after"] = reply.retry_after if isinstance(reply.retry_after, str) else f"{reply.retry_after:g}"
    error: Json
    if request.wire == "anthropic":
        usual = _ANTHROPIC_ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        error = {"type": "error", "error": {"type": kind or usual, "message": reply.message}}
        error["request_id"] = headers["request-id"]
    else:
        code = _OPENAI_CODES.get(status)
        usual = "tokens" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
        if kind is not None:
            code = None if kind.endswith("_error") else kind
            usual = kind if kind.endswith("_error") or kind == "insufficient_quota" else usual
        error = {"error": {"message": reply.message, "type": usual, "param": None, "code": code}}
    return response(status, to_json(error).encode(), headers | dict(reply.headers))


@dataclass(frozen=True)
class _Turn:
    """A model's turn before it is spelled for a wire; `arrived` is what a call that was cut short still holds."""

    stop: Stop
    usage: Usage
    text: str | None = None
    call: tuple[str, str] | None = None
    arrived: Json | None = None


def _turn(reply: Reply, request: Request) -> _Turn:
    tool = request.tool_name if request.tool_name in request.tools else next(iter(request.tools), None)
    if isinstance(reply, Verdict):
        text = to_json(dict(reply.data))
        return _Turn("call", reply.usage, call=(tool, text)) if tool else _Turn("end", reply.usage, text)
    if isinstance(reply, Truncated):
        text = to_json(dict(reply.data))
        half = text[: len(text) // 2]
        items = list(reply.data.items())
        heads = [dict(items[:count]) for count in range(1, len(items))]
        arrived = max((head for head in heads if half.startswith(to_json(head)[:-1])), key=len, default={})
        call = (tool, half) if tool else None
        return _Turn("length", reply.usage, None if tool else half, call, arrived)
    if isinstance(reply, ToolCall):
        arguments = reply.arguments if isinstance(reply.arguments, str) else to_json(dict(reply.arguments))
        return _Turn("call", reply.usage, call=(reply.name, arguments))
    if isinstance(reply, Refusal):
        return _Turn("refusal", reply.usage, reply.text)
    if isinstance(reply, Text):
        return _Turn("end", reply.usage, reply.text)
    if isinstance(reply, Empty):
        return _Turn("end", reply.usage)
    raise TypeError(f"not a reply this provider can write: {reply!r}")


def _decisions(reply: Reply, request: Request) -> Json:
    if not isinstance(reply, Verdict | Empty):
        raise TypeError(f"not a reply of a decision model: {reply!r}")
    answers: Json = {}
    for key, given in reply.data.items() if isinstance(reply, Verdict) else ():
        number, *sure = given if isinstance(given, tuple) else (given,)
        kind = dig(request.questions, key, "type") or "noul"
        answers[key] = {"type": kind, kind: number, **({"confidence": sure[0]} if sure else {})}
    usage = {"input_tokens": reply.usage.input, "output_tokens": reply.usage.output}
    return {"model": request.model, "answers": answers, "usage": usage}


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _anthropic(turn: _Turn, request: Request) -> Json:
    content: list[Json] = [{"type": "text", "text": turn.text}] if turn.text else []
    if turn.call:
        name, arguments = turn.call
        given = turn.arrived if turn.arrived is not None else _parsed(arguments)
        content.append({"type": "tool_use", "id": f"toolu_{request.index:024d}", "name": name, "input": given})
    refused = {"type": "refusal", "category": None, "explanation": turn.text or None}
    return {
        "id": f"msg_{request.index:024d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": {"end": "end_turn", "call": "tool_use", "length": "max_tokens"}.get(turn.stop, "refusal"),
        "stop_sequence": None,
        "stop_details": refused if turn.stop == "refusal" else None,
        "usage": _anthropic_usage(turn.usage),
    }


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _anthropic_usage(usage: Usage) -> Json:
    spelled: Json = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write, "ephemeral_1h_input_tokens": 0},
        "output_tokens": usage.output,
        "service_tier": "standard",
    }
    return spelled | ({"output_tokens_details": {"thinking_tokens": usage.reasoning}} if usage.reasoning else {})


def _anthropic_events(turn: _Turn, request: Request) -> list[bytes]:
    message = _anthropic(turn, request)
    at_start = _anthropic_usage(replace(turn.usage, output=1, reasoning=0))
    opening: Json = {"content": [], "stop_reason": None, "stop_details": None, "usage": at_start}
    events: list[Json] = [{"type": "message_start", "message": message | opening}, {"type": "ping"}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, kind, slot, pieces = block | {"text": ""}, "text_delta", "text", _pieces(block["text"])
        else:
            arguments = turn.call[1] if turn.call else ""
            start, kind, slot = block | {"input": {}}, "input_json_delta", "partial_json"
            pieces = ["", *_pieces(arguments)]
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        deltas = [{"type": kind, slot: piece} for piece in pieces]
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    spent = {
        key: message["usage"][key] for key in ("output_tokens", "output_tokens_details") if key in message["usage"]
    }
    events += [{"type": "message_delta", "delta": ending, "usage": spent}, {"type": "message_stop"}]
    return [f"event: {event['type']}\ndata: {to_json(event)}\n\n".encode() for event in events]


def _openai(turn: _Turn, request: Request) -> Json:
    refused = turn.stop == "refusal"
    message: Json = {"role": "assistant", "content": None if refused else turn.text}
    message["refusal"] = (turn.text or None) if refused else None
    if turn.call:
        function = {"name": turn.call[0], "arguments": turn.call[1]}
        message["tool_calls"] = [{"id": f"call_{request.index:024d}", "type": "function", "function": function}]
    # OpenAI ends a call that the caller forced by name with "stop"; only "required" and "auto" give "tool_calls".
    called = "stop" if isinstance(request.body.get("tool_choice"), dict) else "tool_calls"
    refusal = "stop" if turn.text else "content_filter"
    finish = {"end": "stop", "call": called, "length": "length", "refusal": refusal}[turn.stop]
    return {
        "id": f"chatcmpl-{request.index:024d}",
        "object": "chat.completion",
        "created": CREATED + request.index,
        "model": request.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": _openai_usage(turn.usage),
        "system_fingerprint": "fp_loopback",
    }


def _openai_usage(usage: Usage) -> Json:
    prompt = usage.input + usage.cache_read + usage.cache_write
    spelled: Json = {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
    return spelled if usage.billed is None else spelled | {"cost": usage.billed}


def _openai_events(turn: _Turn, request: Request) -> list[bytes]:
    whole = _openai(turn, request)
    choice = whole["choices"][0]
    message = choice["message"]
    deltas: list[Json] = [{"role": "assistant", "content": None if turn.call else "", "refusal": None}]
    for key in ("content", "refusal"):
        deltas += [{key: piece} for piece in _pieces(message[key] or "")]
    for index, call in enumerate(message.get("tool_calls", ())):
        opened = call["function"] | {"arguments": ""}
        deltas.append({"tool_calls": [{"index": index, **call, "function": opened}]})
        parts = [{"index": index, "function": {"arguments": part}} for part in _pieces(call["function"]["arguments"])]
        deltas += [{"tool_calls": [part]} for part in parts]
    steps: list[tuple[Json, str | None]] = [*((delta, None) for delta in deltas), ({}, choice["finish_reason"])]
    chunks: list[Json] = [
        {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
        for delta, finish in steps
    ]
    options = request.body.get("stream_options")
    # OpenRouter, which bills in `usage.cost`, sends the usage without being asked.
    if turn.usage.billed is not None or (isinstance(options, dict) and options.get("include_usage") is True):
        chunks = [*(chunk | {"usage": None} for chunk in chunks), {"choices": [], "usage": whole["usage"]}]
    shared = {key: whole[key] for key in ("id", "created", "model", "system_fingerprint")}
    shared["object"] = "chat.completion.chunk"
    return [*(f"data: {to_json(shared | chunk)}\n\n".encode() for chunk in chunks), b"data: [DONE]\n\n"]
