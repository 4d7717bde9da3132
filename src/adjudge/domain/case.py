"""What is judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec


class BinaryFile(msgspec.Struct, frozen=True):
    """An output that is not text: where it lies, how large it is in bytes, and the hash of what it holds."""

    path: str
    size: int
    sha256: str = ""


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens that the agent under test used."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_create: int = 0


class Metrics(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent's run cost. `None` is unknown."""

    exit_code: int | None = None
    duration_s: float | None = None
    cost_usd: float | None = None
    num_turns: int | None = None
    token_usage: TokenUsage | None = None


class Traces(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is read of an agent's run besides its outputs."""

    stdout: bool = True
    stderr: bool = True
    events: bool = True
    metrics: bool = True


class StepRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a case whose agent ran in several.

    Attributes:
        id: The step's name in the suite.
        events: Its own part of the trajectory.
        outputs: What else the run kept of it: path below the step's folder -> text, or a `BinaryFile`.
    """

    id: str
    events: tuple[dict[str, Any], ...] = ()
    stdout: str = ""
    stderr: str = ""
    metrics: Metrics = Metrics()
    outputs: Mapping[str, str | BinaryFile] = {}


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="case"):
    """One thing to judge.

    Attributes:
        id: Unique within the suite.
        inputs: What the agent was asked.
        outputs: What it made: relative path -> text, or a `BinaryFile`.
        annotations: What people know about the case; the agent never sees it.
        references: Text of each file that an annotation names, by the annotation's key.
        events: The agent's trajectory, oldest first (`assistant`, `tool_result`, `result`, ...).
        stdout: What the agent's program printed; for a batch without streams of its own, what the whole batch printed.
        hook_outputs: What the run's hooks left for judges.
        steps: The agent's runs, where there were several, in order.
        declared: The output paths of the suite, in its order; `outputs` may hold more.
        tools: Globs of the tools whose calls are outputs; empty for every tool.
        tags: Labels to select cases by.
        notes: What could not be read as it stands, in words.
        trace: What the agent did to a repository, as templates see it; empty where it worked on none.
    """

    id: str
    inputs: dict[str, Any] = {}
    outputs: Mapping[str, str | BinaryFile] = {}
    annotations: dict[str, Any] = {}
    references: dict[str, str] = {}
    events: tuple[dict[str, Any], ...] = ()
    stdout: str = ""
    stderr: str = ""
    metrics: Metrics = Metrics()
    directory: str = ""
    hook_outputs: dict[str, Any] = {}
    steps: tuple[StepRecord, ...] = ()
    declared: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    trace: dict[str, Any] = {}

    def load(self, *, trajectory: bool = True) -> Case:
        """The case itself: one that is held in memory is its own reference."""
        return self


class CaseStub(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the plan knows of a case without reading its outputs."""

    id: str
    tags: tuple[str, ...] = ()
    annotations: dict[str, Any] = {}


class CaseRef(Protocol):
    """Enough to read one case anywhere, also in a worker process: a msgspec Struct with a tag of its own."""

    @property
    def id(self) -> str: ...

    def load(self, *, trajectory: bool = True) -> Case:
        """Read the case; without its `trajectory` where nobody looks at that, which is most of the work.

        Raises:
            OSError: its files cannot be read.
        """
        ...


class CaseSource(Protocol):
    """Where the cases of a suite come from."""

    def stubs(self) -> Sequence[CaseStub]:
        """Every case, in the order in which reports show them."""
        ...

    def ref(self, case_id: str) -> CaseRef:
        """The reference of one case.

        Raises:
            KeyError: there is no such case.
        """
        ...


class InlineCases:
    """Cases built in Python, held in memory."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self.cases = tuple(cases)
        self._by_id = {case.id: case for case in self.cases}

    def stubs(self) -> Sequence[CaseStub]:
        return [CaseStub(id=case.id, tags=case.tags, annotations=case.annotations) for case in self.cases]

    def ref(self, case_id: str) -> CaseRef:
        return self._by_id[case_id]
