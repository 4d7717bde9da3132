"""One run of an agent under test: how it is set up and started, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.agents import (
    AgentError,
    Ask,
    Ran,
    Task,
    Told,
    agent_of,
    run_process,
    secrets_of,
    without_secrets,
)
from adjudge.cases import events_of
from adjudge.domain import RESPONSES_API, AgentSpec, ErrorKind, RunState, StepRun, TokenUsage, Usage
from adjudge.domain.secrets import looks_secret
from adjudge.execution.programs import absent_program
from adjudge.models import RetryPolicy

LAST_WORDS = 4000
"""Characters of what a step said last that later steps may use."""
NEVER_RAN = frozenset(
    {
        ErrorKind.CREDENTIALS,
        ErrorKind.RATE_LIMITED,
        ErrorKind.CONNECTION,
        ErrorKind.PROVIDER_ERROR,
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.CONFIG,
        ErrorKind.SANDBOX,
    }
)
"""Failures that say nothing of the agent's work: the run is an error, and nothing of it is judged."""
_METRICS = ("cost_usd", "num_turns", "token_usage", "per_model_usage", "per_model_turns")


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What one run is to do. `scratch` is a folder for this run alone, in which the agent's home is made. `retry` and
    `journal` are for an agent that is asked over HTTP: how failed calls are repeated, and the file that keeps what was
    paid for."""

    spec: AgentSpec
    prompt: str
    workspace: Path
    scratch: Path
    id: str = ""
    model: str = ""
    timeout_s: float = 3600.0
    budget_usd: float | None = None
    env: Mapping[str, str] = {}
    task: Task = Task()
    retry: RetryPolicy | None = None
    journal: Path | None = None


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """How it went: the record, and what it left to be kept."""

    run: StepRun
    stdout: bytes = b""
    stderr: bytes = b""
    told: Told = Told()
    events: tuple[dict[str, Any], ...] = ()
    """The trajectory: from its stream where that is one, else as the agent's reader tells it."""
    metrics: dict[str, Any] = {}
    """What a program wrote of itself into `output/metrics.json`."""
    left_behind: int = 0


def skill_prompt(spec: AgentSpec, skill: str, arguments: str) -> str:
    """How an agent is told to use a skill."""
    if spec.name in ("claude-code", RESPONSES_API):
        return f"/{skill} {arguments}".rstrip()
    if spec.template is not None:
        return arguments
    return f"Use the skill {skill}." + (f" Its arguments:\n\n{arguments}" if arguments.strip() else "")


async def run_agent(order: Order, environ: Mapping[str, str]) -> Done:
    """Run the agent to its end or its limit. What keeps it from running is told in the record, not raised."""
    if order.spec.name == RESPONSES_API:
        from adjudge.execution.hosted import run_hosted  # with httpx, which no program needs

        return await run_hosted(order, environ)
    home = order.scratch.resolve() / "home"
    try:
        (home / "tmp").mkdir(parents=True)
        return await _run(order, environ, home)
    except AgentError as error:
        return _could_not(order, error.kind, str(error))
    except OSError as error:
        return _could_not(order, ErrorKind.CONFIG, f"the agent could not be started: {error}")


async def _run(order: Order, environ: Mapping[str, str], home: Path) -> Done:
    spec = order.spec
    agent = agent_of(spec)
    absent = absent_program(spec, environ, order.env)
    if absent:
        raise AgentError(ErrorKind.CONFIG, absent)
    by_flag = spec.name == "claude-code" or spec.template is not None
    instructions = "" if by_flag else order.task.system_prompt
    ask = Ask(
        spec=spec,
        prompt="\n\n".join(filter(None, (instructions, order.prompt))),
        cwd=order.workspace,
        home=home,
        model=order.model,
        effort=spec.effort,
        output=order.workspace / "output",
        listed=False,
        writes=True,
        trusted=True,
        budget_usd=order.budget_usd,
        timeout_s=order.timeout_s,
        environ=environ,
        task=order.task,
    )
    launch = agent.launch(ask)
    for path, text in launch.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    env = {**launch.env, **order.env}
    stdout, stderr = home / "stdout", home / "stderr"
    before = _metrics_state(order.workspace)
    ran = await run_process(
        launch.argv,
        env=env,
        cwd=order.workspace,
        stdin=launch.stdin,
        stdout=stdout,
        stderr=stderr,
        limit_s=order.timeout_s,
    )
    secrets = [*secrets_of(ask), *secret_values(env)]
    for stream in (stdout, stderr):  # before anything is read from them
        await asyncio.to_thread(without_secrets, stream, secrets)
    told = await asyncio.to_thread(agent.tell, ran, ask)
    story = await asyncio.to_thread(lambda: events_of(ran.text()))
    is_new = spec.template is not None and _metrics_state(order.workspace) != before
    own = _own_metrics(order.workspace) if is_new else {}
    return Done(
        run=_record(order, ran, told, own),
        stdout=stdout.read_bytes() if stdout.exists() else b"",
        stderr=stderr.read_bytes() if stderr.exists() else b"",
        told=told,
        events=story.events or told.events,
        metrics=own,
        left_behind=ran.left_behind,
    )


