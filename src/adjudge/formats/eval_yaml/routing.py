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
_QUANTIZATIONS = ("int4", "int8", "fp4", "fp6", "fp8", "fp16", "bf16", "fp32", "unknown")
_SORTS = ("price", "throughput", "latency")
_PRICES = ("prompt", "completion", "request", "image", "audio")
_MOST_FALLBACKS = 3


def routing_problems(routing: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a routing table of OpenRouter."""
    for key, value in routing.items():
        if key not in _ROUTING:
            yield f"there is no routing key {key!r} ({nearest(key, _ROUTING)})"
        elif key in ("order", "only", "ignore", "quantizations", "fallbacks"):
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                yield f"{key} must be a list of text"
            elif key == "quantizations":
                unknown = [item for item in value if item not in _QUANTIZATIONS]
                yield from (f"there is no quantization {item!r} ({nearest(item, _QUANTIZATIONS)})" for item in unknown)
            elif key == "fallbacks" and len(value) > _MOST_FALLBACKS:
                yield f"fallbacks takes at most three models, got {len(value)}"
        elif key in ("allow_fallbacks", "require_parameters", "zdr") and not isinstance(value, bool):
            yield f"{key} must be true or false"
        elif key == "data_collection" and value not in ("allow", "deny"):
            yield "data_collection must be allow or deny"
        elif key == "sort" and (value.get("by") if isinstance(value, dict) else value) not in _SORTS:
            yield f"sort must be {', '.join(_SORTS)}, or hold one of them as by"
        elif key == "max_price" and not _is_price(value):
            yield f"max_price must hold numbers of 0 or more for {', '.join(_PRICES)}"


def _is_price(value: Any) -> bool:
    return isinstance(value, dict) and all(
        key in _PRICES and isinstance(price, int | float) and not isinstance(price, bool) and price >= 0
        for key, price in value.items()
    )


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
    if not name.strip("/").strip():
        return f"{model!r} names no model after {provider}:/", ""
    return None
