"""HTTP connections that cost the same however many there are.

httpx looks through every connection of its pool for each request, several times, so a hundred at once spend most of
the time there. Here each transport holds one connection, and the free ones of an origin wait on a stack. Requests go
to the transport itself: no redirects, no cookies, no authentication of httpx's own; proxies by the usual variables.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Mapping

from adjudge.models.http import httpx

_LIMITS = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=30)


class TooLongError(Exception):
    """A response is longer than it may be."""


class Connections:
    """Sends requests, each over a connection that nobody else uses meanwhile and that is kept alive for the next."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = {"accept": "application/json", "accept-encoding": "gzip, deflate", **headers}
        self._tls: ssl.SSLContext | None = None
        self._proxies = urllib.request.getproxies()
        self._free: dict[str, list[httpx.AsyncHTTPTransport]] = {}
        self._all: list[httpx.AsyncHTTPTransport] = []

    async def send(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], *, most: int | None = None
    ) -> httpx.Response:
        """The response to a request, read to its end.

        Raises:
            httpx.HTTPError, httpx.InvalidURL: as httpx does.
            TooLongError: its content is longer than `most` bytes.
        """
        request = httpx.Request(method, url, content=body, headers={**self._headers, **headers})
        free = self._free.setdefault(request.url.netloc.decode(), [])
        transport = free.pop() if free else self._new(request.url)
        try:
            response = await transport.handle_async_request(request)
            response.request = request
            try:
                if most is not None:
                    return await _at_most(response, most)
                await response.aread()
            finally:
                await response.aclose()
            return response
        finally:
            free.append(transport)

    async def close(self) -> None:
        for transport in self._all:
            await transport.aclose()

    def _verify(self, scheme: str) -> ssl.SSLContext | bool:
        """One context for all connections, made when the first of them needs it."""
        if scheme == "http" and not self._proxies:
            return False
        self._tls = self._tls or httpx.create_ssl_context()
        return self._tls

    def _new(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if proxy is not None and urllib.request.proxy_bypass(url.host):
            proxy = None
        transport = httpx.AsyncHTTPTransport(verify=self._verify(url.scheme), limits=_LIMITS, proxy=proxy)
        self._all.append(transport)
        return transport


async def _at_most(response: httpx.Response, most: int) -> httpx.Response:
    """The response as it is once it is read, unless that is too much."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > most:
            raise TooLongError(f"{response.request.url}: the response is longer than {most} bytes")
        parts.append(part)
    framing = ("content-encoding", "content-length", "transfer-encoding")
    headers = {name: value for name, value in response.headers.items() if name not in framing}
    return httpx.Response(response.status_code, headers=headers, content=b"".join(parts), request=response.request)
