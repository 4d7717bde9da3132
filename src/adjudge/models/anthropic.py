"""The Anthropic Messages wire format."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Usage, shown
from adjudge.models.wire import PLAIN, CallError, ModelRequest, Reply, Shape, TextPart, count

VERSION = "2026-10-21"

_EFFORTS = {"none": "", "minimal": "low"}
_WITHOUT_EFFORT = ("claude-3", "sonnet-4-0", "sonnet-4-2", "sonnet-4-5", "opus-4-0", "opus-4-1", "opus-4-2", "haiku-4")
_LEAST_CACHEABLE = (
    ("haiku-4-5", 4096),
    ("opus-4-5", 4096),
    ("opus-4-6", 4096),
    ("opus-4-7", 2048),
    ("sonnet-4-6", 2048),
    ("3-haiku", 2048),
    ("3-5-haiku", 2048),
    ("sonnet-5-5", 512),
    ("opus-5", 512),
    ("haiku-5", 512),
    ("fable", 512),
    ("mythos", 512),
)
_TOOL_CHOICE = {"required": {"type": "any"}, "auto": {"type": "auto"}}


class AnthropicWire:
    name = "anthropic"
    optional: tuple[str, ...] = ("output_config", "cache_control")

    def body(self, request: ModelRequest, model: str, shape: Shape = PLAIN) -> dict[str, Any]:
        tool = request.tool
        body = {
            "model": model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": _content(request)}],
            "tools": [{"name": tool.name, "description": tool.description, "input_schema": tool.schema}],
            "tool_choice": _TOOL_CHOICE.get(shape.tool_choice) or {"type": "tool", "name": tool.name},
        }
        if "cache_control" not in shape.without and fixed_tokens(request) >= least_cacheable(model):
            _mark_cacheable(body, request)
        effort = _EFFORTS.get(request.effort, request.effort)
        if effort and "output_config" not in shape.without and takes_effort(model):
            body["output_config"] = {"effort": effort}
        return body

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        if not isinstance(payload, dict) or not isinstance(payload.get("content"), list):
            raise CallError(ErrorKind.PROVIDER_ERROR, f"not a Messages response: {shown(payload)}", retryable=True)
        blocks = [block for block in payload["content"] if isinstance(block, dict)]
        text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        inputs = [block.get("input") for block in calls if block.get("name") == request.tool.name]
        return Reply(
            text=text,
            arguments=msgspec.json.encode(inputs[0]).decode() if inputs else None,
            failure=_failure(payload.get("stop_reason"), text, calls, inputs, request),
            usage=_usage(payload.get("usage")),
            model=payload["model"] if isinstance(payload.get("model"), str) else "",
        )


def _content(request: ModelRequest) -> str | list[dict[str, Any]]:
    parts = request.parts()
    if not request.fixed and len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    blocks: list[dict[str, Any]] = [{"type": "text", "text": request.fixed}] if request.fixed else []
    for part in parts:
        if isinstance(part, TextPart):
            blocks.append({"type": "text", "text": part.text})
        else:
            source = {"type": "base64", "media_type": part.media_type, "data": part.data}
            blocks.append({"type": "image", "source": source})
    return blocks


def _mark_cacheable(body: dict[str, Any], request: ModelRequest) -> None:
    """Let the provider keep everything up to the end of what is the same for every case: tools, system, rubric."""
    mark = {"type": "ephemeral"}
    if request.fixed:
        content = body["messages"][0]["content"]
        content[0] = {**content[0], "cache_control": mark}
    else:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]


CHARACTERS_PER_TOKEN = 3.6
"""Of English prose and code with current tokenizers, rounded towards more tokens."""


def fixed_tokens(request: ModelRequest) -> int:
    """About how many tokens of a request are the same for every case."""
    schema = len(msgspec.json.encode(request.tool.schema)) + len(request.tool.description)
    return round((len(request.system) + len(request.fixed) + schema) / CHARACTERS_PER_TOKEN)


def least_cacheable(model: str) -> int:
    """The length in tokens from which the model's provider keeps a prefix."""
    return next((least for part, least in _LEAST_CACHEABLE if part in model), 1024)


def takes_effort(model: str) -> bool:
    """False for the models that are known to take no effort."""
    return not any(part in model for part in _WITHOUT_EFFORT)


def _failure(
    stop: Any, text: str, calls: list[dict[str, Any]], inputs: list[Any], request: ModelRequest
) -> tuple[ErrorKind, str] | None:
    if stop == "refusal":
        return ErrorKind.REFUSED, text[:500]
    if stop == "max_tokens":
        return ErrorKind.TRUNCATED, f"the answer reached max_tokens = {request.max_tokens}"
    return unusable_calls([call.get("name") for call in calls], inputs, text, request)


def unusable_calls(
    names: list[Any], arguments: list[Any], text: str, request: ModelRequest
) -> tuple[ErrorKind, str] | None:
    """Why a complete reply holds no single verdict: another tool, several verdicts, or nothing at all."""
    if arguments:
        differ = any(other != arguments[0] for other in arguments[1:])
        return (ErrorKind.UNPARSEABLE, f"{len(arguments)} verdicts that differ") if differ else None
    if names:
        return ErrorKind.UNPARSEABLE, f"the model called {shown(names[0])} instead of {request.tool.name}"
    if not text.strip():
        return ErrorKind.UNPARSEABLE, "the answer is empty"
    return None


def _usage(raw: Any) -> Usage:
    usage = raw if isinstance(raw, dict) else {}
    return Usage(
        calls=1,
        input=count(usage, "input_tokens"),
        output=count(usage, "output_tokens"),
        cache_read=count(usage, "cache_read_input_tokens"),
        cache_write=count(usage, "cache_creation_input_tokens"),
        reasoning=count(usage, "output_tokens_details", "thinking_tokens"),
    )
