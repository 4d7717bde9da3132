"""What every agent is asked, how it is started, and what it tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from adjudge.agents.process import Ran
from adjudge.domain import AgentSpec, ErrorKind, MCPServer, Usage

Event = dict[str, Any]

HARMLESS = (
    *("PATH", "LANG", "LANGUAGE", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "CI", "NO_COLOR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "ALL_PROXY", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
"""Variables that every agent sees, besides those that begin with `LC_`."""


class AgentError(Exception):
    """An agent cannot be asked what is asked of it."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        self.kind = kind
        super().__init__(message)


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What sets up an agent that is not a judge but under test: it works as its user would have it work.

    Attributes:
        values: What stands for further places of a program's command line.
        settings: A file of its own settings and hooks.
        options: Settings that it takes one by one; in mappings, by dotted names.
        allowed, denied: Rules for its tools, in its own spelling.
    """

    values: Mapping[str, str] = {}
    system_prompt: str = ""
    subagent_model: str = ""
    permission_mode: str = ""
    plugin_dirs: tuple[str, ...] = ()
    settings: Path | None = None
    options: Mapping[str, Any] = {}
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent.

    Attributes:
        prompt: Everything it is told.
        schema: JSON Schema of the answer, for agents that can be held to one.
        cwd: Where it starts. `output` is the folder that it may write into, if any.
        home: A folder of its own, empty but for what the agent's own files say.
        listed: Only the tools in `allowed` may be used; else it may look at everything and run commands.
        writes: It may change files of `cwd`.
        confined: The operating system keeps it from everything else, so its own questions can be waived.
        trusted: The user wants it run where nothing confines it, also if it has no rules of its own.
        mcp_servers: With their variables replaced; see `expanded`.
        environ: The variables of the user.
        task: Given for the agent under test.
    """

    spec: AgentSpec
    prompt: str
    cwd: Path
    home: Path
    model: str = ""
    effort: str = ""
    schema: dict[str, Any] | None = None
    output: Path | None = None
    listed: bool = True
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    writes: bool = False
    confined: bool = False
    trusted: bool = False
    budget_usd: float | None = None
    timeout_s: float = 600.0
    mcp_servers: tuple[MCPServer, ...] = ()
    environ: Mapping[str, str] = {}
    task: Task | None = None


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is started.

    Attributes:
        argv: The program and its arguments.
        env: Everything it sees of the environment.
        stdin: What it reads.
        files: Written into its home before, path -> text; they are for its user only.
        endpoints: URLs that it must reach.
        reads: Further paths that it must be able to read.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    stdin: bytes = b""
    files: dict[str, str] = {}
    endpoints: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's output says.

    Attributes:
        text: What it said last.
        structured: Its structured answer, as JSON text.
        events: The trajectory in our flat form, oldest first.
        denials: Tool -> how many calls were refused.
        failure: Why nothing that it said may be taken for an answer.
    """

    text: str = ""
    structured: str | None = None
    events: tuple[Event, ...] = ()
    usage: Usage = Usage()
    turns: int | None = None
    model: str = ""
    denials: dict[str, int] = {}
    exit_code: int | None = None
    failure: tuple[ErrorKind, str] | None = None


class Agent(Protocol):
    """One agent program."""

    @property
    def name(self) -> str: ...

    @property
    def binary(self) -> str:
        """What is looked for on the path."""
        ...

    @property
    def credentials(self) -> tuple[str, ...]:
        """Names of variables that it may need, or with a `*` at the end beginnings of names."""
        ...

    @property
    def install(self) -> str:
        """How a user gets it."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Flags that must be in its help, so that an old version is not run without them."""
        ...

    def launch(self, ask: Ask) -> Launch:
        """How it is started for one run.

        Raises:
            AgentError: it cannot do what is asked.
        """
        ...

    def tell(self, ran: Ran, ask: Ask) -> Told:
        """Read what it left."""
        ...


def environment(ask: Ask, names: Iterable[str], **more: str) -> dict[str, str]:
    """The variables of a run: what is harmless, what the agent needs by name, and what the user set for it."""
    wanted = set(HARMLESS)
    beginnings = ("LC_", *(name[:-1] for name in names if name.endswith("*")))
    wanted |= set(names)
    seen = {
        name: value for name, value in ask.environ.items() if name in wanted or (name.startswith(beginnings) and value)
    }
    home = ask.environ.get("HOME", str(ask.home)) if ask.spec.own_home else str(ask.home)
    own = {name: expand(value, ask.environ) for name, value in ask.spec.env.items()}
    return {**seen, "HOME": home, "TMPDIR": str(ask.home / "tmp"), **more, **own}


