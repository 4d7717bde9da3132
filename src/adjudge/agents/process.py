"""One run of an agent's process: bounded in time and output, and gone afterwards with everything that it started."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import secrets
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

MARK = "ADJUDGE_AGENT"
"""Set to a token of its own in every agent's environment, by which all that it started is found again."""
MAX_HEAD = 64 * 1024 * 1024
MAX_TAIL = 8 * 1024 * 1024
MAX_OUTPUT = 2 * 1024 * 1024 * 1024
"""Bytes of one stream. Beyond, the process is ended."""
DRAIN_S = 2.0
"""How long output is read after the process ended, while something that it started keeps its pipes open."""


class Ran(msgspec.Struct, frozen=True):
    """How a process went. Its output is in files, all but the middle of what is very long."""

    status: int | None
    """Exit status; minus the signal that ended it; `None` when it was ended for its time or its output."""
    stdout: Path
    stderr: Path
    seconds: float
    timed_out: bool = False
    flooded: bool = False
    left_behind: int = 0
    """Processes that it had started and left running, which are ended too."""

    def text(self) -> str:
        return _text(self.stdout)

    def errors(self) -> str:
        return _text(self.stderr)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else ""


async def run_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: bytes,
    stdout: Path,
    stderr: Path,
    limit_s: float,
) -> Ran:
    """Run to the end, to the time limit, or to the limit of output.

    Raises:
        OSError: it cannot be started.
    """
    token = secrets.token_hex(12)
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env={**env, MARK: token},
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    flooded = asyncio.Event()
    pumps = [
        asyncio.create_task(_pump(process.stdout, stdout, flooded)),
        asyncio.create_task(_pump(process.stderr, stderr, flooded)),
    ]
    feeding = asyncio.create_task(_feed(process, stdin))
    waits = [asyncio.create_task(_exited(process)), asyncio.create_task(flooded.wait())]
    timed_out = False
    left = 0
    try:
        done, _ = await asyncio.wait(waits, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        timed_out = not done
        if waits[0] in done:
            await asyncio.wait(pumps, timeout=0.1)
    finally:
        ended_itself = process.returncode is not None
        count = end_all(process.pid, token)
        left = count if ended_itself else 0
        feeding.cancel()
        for wait in waits[1:]:
            wait.cancel()
        await asyncio.wait(pumps, timeout=DRAIN_S)
        for pump in pumps:
            pump.cancel()
        await asyncio.gather(waits[0], *pumps, feeding, return_exceptions=True)
        process._transport.close()  # type: ignore[attr-defined]  # pipes that nobody reads to their end
    cut_short = timed_out or flooded.is_set()
    return Ran(
        None if cut_short else process.returncode,
        stdout,
        stderr,
        time.monotonic() - began,
        timed_out,
        flooded.is_set(),
        left,
    )


async def _exited(process: asyncio.subprocess.Process) -> None:
    """Wait for the process itself; `process.wait` waits for everybody who holds its pipes."""
    while process.returncode is None:  # noqa: ASYNC110 - nobody tells of it otherwise
        await asyncio.sleep(0.01)


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    """Write standard input and close it. A process that does not read it is its own business."""
    if process.stdin is None:
        return
    with contextlib.suppress(OSError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _pump(stream: asyncio.StreamReader, path: Path, flooded: asyncio.Event) -> None:
    """A stream into a file: its head, and its tail when it is longer than that."""
    written = seen = 0
    tail = bytearray()
    with path.open("wb") as file:
        try:
            while data := await stream.read(1 << 18):
                seen += len(data)
                if written < MAX_HEAD:
                    head = data[: MAX_HEAD - written]
                    file.write(head)
                    file.flush()
                    written += len(head)
                    data = data[len(head) :]
                tail += data
                if len(tail) > 2 * MAX_TAIL:
                    del tail[:-MAX_TAIL]
                if seen > MAX_OUTPUT:
                    flooded.set()
                    break
        finally:
            kept = bytes(tail[-MAX_TAIL:])
            if seen > written + len(kept):
                file.write(f"\n[... cut: {seen - written - len(kept)} bytes]\n".encode())
            file.write(kept)


def end_all(pid: int, token: str) -> int:
    """End a process, its group, and whatever carries its token, detached or not. Returns how many there were."""
    ended: set[int] = set()
    for _ in range(20):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        found = _family(pid, token)
        for member in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)
        ended |= found
        if not found:
            break
        time.sleep(0.005)
    return len(ended)


_WRAPS = 20_000


@functools.cache
def _last_pid() -> int:
    """The number after which those of processes begin anew."""
    try:
        return int(_read("/proc/sys/kernel/pid_max"))
    except (OSError, ValueError):
        return 0


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - thousands of them
        return file.read()


def _family(pid: int, token: str) -> set[int]:
    """The living processes that were started by one: by their group, their parents, or their environment."""
    if not os.path.isdir("/proc"):  # noqa: PTH112
        return set()
    mark = f"{MARK}={token}".encode()
    least = 0 if _last_pid() - pid < _WRAPS else pid  # what it started came after it, unless numbers begin anew
    found: set[int] = set()
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - many times faster
        if not entry.isdigit() or int(entry) < least:
            continue
        member = int(entry)
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = _read(f"/proc/{entry}/stat").rpartition(b")")[2].split()
            if fields[0] in (b"Z", b"X"):
                continue
            parents[member] = int(fields[1])
            if int(fields[2]) == pid or int(fields[3]) == pid or mark in _read(f"/proc/{entry}/environ"):
                found.add(member)
    more = True
    while more:
        children = {member for member, parent in parents.items() if parent in found or parent == pid} - found
        found |= children
        more = bool(children)
    return found - {os.getpid()}
