"""One request over HTTP and its response, with what may go wrong told as a `CallError`, and no secret in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import ErrorKind
from adjudge.models.connections import Connections, TooLongError
from adjudge.models.http import httpx
from adjudge.models.wire import CallError, status_error

_SECRET_HEADERS = ("authorization", "x-api-key", "api-key")


async def exchange(
    connections: Connections,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    limit_s: float,
    body: bytes | None = None,
    most: int | None = None,
    secrets: Sequence[str] = (),
) -> bytes:
    """The content of a response with a status of success, without `secrets` and those of the request's headers.

    Raises:
        CallError: there is none within `limit_s`, or it is longer than `most` bytes.
    """
    hidden = [*secrets_of(headers), *secrets]
    try:
        async with asyncio.timeout(limit_s):
            response = await connections.send(method, url, body, headers, most=most)
    except TimeoutError:
        raise CallError(ErrorKind.TIMEOUT, f"no answer within {limit_s:.0f} s", retryable=True) from None
    except httpx.InvalidURL as error:
        raise CallError(ErrorKind.CONFIG, str(error)) from None
    except TooLongError as error:
        raise CallError(ErrorKind.OUTPUT_LIMIT, str(error)) from None
    except (httpx.HTTPError, UnicodeError, ValueError) as error:
        detail = str(error) or type(error).__name__
        raise CallError(ErrorKind.CONNECTION, f"{url}: {detail}", retryable=True) from None
    content = _scrubbed(response.content, hidden)
    if response.status_code // 100 != 2:
        raise status_error(response.status_code, response.headers, _message(content, response.reason_phrase))
    return content


def decoded(content: bytes) -> Any:
    """The JSON of a response.

    Raises:
        CallError: it is none.
    """
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(content)
    try:  # a text that was cut in the middle of a character is no reason to lose what was paid for
        return _whole_characters(json.loads(content, parse_constant=_no_number))
    except (ValueError, RecursionError):
        text = f"the response is not JSON: {content[:80]!r}"
        raise CallError(ErrorKind.PROVIDER_ERROR, text, retryable=True) from None


def _no_number(name: str) -> None:
    raise ValueError(name)


def _whole_characters(value: Any) -> Any:
    """The value with every half of a surrogate pair replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole_characters(part) for part in value]
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(part) for key, part in value.items()}
    return value


def secrets_of(headers: Mapping[str, str]) -> list[str]:
    """The values of headers that grant access."""
    values = [headers[name].removeprefix("Bearer ") for name in _SECRET_HEADERS if name in headers]
    return [value for value in values if len(value) > 3 and value != "none"]


def _scrubbed(content: bytes, secrets: Sequence[str]) -> bytes:
    """A response without the key, should a provider or gateway quote it."""
    for secret in secrets:
        content = content.replace(secret.encode(), b"***")
    return content


def _message(content: bytes, reason: str) -> str:
    """The provider's own words, short; never the request, which may be large."""
    try:
        payload: Any = msgspec.json.decode(content)
        error = payload.get("error", payload)
        text = error.get("message") or error.get("type") if isinstance(error, dict) else error
        code = f"{error.get('code')}: " if isinstance(error, dict) and isinstance(error.get("code"), str) else ""
        text = code + str(text)
    except (msgspec.DecodeError, AttributeError, RecursionError):
        text = content.decode("utf-8", "replace")
    return " ".join(text.split())[:300] or reason
