"""Running a command for a criterion: bounded in time and memory, and nothing of it left running."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from adjudge.judges.criteria.library.reading import UnusableError, brief, clean, locate

MAX_EVIDENCE = 2_000
KEPT = 4 * 1024 * 1024
"""Bytes that are kept of each end of an output."""

_TICK = 0.01
_CHUNK = 1 << 16


class Ran(NamedTuple):
    """What a command did; `code` is `None` when it ran out of time."""

    code: int | None
    stdout: Output
    stderr: Output
    timeout: float

    @property
    def outcome(self) -> str:
        if self.code is None:
            return f"timed out after {self.timeout:g} seconds and was killed"
        return f"exit code {self.code}" if self.code >= 0 else f"killed by signal {-self.code}"

    def evidence(self, said: str = "") -> str:
        """What was found, how the command ended, and the ends of what it printed."""
        head = f"{said}; {self.outcome}" if said else self.outcome
        printed = [(name, part) for name in ("stdout", "stderr") if (part := getattr(self, name).tail())]
        room = (MAX_EVIDENCE - len(head)) // max(1, len(printed)) - 30
        short = [part for _, part in printed if len(part) < room]
        room += sum(room - len(part) for part in short)  # what one does not need, the other may have
        for name, part in printed:
            head += f"\n{name}: {part}" if len(part) <= room else f"\n{name}: [...] {part[-room:]}"
        return head


class Output:
    """Both ends of a stream, however long it is."""

    def __init__(self) -> None:
        self._head, self._tail, self._total = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self._total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * KEPT:
            del self._tail[:-KEPT]

    @property
    def whole(self) -> bool:
        return len(self._head) + len(self._tail) == self._total

    @property
    def parts(self) -> tuple[str, ...]:
        """The text in one piece, or its beginning and its end where the middle was not kept."""
        pieces = (self._head + self._tail,) if self.whole else (self._head, self._tail)
        return tuple(piece.decode("utf-8", "replace").replace("\r\n", "\n") for piece in pieces)

    def tail(self) -> str:
        end = (self._head[-4 * MAX_EVIDENCE :] + self._tail)[-4 * MAX_EVIDENCE :]
        return clean(end.decode("utf-8", "replace").strip()[-MAX_EVIDENCE:])


def folder(workspace: Path, cwd: str | None) -> Path:
    """Where a command runs: the workspace, or a folder relative to it.

    Raises:
        UnusableError: it is not there, or a link leads out of the workspace.
    """
    place = locate(workspace, "." if cwd is None else cwd)
    if not place.is_dir():
        raise UnusableError(f"the folder {brief(cwd or str(workspace))} to run in does not exist")
    return place


def need_seconds(timeout: float) -> float:
    """A time limit.

    Raises:
        ValueError: it is not a positive number.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise ValueError(f"timeout must be a positive number of seconds, got {brief(timeout)}")
    return timeout


def run(
    command: Sequence[str], *, cwd: Path, timeout: float, environ: Mapping[str, str] | None = None, name: str = ""
) -> Ran:
    """Run a command without standard input, in a session of its own, which is killed when it ends or must end.

    Raises:
        UnusableError: the folder cannot be entered.
        ValueError: the command cannot be one.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except ValueError:
        raise ValueError(f"the command {brief(name or command[-1])} holds a zero byte") from None
    except OSError as error:
        if error.filename == str(cwd):
            raise UnusableError(f"the folder {cwd} cannot be entered: {error.strerror}") from None
        raise ValueError(f"the command {brief(name or command[-1])} cannot be run: {error.strerror}") from None
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = Output(), Output()
    try:
        ended = _collect(process, {process.stdout: out, process.stderr: err}, time.monotonic() + timeout)
    finally:
        kill_session(process.pid)
        process.wait()
        process.stdout.close()
        process.stderr.close()
    return Ran(process.returncode if ended else None, out, err, timeout)


def _collect(process: subprocess.Popen[bytes], streams: dict[IO[bytes], Output], deadline: float) -> bool:
    """Read until the command ends, which need not close its streams: what it left running may hold them open."""
    with selectors.DefaultSelector() as selector:
        for stream, output in streams.items():
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, output)
        while True:
            ended = _has_ended(process)
            if ended:
                # What the command itself printed is in the pipes by now, and no pipe holds more than this.
                for stream, output in streams.items():
                    with contextlib.suppress(BlockingIOError):
                        left = 32 * _CHUNK
                        while left > 0 and (data := os.read(stream.fileno(), _CHUNK)):
                            output.add(data)
                            left -= len(data)
                return True
            if (wait := deadline - time.monotonic()) <= 0:
                return False
            if not selector.get_map():
                time.sleep(min(_TICK, wait))
                continue
            for key, _ in selector.select(min(_TICK, wait)):
                if data := os.read(key.fd, _CHUNK):
                    key.data.add(data)
                else:
                    selector.unregister(key.fileobj)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process ended, without reaping it where that can be: its number stays taken until all is killed."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return True


def kill_session(leader: int) -> None:
    """Kill a process group, and what else is in its session: `timeout` and job control make groups of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for _ in range(50):
        members = [pid for pid in _session(leader) if pid != leader]
        if not members:
            return
        for pid in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _session(leader: int) -> list[int]:
    """The living processes of a session, where /proc tells."""
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError, ValueError, IndexError):
                # After the name, which may hold anything: state, parent, group, session.
                fields = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X") and int(fields[3]) == leader:
                    found.append(int(entry.name))
    return found
