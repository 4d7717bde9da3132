"""Model strings, and OpenRouter's routing tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adjudge.formats.convert import nearest

_SUPPORTED_PROVIDERS = ("anthropic", "openai", "openrouter", "litellm", "runner")
_ROUTING = (
    "order",
    "only",
    "ignore",
    "allow_fallbacks",
    "require_parameters",
    "quantizations",
    "sort",
    "data_collection",
    "zdr",
    "max_price",
    "fallbacks",
)


def routing_problems(routing: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a routing table of OpenRouter."""
    for key, value in routing.items():
        if key not in _ROUTING:
            yield f"there is no routing key {key!r} ({nearest(key, _ROUTING)})"
        elif key in ("order", "only", "ignore", "quantizations", "fallbacks"):
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                yield f"{key} must be a list of text"
        elif key in ("allow_fallbacks", "require_parameters", "zdr") and not isinstance(value, bool):
            yield f"{key} must be true or false"
        elif key == "data_collection" and value not in ("allow", "deny"):
            yield "data_collection must be allow or deny"


def model_problem(model: str) -> tuple[str, str] | None:
    """(message, hint) for a model string that no backend takes."""
    provider, separator, name = model.partition(":/")
    if not separator:
        return None
    hint = (
        "openrouter:/<author>/<slug> reaches most models, openai:/<model> with OPENAI_BASE_URL any that speaks OpenAI's"
    )
    if provider not in _SUPPORTED_PROVIDERS:
        return f"there is no model provider {provider!r} ({model})", hint
    if provider == "runner":
        return "runner:/ models come with agents, and are not available yet", hint
    if not name.strip("/").strip():
        return f"{model!r} names no model after {provider}:/", ""
    return None
