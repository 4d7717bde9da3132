"""From a model as the user wrote it, and the environment, to an endpoint."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from urllib.parse import urlsplit

from adjudge.domain import MissingExtraError, OpenRouter, is_this_machine
from adjudge.models.anthropic import VERSION, AnthropicWire
from adjudge.models.jev import JEV_MODEL, JEV_URL, JevWire
from adjudge.models.litellm import LiteLLMWire
from adjudge.models.openai import OpenAIWire
from adjudge.models.openrouter import OpenRouterWire
from adjudge.models.wire import Endpoint

ANTHROPIC_URL = "https://api.anthropic.com"
OPENROUTER_URL = "https://openrouter.ai/api"
OPENAI_URL = "https://api.openai.com/v1"

ALIASES = {"sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5", "haiku": "claude-haiku-5-5"}


class CredentialsError(Exception):
    """A model that nothing in the environment gives access to; the text says what to set."""


WIRES = ("anthropic", "openai", "openrouter", "litellm")
OAUTH_BETA = "oauth-2025-04-20"
VERTEX_REGION = "us-east5"

_LITELLM = frozenset(
    """
    ai21 anyscale azure azure_ai bedrock cerebras clarifai cloudflare cohere cohere_chat databricks dashscope deepinfra
    deepseek fireworks_ai friendliai gemini github github_copilot gradient_ai groq hosted_vllm huggingface hyperbolic
    litellm_proxy llamafile lm_studio meta_llama mistral moonshot nebius novita nscale nvidia_nim ollama ollama_chat
    oobabooga oci perplexity predibase replicate sagemaker sagemaker_chat sambanova snowflake together_ai
    vercel_ai_gateway vertex_ai vllm volcengine voyage watsonx watsonx_text xai xinference zai
    """.split()  # noqa: SIM905 - a list of sixty strings is no easier to read
)
"""Prefixes by which LiteLLM knows its providers; those with a wire of their own here are left out."""


def resolve(model: str, environ: Mapping[str, str], *, openrouter: OpenRouter | None = None) -> Endpoint:
    """Find where a model is reached.

    `sonnet`, `opus`, `haiku`, `claude-*`, `anthropic:/x` and `anthropic/x` speak Anthropic Messages; `openrouter:/a/b`
    and `openrouter/a/b` go to OpenRouter; `gemini/x`, `bedrock/x`, `azure/x` and the like go through LiteLLM;
    `openai:/x`, `openai/x` and every other bare id speak OpenAI Chat Completions at `OPENAI_BASE_URL`.

    Raises:
        CredentialsError: the variable that would grant access is not set, or a base URL is not one.
        MissingExtraError: LiteLLM is needed and not installed.
    """
    wire, name = split(model)
    if wire == "openrouter":
        return _openrouter(name, environ, openrouter or OpenRouter())
    if wire == "litellm":
        return _litellm(name, environ)
    return _anthropic(name, environ) if wire == "anthropic" else _openai(name, environ)


def resolve_decision(model: str, environ: Mapping[str, str]) -> Endpoint:
    """Where a decision model is reached: `TYPESAFE_BASE_URL` with `TYPESAFE_API_KEY`.

    Raises:
        CredentialsError: there is no key, or the base URL is none.
    """
    key = key_of("TYPESAFE_API_KEY", environ)
    if not key:
        raise CredentialsError("the decision model JEV needs TYPESAFE_API_KEY")
    base = base_url("TYPESAFE_BASE_URL", JEV_URL, environ)
    name = model or environ.get("TYPESAFE_DEFAULT_MODEL") or JEV_MODEL
    headers = {"authorization": f"Bearer {key}"}
    return Endpoint(JevWire(), name, f"{base}/v1/systemone", headers, official=base == JEV_URL, provider="typesafe")


def split(model: str) -> tuple[str, str]:
    """(wire, model id) of a model string."""
    for wire in WIRES:
        for separator in (":/", "/"):
            prefix = wire + separator
            if model.startswith(prefix) and len(model) > len(prefix):
                return wire, model[len(prefix) :].lstrip("/")
    if model in ALIASES or model.startswith("claude"):
        return "anthropic", model
    return ("litellm" if model.split("/")[0] in _LITELLM and "/" in model else "openai"), model


def _openrouter(name: str, environ: Mapping[str, str], settings: OpenRouter) -> Endpoint:
    base = settings.base_url
    if base.startswith("$"):
        base = environ.get(base.strip("${}"), "")
    base = base_url(
        "models.providers.openrouter.base_url", OPENROUTER_URL, {"models.providers.openrouter.base_url": base}
    )
    key = key_of(settings.api_key_env, environ)
    if not key:
        raise CredentialsError(f"model {name!r} needs {settings.api_key_env}")
    headers = {"authorization": f"Bearer {key}"}
    if settings.referer:
        headers["HTTP-Referer"] = settings.referer
    if settings.title:
        headers["X-Title"] = settings.title
    return Endpoint(
        OpenRouterWire(),
        name,
        base.removesuffix("/v1") + "/v1/chat/completions",
        headers,
        official=base == OPENROUTER_URL,
        limit=settings.concurrency,
        attempts=settings.max_retries + 1,
        timeout_s=settings.timeout_s,
        bills=True,
    )


def _litellm(name: str, environ: Mapping[str, str], **call: str) -> Endpoint:
    if importlib.util.find_spec("litellm") is None:
        raise MissingExtraError(f"model {name!r} is reached through LiteLLM: pip install 'adjudge[litellm]'")
    provider = name.partition("/")[0]
    wire = LiteLLMWire(provider, dict(environ), call)
    return Endpoint(wire, name, f"litellm:{provider}", {}, provider=_PRICED_AS.get(provider, provider))


_PRICED_AS = {"bedrock": "aws", "gemini": "google", "vertex_ai": "google", "xai": "x-ai", "together_ai": "together"}


def _anthropic(name: str, environ: Mapping[str, str]) -> Endpoint:
    name = environ.get(f"ANTHROPIC_DEFAULT_{name.upper()}_MODEL", ALIASES[name]) if name in ALIASES else name
    project = environ.get("ANTHROPIC_VERTEX_PROJECT_ID")
    if project:
        region = environ.get("CLOUD_ML_REGION") or VERTEX_REGION
        return _litellm(f"vertex_ai/{name}", environ, vertex_project=project, vertex_location=region)
    base = base_url("ANTHROPIC_BASE_URL", ANTHROPIC_URL, environ)
    official = base == ANTHROPIC_URL
    subscription = key_of("CLAUDE_CODE_OAUTH_TOKEN", environ)
    forced = environ.get("REWARDKIT_FORCE_SUBSCRIPTION", "").strip().lower() in ("1", "true", "yes")
    if forced and not subscription:
        raise CredentialsError("REWARDKIT_FORCE_SUBSCRIPTION is set, and CLAUDE_CODE_OAUTH_TOKEN is not")
    key = "" if forced else key_of("ANTHROPIC_API_KEY", environ)
    secret = subscription if forced else key or key_of("ANTHROPIC_AUTH_TOKEN", environ) or subscription
    if not secret:
        raise CredentialsError(f"model {name!r} needs ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)")
    headers = {"anthropic-version": VERSION, "authorization": f"Bearer {secret}"}
    if key and not official:
        headers["x-api-key"] = key  # the older spelling, which gateways ask for
    if secret == subscription:
        headers["anthropic-beta"] = OAUTH_BETA
    url = base.removesuffix("/v1") + "/v1/messages"
    return Endpoint(AnthropicWire(), name, url, headers, official=official)


def _openai(name: str, environ: Mapping[str, str]) -> Endpoint:
    base = base_url("OPENAI_BASE_URL", OPENAI_URL, environ)
    official = base == OPENAI_URL
    key = key_of("OPENAI_API_KEY", environ)
    if not key and official:
        raise CredentialsError(f"model {name!r} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint without a key")
    headers = {"authorization": f"Bearer {key or 'none'}"}
    return Endpoint(OpenAIWire(official=official), name, f"{base}/chat/completions", headers, official=official)


def key_of(variable: str, environ: Mapping[str, str]) -> str:
    """A key without the blanks and line ends that files bring along."""
    value = (environ.get(variable) or "").strip()
    if not (value.isascii() and value.isprintable() and " " not in value):
        raise CredentialsError(f"{variable} holds characters that no key has")
    return value


def base_url(variable: str, default: str, environ: Mapping[str, str]) -> str:
    base = (environ.get(variable) or default).rstrip("/")
    try:
        parts = urlsplit(base)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        secret = bool(parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        valid = secret = False
    if secret:
        raise CredentialsError(f"{variable} must hold neither a user, a password nor a query")
    if not valid:
        raise CredentialsError(f"{variable} must be an http(s) URL, got {base!r}")
    return base


def is_loopback(endpoint: Endpoint) -> bool:
    """True if the endpoint is on this machine, where calls are free."""
    return is_this_machine(urlsplit(endpoint.url).hostname or "")
