"""A loopback model provider: a real HTTP server that speaks Anthropic Messages, OpenAI Chat Completions (as OpenRouter
does too) and JEV.

`python -m tests.support.provider --port 0 --latency 0.1 --log FILE --replies module:function` runs it as a process.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import json
import os
import signal
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from tests.support.hosted import PREFIXES, Hosted, body_of
from tests.support.replies import (
    CutBody,
    CutConnection,
    HttpError,
    Reply,
    Response,
    SlowBody,
    Stall,
    Text,
    Verdict,
    respond,
    response,
    to_json,
)
from tests.support.request import Request, Wire, satisfying

__all__ = ["Client", "LoopbackProvider", "Reply", "Request", "Wire", "body_key", "default_reply"]

Client = Literal["anthropic", "openai", "openrouter", "litellm", "jev"]
Script = Callable[[Request], Reply] | Sequence[Reply]

ROUTES: dict[str, Wire] = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "openai",
    "/chat/completions": "openai",
    "/api/v1/chat/completions": "openai",
    "/v1/systemone": "jev",
}
HEAD_CAP = 64 * 1024
BODY_CAP = 32 * 1024 * 1024
DRIPS = 10
KEY = "dummy-key"


def default_reply(request: Request) -> Reply:
    """An answer that satisfies what is asked for, the same every time."""
    if request.wire == "jev":
        return Verdict({key: _surely(question) for key, question in request.questions.items()})
    schema = request.schema
    data = satisfying(schema) if schema is not None else None
    return Verdict(data) if isinstance(data, dict) else Text("ok")


def _surely(question: Mapping[str, Any]) -> float | tuple[float, float]:
    """Yes, or the best level."""
    levels = question.get("criteria")
    return (len(levels) - 1.0, 0.9) if isinstance(levels, list) else 0.9


def body_key(body: Mapping[str, Any]) -> str:
    """Equal for requests that ask the same, however their JSON was laid out."""
    return _sha(json.dumps(body, sort_keys=True, separators=(",", ":")))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _BadHttp(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Connection:
    """Bytes read ahead stay in `buffer`, so that watching for the client's end loses nothing it sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.buffer = bytearray()

    async def _fill(self) -> bool:
        chunk = await self.reader.read(64 * 1024)
        self.buffer += chunk
        return bool(chunk)

    def _take(self, size: int) -> bytes:
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    async def read_head(self) -> tuple[str, str, dict[str, str]] | None:
        while (end := self.buffer.find(b"\r\n\r\n")) < 0 and len(self.buffer) <= HEAD_CAP:
            if not await self._fill():
                return None
        if not 0 <= end <= HEAD_CAP:
            raise _BadHttp(431, f"the request head is longer than {HEAD_CAP} bytes")
        start, *lines = self._take(end + 4)[:-4].decode("latin-1").split("\r\n")
        words = start.split(" ")
        if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
            raise _BadHttp(400, f"not an HTTP/1 request line: {start[:80]!r}")
        headers = {"connection": "close"} if words[2] == "HTTP/1.0" else {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise _BadHttp(400, f"not a header: {line[:80]!r}")
            known = headers.get(name.lower())
            headers[name.lower()] = value.strip() if known is None else f"{known}, {value.strip()}"
        return words[0], words[1], headers

    async def read_body(self, headers: Mapping[str, str]) -> bytes | None:
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers:
            raise _BadHttp(411, "only bodies with a content-length are read")
        if not (length.isascii() and length.isdigit()):
            raise _BadHttp(400, f"not a content-length: {length[:80]!r}")
        if int(length) > BODY_CAP:
            raise _BadHttp(413, f"the request body is longer than {BODY_CAP} bytes")
        if headers.get("expect", "").lower() == "100-continue":
            await self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(self.buffer) < int(length):
            if not await self._fill():
                return None
        return self._take(int(length))

    async def gone_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while await self._fill():
                    pass
        except TimeoutError:
            return False
        return True

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class _Server:
    """Everything here runs on the event loop of `run`; other threads only read its counts and call `stop`."""

    def __init__(self, reply: Script | None, latency: float, log: Path | None, hosted: Hosted | None = None) -> None:
        if reply is not None and not callable(reply) and not reply:
            raise ValueError("an empty sequence of replies answers nothing")
        self.script: Script = default_reply if reply is None else reply
        self.hosted = hosted
        self.latency = latency
        self.log = log
        self.requests: list[Request] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.failure: BaseException | None = None
        self._log_fd = -1
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._stop = asyncio.Event()

    async def run(self, port: int, ready: Callable[[int], None]) -> None:
        if self.log is not None:
            self._log_fd = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        server = await asyncio.start_server(self._accept, "127.0.0.1", port, backlog=1024)
        try:
            ready(server.sockets[0].getsockname()[1])
            await self._stop.wait()
        finally:
            server.close()
            tasks = list(self._open)
            for task, writer in list(self._open.items()):
                writer.transport.abort()
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._log_fd >= 0:
                os.close(self._log_fd)

    def stop(self) -> None:
        self._stop.set()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # With no buffer allowed, `drain` returns only once the kernel has every byte.
        writer.transport.set_write_buffer_limits(high=0)
        task = asyncio.get_running_loop().create_task(self._converse(_Connection(reader, writer)))
        self._open[task] = writer
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._open.pop(task).close()
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, ConnectionError):
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        traceback.print_exception(error)
        self.failure = self.failure or error

    async def _converse(self, connection: _Connection) -> None:
        try:
            while await self._exchange(connection):
                pass
        except _BadHttp as bad:
            error = {"error": {"type": "invalid_request_error", "message": str(bad)}}
            headers = {"content-type": "application/json", "connection": "close"}
            refused = response(bad.status, to_json(error).encode(), headers)
            await connection.send(refused.head + refused.body)

    async def _exchange(self, connection: _Connection) -> bool:
        head = await connection.read_head()
        if head is None:
            return False
        method, target, headers = head
        raw = await connection.read_body(headers)
        if raw is None:
            return False
        path = target.partition("?")[0]
        if self.hosted is not None and path.startswith(PREFIXES):
            hosted = Request(len(self.requests), "hosted", path, headers, body_of(raw), raw, method, target)
            return await self._play(hosted, connection)
        if path not in ROUTES:
            raise _BadHttp(404, f"no such path: {path}; this provider serves {', '.join(ROUTES)}")
        if method != "POST":
            raise _BadHttp(405, f"{path} takes POST, not {method}")
        try:
            body = json.loads(raw)
        except ValueError as error:
            raise _BadHttp(400, f"the request body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise _BadHttp(400, "the request body is not a JSON object")
        return await self._play(Request(len(self.requests), ROUTES[path], path, headers, body, raw), connection)

    async def _play(self, request: Request, connection: _Connection) -> bool:
        """Answer a request; whether more may follow on the connection."""
        self.requests.append(request)
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            self._note("asked", request, None)
            sent = await self._answer(request, connection)
        finally:
            self.in_flight -= 1
        return sent and request.headers.get("connection", "").lower() != "close"

    async def _answer(self, request: Request, connection: _Connection) -> bool:
        """Whether the whole response was written."""
        try:
            reply = self._choose(request)
            faulty = isinstance(reply, CutConnection | Stall)
            sent = None if faulty else _written(reply, request)
        except Exception as error:
            self._fail(error)
            reply = HttpError(400, message=f"the script of replies failed: {error!r}")
            sent = respond(reply, request)
        wait = self.latency + reply.delay + (reply.reply.delay if isinstance(reply, SlowBody) else 0.0)
        if wait > 0 and await connection.gone_within(wait):
            return False
        if isinstance(reply, Stall):
            await connection.gone_within(reply.seconds)
        if sent is None:
            return False
        if isinstance(reply, SlowBody):
            await connection.send(sent.head)
            size = max(1, -(-len(sent.body) // DRIPS))
            starts = range(0, len(sent.body), size)
            for start in starts:
                if await connection.gone_within(reply.seconds / len(starts)):
                    return False
                await connection.send(sent.body[start : start + size])
        else:
            await connection.send(sent.head + sent.body)
        if sent.whole:
            self._note("answered", request, sent.status)
        return sent.whole

    def _choose(self, request: Request) -> Reply:
        script = self.script if request.wire != "hosted" or self.hosted is None else self.hosted.reply
        reply = script(request) if callable(script) else script[min(request.index, len(script) - 1)]
        if not isinstance(reply, Reply):
            raise TypeError(f"not a reply: {reply!r}")
        return reply

    def _note(self, event: str, request: Request, status: int | None) -> None:
        if self._log_fd < 0:
            return
        line = {
            "event": event,
            "index": request.index,
            "wire": request.wire,
            "model": request.model,
            "key": body_key(request.body),
            "prompt_sha": _sha(request.prompt),
            "status": status,
        }
        os.write(self._log_fd, json.dumps(line).encode() + b"\n")


def _written(reply: Reply, request: Request) -> Response:
    if isinstance(reply, SlowBody):
        return _written(reply.reply, request)
    if isinstance(reply, CutBody):
        full = respond(default_reply(request), request)
        return replace(full, body=full.body[: min(reply.after, len(full.body) - 1)], whole=False)
    return respond(reply, request)


class LoopbackProvider:
    """The provider on a thread of its own, for as long as the `with` block lasts; with `hosted` it runs models in
    containers too.

    A script that raises, or gives something that is no reply, is answered with status 400 and fails the block.
    `log` gets an "asked" line as a call arrives and an "answered" line once its whole response is written: a call
    that was cut, stalled or abandoned has no second line.
    """

    def __init__(
        self,
        reply: Script | None = None,
        *,
        latency: float = 0.0,
        log: Path | None = None,
        hosted: Hosted | None = None,
    ) -> None:
        self._server = _Server(reply, latency, log, hosted)
        self._thread = threading.Thread(target=self._run, name="loopback-provider", daemon=True)
        self._port: Future[int] = Future()

    def __enter__(self) -> Self:
        self._thread.start()
        self._port.result(timeout=10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(timeout=10)
        if error is None and self._server.failure is not None:
            raise AssertionError("the loopback provider failed") from self._server.failure

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._port.done():
                raise
            self._port.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.run(0, self._port.set_result)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port.result(timeout=0)}"

    @property
    def requests(self) -> list[Request]:
        return self._server.requests

    @property
    def in_flight(self) -> int:
        return self._server.in_flight

    @property
    def max_in_flight(self) -> int:
        return self._server.max_in_flight

    def env(self, client: Client | None = None) -> dict[str, str]:
        """What one client needs in its environment, or those of Anthropic and OpenAI without any.

        OpenRouter's address is a setting of the suite, which can name a variable: `$OPENROUTER_BASE_URL`.
        """
        clients: dict[Client, dict[str, str]] = {
            "anthropic": {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": KEY},
            "openai": {"OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": KEY},
            "openrouter": {"OPENROUTER_BASE_URL": f"{self.url}/api", "OPENROUTER_API_KEY": KEY},
            "litellm": {"HOSTED_VLLM_API_BASE": f"{self.url}/v1", "HOSTED_VLLM_API_KEY": KEY},
            "jev": {"TYPESAFE_BASE_URL": self.url, "TYPESAFE_API_KEY": KEY},
        }
        return clients["anthropic"] | clients["openai"] if client is None else clients[client]


def _loaded(name: str) -> Script:
    module, _, attribute = name.partition(":")
    script: Script = getattr(importlib.import_module(module), attribute)
    return script


async def _serve_until_told(options: argparse.Namespace) -> None:
    server = _Server(_loaded(options.replies) if options.replies else None, options.latency, options.log)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)

    def ready(port: int) -> None:
        if options.port_file is not None:
            # Whoever polls for the file must never read half of it.
            draft = options.port_file.with_name(f"{options.port_file.name}.{os.getpid()}")
            draft.write_text(str(port))
            draft.replace(options.port_file)
        print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)

    await server.run(options.port, ready)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--log", type=Path, metavar="FILE")
    parser.add_argument("--replies", metavar="MODULE:FUNCTION")
    parser.add_argument("--port-file", type=Path, metavar="FILE")
    asyncio.run(_serve_until_told(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
