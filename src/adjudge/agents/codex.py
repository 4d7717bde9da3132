"""Codex: `codex exec --json`, confined by its own sandbox where nothing else confines it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from adjudge.agents.base import (
    Agent,
    AgentError,
    Ask,
    Event,
    Launch,
    Told,
    classified,
    environment,
    failed,
    json_lines,
    mapping,
    number,
)
from adjudge.agents.process import Ran
from adjudge.domain import ErrorKind, Usage

_OFFICIAL = "https://api.openai.com/v1"
_NO_TMP = (
    *("-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
    *("-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"),
)


class Codex:
    name = "codex"
    binary = "codex"
    credentials = ("OPENAI_BASE_URL",)
    """Its key comes under a name of its own, so that the commands that it runs do not get the usual one."""
    install = "npm install -g @openai/codex"
    needs = ("exec",)

    def launch(self, ask: Ask) -> Launch:
        home = ask.home / "codex"
        argv = [self.binary, "exec", "--json", "--ephemeral", "--skip-git-repo-check", "-C", str(ask.cwd)]
        if ask.confined:
            argv.append("--dangerously-bypass-approvals-and-sandbox")
        elif ask.writes or ask.listed:
            argv += ["-s", "workspace-write", *_NO_TMP]
        else:
            argv += ["-s", "read-only"]
        if ask.model:
            argv += ["-m", ask.model.removeprefix("openai:/").removeprefix("openai/")]
        if ask.effort:
            argv += ["-c", f"model_reasoning_effort={ask.effort}"]
        for name, value in _options(ask.task.options if ask.task else {}):
            argv += ["-c", f"{name}={_toml(value)}"]
        secrets, files = _credentials(ask)
        files["codex/config.toml"] = _config(ask, "CODEX_API_KEY" in secrets)
        if ask.schema is not None:
            files["schema.json"] = msgspec.json.encode(ask.schema).decode()
            argv += ["--output-schema", str(ask.home / "schema.json")]
        env = environment(ask, self.credentials, CODEX_HOME=str(home), **secrets)
        return Launch(
            argv=(*argv, "-"),
            env=env,
            stdin=ask.prompt.encode("utf-8", "replace"),
            files=files,
            endpoints=(env.get("OPENAI_BASE_URL") or "https://api.openai.com", "https://chatgpt.com"),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        return read(json_lines(ran.text()), ran, ask)


def _toml(value: Any) -> str:
    """Words, numbers and lists of them in TOML: as in JSON, but that no control character stands for itself."""
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def _options(given: Mapping[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _options(value, f"{under}{name}.")
        elif value is not None:
            yield f"{under}{name}", value


def read(events: list[Event], ran: Ran, ask: Ask) -> Told:
    """What a stream of events in this form says."""
    items = [mapping(event.get("item")) for event in events if event.get("type") == "item.completed"]
    messages = [str(item.get("text") or "") for item in items if item.get("type") == "agent_message"]
    text = messages[-1] if messages else ""
    turns = [mapping(event.get("usage")) for event in events if event.get("type") == "turn.completed"]
    refused = [item for item in items if item.get("status") == "declined"]
    kinds = [_TOOLS.get(str(item.get("type")), str(item.get("type"))) for item in refused]
    return Told(
        text=text,
        structured=text if ask.schema is not None and _is_object(text) else None,
        events=tuple(flat for item in items for flat in flattened(item)),
        usage=usage_of(turns),
        turns=len(turns),
        model=ask.model,
        denials={kind: kinds.count(kind) for kind in sorted(set(kinds))},
        failure=_failure(ran, events),
    )


_TOOLS = {"command_execution": "Bash", "file_change": "Edit", "mcp_tool_call": "MCP", "web_search": "WebSearch"}


def _failure(ran: Ran, events: list[Event]) -> tuple[ErrorKind, str] | None:
    if ran.timed_out or ran.flooded:
        return failed(ran)
    for event in reversed(events):
        if event.get("type") == "turn.failed":
            told = str(mapping(event.get("error")).get("message") or "the turn failed")
            return classified(told), f"the agent's run failed: {told[:300]}"
        if event.get("type") == "turn.completed":
            break
    ended = failed(ran)
    if ended is not None:
        told = next((str(event.get("message")) for event in reversed(events) if event.get("type") == "error"), "")
        return classified(f"{ended[1]} {told}", ended[0]), f"{ended[1]}{f': {told[:300]}' if told else ''}"
    if not any(event.get("type") == "turn.completed" for event in events):
        return ErrorKind.CRASHED, "the agent ended before its turn was complete"
    return None


def flattened(item: Event) -> list[Event]:
    """Our flat form of one item that is complete."""
    kind = item.get("type")
    if kind == "agent_message":
        return [{"type": "assistant", "text": str(item.get("text") or "")}]
    if kind == "reasoning":
        return [{"type": "assistant", "text": "", "thinking": str(item.get("text") or "")}]
    if kind not in _TOOLS:
        return []
    if kind == "command_execution":
        given: Event = {"command": item.get("command")}
        result = str(item.get("aggregated_output") or "")
    elif kind == "mcp_tool_call":
        given = mapping(item.get("arguments"))
        result = msgspec.json.encode(item.get("result")).decode()
    else:
        given = {key: value for key, value in item.items() if key not in ("id", "type", "status")}
        result = str(item.get("status") or "")
    name = f"mcp__{item.get('server')}__{item.get('tool')}" if kind == "mcp_tool_call" else _TOOLS[str(kind)]
    bad = item.get("status") in ("failed", "declined") or number(item.get("exit_code")) != 0
    return [
        {"type": "assistant", "text": "", "tools": [{"id": item.get("id"), "name": name, "input": given}]},
        {"type": "tool_result", "tool_use_id": item.get("id"), "content": result, "is_error": bad},
    ]


def usage_of(turns: list[Event]) -> Usage:
    """The sum of what each turn says it used."""
    cached = sum(number(turn.get("cached_input_tokens")) for turn in turns)
    return Usage(
        calls=1,
        input=max(0, sum(number(turn.get("input_tokens")) for turn in turns) - cached),
        output=sum(number(turn.get("output_tokens")) for turn in turns),
        cache_read=cached,
        reasoning=sum(number(turn.get("reasoning_output_tokens")) for turn in turns),
        unpriced_calls=1,
    )


def _credentials(ask: Ask) -> tuple[dict[str, str], dict[str, str]]:
    """(variables, files). An API key stands before a subscription's login, unless the login is asked for."""
    environ = ask.environ
    key = environ.get("CODEX_API_KEY") or environ.get("OPENAI_API_KEY", "")
    login = environ.get("CODEX_AUTH_JSON", "")
    forced = environ.get("REWARDKIT_FORCE_SUBSCRIPTION", "").lower() in ("1", "true", "yes")
    if forced and not login:
        raise AgentError(ErrorKind.CREDENTIALS, "REWARDKIT_FORCE_SUBSCRIPTION is set, but CODEX_AUTH_JSON is not")
    if key and not forced:
        return {"CODEX_API_KEY": key}, {}
    return {}, {"codex/auth.json": login} if login else {}


