"""The OpenAI Responses wire format, as far as an agent in a container of the provider's needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Usage, shown
from adjudge.models.prices import priced
from adjudge.models.resolve import OPENAI_URL, WIRES, CredentialsError, base_url, key_of
from adjudge.models.wire import CallError, count

PENDING = ("queued", "in_progress")
_PASSING = ("server_error", "rate_limit_exceeded", "vector_store_timeout")
"""Codes of failed responses that say nothing of the request."""


class ResponsesAccess(msgspec.Struct, frozen=True):
    """Where a model answers. `headers` hold the secret and never leave the process."""

    model: str
    base: str
    headers: dict[str, str]

    def __repr__(self) -> str:
        return f"ResponsesAccess({self.model} at {self.base})"


def responses_access(settings: Mapping[str, str], environ: Mapping[str, str], *, model: str) -> ResponsesAccess:
    """From `base_url`, `api_key` and `default_model`, else OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL. `model`
    stands before both.

    Raises:
        CredentialsError: there is no key or no model, the base URL is none, or another kind of provider is named.
    """
    name = model or settings.get("default_model") or environ.get("OPENAI_MODEL", "")
    name = name.removeprefix("openai:/").removeprefix("openai/").strip()
    if not name:
        raise CredentialsError("the responses-api runner needs a model: models.skill, or OPENAI_MODEL")
    if name.startswith(tuple(f"{wire}:/" for wire in (*WIRES, "runner"))):
        raise CredentialsError(f"the responses-api runner takes a model of its own endpoint, not {name!r}")
    own = settings.get("base_url")
    base = base_url("runner.settings.base_url", "", {"runner.settings.base_url": own}) if own else ""
    base = base or base_url("OPENAI_BASE_URL", OPENAI_URL, environ)
    given = settings.get("api_key")
    key = key_of("runner.settings.api_key", {"runner.settings.api_key": given}) if given else ""
    key = key or key_of("OPENAI_API_KEY", environ)
    if not key and base == OPENAI_URL:
        raise CredentialsError(f"the responses-api runner needs OPENAI_API_KEY to ask {name!r}")
    return ResponsesAccess(name, base, {"authorization": f"Bearer {key or 'none'}"})


def response_body(
    model: str, *, prompt: str, instructions: str, container: str, effort: str, background: bool
) -> dict[str, Any]:
    """A request that lets the model use a shell in a container until it is done. In the `background` the provider
    answers at once, and is asked for the outcome later."""
    body: dict[str, Any] = {
        "model": model,
        "input": [{"role": "developer", "content": instructions}, {"role": "user", "content": prompt}],
        "tools": [
            {"type": "shell", "environment": {"type": "container_reference", "container_id": container}},
        ],
    }
    if effort:
        body["reasoning"] = {"effort": effort}
    return {**body, "background": True, "store": True} if background else body


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A response.

    Attributes:
        id: By which it can be asked for again.
        items: What the model said and did, oldest first.
        turns: How many messages there are, at least one.
        failure: Why it did not come to a good end.
        passing: The failure says nothing of the request.
    """

    id: str = ""
    status: str = "completed"
    items: tuple[dict[str, Any], ...] = ()
    messages: tuple[str, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    failure: tuple[ErrorKind, str] | None = None
    passing: bool = False

    @property
    def pending(self) -> bool:
        return self.status in PENDING


def read_response(payload: Any, *, model: str) -> Answer:
    """Read a response; `model` is the one that was asked for, by which it is priced.

    Raises:
        CallError: it is none.
    """
    given = payload if isinstance(payload, dict) else {}
    status = given.get("status", "completed")
    output = given.get("output")
    name = given.get("id")
    is_one = isinstance(status, str) and (isinstance(output, list) or status in (*PENDING, "failed", "cancelled"))
    if not is_one or (status in PENDING and not isinstance(name, str)):
        raise CallError(ErrorKind.PROVIDER_ERROR, f"not a Responses response: {shown(payload)}", retryable=True)
    items = tuple(item for item in output if isinstance(item, dict)) if isinstance(output, list) else ()
    failure, passing = _failure(status, given)
    return Answer(
        id=name if isinstance(name, str) else "",
        status=status,
        items=items,
        messages=tuple(message_text(item) for item in items if item.get("type") == "message"),
        usage=_usage(given.get("usage"), model) if status not in PENDING else Usage(),
        model=given["model"] if isinstance(given.get("model"), str) else "",
        failure=failure,
        passing=passing,
    )


def message_text(item: Mapping[str, Any]) -> str:
    """What a message says, or why it says nothing."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    parts = [block.get("refusal" if block.get("type") == "refusal" else "text") for block in blocks]
    return "\n".join(part for part in parts if isinstance(part, str))


def _failure(status: str, given: Mapping[str, Any]) -> tuple[tuple[ErrorKind, str] | None, bool]:
    if status in ("completed", *PENDING):
        return None, False
    if status == "incomplete":
        details = given.get("incomplete_details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        kind = ErrorKind.REFUSED if reason == "content_filter" else ErrorKind.TRUNCATED
        return (kind, f"the response is incomplete: {reason or 'no reason is given'}"[:300]), False
    if status == "cancelled":
        return (ErrorKind.INTERRUPTED, "the response was cancelled"), False
    error = given.get("error")
    error = error if isinstance(error, dict) else {}
    code = str(error.get("code") or "")
    said = " ".join(f"{code}: {error.get('message') or 'no message'}".removeprefix(": ").split())[:300]
    text = f"the response {status}: {said}" if status == "failed" else f"the response is {status[:50]!r}"
    if code == "rate_limit_exceeded":
        return (ErrorKind.RATE_LIMITED, text), True
    if not code or code in _PASSING or status != "failed":
        return (ErrorKind.PROVIDER_ERROR, text), status == "failed"
    refused = code == "invalid_prompt" or "policy" in code
    return (ErrorKind.REFUSED if refused else ErrorKind.REQUEST_REJECTED, text), False


def _usage(raw: Any, model: str) -> Usage:
    usage = raw if isinstance(raw, dict) else {}
    cached = count(usage, "input_tokens_details", "cached_tokens")
    written = count(usage, "input_tokens_details", "cache_write_tokens")
    billed = usage.get("cost")
    cost = float(billed) if isinstance(billed, int | float) and not isinstance(billed, bool) and billed > 0 else None
    whole = Usage(
        calls=1,
        input=max(0, (count(usage, "input_tokens") or count(usage, "prompt_tokens")) - cached - written),
        output=count(usage, "output_tokens") or count(usage, "completion_tokens"),
        cache_read=cached,
        cache_write=written,
        reasoning=count(usage, "output_tokens_details", "reasoning_tokens"),
        cost_usd=cost,
        price_source="" if cost is None else "billed",
    )
    if not usage:
        return msgspec.structs.replace(whole, unpriced_calls=1)
    return priced(whole, model=model, provider="openai")
