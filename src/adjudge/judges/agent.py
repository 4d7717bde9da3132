"""An agent as a judge: what it is asked, where it works, and what it answered."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.agents import (
    Agent,
    AgentError,
    Ask,
    Launch,
    Told,
    absence,
    agent_of,
    check_version,
    expanded,
    run_process,
    secrets_of,
    without_secrets,
)
from adjudge.domain import AgentJudge, AnswerBy, BinaryFile, ErrorKind, Place, Sandbox
from adjudge.models import CallError, ModelRequest, Reply
from adjudge.prompts import VERDICT_FILE
from adjudge.sandbox import (
    OUTPUT,
    Kind,
    Relay,
    StagingError,
    View,
    confined,
    copy_folder,
    stage,
    strongest,
    why_none,
)

READ = ("Read(**)", "Edit(output/**)")
"""What a staged judge may do: read all of its workspace, and write its verdict."""
DENIED = ("Bash", "WebFetch", "WebSearch", "Agent", "Edit", "MultiEdit", "NotebookEdit")
_GROUPS = ({"Write", "Edit", "MultiEdit", "NotebookEdit"}, {"Agent", "Task"})
MAX_VERDICT = 1024 * 1024
NEVER_SEEN = (".adjudge", ".eval-banana/results")
"""Below the folder of a judge: what earlier judges said is nothing to judge by."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent judge is given of a case.

    Attributes:
        folder: The case's own folder.
        outputs: What is staged, for judges that work on copies.
        transcript: Where its prompt and output are kept: the beginning of a path.
    """

    folder: Path
    outputs: Mapping[str, str | BinaryFile]
    transcript: Path


def rules_of(judge: AgentJudge) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(allowed, denied) tools of a staged judge. The default denials lack what is allowed, with its whole group."""
    allowed = judge.allowed_tools or READ
    if judge.denied_tools is not None:
        return allowed, judge.denied_tools
    named = {rule.partition("(")[0].strip() for rule in allowed}
    freed = named.union(*(group for group in _GROUPS if named & group))
    return allowed, tuple(name for name in DENIED if name not in freed)


async def ask_agent(
    judge: AgentJudge, request: ModelRequest, work: Work, *, environ: Mapping[str, str], timeout_s: float
) -> Reply:
    """Run the judge's agent once on a case, and read what it answered.

    Raises:
        CallError: it could not be run, or what it did holds no answer that may be read.
    """
    kind = Kind.NONE if judge.sandbox is Sandbox.OFF else strongest()
    if kind is Kind.NONE and judge.sandbox is Sandbox.STRICT:
        raise CallError(ErrorKind.SANDBOX, f"sandbox is strict, and nothing confines agents here ({why_none()})")
    notes: list[str] = []
    if kind is Kind.NONE:
        notes.append("not confined by the operating system: by copies and the agent's own rules only")
    with tempfile.TemporaryDirectory(prefix="adjudge-agent-", dir=_scratch(kind), ignore_cleanup_errors=True) as name:
        scratch = Path(name).resolve()
        home = scratch / "home"
        (home / "tmp").mkdir(parents=True)
        try:
            view, output = await asyncio.to_thread(_prepare, judge, work, scratch, kind, notes)
            agent = agent_of(judge.agent)
            allowed, denied = rules_of(judge)
            ask = Ask(
                spec=judge.agent,
                prompt="\n\n".join(filter(None, (judge.agent.instructions, request.prompt, request.correction))),
                cwd=view.cwd,
                home=home,
                model=judge.model,
                effort=judge.effort,
                schema=request.tool.schema if judge.answer_by is AnswerBy.STRUCTURED else None,
                output=output,
                listed=judge.place is not Place.FOLDER,
                allowed=allowed,
                denied=denied,
                writes=judge.place is Place.FOLDER and not judge.isolated,
                confined=kind is not Kind.NONE,
                trusted=judge.sandbox is Sandbox.OFF,
                budget_usd=judge.budget_usd,
                timeout_s=timeout_s,
                mcp_servers=tuple(expanded(server, environ) for server in judge.mcp_servers),
                environ=environ,
            )
            launch = agent.launch(ask)
            await asyncio.to_thread(check_version, agent, judge.agent, launch.env)
            told = await _run(agent, launch, ask, view, work.transcript, kind)
        except AgentError as error:
            raise CallError(error.kind, str(error)) from None
        except StagingError as error:
            raise CallError(ErrorKind.INPUT, str(error)) from None
        except OSError as error:
            raise CallError(ErrorKind.CRASHED, f"the agent could not be started: {error}") from None
        answer = _verdict_file(output) if judge.answer_by is AnswerBy.FILE and output is not None else None
    return _reply(told, answer, notes)


def _scratch(kind: Kind) -> str | None:
    """Where an agent's folders are made. Codex's own sandbox does not work with a home below the temporary folder."""
    if kind is not Kind.NONE:
        return None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "adjudge"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(cache)


