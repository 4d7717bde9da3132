"""Running the agent under test: what is run, on what, with which hooks, and how each run ended. Data only."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from adjudge.domain.agent import AgentSpec
from adjudge.domain.case import TokenUsage
from adjudge.domain.errors import ErrorKind
from adjudge.domain.trace import Submission


class RunMode(StrEnum):
    """How cases become runs of the agent."""

    CASE = "case"
    """One run a case, each in a workspace of its own."""
    BATCH = "batch"
    """One run for all cases, whose outputs are shared out afterwards."""


class OnFailure(StrEnum):
    FAIL = "fail"
    CONTINUE = "continue"


PHASES = (
    "before_all",
    "before_each",
    "before_step",
    "after_step",
    "after_each",
    "before_scoring",
    "after_all",
    "before_report",
)
"""The places at which hooks run, in order of time."""
ALWAYS = frozenset({"after_step", "after_each", "after_all", "before_report"})
"""Phases whose failure never stops anything, and which run whatever happened before."""


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command for `bash -c`. With a `condition` it runs when that command ends with exit status 0."""

    command: str
    timeout_s: float = 120.0
    description: str = ""
    on_failure: OnFailure = OnFailure.FAIL
    condition: str = ""


class WorkspaceFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the agent is given besides the case's input: `dest` in its workspace, from the case's folder, or from
    `source`, an absolute path, for every case."""

    dest: str
    source: str = ""


class PathRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tools that may, or may not, be used on a path."""

    path: str
    tools: tuple[str, ...] = ()


class Permissions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Rules for the agent under test: names of tools in its own spelling, and rules for paths."""

    allow: tuple[str | PathRule, ...] = ()
    deny: tuple[str | PathRule, ...] = ()


class Interception(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tool calls that a simulator answers instead of the tool.

    Attributes:
        match: The author's words for what is meant.
        patterns: Globs of tool names that follow from them.
        prompt: How the simulator is to answer; empty to answer by the case's own answers or the first option.
        input_filters: Regular expressions; only commands in which one of them is found are meant.
        env_checks: Variable -> texts; a call goes through when each variable holds one of its texts.
        answers: Question -> answer, before any model is asked.
    """

    match: str
    patterns: tuple[str, ...] = ()
    prompt: str = ""
    input_filters: tuple[str, ...] = ()
    env_checks: dict[str, tuple[str, ...]] = {}
    answers: dict[str, str] = {}


class Output(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run leaves: a path below the workspace, or the calls of a tool.

    `batch_pattern` names the files of a case in a batch: `{n}` is its number from 1, `*` gives a file to every case.
    `types` are globs of file names -> `graph` or `metrics`, for the report.
    """

    path: str = ""
    tool: str = ""
    batch_pattern: str = ""
    types: dict[str, str] = {}


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run of an agent in a pipeline, in the workspace that the steps of a case share."""

    id: str
    name: str = ""
    skill: str = ""
    prompt: str = ""
    arguments: str = ""
    env: dict[str, str] = {}
    timeout_s: float | None = None
    budget_usd: float | None = None
    agent: AgentSpec | None = None
    on_failure: OnFailure = OnFailure.FAIL


class Execution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the agent under test is run.

    Attributes:
        agent: Which agent.
        skill: The skill that it is to use, with `arguments`; or a `prompt`; or several `steps`.
        prompt: Template over the case's input, like `arguments`.
        models: Role (`skill`, `subagent`, `hook`) -> model.
        timeout_s: For one run of the agent, in seconds.
        budget_usd: For one run of the agent, where the agent takes one.
        parallelism: Most cases under way at once.
        max_failure_rate: Share of cases whose run may fail or time out without the gate failing.
        in_repo: The agent works in the project itself and must not change it.
        project: The project's folder, absolute.
        config: The config file, absolute.
        overrides: Input fields that are set for every case.
        submissions: Case -> work that was done elsewhere, for which no agent is run.
    """

    mode: RunMode = RunMode.CASE
    agent: AgentSpec = AgentSpec()
    skill: str = ""
    prompt: str = ""
    arguments: str = ""
    steps: tuple[Step, ...] = ()
    models: dict[str, str] = {}
    env: dict[str, str] = {}
    timeout_s: float = 3600.0
    budget_usd: float | None = 100.0
    parallelism: int = 1
    max_failure_rate: float = 0.0
    files: tuple[WorkspaceFile, ...] = ()
    permissions: Permissions = Permissions()
    interceptions: tuple[Interception, ...] = ()
    outputs: tuple[Output, ...] = ()
    hooks: dict[str, tuple[Hook, ...]] = {}
    in_repo: bool = False
    project: str = ""
    config: str = ""
    overrides: dict[str, Any] = {}
    submissions: dict[str, Submission] = {}


class Matrix(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A factorial design: factor -> levels, each cell run `replications` times."""

    factors: dict[str, tuple[Any, ...]]
    replications: int = 1


class RunState(StrEnum):
    """How the agent's run of a case ended."""

    OK = "ok"
    FAILED = "failed"
    """It ran, and ended badly: what it made is judged."""
    TIMEOUT = "timeout"
    """It ran out of time: what it made is judged."""
    ERROR = "error"
    """It could not run: nothing of it is judged."""


class StepRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run of an agent, alone or as a step. `exit_code` is -1 after a time-out."""

    id: str = ""
    state: RunState = RunState.OK
    exit_code: int | None = None
    duration_s: float = 0.0
    cost_usd: float | None = None
    num_turns: int | None = None
    token_usage: TokenUsage | None = None
    error: str = ""
    kind: ErrorKind | None = None
    output: str = ""
    """What it said last, capped."""


class CaseRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run of one case. What is summed over steps is `None` when any part of it is unknown."""

    case: str
    state: RunState = RunState.OK
    exit_code: int | None = None
    duration_s: float = 0.0
    cost_usd: float | None = None
    num_turns: int | None = None
    token_usage: TokenUsage | None = None
    per_model_usage: dict[str, dict[str, Any]] = {}
    per_model_turns: dict[str, int] = {}
    permission_denials: tuple[dict[str, Any], ...] = ()
    error: str = ""
    kind: ErrorKind | None = None
    steps: tuple[StepRun, ...] = ()
    aborted_at_step: str = ""
    repo_modified: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    collected: dict[str, int] = {}
    """Output path -> files collected; `_modified` for changes elsewhere."""


class ExecutionResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The runs of all cases, in order of the cases."""

    agent: str
    agent_version: str = ""
    model: str = ""
    mode: RunMode = RunMode.CASE
    cases: tuple[CaseRun, ...] = ()
    max_failure_rate: float = 0.0
    hook_failures: tuple[str, ...] = ()

    def run(self, case: str) -> CaseRun | None:
        return next((run for run in self.cases if run.case == case), None)

    @property
    def failed(self) -> tuple[CaseRun, ...]:
        """The runs that did not end well, however."""
        return tuple(run for run in self.cases if run.state is not RunState.OK)

    @property
    def cost_usd(self) -> float | None:
        """`None` when no run's cost is known."""
        known = [run.cost_usd for run in self.cases if run.cost_usd is not None]
        return sum(known) if known else None
