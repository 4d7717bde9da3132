"""The only way out of a sandbox without a network: unix sockets that lead to the model's endpoints only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

PROXY_PORT = 3128
_HEAD_LIMIT = 16_384
_CONNECT_S = 20.0


class Relay:
    """Unix sockets in `folder`, one for each endpoint on this machine, and a proxy for all others.

    Within the sandbox each stands on a port of loopback: an endpoint here on its own port, the proxy on `PROXY_PORT`.
    """

    def __init__(self, folder: Path, endpoints: Sequence[str]) -> None:
        self.ports: dict[int, Path] = {}
        self.refused: list[str] = []
        """What was asked of the proxy and is no endpoint, as `host:port`."""
        self._folder = folder
        self._servers: list[asyncio.Server] = []
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._here: dict[int, str] = {}
        self._remote: set[tuple[str, int]] = set()
        for endpoint in endpoints:
            url = urlsplit(endpoint)
            host = (url.hostname or "").lower()
            port = url.port or (443 if url.scheme == "https" else 80)
            if host in ("127.0.0.1", "localhost", "::1"):
                self._here[port] = host
            elif host:
                self._remote.add((host, port))

    @property
    def variables(self) -> dict[str, str]:
        """What a program within must see to use the proxy."""
        if not self._remote:
            return dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), "")
        proxy = f"http://127.0.0.1:{PROXY_PORT}"
        away = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy)
        return {**away, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "ALL_PROXY": ""}

    async def __aenter__(self) -> Relay:
        for port, host in self._here.items():
            await self._listen(port, self._to(host, port))
        if self._remote:
            await self._listen(PROXY_PORT, self._proxy)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for task, writer in self._open.items():
            task.cancel()
            writer.close()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _listen(
        self, port: int, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        def opened(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async def served() -> None:
                try:
                    await serve(reader, writer)
                finally:
                    writer.close()

            task = asyncio.create_task(served())
            self._open[task] = writer
            task.add_done_callback(lambda done: self._open.pop(done, None))

        path = self._folder / f"{port}.sock"
        self._servers.append(await asyncio.start_unix_server(opened, path))
        self.ports[port] = path

    def _to(self, host: str, port: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _joined(reader, writer, host, port)

        return serve

    async def _proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """CONNECT to an endpoint; everything else is refused, also plain requests by proxy."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _CONNECT_S)
            method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        except (ValueError, OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        host, _, port = target.rpartition(":")
        where = (host.strip("[]").lower(), int(port) if port.isdigit() else 0)
        if method != "CONNECT" or where not in self._remote:
            self.refused.append(target[:200])
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        await _joined(reader, writer, *where, greeting=b"HTTP/1.1 200 Connection established\r\n\r\n")


async def _joined(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int, *, greeting: bytes = b""
) -> None:
    """Carry bytes both ways until both ends are done."""
    try:
        far_reader, far_writer = await asyncio.wait_for(asyncio.open_connection(host, port), _CONNECT_S)
    except (OSError, TimeoutError):
        return
    writer.write(greeting)
    try:
        await asyncio.gather(_carry(reader, far_writer), _carry(far_reader, writer))
    finally:
        far_writer.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()
