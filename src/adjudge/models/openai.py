"""The OpenAI Chat Completions wire format, which vLLM, Ollama, Azure and most gateways speak too."""

from __future__ import annotations

from typing import Any

from adjudge.domain import ErrorKind, Usage, shown
from adjudge.models.anthropic import unusable_calls
from adjudge.models.wire import PLAIN, CallError, ModelRequest, Reply, Shape, TextPart, count


class OpenAIWire:
    """`official` endpoints name the cap `max_completion_tokens`; others know it by its older name."""

    name = "openai"
    optional: tuple[str, ...] = ("reasoning_effort", "strict", "max_tokens")

    def __init__(self, *, official: bool = True) -> None:
        self.official = official

    def body(self, request: ModelRequest, model: str, shape: Shape = PLAIN) -> dict[str, Any]:
        tool = request.tool
        forced = {"type": "function", "function": {"name": tool.name}}
        function: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        if self.official and "strict" not in shape.without:
            function["strict"] = True
        newer = self.official or "max_tokens" in shape.without
        body = {
            "model": model,
            "max_completion_tokens" if newer else "max_tokens": request.max_tokens,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": content(request)},
            ],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": forced if shape.tool_choice == "function" else shape.tool_choice,
        }
        if request.effort and "reasoning_effort" not in shape.without and not _is_plain(model):
            body["reasoning_effort"] = request.effort
        return body

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        message, finish = _message(payload)
        text = message["content"] if isinstance(message.get("content"), str) else ""
        raw_calls = message.get("tool_calls")
        functions = [call.get("function") for call in raw_calls or () if isinstance(call, dict)]
        calls = [function for function in functions if isinstance(function, dict)]
        arguments = [call.get("arguments") for call in calls if call.get("name") == request.tool.name]
        if any(not isinstance(given, str) for given in arguments):
            raise CallError(ErrorKind.PROVIDER_ERROR, "tool arguments are not JSON text", retryable=True)
        model = payload.get("model")
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            failure: tuple[ErrorKind, str] | None = (ErrorKind.REFUSED, refusal[:500])
        elif finish == "content_filter":
            failure = (ErrorKind.REFUSED, "the provider's content filter stopped the answer")
        elif finish == "length":
            failure = (ErrorKind.TRUNCATED, f"the answer reached its cap of {request.max_tokens} tokens")
        else:
            failure = unusable_calls([call.get("name") for call in calls], arguments, text, request)
        return Reply(
            text=text,
            arguments=arguments[0] if arguments else None,
            failure=failure,
            usage=_usage(payload.get("usage")),
            model=model if isinstance(model, str) else "",
        )


def content(request: ModelRequest) -> str | list[dict[str, Any]]:
    """The user message: one text, or a list of parts where there are images."""
    parts = [*([TextPart(request.fixed)] if request.fixed else []), *request.parts()]
    if all(isinstance(part, TextPart) for part in parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}
        for part in parts
    ]


def _is_plain(model: str) -> bool:
    """True for the models that are known not to reason, and to refuse an effort."""
    return model.startswith(("gpt-3", "gpt-4", "chatgpt-4"))


def _message(payload: Any) -> tuple[dict[str, Any], Any]:
    if isinstance(payload, dict) and isinstance(payload.get("error"), dict):
        reason = payload["error"].get("message", "no message")
        raise CallError(ErrorKind.PROVIDER_ERROR, f"error in a successful response: {reason}", retryable=True)
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        if not isinstance(message, dict):
            raise TypeError
        return message, choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise CallError(
            ErrorKind.PROVIDER_ERROR, f"not a Chat Completions response: {shown(payload)}", retryable=True
        ) from None


def _usage(raw: Any) -> Usage:
    usage = raw if isinstance(raw, dict) else {}
    cached = count(usage, "prompt_tokens_details", "cached_tokens")
    written = count(usage, "prompt_tokens_details", "cache_write_tokens")
    billed = usage.get("cost")
    cost = float(billed) if isinstance(billed, int | float) and not isinstance(billed, bool) and billed > 0 else None
    return Usage(
        calls=1,
        input=max(0, count(usage, "prompt_tokens") - cached - written),
        output=count(usage, "completion_tokens"),
        cache_read=cached,
        cache_write=written,
        reasoning=count(usage, "completion_tokens_details", "reasoning_tokens"),
        cost_usd=cost,
        price_source="" if cost is None else "billed",
    )