def _record(order: Order, ran: Ran, told: Told, own: Mapping[str, Any]) -> StepRun:
    state, kind, error = RunState.OK, None, ""
    exit_code = ran.status
    if told.failure is not None:
        kind, error = told.failure
        state = RunState.TIMEOUT if ran.timed_out else RunState.ERROR if kind in NEVER_RAN else RunState.FAILED
        exit_code = exit_code or 1
    if ran.timed_out:
        exit_code = -1
    usage = told.usage
    tokens = token_usage(usage)
    turns = told.turns
    given = own.get("token_usage")
    if isinstance(given, dict):
        tokens = msgspec.convert(
            {key: given[key] for key in ("input", "output", "cache_read", "cache_create") if _is_count(given.get(key))},
            TokenUsage,
        )
    cost = own["cost_usd"] if _is_number(own.get("cost_usd")) else usage.cost_usd
    turns = own["num_turns"] if _is_count(own.get("num_turns")) else turns
    return StepRun(
        id=order.id,
        state=state,
        exit_code=exit_code,
        duration_s=round(ran.seconds, 3),
        cost_usd=cost,
        num_turns=turns,
        token_usage=tokens,
        error=error,
        kind=kind,
        output=told.text[:LAST_WORDS],
    )


def token_usage(usage: Usage) -> TokenUsage | None:
    """Tokens as the run's files spell them; `None` when the agent told of none."""
    if not (usage.input or usage.output or usage.cache_read or usage.cache_write):
        return None
    return TokenUsage(usage.input, usage.output, usage.cache_read, usage.cache_write)


def _metrics_state(workspace: Path) -> tuple[int, int, int] | None:
    """Tells the file of one step from that of another."""
    try:
        info = (workspace / "output" / "metrics.json").lstat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns, info.st_ino


def _own_metrics(workspace: Path) -> dict[str, Any]:
    """What a program says of its own run. It is not checked beyond its form: the file is the author's contract."""
    path = workspace / "output" / "metrics.json"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1 << 20:
        return {}
    try:
        loaded = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, RecursionError, OSError):
        return {}
    return {name: loaded[name] for name in _METRICS if name in loaded} if isinstance(loaded, dict) else {}


def per_model(own: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What a program says of its models, as far as it is numbers."""
    given = own.get("per_model_usage")
    return {
        str(model): {str(key): value for key, value in usage.items() if _is_number(value)}
        for model, usage in (given.items() if isinstance(given, dict) else ())
        if isinstance(usage, dict)
    }


def per_model_turns(own: Mapping[str, Any]) -> dict[str, int]:
    given = own.get("per_model_turns")
    return {str(m): n for m, n in given.items() if _is_count(n)} if isinstance(given, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _could_not(order: Order, kind: ErrorKind, message: str) -> Done:
    return Done(run=StepRun(id=order.id, state=RunState.ERROR, error=message, kind=kind))


def secret_values(env: Mapping[str, str]) -> list[str]:
    """What no log may hold, of the variables that a process is given; short values are too common to be told."""
    return [
        value
        for name, value in env.items()
        if len(value) >= 8 and looks_secret(name, value) and "AUTHOR" not in name.upper()
    ]
