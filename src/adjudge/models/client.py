"""Calls to models over one shared HTTP client: limits, time-outs and retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from adjudge._version import __version__
from adjudge.domain import ErrorKind
from adjudge.models.connections import Connections
from adjudge.models.prices import priced
from adjudge.models.retry import RetryPolicy
from adjudge.models.wire import TOOL_CHOICES, CallError, Endpoint, ModelRequest, Reply, status_error


class ModelClient:
    """Asks models. At most `overall` requests are under way at once, and `per_model` to one endpoint."""

    def __init__(
        self,
        *,
        overall: int = 64,
        per_model: int = 32,
        retry: RetryPolicy | None = None,
        seed: int = 0,
        on_wait: Callable[[Endpoint, CallError, float], None] | None = None,
    ) -> None:
        self.retry = retry or RetryPolicy()
        self.on_wait = on_wait
        self._rng = random.Random(seed)
        self._overall = asyncio.Semaphore(overall)
        self._per_model = per_model
        self._models: dict[tuple[str, str], asyncio.Semaphore] = {}
        self._choices: dict[tuple[str, str], int] = {}
        self._dead: dict[tuple[str, str], tuple[ErrorKind, str]] = {}
        agent = {"user-agent": f"adjudge/{__version__}", "content-type": "application/json"}
        self._connections = Connections(agent)

    async def close(self) -> None:
        await self._connections.close()

    async def ask(
        self,
        endpoint: Endpoint,
        request: ModelRequest,
        body: bytes,
        *,
        timeout_s: float,
        admit: Callable[[], None] | None = None,
    ) -> Reply:
        """Ask once, repeating what failed in passing. `timeout_s` bounds the time from the first attempt on.

        `body` is the request as the endpoint's wire spells it, in JSON.

        `admit` is called when a place is free, before each attempt; it may raise CallError to keep it from being made.

        Raises:
            CallError: no reply could be had, with the last attempt's reason.
        """
        key = (endpoint.url, endpoint.model)
        self._check_alive(key)
        slot = self._models.setdefault(key, asyncio.Semaphore(self._per_model))
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        attempt = 0
        while True:
            async with slot, self._overall:
                self._check_alive(key)
                if admit is not None:
                    admit()
                now = loop.time()
                deadline = deadline if deadline is not None else now + timeout_s
                choice = self._choices.get(key, 0)
                if choice:
                    body = _body(endpoint, request, choice)
                try:
                    reply = await self._attempt(endpoint, request, body, limit=max(0.001, deadline - now))
                    return msgspec.structs.replace(reply, tool_choice=TOOL_CHOICES[choice]) if choice else reply
                except CallError as caught:
                    error = caught
            if error.rejects_tool_choice and choice + 1 < len(TOOL_CHOICES):
                self._choices[key] = max(choice + 1, self._choices.get(key, 0))
                continue
            error.message = _without_secrets(error.message, endpoint)
            if error.fatal:
                self._dead[key] = (error.kind, error.message)
            attempt += 1
            if not error.retryable or attempt >= self.retry.attempts:
                break
            wait = self.retry.wait_s(attempt - 1, error.retry_after_s, self._rng)
            if loop.time() + wait >= deadline:
                error.message += f" (the next attempt is due in {wait:.0f} s, past the limit of {timeout_s:g} s)"
                break
            if self.on_wait:
                self.on_wait(endpoint, error, wait)
            await asyncio.sleep(wait)
        raise error

    def _check_alive(self, key: tuple[str, str]) -> None:
        """Raise for an endpoint that answered that nothing will help: a wrong key, an unknown model."""
        if key in self._dead:
            raise CallError(*self._dead[key])

    async def _attempt(self, endpoint: Endpoint, request: ModelRequest, body: bytes, *, limit: float) -> Reply:
        limit = min(limit, self.retry.attempt_timeout_s)
        try:
            async with asyncio.timeout(limit):
                response = await self._connections.post(endpoint.url, body, endpoint.headers)
        except TimeoutError:
            raise CallError(ErrorKind.TIMEOUT, f"no answer within {limit:.0f} s", retryable=True) from None
        except httpx.InvalidURL as error:
            raise CallError(ErrorKind.CONFIG, str(error)) from None
        except (httpx.HTTPError, UnicodeError, ValueError) as error:
            detail = str(error) or type(error).__name__
            raise CallError(ErrorKind.CONNECTION, f"{endpoint.url}: {detail}", retryable=True) from None
        if response.status_code // 100 != 2:
            raise status_error(response.status_code, response.headers, _message(response, endpoint))
        try:
            payload: Any = msgspec.json.decode(_scrubbed(response.content, endpoint))
        except (msgspec.DecodeError, RecursionError):
            text = f"the response is not JSON: {_scrubbed(response.content, endpoint)[:80]!r}"
            raise CallError(ErrorKind.PROVIDER_ERROR, text, retryable=True) from None
        reply = endpoint.wire.reply(payload, request)
        usage = priced(reply.usage, model=endpoint.model, provider=endpoint.wire.name)
        return msgspec.structs.replace(reply, usage=usage)


def _body(endpoint: Endpoint, request: ModelRequest, choice: int) -> bytes:
    return msgspec.json.encode(endpoint.wire.body(request, endpoint.model, tool_choice=TOOL_CHOICES[choice]))


def _without_secrets(text: str, endpoint: Endpoint) -> str:
    """The text with every header value that grants access blanked out, should a provider quote it."""
    for secret in _secrets(endpoint):
        text = text.replace(secret, "***")
    return text


def _scrubbed(content: bytes, endpoint: Endpoint) -> bytes:
    """A response without the key, should a provider or gateway quote it."""
    for secret in _secrets(endpoint):
        content = content.replace(secret.encode(), b"***")
    return content


def _secrets(endpoint: Endpoint) -> list[str]:
    values = [value.removeprefix("Bearer ") for name, value in endpoint.headers.items() if name != "anthropic-version"]
    return [value for value in values if len(value) > 3 and value != "none"]


def _message(response: httpx.Response, endpoint: Endpoint) -> str:
    """The provider's own words, short; never the request, which may be large."""
    try:
        payload: Any = msgspec.json.decode(_scrubbed(response.content, endpoint))
        error = payload.get("error", payload)
        text = error.get("message") or error.get("type") if isinstance(error, dict) else error
        code = f"{error.get('code')}: " if isinstance(error, dict) and isinstance(error.get("code"), str) else ""
        text = code + str(text)
    except (msgspec.DecodeError, AttributeError, RecursionError):
        text = _scrubbed(response.content, endpoint).decode("utf-8", "replace")
    return " ".join(text.split())[:300] or response.reason_phrase
