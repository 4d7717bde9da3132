"""The Anthropic Messages wire format."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Usage, shown
from adjudge.models.wire import CallError, ModelRequest, Reply, count

VERSION = "2026-10-21"

_TOOL_CHOICE = {"required": {"type": "any"}, "auto": {"type": "auto"}}


class AnthropicWire:
    name = "anthropic"

    def body(self, request: ModelRequest, model: str, *, tool_choice: str = "function") -> dict[str, Any]:
        tool = request.tool
        return {
            "model": model,
            "max_tokens": request.max_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.prompt}],
            "tools": [{"name": tool.name, "description": tool.description, "input_schema": tool.schema}],
            "tool_choice": _TOOL_CHOICE.get(tool_choice) or {"type": "tool", "name": tool.name},
        }

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
