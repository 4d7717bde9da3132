"""Attempts to get out of a sandbox, in every kind that this machine offers: none may succeed."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from adjudge.sandbox import Kind, Relay, View, confined, probe

KINDS = [kind for kind in Kind if kind is not Kind.NONE]
SECRET = "s3cret-that-must-not-leak"

WRITES = {
    "new file": "echo x > new.txt",
    "overwrite": "echo x > answer.md",
    "append": "echo x >> answer.md",
    "delete": "rm -f answer.md",
    "rename": "mv answer.md other.md",
    "chmod": "chmod 000 answer.md",
    "touch": "touch -d 2001-01-01 answer.md",
    "over the output folder": "echo x > output/../new.txt",
    "by a link": "ln -s ../answer.md output/l && echo x > output/l",
    "by a hard link": "ln answer.md output/h && echo x > output/h",
    "by its absolute path": "echo x > {ws}/new.txt",
    "remount": "mount -o remount,rw,bind {ws} && echo x > new.txt",
    "unmount": "umount -l {ws}; echo x > {ws}/new.txt",
    "mounts of its own": "unshare -rm sh -c 'mount -o remount,bind,rw {ws} && echo x > {ws}/new.txt'",
    "unmount in a namespace": "unshare -rm sh -c 'umount -l {ws}; echo x > {ws}/new.txt'",
    "by proc": "echo x > /proc/self/root{ws}/new.txt",
    "by the first process": "echo x > /proc/1/root{ws}/new.txt",
    "system": "echo x > /usr/bin/adjudge-evil",
    "etc": "echo x >> /etc/passwd",
    "root": "mkdir /evil",
}
READS = {
    "file beside": "cat {outside}/secret.txt",
    "by a link": "ln -s {outside}/secret.txt output/s; cat output/s",
    "by dots": "cat ../outside/secret.txt",
    "by proc": "cat /proc/1/root{outside}/secret.txt /proc/self/root{outside}/secret.txt",
    "by the parent": "cat /proc/$PPID/root{outside}/secret.txt",
    "environment of processes": "cat /proc/[0-9]*/environ",
    "own environment": "env",
    "find": "find / -name secret.txt -exec cat {{}} + 2>/dev/null",
    "home": "cat {home}/.aws/credentials",
}


@pytest.fixture(params=KINDS, ids=[kind.value for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    problem = probe(chosen)
    if problem:
        pytest.skip(f"{chosen.value}: {problem}")
    return chosen


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "output").mkdir(parents=True)
    (workspace / "answer.md").write_text("the answer\n")
    for name in ("outside", "home/.aws"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    (tmp_path / "home" / ".aws" / "credentials").write_text(SECRET)
    return workspace


def run(
    kind: Kind, workspace: Path, command: str, *, ports: dict[int, Path] | None = None
) -> subprocess.CompletedProcess[str]:
    """A shell command confined to the workspace, where it may change only `output`."""
    scratch = workspace.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    view = View(cwd=workspace, reads=(workspace,), writes=(workspace / "output",))
    env = {"PATH": os.environ["PATH"], "HOME": str(workspace.parent / "home")}
    argv = confined(kind, ["/bin/sh", "-c", command], view, env=env, ports=ports or {}, scratch=scratch)
    told = {**env, "ADJUDGE_TEST": "harmless"}
    return subprocess.run(argv, check=False, capture_output=True, text=True, timeout=30, env=told, errors="replace")


def state(workspace: Path) -> dict[str, tuple[str, int, float]]:
    return {
        str(path.relative_to(workspace)): (path.read_text(), path.stat().st_mode, path.stat().st_mtime)
        for path in sorted(workspace.rglob("*"))
        if path.is_file() and "output" not in path.parts
    }


@pytest.mark.parametrize("attempt", WRITES.values(), ids=WRITES)
def test_nothing_but_the_output_folder_can_be_changed(kind: Kind, workspace: Path, attempt: str) -> None:
    before = state(workspace)
    passwd = Path("/etc/passwd").read_bytes()
    run(kind, workspace, attempt.format(ws=workspace))
    assert state(workspace) == before
    assert Path("/etc/passwd").read_bytes() == passwd
    assert not Path("/usr/bin/adjudge-evil").exists()
    assert not Path("/evil").exists()


@pytest.mark.parametrize("attempt", READS.values(), ids=READS)
def test_nothing_outside_can_be_read(
    kind: Kind, workspace: Path, attempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_OURS", SECRET)
    parent = workspace.parent
    ended = run(kind, workspace, attempt.format(outside=parent / "outside", home=parent / "home"))
    assert SECRET not in ended.stdout + ended.stderr


def test_the_work_can_be_read_and_the_output_written(kind: Kind, workspace: Path) -> None:
    ended = run(kind, workspace, "cat answer.md && echo verdict > output/score.json && cat output/score.json")
    assert ended.stdout == "the answer\nverdict\n"
    assert (workspace / "output" / "score.json").read_text() == "verdict\n"


def test_what_it_leaves_in_temporary_folders_is_gone(kind: Kind, workspace: Path) -> None:
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        run(kind, workspace, f"echo x > {folder}/adjudge-left")
        assert not Path(folder, "adjudge-left").exists()


def test_no_process_outside_can_be_seen_or_ended(kind: Kind, workspace: Path) -> None:
    other = subprocess.Popen(["sleep", "30"])
    try:
        run(kind, workspace, f"kill -9 {other.pid}; kill -9 -1; true")
        assert other.poll() is None
        seen = run(kind, workspace, "cat /proc/[0-9]*/comm").stdout.split()
        assert "pytest" not in seen
        assert len(seen) < 10
    finally:
        other.kill()
        other.wait()


CONNECT = "import socket,sys; s=socket.create_connection(('127.0.0.1',int(sys.argv[1])),2); print(s.recv(9).decode())"


class Greeter:
    """A server on loopback that greets, and remembers that it was reached."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.reached = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.reached += 1
            connection.sendall(b"hello")
            connection.close()


def test_no_port_of_this_machine_can_be_reached_but_the_endpoint(kind: Kind, workspace: Path) -> None:
    endpoint, other = Greeter(), Greeter()

    async def both() -> list[str]:
        sockets = workspace.parent / "sockets"
        sockets.mkdir()
        async with Relay(sockets, [f"http://127.0.0.1:{endpoint.port}"]) as relay:
            script = workspace.parent / "scratch" / "connect.py"
            script.parent.mkdir()
            script.write_text(CONNECT)
            ended = []
            for port in (endpoint.port, other.port):
                command = f'{sys.executable} -c "{CONNECT}" {port}'
                ended.append(await asyncio.to_thread(run, kind, workspace, command, ports=relay.ports))
            return [result.stdout.strip() for result in ended]

    assert asyncio.run(both()) == ["hello", ""]
    assert (endpoint.reached, other.reached) == (1, 0)
    endpoint.socket.close()
    other.socket.close()


def test_the_proxy_leads_to_the_endpoint_and_nowhere_else(tmp_path: Path) -> None:
    async def asked(target: str) -> bytes:
        async with Relay(tmp_path, ["https://model.example"]) as relay:
            (path,) = relay.ports.values()
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            answer = await reader.read(100)
            writer.close()
            assert relay.refused == [target]
            return answer

    for target in ("evil.example:443", "model.example:22", "127.0.0.1:443", "model.example.evil:443", "nonsense"):
        assert asyncio.run(asked(target)).startswith(b"HTTP/1.1 403")
