"""Ready criteria on what a server answers: real servers on loopback, some of them hostile."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library import web
from adjudge.judges.criteria.library.web import http_json_equals, http_response_contains, http_status_equals

PAGES = {
    "/": (200, b"hello page"),
    "/missing": (404, b"hello missing"),
    "/broken": (500, b"hello broken"),
    "/bytes": (200, b"a\xffb"),
    "/json": (200, b'{"a": [{"ok": true}], "n": 1}'),
    "/nothing": (204, b""),
}


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.answer(302, b"", location="/json")
        elif self.path == "/round":
            self.answer(302, b"", location="/round")
        elif self.path == "/file":
            self.answer(302, b"", location="file:///etc/hostname")
        elif self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65_536)
            except OSError:
                return
        else:
            self.answer(*PAGES[self.path])

    def answer(self, status: int, body: bytes, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=["silent", "header by header", "byte by byte"])
def slow(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that keeps every single wait short, and never comes to an end."""
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            try:
                if request.param != "silent":
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                if request.param == "byte by byte":
                    connection.sendall(b"Content-Length: 100000\r\n\r\n")
                while not done.wait(0.05):
                    if request.param == "header by header":
                        connection.sendall(b"X")
                    elif request.param == "byte by byte":
                        connection.sendall(b"x")
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    done.set()
    listener.close()
    thread.join(5)


def test_statuses(tmp_path: Path, url: str) -> None:
    assert http_status_equals(tmp_path, url) == Finding(True, f"{url} answers with status 200, wanted 200")
    assert http_status_equals(tmp_path, f"{url}/missing", 404).value is True
    assert http_status_equals(tmp_path, f"{url}/broken", 500).value is True
    assert http_status_equals(tmp_path, f"{url}/broken").value is False
    assert http_status_equals(tmp_path, f"{url}/nothing", 204).value is True


def test_redirects_are_followed_but_to_no_file_and_not_for_ever(tmp_path: Path, url: str) -> None:
    assert http_status_equals(tmp_path, f"{url}/moved", 200).value is True
    assert http_status_equals(tmp_path, f"{url}/moved", 302).value is False
    assert http_json_equals(tmp_path, f"{url}/moved", "n", 1).value is True
    assert http_status_equals(tmp_path, f"{url}/round").value is False
    assert http_response_contains(tmp_path, f"{url}/file", "").value is False


def test_bodies(tmp_path: Path, url: str) -> None:
    assert http_response_contains(tmp_path, url, "lo pa").value is True
    missing = http_response_contains(tmp_path, url, "bye")
    assert missing == Finding(False, f"{url} answers without 'bye'; the body begins 'hello page'")
    assert http_response_contains(tmp_path, f"{url}/bytes", "a\N{REPLACEMENT CHARACTER}b").value is True


def test_the_body_of_a_failure_does_not_count_and_is_shown(tmp_path: Path, url: str) -> None:
    finding = http_response_contains(tmp_path, f"{url}/missing", "hello")
    assert finding == Finding(False, f"{url}/missing answers with status 404; the body begins 'hello missing'")
    assert http_json_equals(tmp_path, f"{url}/broken", "a", 1).value is False


def test_json(tmp_path: Path, url: str) -> None:
    assert http_json_equals(tmp_path, f"{url}/json", "a.0.ok", True).value is True
    assert http_json_equals(tmp_path, f"{url}/json", "a.0.ok", 1).value is False
    assert http_json_equals(tmp_path, f"{url}/json", "a.1.ok", True).value is False
    assert "is no JSON" in http_json_equals(tmp_path, url, "a", 1).evidence


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    finding = http_status_equals(tmp_path, f"http://127.0.0.1:{port}/")
    assert finding.value is False
    assert "gave no answer: " in finding.evidence
    assert "refused" in finding.evidence


def test_a_name_that_nobody_has(tmp_path: Path) -> None:
    assert http_status_equals(tmp_path, "http://no-such-host.invalid/", timeout=3).value is False


def test_what_is_not_http(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-x\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        finding = http_status_equals(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout=3)
        thread.join()
    assert finding.value is False


def test_the_time_limit_is_on_the_whole(tmp_path: Path, slow: str) -> None:
    started = time.monotonic()
    finding = http_response_contains(tmp_path, slow, "end", timeout=0.5)
    assert finding == Finding(False, f"{slow} did not answer in full within 0.5 seconds")
    assert time.monotonic() - started < 2
    deadline = time.monotonic() + 3
    while any(thread.name == "adjudge-http" for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "the thread that asked goes on"
        time.sleep(0.02)


@pytest.mark.parametrize("slow", ["silent", "byte by byte"], indirect=True)
def test_a_wait_that_is_noticed_late_makes_no_part_the_whole(
    tmp_path: Path, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the thread that asks may see its time run out before the thread that waits for it."""

    class Late(threading.Thread):
        def start(self) -> None:
            super().start()
            self.join(5)
            assert not self.is_alive(), "the thread that asks keeps to the time limit itself"

    monkeypatch.setattr(threading, "Thread", Late)
    finding = http_response_contains(tmp_path, slow, "x", timeout=0.3)
    assert finding == Finding(False, f"{slow} did not answer in full within 0.3 seconds")


def test_an_endless_body_is_cut_and_that_is_said(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "MAX_BODY", 1024 * 1024)
    finding = http_response_contains(tmp_path, f"{url}/endless", "y")
    assert finding.value is False
    assert "only the first 1 MiB of the body were read" in finding.evidence
    assert http_status_equals(tmp_path, f"{url}/endless").value is True


def test_loopback_needs_no_proxy(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert http_status_equals(tmp_path, url).value is True
    assert http_status_equals(tmp_path, url.replace("127.0.0.1", "localhost")).value is True
    assert http_status_equals(tmp_path, "http://example.invalid/", timeout=3).evidence.endswith("refused")


@pytest.mark.parametrize(
    "wrong", ["", "localhost:8000", "ftp://a/b", "file:///etc/passwd", "http://", "http://a:x/", "http://a/ b", None]
)
def test_what_is_no_url_is_the_authors(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match="url must be"):
        http_status_equals(tmp_path, wrong)


def test_arguments_are_checked(tmp_path: Path, url: str) -> None:
    wrong: Any = "200"
    with pytest.raises(ValueError, match="status must be a whole number"):
        http_status_equals(tmp_path, url, wrong)
    with pytest.raises(ValueError, match="timeout must be a positive number"):
        http_status_equals(tmp_path, url, timeout=0)
