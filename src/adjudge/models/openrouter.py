"""OpenRouter: Chat Completions with routing, billed replies, and errors inside of successful responses."""

from __future__ import annotations

from typing import Any

from adjudge.domain import ErrorKind
from adjudge.models.openai import OpenAIWire
from adjudge.models.wire import PLAIN, CallError, ModelRequest, Reply, Shape, status_error


class OpenRouterWire(OpenAIWire):
    """`request.extra` holds `provider` (routing), `models` (fallbacks) and what else the suite sends along."""

    name = "openrouter"
    optional: tuple[str, ...] = ("reasoning",)

    def __init__(self) -> None:
        super().__init__(official=False)

    def body(self, request: ModelRequest, model: str, shape: Shape = PLAIN) -> dict[str, Any]:
        body = super().body(request, model, shape)
        body.pop("reasoning_effort", None)
        if request.effort and "reasoning" not in shape.without:
            body["reasoning"] = {"effort": request.effort}
        return {**body, "usage": {"include": True}, **request.extra}

    def reply(self, payload: Any, request: ModelRequest) -> Reply:
        for place in _errors(payload):
            code, message = place.get("code"), str(place.get("message") or "no message")
            if isinstance(code, int) and 400 <= code < 600:
                raise status_error(code, {}, message)
            raise CallError(ErrorKind.PROVIDER_ERROR, f"error in a successful response: {message}", retryable=True)
        return super().reply(payload, request)


def _errors(payload: Any) -> list[dict[str, Any]]:
    """The errors that a successful response holds, of the router and of the provider behind it."""
    if not isinstance(payload, dict):
        return []
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return [error for error in (payload.get("error"), choice.get("error")) if isinstance(error, dict)]
