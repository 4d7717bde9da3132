"""A pool of warm worker processes. What a judge does to its process costs one verdict, never the run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import time

import msgspec

from adjudge.domain import ErrorKind, Failure, Judge
from adjudge.engine.channel import Channel
from adjudge.engine.protocol import Item, Job, Loaded, Setup
from adjudge.engine.spare import SpareWorker
from adjudge.engine.spawn import WorkerProcess
from adjudge.judges import Outcome

LOAD_TIMEOUT_S = 60.0
_START_TIMEOUT_S = 60.0
START_S = 0.4
"""What starting a process costs on a busy machine."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class CaseOutcome(msgspec.Struct):
    """What the workers found out about one case, in the order of the job's judges."""

    failure: Failure | None
    items: list[Item]
    notes: tuple[str, ...] = ()


class WorkerPool:
    """Runs jobs on up to `size` processes, each driven by a thread of its own.

    With `stagger_s` a process after the first starts only when, looked at in such intervals, what is left will take
    longer than a start does.
    """

    def __init__(
        self,
        judges: tuple[Judge, ...],
        code_paths: tuple[str, ...],
        *,
        size: int,
        cwd: str | None = None,
        spare: SpareWorker | None = None,
        stagger_s: float = 0.0,
    ) -> None:
        self._setup = Setup(judges, code_paths)
        self._jobs: queue.SimpleQueue[tuple[Job, asyncio.Future[CaseOutcome]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._closing = threading.Event()
        self._drivers = [_Driver(self._setup, cwd, self._closing, None if k else spare) for k in range(size)]
        self._stagger_s = stagger_s
        self._began = time.monotonic()
        self._done = 0
        self._threads = [
            threading.Thread(target=self._drive, args=(driver, stagger_s * k), daemon=True)
            for k, driver in enumerate(self._drivers)
        ]
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

    def _drive(self, driver: _Driver, delay_s: float) -> None:
        if delay_s:
            self._closing.wait(delay_s)
            while not self._worth_a_start() and not self._closing.wait(self._stagger_s):
                pass
        else:
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
            self._done += 1
            if self._closing.is_set():
                break
            self._loop.call_soon_threadsafe(_settle, future, result)
        driver.kill()

    def _worth_a_start(self) -> bool:
        """Whether the jobs that wait will take longer than a process takes to start, as fast as they went so far."""
        waiting = self._jobs.qsize()
        if not waiting or not self._done:
            return waiting > 0
        return (time.monotonic() - self._began) / self._done * waiting > START_S


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
        self._channel: Channel | None = None

    def start(self) -> None:
        if self._channel is not None and self._channel.alive:
            return
        self.kill()
        spare, self._spare = self._spare, None
        self._channel = spare.take() if spare is not None else Channel(WorkerProcess(self._cwd))
        self._channel.send(self._setup)

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
            channel = self._channel
            assert channel is not None
            channel.send(job)
        except OSError as error:
            self.kill()
            return Failure(ErrorKind.CRASHED, f"the worker process could not be started: {error}")
        loaded = channel.receive(LOAD_TIMEOUT_S + _START_TIMEOUT_S)
        if isinstance(loaded, Failure):
            return Failure(ErrorKind.INPUT, f"while the case was read: {loaded}")
        if not isinstance(loaded, Loaded):
            return channel.broken()
        if loaded.failure is not None:
            return loaded.failure
        self._notes = loaded.notes
        while pending:
            limit = self._setup.judges[pending[0]].timeout_s
            message = channel.receive(limit)
            if isinstance(message, Failure):
                return message
            if not isinstance(message, Item) or message.judge != pending[0]:
                return channel.broken()
            items.append(message)
            pending.pop(0)
        return None

    def kill(self) -> None:
        """End the process and everything in its process group."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.kill()
