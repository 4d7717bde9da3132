"""A pool of warm worker processes. What a judge does to its process costs one verdict, never the run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import signal
import subprocess
import threading
import time
from typing import Any

import msgspec

from adjudge.domain import ErrorKind, Failure, Judge
from adjudge.engine.protocol import FrameReader, Item, Job, Loaded, Setup, frame, message_decoder
from adjudge.engine.spawn import SpareWorker, end_worker, start_worker
from adjudge.judges import Outcome

LOAD_TIMEOUT_S = 60.0
_START_TIMEOUT_S = 60.0


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class CaseOutcome(msgspec.Struct):
    """What the workers found out about one case, in the order of the job's judges."""

    failure: Failure | None
    items: list[Item]
    notes: tuple[str, ...] = ()


class WorkerPool:
    """Runs jobs on `size` processes, each driven by a thread of its own."""

    def __init__(
        self,
        judges: tuple[Judge, ...],
        code_paths: tuple[str, ...],
        *,
        size: int,
        cwd: str | None = None,
        spare: SpareWorker | None = None,
    ) -> None:
        self._setup = Setup(judges, code_paths)
        self._jobs: queue.SimpleQueue[tuple[Job, asyncio.Future[CaseOutcome]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._closing = threading.Event()
        self._drivers = [_Driver(self._setup, cwd, self._closing, None if k else spare) for k in range(size)]
        self._threads = [threading.Thread(target=self._drive, args=(driver,), daemon=True) for driver in self._drivers]
        for thread in self._threads:
            thread.start()

    async def run(self, job: Job) -> CaseOutcome:
        """Run a job. Never raises for what a judge does."""
        future: asyncio.Future[CaseOutcome] = self._loop.create_future()
        self._jobs.put((job, future))
        return await future

    def close(self) -> None:
        """Kill every worker with all that it started."""
        self._closing.set()
        for _ in self._threads:
            self._jobs.put(None)
        for driver in self._drivers:
            driver.kill()
        for thread in self._threads:
            thread.join(timeout=5)

    def _drive(self, driver: _Driver) -> None:
        with contextlib.suppress(Exception):
            driver.start()
        while (entry := self._jobs.get()) is not None:
            job, future = entry
            try:
                result = driver.run(job)
            except Exception as error:
                result = CaseOutcome(
                    Failure(ErrorKind.CRASHED, f"the worker failed: {type(error).__name__}: {error}"), []
                )
                driver.kill()
            if self._closing.is_set():
                break
            self._loop.call_soon_threadsafe(_settle, future, result)
        driver.kill()


def _settle(future: asyncio.Future[CaseOutcome], result: CaseOutcome) -> None:
    if not future.done():
        future.set_result(result)


class _Driver:
    """One worker process and the thread that talks to it."""

    def __init__(self, setup: Setup, cwd: str | None, closing: threading.Event, spare: SpareWorker | None) -> None:
        self._setup = setup
        self._cwd = cwd
        self._closing = closing
        self._spare = spare
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = FrameReader()
        self._frames: list[bytes] = []

    def start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        self._reader, self._frames = FrameReader(), []
        spare, self._spare = self._spare, None
        self._process = spare.take() if spare is not None else start_worker(self._cwd)
        self._send(self._setup)

    def run(self, job: Job) -> CaseOutcome:
        items: list[Item] = []
        self._notes: tuple[str, ...] = ()
        pending = list(job.judges)
        while True:
            failure = self._attempt(msgspec.structs.replace(job, judges=tuple(pending)), items, pending)
            if failure is None or self._closing.is_set():
                return CaseOutcome(None, items, self._notes)
            if not pending or failure.kind is ErrorKind.INPUT:
                return CaseOutcome(failure, items)
            items.append(Item(pending.pop(0), outcome=Outcome(failure=failure)))
            if not pending:
                return CaseOutcome(None, items, self._notes)

    def _attempt(self, job: Job, items: list[Item], pending: list[int]) -> Failure | None:
        """Run what is left of a job. Returns why the next judge has no verdict, or `None` when all have one."""
        try:
            self.start()
            self._send(job)
        except OSError as error:
            self.kill()
            return Failure(ErrorKind.CRASHED, f"the worker process could not be started: {error}")
        loaded = self._receive(LOAD_TIMEOUT_S + _START_TIMEOUT_S)
        if isinstance(loaded, Failure):
            return Failure(ErrorKind.INPUT, f"while the case was read: {loaded}")
        if not isinstance(loaded, Loaded):
            return self._broken()
        if loaded.failure is not None:
            return loaded.failure
        self._notes = loaded.notes
        while pending:
            limit = self._setup.judges[pending[0]].timeout_s
            message = self._receive(limit)
            if isinstance(message, Failure):
                return message
            if not isinstance(message, Item) or message.judge != pending[0]:
                return self._broken()
            items.append(message)
            pending.pop(0)
        return None

    def _receive(self, limit: float) -> Any:
        """The next message, or the `Failure` that came instead; after a failure the process is gone."""
        deadline = time.monotonic() + limit
        process = self._process
        if process is None or process.stdout is None:
            return Failure(ErrorKind.CRASHED, "the worker process is gone")
        while not self._frames:
            left = deadline - time.monotonic()
            if left <= 0:
                self.kill()
                return Failure(ErrorKind.TIMEOUT, f"it ran longer than {limit:g} s and was stopped")
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
                return self._broken()
        try:
            return message_decoder.decode(self._frames.pop(0))
        except msgspec.MsgspecError:
            return self._broken()

    def _broken(self) -> Failure:
        self.kill()
        return Failure(ErrorKind.CRASHED, "it wrote into the channel between its process and adjudge")

    def _send(self, message: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        data = memoryview(frame(message))
        pipe = self._process.stdin.fileno()
        os.set_blocking(pipe, False)
        while data:
            _, writable, _ = select.select([], [pipe], [], LOAD_TIMEOUT_S)
            if not writable:
                raise OSError("it does not read what it is sent")
            data = data[os.write(pipe, data) :]

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
        if process is None:
            return
        end_worker(process)
