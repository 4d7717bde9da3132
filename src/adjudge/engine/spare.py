"""One worker that is started before the suite is read, which also tells what criteria files register."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjudge.engine.spawn import WorkerProcess

if TYPE_CHECKING:
    from adjudge.domain import Discovered
    from adjudge.engine.channel import Channel

IMPORT_TIMEOUT_S = 120.0


class SpareWorker:
    """In a `with` block: it ends there unless it was taken. What it needs is imported while the worker starts."""

    def __init__(self) -> None:
        self._process: WorkerProcess | None = WorkerProcess()
        self._channel: Channel | None = None

    def take(self) -> Channel:
        """The worker; another one when it was taken before, or is gone."""
        channel = self._opened()
        self._channel = None
        return channel

    def discover(self, roots: Sequence[str]) -> Discovered:
        """Import the criteria files of tests folders in the worker, which keeps them for the run."""
        from adjudge.domain import Discovered, Failure, Problem
        from adjudge.engine.protocol import Discover

        channel = self._channel = self._opened()
        try:
            channel.send(Discover(tuple(roots)))
            answer = channel.receive(IMPORT_TIMEOUT_S)
        except OSError as error:
            return Discovered(problems=(Problem(file=roots[0], message=f"no criteria can be imported: {error}"),))
        if isinstance(answer, Discovered):
            return answer
        why = answer.message if isinstance(answer, Failure) else channel.broken().message
        return Discovered(problems=(Problem(file=roots[0], message=f"while criteria were imported: {why}"),))

    def _opened(self) -> Channel:
        from adjudge.engine.channel import Channel

        process, self._process = self._process, None
        if self._channel is not None and self._channel.alive:
            return self._channel
        return Channel(process if process is not None and process.poll() is None else WorkerProcess())

    def __enter__(self) -> SpareWorker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._channel is not None:
            self._channel.kill()
        if self._process is not None:
            self._process.end()


def discover(roots: Sequence[str]) -> Discovered:
    """What the criteria files of tests folders register, found out in a process of their own."""
    with SpareWorker() as worker:
        return worker.discover(roots)
