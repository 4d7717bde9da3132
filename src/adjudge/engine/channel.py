"""Talking to one worker process: frames out, frames in, and what to say when it does not answer."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Failure
from adjudge.engine.protocol import FrameReader, frame, message_decoder
from adjudge.engine.spawn import WorkerProcess

SEND_TIMEOUT_S = 60.0


class Channel:
    """The pipes of one worker process. After a failure the process is gone."""

    def __init__(self, process: WorkerProcess) -> None:
        self._process: WorkerProcess | None = process
        self._reader = FrameReader()
        self._frames: list[bytes] = []

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            OSError: the process is gone, or does not read.
        """
        if self._process is None or self._process.stdin is None:
            raise OSError("the worker process is gone")
        data = memoryview(frame(message))
        pipe = self._process.stdin.fileno()
        os.set_blocking(pipe, False)
        while data:
            _, writable, _ = select.select([], [pipe], [], SEND_TIMEOUT_S)
            if not writable:
                raise OSError("it does not read what it is sent")
            data = data[os.write(pipe, data) :]

    def receive(self, limit_s: float) -> Any:
        """The next message, or the `Failure` that came instead within `limit_s` seconds."""
        deadline = time.monotonic() + limit_s
        process = self._process
        if process is None or process.stdout is None:
            return Failure(ErrorKind.CRASHED, "the worker process is gone")
        while not self._frames:
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                return Failure(ErrorKind.TIMEOUT, f"it ran longer than {limit_s:g} s and was stopped")
            ready, _, _ = select.select([process.stdout], [], [], min(left, 1.0))
            if not ready:
                if process.poll() is None:
                    continue
                return Failure(ErrorKind.CRASHED, self._ended())
            data = os.read(process.stdout.fileno(), 1 << 20)
            if not data:
                return Failure(ErrorKind.CRASHED, self._ended())
            try:
                self._frames += self._reader.feed(data)
            except ValueError:
                return self.broken()
        try:
            return message_decoder.decode(self._frames.pop(0))
        except msgspec.MsgspecError:
            return self.broken()

    def broken(self) -> Failure:
        """What a message that nobody asked for comes to."""
        self.kill()
        return Failure(ErrorKind.CRASHED, "it wrote into the channel between its process and adjudge")

    def _ended(self) -> str:
        """How the process ended, in words."""
        process = self._process
        assert process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        code = process.returncode
        self.kill()
        if code is None:
            return "the process closed its output"
        if code < 0:
            return f"the process was killed by {signal.Signals(-code).name}"
        return f"the process ended with exit status {code}"

    def kill(self) -> None:
        """End the process and everything in its process group."""
        process, self._process = self._process, None
        if process is not None:
            process.end()
