"""Who answers a question: a model over HTTP, or an agent that is started for it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from adjudge.domain import AgentJudge, Case, CaseRef, ErrorKind, Place, Usage
from adjudge.models import CHARACTERS_PER_TOKEN, CallError, Endpoint, ModelRequest, Reply, cost_usd

if TYPE_CHECKING:
    from adjudge.models.client import ModelClient

ANSWER_TOKENS = 250
"""A rationale of a paragraph and the verdict."""
MAX_FILES = 200_000
"""In a folder that an agent works on. What is beyond is in no key."""

Keep = Callable[[Reply], Awaitable[None]]


class Deadline(Protocol):
    """Bounds all attempts at one verdict together."""

    @property
    def begun(self) -> bool: ...

    def left_s(self) -> float: ...


class Caller(Protocol):
    """Puts one question, as often as it is wanted."""

    @property
    def model(self) -> str:
        """What the journal calls it."""
        ...

    async def identity(self, request: ModelRequest) -> bytes:
        """Everything that can change the answer but the sample.

        Raises:
            CallError: what it would look at cannot be read.
        """
        ...

    def expected_usd(self, request: ModelRequest) -> float | None:
        """What a call will cost, in USD; `None` when nobody knows."""
        ...

    async def ask(self, request: ModelRequest, deadline: Deadline, admit: Callable[[], None], keep: Keep) -> Reply:
        """Ask, and have the reply kept before the place of the call is free.

        Raises:
            CallError: there is no reply.
        """
        ...


class ModelCaller:
    """A model at an endpoint."""

    def __init__(self, endpoint: Endpoint, client: Callable[[], ModelClient]) -> None:
        self.model = endpoint.model
        self._endpoint = endpoint
        self._client = client
        self._encoded: tuple[ModelRequest | None, bytes] = (None, b"")

    def _body(self, request: ModelRequest) -> bytes:
        if self._encoded[0] is not request:
            body = msgspec.json.encode(self._endpoint.wire.body(request, self._endpoint.model))
            self._encoded = (request, body)
        return self._encoded[1]

    async def identity(self, request: ModelRequest) -> bytes:
        return model_identity(self._endpoint, self._body(request))

    def expected_usd(self, request: ModelRequest) -> float | None:
        return expected_usd(self._endpoint, len(self._body(request)))

    async def ask(self, request: ModelRequest, deadline: Deadline, admit: Callable[[], None], keep: Keep) -> Reply:
        return await self._client().ask(
            self._endpoint,
            request,
            self._body(request),
            timeout_s=deadline.left_s(),
            begun=deadline.begun,
            admit=admit,
            keep=keep,
        )


class AgentCallers:
    """Makes the callers of a run's agents, which share what is kept here."""

    def __init__(self, run: Path, environ: Mapping[str, str], *, at_once: int) -> None:
        self.environ = environ
        self.places = asyncio.Semaphore(at_once)
        self.alone = asyncio.Lock()
        """For judges that change the folder that they work on."""
        self._run = run

    def caller(self, judge: AgentJudge, case: CaseRef, group: int, sample: int) -> AgentCaller:
        place = judge.artifacts or transcript_name(case.id, judge.name, group, sample)
        return AgentCaller(judge, case, self, (self._run / place).absolute())


class AgentCaller:
    """An agent on one case."""

    def __init__(self, judge: AgentJudge, case: CaseRef, shared: AgentCallers, transcript: Path) -> None:
        self.model = judge.model or judge.agent.name
        self._judge = judge
        self._case = case
        self._shared = shared
        self._changes = judge.place is Place.FOLDER and not judge.isolated
        self._transcript = transcript
        self._loaded: Case | None = None
        self._runs = 0

    async def identity(self, request: ModelRequest) -> bytes:
        """The judge, what it is told, the program's version, and what it looks at."""
        return await asyncio.to_thread(self._identity, request)

    def _identity(self, request: ModelRequest) -> bytes:
        from adjudge.agents import agent_of, version_of

        judge = msgspec.structs.replace(self._judge, location="", samples=1, timeout_s=0.0, attempts=1)
        version = version_of(agent_of(self._judge.agent), self._shared.environ)
        parts = [msgspec.json.encode(judge), request.prompt.encode("utf-8", "replace"), version.encode()]
        if self._judge.place is Place.FOLDER:
            parts.append(folder_state(self._folder()))
        else:
            parts.append(msgspec.json.encode(dict(self._work().outputs), order="sorted"))
            parts += [folder_state(Path(path)) for path in self._judge.staged]
        return b"agent-1\0" + b"\0".join([*parts, request.correction.encode()])

    def expected_usd(self, request: ModelRequest) -> float | None:
        return self._judge.budget_usd

    async def ask(self, request: ModelRequest, deadline: Deadline, admit: Callable[[], None], keep: Keep) -> Reply:
        from adjudge.judges.agent import Work, ask_agent

        async with self._shared.alone if self._changes else contextlib.nullcontext(), self._shared.places:
            admit()
            self._runs += 1
            name = str(self._transcript) if self._runs == 1 else f"{self._transcript}.{self._runs}"
            case = await asyncio.to_thread(self._work)
            work = Work(folder=self._folder(), outputs=case.outputs, transcript=Path(name))
            reply = await ask_agent(
                self._judge, request, work, environ=self._shared.environ, timeout_s=self._judge.timeout_s
            )
            await keep(reply)
            return reply

    def _work(self) -> Case:
        if self._loaded is None:
            try:
                self._loaded = self._case.load()
            except OSError as error:
                raise CallError(ErrorKind.INPUT, str(error)) from None
        return self._loaded

    def _folder(self) -> Path:
        return Path(self._work().directory or os.getcwd())  # noqa: PTH109


def model_identity(endpoint: Endpoint, body: bytes) -> bytes:
    """What tells a question to a model from any other: where it goes, and all that is sent."""
    return endpoint.url.encode() + b"\0" + body


def expected_usd(endpoint: Endpoint, body_length: int) -> float | None:
    """What a call will cost by the length of its request and a usual answer; `None` when no price is known."""
    usage = Usage(input=round(body_length / CHARACTERS_PER_TOKEN), output=ANSWER_TOKENS)
    return cost_usd(usage, model=endpoint.model, provider=endpoint.priced_as)


def folder_state(folder: Path) -> bytes:
    """A digest of what lies in a folder, by names, sizes and times; our own folders do not count."""
    digest = hashlib.sha256()
    count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (".adjudge", ".eval-banana"))
        for name in sorted(files):
            path = os.path.join(place, name)  # noqa: PTH118
            try:
                info = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode):
                digest.update(f"{path}\0{info.st_size}\0{info.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
                count += 1
            if count >= MAX_FILES:
                return digest.digest()
    if folder.is_file():
        info = folder.stat()
        digest.update(f"{info.st_size}\0{info.st_mtime_ns}".encode())
    return digest.digest()


def transcript_name(case: str, judge: str, group: int, sample: int) -> str:
    """The path, below a run directory, of what is kept of one run of an agent or a script."""
    parts = [_plain(case), _plain(judge)]
    suffix = (f".{group}" if group else "") + (f".sample{sample}" if sample else "")
    return "checks/" + "/".join(parts) + suffix


def _plain(name: str) -> str:
    """A name as a part of a path: what may be confused is told apart by a hash."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:80].strip(".") or "_"
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"
