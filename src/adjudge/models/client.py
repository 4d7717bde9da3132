"""Calls to models over one shared HTTP client: limits, time-outs and retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from adjudge._version import __version__
from adjudge.domain import ErrorKind
from adjudge.models.connections import Connections
from adjudge.models.exchange import decoded, exchange, secrets_of
from adjudge.models.limits import AdaptiveLimit
from adjudge.models.prices import priced
from adjudge.models.retry import RetryPolicy
from adjudge.models.wire import PLAIN, TOOL_CHOICES, CallError, Endpoint, ModelRequest, Reply, Shape

_Key = tuple[str, str]
_UNREACHED_CALLS = 3


class ModelClient:
    """Asks models. At most `overall` requests are under way at once, and `per_model` to one endpoint.

    How many of them an endpoint is given adapts to how it keeps up; see `AdaptiveLimit`.
    """

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
        self._limits: dict[_Key, AdaptiveLimit] = {}
        self._shapes: dict[_Key, Shape] = {}
        self._dead: dict[_Key, tuple[ErrorKind, str]] = {}
        self._unreached: dict[_Key, int] = {}
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
        begun: bool = False,
        admit: Callable[[], None] | None = None,
        keep: Callable[[Reply], Awaitable[None]] | None = None,
    ) -> Reply:
        """Ask once, repeating what failed in passing. `timeout_s` bounds the time from the first attempt on, or from
        now on when the time of what is asked has `begun` with an earlier call.

        `body` is the request as the endpoint's wire spells it, in JSON.

        `admit` is called when a place is free, before each attempt; it may raise CallError to keep it from being made.
        `keep` is awaited with the reply before its place is free again: so never more than the limit's answers are
        under way or not kept yet.

        Raises:
            CallError: no reply could be had, with the last attempt's reason.
        """
        key = (endpoint.url, endpoint.model)
        self._check_alive(key)
        limit = self._limit(key, endpoint)
        loop = asyncio.get_running_loop()
        timeout_s = min(timeout_s, endpoint.timeout_s or timeout_s)
        attempts = endpoint.attempts or self.retry.attempts
        deadline: float | None = loop.time() + timeout_s if begun else None
        attempt = 0
        while True:
            await self._place(limit, timeout_s, deadline)
            try:
                self._check_alive(key)
                if admit is not None:
                    admit()
                began = loop.time()
                deadline = deadline if deadline is not None else began + timeout_s
                shape = self._shapes.get(key, PLAIN)
                if shape is not PLAIN:
                    body = msgspec.json.encode(endpoint.wire.body(request, endpoint.model, shape))
                try:
                    reply = await self._attempt(endpoint, request, body, limit=max(0.001, deadline - began))
                    limit.answered(loop.time() - began)
                    self._unreached.pop(key, None)
                    reply = _told(reply, shape)
                    if keep is not None:
                        await keep(reply)
                    return reply
                except CallError as caught:
                    error = caught
            finally:
                self._overall.release()
                limit.release()
            if self._adapts(key, endpoint, shape, body, error):
                continue
            error.message = _without_secrets(error.message, endpoint)
            if error.fatal:
                self._dead[key] = (error.kind, error.message)
            if error.kind is ErrorKind.RATE_LIMITED:
                limit.overloaded(began, loop.time(), error.retry_after_s)
            attempt += 1
            if not error.retryable or attempt >= attempts:
                break
            wait = self.retry.wait_s(attempt - 1, error.retry_after_s, self._rng)
            if loop.time() + wait >= deadline:
                error.message += f" (the next attempt is due in {wait:.0f} s, past the limit of {timeout_s:g} s)"
                break
            if self.on_wait:
                self.on_wait(endpoint, error, wait)
            await asyncio.sleep(wait)
        self._give_up(key, error)
        raise error

    async def _place(self, limit: AdaptiveLimit, timeout_s: float, deadline: float | None) -> None:
        """Wait for a place among all requests and at the endpoint, but not past the deadline, nor where the endpoint
        asked to be left alone for longer than that."""
        within_s = timeout_s if deadline is None else deadline - asyncio.get_running_loop().time()
        pause = limit.pause_s()
        if pause > max(0.0, within_s):
            text = f"the provider asked to wait {pause:.0f} s more, past the limit of {within_s:.0f} s"
            raise CallError(ErrorKind.RATE_LIMITED, text)
        try:
            async with asyncio.timeout_at(deadline):
                await limit.acquire()
                try:
                    await self._overall.acquire()
                except BaseException:
                    limit.release()
                    raise
        except TimeoutError:
            text = f"no verdict within {timeout_s:g} s: the next attempt found no place among the requests under way"
            raise CallError(ErrorKind.TIMEOUT, text) from None

    def _give_up(self, key: _Key, error: CallError) -> None:
        """Ask an endpoint no more that several calls in a row could not reach at all, with every repetition."""
        if error.kind is not ErrorKind.CONNECTION:
            return
        self._unreached[key] = self._unreached.get(key, 0) + 1
        if self._unreached[key] >= _UNREACHED_CALLS:
            self._dead[key] = (error.kind, error.message)

    def _limit(self, key: _Key, endpoint: Endpoint) -> AdaptiveLimit:
        if key not in self._limits:
            self._limits[key] = AdaptiveLimit(min(self._per_model, endpoint.limit or self._per_model))
        return self._limits[key]

    def _adapts(self, key: _Key, endpoint: Endpoint, shape: Shape, body: bytes, error: CallError) -> bool:
        """Remember what the endpoint will not take; False when there is nothing left to do without."""
        current = self._shapes.get(key, PLAIN)
        if error.rejects_tool_choice:
            if shape.rung + 1 < len(TOOL_CHOICES):
                self._shapes[key] = msgspec.structs.replace(current, rung=max(shape.rung + 1, current.rung))
                return True
            error.kind = ErrorKind.NO_ENDPOINTS if error.no_endpoints else ErrorKind.TOOL_CHOICE_REJECTED
            error.fatal = True
            return False
        for parameter in endpoint.wire.optional:
            sent = parameter not in shape.without and f'"{parameter}"'.encode() in body
            if sent and error.rejects(parameter):
                self._shapes[key] = msgspec.structs.replace(current, without=current.without | {parameter})
                return True
        return False

    def _check_alive(self, key: tuple[str, str]) -> None:
        """Raise for an endpoint that answered that nothing will help: a wrong key, an unknown model."""
        if key in self._dead:
            raise CallError(*self._dead[key])

    async def _attempt(self, endpoint: Endpoint, request: ModelRequest, body: bytes, *, limit: float) -> Reply:
        limit = min(limit, self.retry.attempt_timeout_s)
        sends = getattr(endpoint.wire, "send", None)
        if sends is not None:
            return await _sent(sends, endpoint, request, body, limit)
        content = await exchange(
            self._connections, "POST", endpoint.url, headers=endpoint.headers, body=body, limit_s=limit
        )
        return _read(decoded(content), endpoint, request)


async def _sent(
    send: Callable[[dict[str, Any], float], Awaitable[Any]],
    endpoint: Endpoint,
    request: ModelRequest,
    body: bytes,
    limit: float,
) -> Reply:
    """A reply by the wire's own means."""
    try:
        async with asyncio.timeout(limit):
            payload = await send(msgspec.json.decode(body), limit)
    except TimeoutError:
        raise CallError(ErrorKind.TIMEOUT, f"no answer within {limit:.0f} s", retryable=True) from None
    return _read(payload, endpoint, request)


def _read(payload: Any, endpoint: Endpoint, request: ModelRequest) -> Reply:
    reply = endpoint.wire.reply(payload, request)
    usage = priced(reply.usage, model=endpoint.model, provider=endpoint.priced_as)
    return msgspec.structs.replace(reply, usage=usage)


def _told(reply: Reply, shape: Shape) -> Reply:
    """The reply with what the endpoint would not take."""
    if shape is PLAIN:
        return reply
    notes = tuple(f"the model takes no {parameter}: asked without" for parameter in sorted(shape.without))
    return msgspec.structs.replace(reply, tool_choice=shape.tool_choice, notes=(*reply.notes, *notes))


def _without_secrets(text: str, endpoint: Endpoint) -> str:
    """The text with every header value that grants access blanked out, should a provider quote it."""
    for secret in secrets_of(endpoint.headers):
        text = text.replace(secret, "***")
    return text
