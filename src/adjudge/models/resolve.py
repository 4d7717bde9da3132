"""From a model as the user wrote it, and the environment, to an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from adjudge.models.anthropic import VERSION, AnthropicWire
from adjudge.models.openai import OpenAIWire
from adjudge.models.wire import Endpoint

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"

ALIASES = {"sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5", "haiku": "claude-haiku-5-5"}


class CredentialsError(Exception):
    """A model that nothing in the environment gives access to; the text says what to set."""


def resolve(model: str, environ: Mapping[str, str]) -> Endpoint:
    """Find where a model is reached.

    `sonnet`, `opus`, `haiku`, `claude-*`, `anthropic:/x` and `anthropic/x` speak Anthropic Messages; `openai:/x`,
    `openai/x` and every other bare id speak OpenAI Chat Completions at `OPENAI_BASE_URL`.

    Raises:
        CredentialsError: the variable that would grant access is not set, or a base URL is not one.
    """
    wire, name = split(model)
    return _anthropic(name, environ) if wire == "anthropic" else _openai(name, environ)


def split(model: str) -> tuple[str, str]:
    """(wire, model id) of a model string."""
    for wire in ("anthropic", "openai"):
        for separator in (":/", "/"):
            prefix = wire + separator
            if model.startswith(prefix) and len(model) > len(prefix):
                return wire, model[len(prefix) :].lstrip("/")
    if model in ALIASES or model.startswith("claude"):
        return "anthropic", model
    return "openai", model


def _anthropic(name: str, environ: Mapping[str, str]) -> Endpoint:
    name = environ.get(f"ANTHROPIC_DEFAULT_{name.upper()}_MODEL", ALIASES[name]) if name in ALIASES else name
    base = _base_url("ANTHROPIC_BASE_URL", ANTHROPIC_URL, environ)
    official = base == ANTHROPIC_URL
    key = _secret("ANTHROPIC_API_KEY", environ)
    secret = key or _secret("ANTHROPIC_AUTH_TOKEN", environ)
    if not secret:
        raise CredentialsError(f"model {name!r} needs ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)")
    headers = {"anthropic-version": VERSION, "authorization": f"Bearer {secret}"}
    if key and not official:
        headers["x-api-key"] = key  # the older spelling, which gateways ask for
    url = base.removesuffix("/v1") + "/v1/messages"
    return Endpoint(AnthropicWire(), name, url, headers, official=official)


def _openai(name: str, environ: Mapping[str, str]) -> Endpoint:
    base = _base_url("OPENAI_BASE_URL", OPENAI_URL, environ)
    official = base == OPENAI_URL
    key = _secret("OPENAI_API_KEY", environ)
    if not key and official:
        raise CredentialsError(f"model {name!r} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint without a key")
    headers = {"authorization": f"Bearer {key or 'none'}"}
    return Endpoint(OpenAIWire(official=official), name, f"{base}/chat/completions", headers, official=official)


def _secret(variable: str, environ: Mapping[str, str]) -> str:
    """A key without the blanks and line ends that files bring along."""
    value = (environ.get(variable) or "").strip()
    if not (value.isascii() and value.isprintable() and " " not in value):
        raise CredentialsError(f"{variable} holds characters that no key has")
    return value


def _base_url(variable: str, default: str, environ: Mapping[str, str]) -> str:
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
    host = urlsplit(endpoint.url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