def _prepare(judge: AgentJudge, work: Work, scratch: Path, kind: Kind, notes: list[str]) -> tuple[View, Path | None]:
    """(what the agent sees, the folder for its verdict)."""
    home = scratch / "home"
    own = [Path.home()] if judge.agent.own_home else []
    network = bool(judge.mcp_servers)
    if network and kind is not Kind.NONE:
        notes.append("the network is open to this judge, for its MCP servers")
    if judge.place is not Place.FOLDER:
        folder = scratch / "workspace"
        outputs = work.outputs if judge.place is Place.STAGED else {}
        staged = stage(folder, outputs, [Path(path) for path in judge.staged], only=judge.inputs)
        notes += staged.notes
        output = folder / OUTPUT
        return View(cwd=folder, reads=(folder,), writes=(output, home, *own), network=network), output
    folder = work.folder
    named = (judge.trajectory, judge.reference, *judge.files, *(name for c in judge.criteria for name in c.files))
    reads = [path for name in named if name and (path := folder / name).exists() and not path.is_relative_to(folder)]
    start = _start(judge, folder)
    if judge.isolated and kind is Kind.NONE:
        copy = scratch / "view" / (folder.name or "workspace")
        copy_folder(folder, copy)
        start = copy / start.relative_to(folder)
        return View(cwd=start), None
    hides = tuple(path for name in NEVER_SEEN if (path := folder / name).is_dir())
    changed = (home, *own) if judge.isolated else (folder, start, home, *own)
    return View(cwd=start, reads=(folder, *reads), writes=changed, hides=hides, network=network), None


def _start(judge: AgentJudge, folder: Path) -> Path:
    if not folder.is_dir():
        raise StagingError(f"the folder to judge, {folder}, does not exist")
    if not judge.cwd:
        return folder
    start = Path(os.path.normpath(folder / judge.cwd))
    if not start.is_dir():
        raise AgentError(ErrorKind.CONFIG, f"cwd {judge.cwd} does not exist")
    if judge.isolated and not start.resolve().is_relative_to(folder.resolve()):
        raise AgentError(ErrorKind.CONFIG, f"cwd {judge.cwd} lies outside of {folder}, which isolated does not allow")
    return start


async def _run(agent: Agent, launch: Launch, ask: Ask, view: View, transcript: Path, kind: Kind) -> Told:
    for name, text in launch.files.items():
        path = ask.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
    transcript.parent.mkdir(parents=True, exist_ok=True)
    stdout, stderr = (Path(f"{transcript}.{name}.txt") for name in ("stdout", "stderr"))
    Path(f"{transcript}.prompt.txt").write_text(ask.prompt, encoding="utf-8", errors="replace")
    sockets = ask.home.parent / "s"
    sockets.mkdir()
    closed = kind is not Kind.NONE and not view.network
    async with Relay(sockets, launch.endpoints if closed else ()) as relay:
        env = {**launch.env, **(relay.variables if closed else {})}
        view = msgspec.structs.replace(view, reads=(*view.reads, *map(Path, launch.reads)))
        argv = confined(kind, launch.argv, view, env=env, ports=relay.ports, scratch=ask.home.parent)
        cwd = view.cwd if kind is Kind.NONE else ask.home.parent
        ran = await run_process(
            argv, env=env, cwd=cwd, stdin=launch.stdin, stdout=stdout, stderr=stderr, limit_s=ask.timeout_s
        )
    told = await asyncio.to_thread(agent.tell, ran, ask)
    for stream in (stdout, stderr):
        await asyncio.to_thread(without_secrets, stream, secrets_of(ask))
        if stream.exists() and not stream.stat().st_size:
            stream.unlink()
    return msgspec.structs.replace(told, exit_code=ran.status)


def _verdict_file(output: Path) -> str | None:
    """What the agent wrote as its verdict; a link, a folder or something huge is none."""
    path = output / VERDICT_FILE.rpartition("/")[2]
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_VERDICT:
            return None
        return os.read(handle, MAX_VERDICT).decode("utf-8", "replace")
    finally:
        os.close(handle)


def _reply(told: Told, answer: str | None, notes: Sequence[str]) -> Reply:
    denied = ", ".join(f"{name} {count}" for name, count in told.denials.items())
    said = [*notes, *([f"calls refused to the agent: {denied}"] if denied else [])]
    if told.failure is not None:
        kind, message = told.failure
        if kind.transient:
            failure = CallError(kind, message)
            failure.exit_code = told.exit_code
            raise failure
    return Reply(
        text=told.text,
        arguments=answer if answer is not None else told.structured,
        failure=told.failure,
        usage=told.usage,
        model=told.model,
        notes=tuple(said),
        denials=told.denials,
        exit_code=told.exit_code,
    )


def program_problem(judge: AgentJudge, environ: Mapping[str, str]) -> str:
    """Why the judge's program cannot be started here; empty when it can."""
    try:
        return absence(agent_of(judge.agent), environ)
    except AgentError as error:
        return str(error)
