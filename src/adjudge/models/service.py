"""A provider's interface besides asking a model: files, containers and runs of its own, over the same connections."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge._version import __version__
from adjudge.domain import ErrorKind
from adjudge.models.connections import Connections
from adjudge.models.exchange import decoded, exchange
from adjudge.models.http import httpx
from adjudge.models.retry import RetryPolicy
from adjudge.models.wire import CallError

MAX_REPLY = 64 * 1024 * 1024
"""Bytes of a reply in JSON."""


class Service:
    """Calls below one base URL. What fails in passing is repeated, as `retry` says and until each call's deadline, a
    time of the event loop. Neither the values of `headers` that grant access nor `secrets` are in what comes back."""

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        *,
        secrets: Sequence[str] = (),
        retry: RetryPolicy | None = None,
        seed: int = 0,
    ) -> None:
        self.retry = retry or RetryPolicy()
        self._base = base
        self._headers = headers
        self._secrets = secrets
        self._rng = random.Random(seed)
        self._connections = Connections({"user-agent": f"adjudge/{__version__}"})

    async def close(self) -> None:
        await self._connections.close()

    def wait_s(self, attempt: int, error: CallError) -> float:
        """Seconds before what failed is tried once more."""
        return self.retry.wait_s(attempt, error.retry_after_s, self._rng)

    async def call(
        self,
        method: str,
        path: str,
        *,
        deadline: float,
        json: Any = None,
        file: tuple[str, bytes] | None = None,
        twice: bool = True,
        attempt_s: float | None = None,
    ) -> Any:
        """The JSON of the reply. `file` is sent as a form: (its name, its content). A call that must not be made
        `twice` is repeated only where it was turned away for load. `attempt_s` is the limit of one attempt.

        Raises:
            CallError: there is no reply of this form, with the last attempt's reason.
        """
        headers, body = {"content-type": "application/json"}, None if json is None else msgspec.json.encode(json)
        if file is not None:
            form = httpx.Request(method, self._base, files={"file": file})
            headers, body = {"content-type": form.headers["content-type"]}, form.read()
        for attempt in range(self.retry.attempts):
            try:
                return decoded(await self._once(method, path, headers, body, deadline, attempt_s, MAX_REPLY))
            except CallError as error:
                again = error.kind is ErrorKind.RATE_LIMITED if not twice else True
                await self._pause(attempt, error, deadline, again=again)
        raise AssertionError

    async def content(self, path: str, *, deadline: float, most: int) -> bytes:
        """The bytes of a file.

        Raises:
            CallError: they cannot be had, or are more than `most`.
        """
        for attempt in range(self.retry.attempts):
            try:
                return await self._once("GET", path, {}, None, deadline, None, most)
            except CallError as error:
                await self._pause(attempt, error, deadline, again=True)
        raise AssertionError

    async def _once(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float,
        attempt_s: float | None,
        most: int,
    ) -> bytes:
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise CallError(ErrorKind.TIMEOUT, "its time is over")
        return await exchange(
            self._connections,
            method,
            self._base + path,
            headers={**self._headers, **headers},
            body=body,
            limit_s=min(left, self.retry.attempt_timeout_s if attempt_s is None else attempt_s),
            most=most,
            secrets=self._secrets,
        )

    async def _pause(self, attempt: int, error: CallError, deadline: float, *, again: bool) -> None:
        """Wait before the next attempt.

        Raises:
            CallError: there is none.
        """
        if not (again and error.retryable) or attempt + 1 >= self.retry.attempts:
            raise error
        wait = self.wait_s(attempt, error)
        if asyncio.get_running_loop().time() + wait >= deadline:
            error.message += f" (the next attempt is due in {wait:.0f} s, past the limit)"
            raise error
        await asyncio.sleep(wait)
