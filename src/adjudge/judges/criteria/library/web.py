"""Criteria on what a server answers to a GET."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.data import compared, follow, parse_json
from adjudge.judges.criteria.library.reading import (
    UnusableError,
    beginning,
    brief,
    clean,
    cut,
    failing,
    need_string,
    need_whole,
    size,
)
from adjudge.judges.criteria.library.running import need_seconds

if TYPE_CHECKING:
    from urllib.request import OpenerDirector

MAX_BODY = 8 * 1024 * 1024


@failing(False)
def http_status_equals(workspace: Path, url: str, status: int = 200, timeout: float = 10) -> Finding:
    """Whether a GET ends, after redirects, with a status."""
    need_whole("status", status)
    answer = _get(url, timeout)
    return Finding(answer.status == status, f"{url} answers with status {answer.status}, wanted {status}")


@failing(False)
def http_response_contains(workspace: Path, url: str, text: str, timeout: float = 10) -> Finding:
    """Whether a text occurs in the body of a successful answer, read as UTF-8."""
    need_string("text", text)
    answer = _succeeded(url, timeout)
    found = text in answer.text
    said = f"{url} {'answers with' if found else 'answers without'} {brief(text)}"
    return Finding(found, f"{said}{'' if found else f'; the body begins {beginning(answer.text)}'}{answer.note}")


@failing(False)
def http_json_equals(workspace: Path, url: str, json_path: str, expected: Any, timeout: float = 10) -> Finding:
    """Whether the value at a path in the JSON of a successful answer has the expected value."""
    need_string("json_path", json_path)
    answer = _succeeded(url, timeout)
    data = parse_json(answer.text, f"the answer of {url}{answer.note}")
    return compared(follow(data, json_path), expected, json_path, f"the answer of {url}")


class _Answer(NamedTuple):
    status: int
    text: str
    note: str


def _succeeded(url: str, timeout: float) -> _Answer:
    answer = _get(url, timeout)
    if not 200 <= answer.status < 300:
        raise UnusableError(f"{url} answers with status {answer.status}; the body begins {beginning(answer.text)}")
    return answer


def _get(url: str, timeout: float) -> _Answer:
    """GET in a thread: looking up a name has no time limit, and a server may send one byte at a time for ever."""
    _check_url(url)
    need_seconds(timeout)
    sockets: list[socket.socket] = []
    results: list[_Answer | BaseException] = []

    def work() -> None:
        try:
            results.append(_answer(_opener(sockets), url, timeout))
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=work, name="adjudge-http", daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        for connected in tuple(sockets):
            _shut(connected)
        thread.join(1)
        raise UnusableError(f"{url} did not answer in full within {timeout:g} seconds")
    result = results[0]
    if isinstance(result, _Answer):
        return result
    if isinstance(result, TimeoutError) or isinstance(getattr(result, "reason", None), TimeoutError):
        raise UnusableError(f"{url} did not answer in full within {timeout:g} seconds")
    reason = cut(clean(str(getattr(result, "reason", None) or result or type(result).__name__)), 200)
    raise UnusableError(f"{url} gave no answer: {reason}")


def _answer(opener: OpenerDirector, url: str, timeout: float) -> _Answer:
    from urllib.error import HTTPError
    from urllib.request import Request

    deadline = time.monotonic() + timeout
    try:
        response = opener.open(Request(url, headers={"User-Agent": "adjudge", "Accept": "*/*"}), timeout=timeout)
    except HTTPError as error:
        response = error
    with response:
        status = int(response.status)
        body = bytearray()
        while len(body) <= MAX_BODY:
            if time.monotonic() >= deadline:
                raise TimeoutError
            part = response.read1(65_536)
            if not part:
                break
            body += part
    note = f"; only the first {size(MAX_BODY)} of the body were read" if len(body) > MAX_BODY else ""
    return _Answer(status, bytes(body[:MAX_BODY]).decode("utf-8", "replace"), note)


def _opener(sockets: list[socket.socket]) -> OpenerDirector:
    """An opener of http and https and nothing else: a redirect must not lead to a file."""
    import http.client
    import urllib.request as library

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class Secure(http.client.HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    class PlainHandler(library.HTTPHandler):
        def http_open(self, req: library.Request) -> Any:
            return self.do_open(Plain, req)

    class SecureHandler(library.HTTPSHandler):
        def https_open(self, req: library.Request) -> Any:
            return self.do_open(Secure, req)

    class Proxies(library.ProxyHandler):
        def proxy_open(self, req: library.Request, proxy: str, type: str) -> Any:
            return None if _is_loopback(req.host) else super().proxy_open(req, proxy, type)

    opener = library.OpenerDirector()
    for handler in (
        Proxies(),
        PlainHandler(),
        SecureHandler(),
        library.HTTPDefaultErrorHandler(),
        library.HTTPRedirectHandler(),
        library.HTTPErrorProcessor(),
        library.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(need_string("url", url))
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError:
        valid = False
    if not valid or any(c.isspace() or not c.isprintable() for c in url):
        raise ValueError(f"url must be like 'http://localhost:8000/path', got {brief(url)}")


def _is_loopback(host: str) -> bool:
    import ipaddress

    name = urlsplit(f"//{host}").hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def _shut(connected: socket.socket) -> None:
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:  # it has ended by itself
        return