def expand(text: str, environ: Mapping[str, str]) -> str:
    """`$NAME` and `${NAME}` replaced; `$$` is a dollar sign. A variable that is not set is empty."""
    return re.sub(
        r"\$(?:(\$)|\{(\w+)\}|(\w+))",
        lambda match: match[1] or environ.get(match[2] or match[3], ""),
        text,
    )


def expanded(server: MCPServer, environ: Mapping[str, str]) -> MCPServer:
    """The server with every `$NAME` replaced, as an agent is told of it."""
    return msgspec.structs.replace(
        server,
        url=expand(server.url, environ),
        command=expand(server.command, environ),
        args=tuple(expand(argument, environ) for argument in server.args),
        env={name: expand(value, environ) for name, value in server.env.items()},
        headers={name: expand(value, environ) for name, value in server.headers.items()},
    )


def must_be_confined(ask: Ask, name: str) -> None:
    """For agents that ask nobody before they do anything.

    Raises:
        AgentError: nothing would confine it, and the user has not said that this is wanted.
    """
    if not (ask.confined or ask.trusted):
        text = f"{name} has no rules of its own, and nothing confines it here; sandbox: off runs it all the same"
        raise AgentError(ErrorKind.SANDBOX, text)


def takes_no_effort(ask: Ask, name: str) -> None:
    """For agents without a way to set it.

    Raises:
        AgentError: an effort is asked for.
    """
    if ask.effort:
        raise AgentError(ErrorKind.CONFIG, f"{name} takes no reasoning effort, and {ask.effort!r} is asked for")


def takes_no_servers(ask: Ask, name: str) -> None:
    """For agents that we cannot tell of MCP servers.

    Raises:
        AgentError: there are some.
    """
    if ask.mcp_servers:
        raise AgentError(ErrorKind.CONFIG, f"{name} cannot be given MCP servers by adjudge")


def failed(ran: Ran) -> tuple[ErrorKind, str] | None:
    """Why a process that was ended, or ended badly, gave no answer; `None` when it ended well."""
    if ran.timed_out:
        return ErrorKind.TIMEOUT, f"the agent ran longer than {ran.seconds:.0f} s and was stopped, with all it started"
    if ran.flooded:
        return ErrorKind.OUTPUT_LIMIT, "the agent wrote more than 2 GB and was stopped"
    if ran.status == 0:
        return None
    assert ran.status is not None
    said = last_line(ran.errors()) or last_line(ran.text())
    how = f"was killed by signal {-ran.status}" if ran.status < 0 else f"ended with exit status {ran.status}"
    return ErrorKind.CRASHED, f"the agent {how}" + (f": {said}" if said else "")


def run_failure(ran: Ran, told: str | None, *, complete: bool, unfinished: str) -> tuple[ErrorKind, str] | None:
    """Why a run gave no answer: it was cut short, its stream tells of an error (`told`), its process ended badly, or
    the stream is not `complete`. `None` when it gave one."""
    ended = failed(ran)
    if ran.timed_out or ran.flooded:
        return ended
    if told is not None:
        return classified(told), f"the agent's run failed: {told[:300]}"
    if ended is not None:
        return classified(ended[1], ended[0]), ended[1]
    return None if complete else (ErrorKind.CRASHED, unfinished)


def last_line(text: str, limit: int = 300) -> str:
    lines = [line.strip() for line in text[-20_000:].splitlines() if line.strip()]
    return lines[-1][:limit] if lines else ""


def lines_of(text: str) -> list[str]:
    """The lines of a stream that are not blank. Only a newline ends one: JSON text may hold the other characters that
    end a line elsewhere, as U+2028."""
    return [line for line in text.split("\n") if line.strip()]


def json_lines(text: str) -> list[dict[str, Any]]:
    """The JSON objects of a stream, one a line; other lines are left out."""
    found: list[dict[str, Any]] = []
    for line in lines_of(text):
        if not line.lstrip().startswith("{"):
            continue
        try:
            value = msgspec.json.decode(line.encode("utf-8", "replace"))
        except (msgspec.DecodeError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def classified(message: str, default: ErrorKind = ErrorKind.PROVIDER_ERROR) -> ErrorKind:
    """The kind of an error that an agent tells of in words."""
    low = message.lower()
    for kind, words in _WORDS:
        if any(word in low for word in words):
            return kind
    return default


_WORDS = (
    (ErrorKind.BUDGET, ("max_budget", "budget")),
    (ErrorKind.CREDENTIALS, ("api key", "api_key", "authentication", "unauthorized", "not logged in", "401", "/login")),
    (ErrorKind.RATE_LIMITED, ("rate limit", "rate_limit", "429", "529", "overloaded", "quota")),
    (ErrorKind.MODEL_NOT_FOUND, ("model not found", "unknown model", "model_not_found", "does not exist")),
    (
        ErrorKind.CONNECTION,
        ("econnrefused", "connection", "enotfound", "fetch failed", "network", "stream disconnected"),
    ),
)


def number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