def _config(ask: Ask, has_key: bool) -> str:
    """config.toml. Strings are written as JSON, which TOML reads as the same."""
    lines = []
    base = ask.environ.get("OPENAI_BASE_URL", "")
    if base and base.rstrip("/") != _OFFICIAL:
        lines += ['model_provider = "adjudge"', "", "[model_providers.adjudge]", 'name = "adjudge"']
        lines += [f"base_url = {_string(base)}", 'wire_api = "responses"']
        lines += ['env_key = "CODEX_API_KEY"'] if has_key else []
    for server in ask.mcp_servers:
        lines += ["", f"[mcp_servers.{_string(server.name)}]"]
        if server.transport == "sse":
            raise AgentError(ErrorKind.CONFIG, f"codex takes no sse servers such as {server.name}")
        if server.transport == "stdio":
            lines += [f"command = {_string(server.command)}", f"args = {_string(server.args)}"]
        else:
            lines.append(f"url = {_string(server.url)}")
        if server.allowed_tools:
            lines.append(f"enabled_tools = {_string(list(server.allowed_tools))}")
        if server.startup_timeout_s:
            lines.append(f"startup_timeout_sec = {server.startup_timeout_s:g}")
        if server.tool_timeout_s:
            lines.append(f"tool_timeout_sec = {server.tool_timeout_s:g}")
        lines.append('default_tools_approval_mode = "approve"')
        for table, pairs in (("env", server.env), ("http_headers", server.headers)):
            if pairs:
                lines.append(f"[mcp_servers.{_string(server.name)}.{table}]")
                lines += [f"{_string(name)} = {_string(value)}" for name, value in pairs.items()]
    return "\n".join(lines) + "\n"


def _string(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text.encode("utf-8", "replace")), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


AGENT: Agent = Codex()
