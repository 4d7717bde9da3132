"""Claude Code: `claude -p`, its rules for tools, and its stream of events."""

from __future__ import annotations

import re

import msgspec

from adjudge.agents.base import (
    Agent,
    AgentError,
    Ask,
    Event,
    Launch,
    Task,
    Told,
    classified,
    environment,
    failed,
    json_lines,
    listing,
    mapping,
    number,
)
from adjudge.agents.process import Ran
from adjudge.domain import ErrorKind, MCPServer, Usage

CREDENTIALS = (
    "ANTHROPIC_*",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
)
_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_*",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*"),
}
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
}
_EFFORTS = {"none": "low", "minimal": "low"}
_LOOKS = ("Read", "Grep", "Glob", "Edit", "Write")
_CHANGES = ("Edit", "Write", "MultiEdit", "NotebookEdit", "WebFetch", "WebSearch")
_FAILURES = {"error_max_budget_usd": ErrorKind.BUDGET, "error_max_turns": ErrorKind.TRUNCATED}


class ClaudeCode:
    name = "claude-code"
    binary = "claude"
    credentials = CREDENTIALS
    install = "npm install -g @anthropic-ai/claude-code"
    needs = ("--permission-prompts", "--permission-mode", "--json-schema", "--strict-mcp-config", "--max-budget-usd")

    def launch(self, ask: Ask) -> Launch:
        if ask.task is not None:
            return self._under_test(ask, ask.task)
        argv = [self.binary, "-p", "--output-format", "stream-json", "--verbose", "--no-session-persistence"]
        # What is judged may hold a CLAUDE.md, hooks and settings: they are to be looked at, not to be followed.
        argv += ["--strict-mcp-config", *(["--setting-sources", "user"] if ask.mcp_servers else ["--safe-mode"])]
        allowed, denied = list(ask.allowed), list(ask.denied)
        if ask.listed:
            named = {rule.partition("(")[0] for rule in allowed}
            argv += ["--tools", ",".join(sorted({*_LOOKS, *(named - set(denied))}))]
            argv += ["--permission-mode", "manual", "--permission-prompts", "none"]
        else:
            allowed = ["Read", "Grep", "Glob", *(["Bash"] if ask.writes or ask.confined else [])]
            denied = [] if ask.writes else list(_CHANGES)
            if ask.writes:
                allowed += ["Edit"]
            elif not ask.confined:
                denied += ["Bash"]
            mode = "bypassPermissions" if ask.confined else "dontAsk"
            argv += ["--permission-mode", mode]
        allowed += [rule for server in ask.mcp_servers for rule in mcp_rules(server)]
        if ask.model:
            argv += ["--model", ask.model.removeprefix("anthropic:/").removeprefix("anthropic/")]
        if ask.effort:
            argv += ["--effort", _EFFORTS.get(ask.effort, ask.effort)]
        if ask.schema is not None:
            argv += ["--json-schema", msgspec.json.encode(ask.schema).decode()]
        if ask.budget_usd is not None:
            argv += ["--max-budget-usd", f"{ask.budget_usd:g}"]
        files: dict[str, str] = {}
        limits: dict[str, str] = {}
        if ask.mcp_servers:
            servers = {server.name: _server(server) for server in ask.mcp_servers}
            files["mcp.json"] = msgspec.json.encode({"mcpServers": servers}).decode()
            argv += ["--mcp-config", str(ask.home / "mcp.json")]
            starts = max(server.startup_timeout_s for server in ask.mcp_servers)
            calls = max(server.tool_timeout_s for server in ask.mcp_servers)
            limits |= {"MCP_TIMEOUT": f"{starts * 1000:.0f}"} if starts else {}
            limits |= {"MCP_TOOL_TIMEOUT": f"{calls * 1000:.0f}"} if calls else {}
        if allowed:
            argv += ["--allowedTools", *allowed]
        if denied:
            argv += ["--disallowedTools", *denied]
        names = [*self.credentials]
        for switch, more in _CLOUDS.items():
            names += more if ask.environ.get(switch) else ()
        env = _one_credential(environment(ask, names, **_QUIET, **limits), ask)
        return Launch(
            argv=tuple(argv),
            env=env,
            stdin=_prompt(ask.prompt).encode("utf-8", "replace"),
            files=files,
            endpoints=_endpoints(env),
        )

    def _under_test(self, ask: Ask, task: Task) -> Launch:
        """As its user would run it: with the workspace's own instructions, skills and settings."""
        argv = [self.binary, "-p", "--output-format", "stream-json", "--verbose"]
        for flag, value in (
            ("--model", ask.model.removeprefix("anthropic:/").removeprefix("anthropic/")),
            ("--effort", ask.effort),
            ("--permission-mode", task.permission_mode),
            ("--append-system-prompt", task.system_prompt),
            ("--max-budget-usd", "" if ask.budget_usd is None else f"{ask.budget_usd:g}"),
            ("--settings", str(task.settings or "")),
        ):
            argv += [flag, value] if value else []
        for folder in task.plugin_dirs:
            argv += ["--plugin-dir", folder]
        argv += ["--allowedTools", *task.allowed] if task.allowed else []
        argv += ["--disallowedTools", *task.denied] if task.denied else []
        names = [*self.credentials, "MLFLOW_*"]
        for switch, more in _CLOUDS.items():
            names += more if ask.environ.get(switch) else ()
        subagents = {"CLAUDE_CODE_SUBAGENT_MODEL": task.subagent_model} if task.subagent_model else {}
        env = _one_credential(environment(ask, names, **_QUIET, **subagents), ask)
        return Launch(argv=tuple(argv), env=env, stdin=ask.prompt.encode("utf-8", "replace"))

    def tell(self, ran: Ran, ask: Ask) -> Told:
        return read(json_lines(ran.text()), ran)


def _prompt(prompt: str) -> str:
    """A prompt that begins with a slash would be taken for a command of the program."""
    return f"# Task\n\n{prompt}" if prompt.lstrip().startswith("/") else prompt


def _one_credential(env: dict[str, str], ask: Ask) -> dict[str, str]:
    """An API key stands before a subscription's token, unless the subscription is asked for."""
    forced = ask.environ.get("REWARDKIT_FORCE_SUBSCRIPTION", "").lower() in ("1", "true", "yes")
    token = "CLAUDE_CODE_OAUTH_TOKEN"
    keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    if forced and token not in env:
        raise AgentError(ErrorKind.CREDENTIALS, f"REWARDKIT_FORCE_SUBSCRIPTION is set, but {token} is not")
    without = keys if forced else (token,) if any(key in env for key in keys) else ()
    return {name: value for name, value in env.items() if name not in without}


def read(events: list[Event], ran: Ran) -> Told:
    """What a stream of events in this form says; other agents write it too."""
    results = [event for event in events if event.get("type") == "result"]
    last = results[-1] if results else {}
    answers = [event for event in events if event.get("type") == "assistant"]
    said = str(last.get("result") or "") or _last_text(answers)
    structured = last.get("structured_output")
    return Told(
        text=said,
        structured=msgspec.json.encode(structured).decode() if isinstance(structured, dict) else None,
        events=tuple(flat for event in events for flat in flattened(event)),
        usage=_usage(last, answers),
        turns=len({mapping(event.get("message")).get("id") for event in answers} - {None}),
        model=_model(answers),
        denials=_denials(results, events),
        failure=_failure(ran, last, said, answers),
    )


def _failure(ran: Ran, last: Event, said: str, answers: list[Event]) -> tuple[ErrorKind, str] | None:
    if ran.timed_out or ran.flooded:
        return failed(ran)
    subtype = str(last.get("subtype") or "")
    if subtype in _FAILURES:
        return _FAILURES[subtype], f"the agent stopped: {subtype}"
    if said.startswith("Unknown command: /") and not answers:
        return ErrorKind.CONFIG, said[:300]
    errors = "; ".join(str(error) for error in listing(last.get("errors")))
    if last.get("is_error"):
        told = said or errors or subtype
        return classified(told), f"the agent's run failed: {told[:300]}"
    ended = failed(ran)
    if ended is not None:
        return classified(f"{ended[1]} {errors}", ended[0]), ended[1]
    if not last:
        return ErrorKind.CRASHED, "the agent ended without a result"
    if "background tasks" in ran.errors() and "terminated" in ran.errors():
        return ErrorKind.CRASHED, "the agent ended while tasks of its own still ran in the background"
    return None


def flattened(event: Event) -> list[Event]:
    """Our flat form of one event of the stream; more than one for a message with several tool results."""
    message = mapping(event.get("message"))
    parent = event.get("parent_tool_use_id")
    common = {"parent_tool_use_id": parent} if parent else {}
    content = message.get("content")
    blocks = [block for block in listing(content) if isinstance(block, dict)]
    if event.get("type") == "assistant":
        flat: Event = {
            "type": "assistant",
            "text": "\n".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text"),
            **common,
        }
        thinking = "\n".join(filter(None, map(_thinking, blocks)))
        tools = [
            {"id": block.get("id"), "name": block.get("name"), "input": block.get("input", {})}
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        return [flat | ({"thinking": thinking} if thinking else {}) | ({"tools": tools} if tools else {})]
    if event.get("type") == "user":
        return [
            {
                "type": "tool_result",
                "tool_use_id": block.get("tool_use_id"),
                "content": _content(block.get("content")),
                "is_error": bool(block.get("is_error")),
                **common,
            }
            for block in blocks
            if block.get("type") == "tool_result"
        ]
    return [event] if event.get("type") == "result" else []


def _thinking(block: Event) -> str:
    if block.get("type") == "redacted_thinking":
        return "[redacted thinking]"
    return str(block.get("thinking") or "") if block.get("type") == "thinking" else ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(mapping(part).get("text") or "") for part in listing(content))


def _last_text(answers: list[Event]) -> str:
    for event in reversed(answers):
        text = str(flattened(event)[0]["text"])
        if text.strip() and not event.get("parent_tool_use_id"):
            return text
    return ""


def _usage(last: Event, answers: list[Event]) -> Usage:
    """By model from the result, else summed from the answers. The larger of both costs, when they differ by a cent."""
    parts = [mapping(part) for part in mapping(last.get("modelUsage")).values()]
    given = last.get("total_cost_usd")
    cost = float(given) if isinstance(given, int | float) else None
    if parts:
        by_model = sum(float(part["costUSD"]) for part in parts if isinstance(part.get("costUSD"), int | float))
        if cost is None or by_model > cost + 0.01:
            cost = by_model
        keys = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    else:
        seen = {str(mapping(event.get("message")).get("id")): mapping(event.get("message")) for event in answers}
        parts = [mapping(message.get("usage")) for message in seen.values()] or [mapping(last.get("usage"))]
        keys = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    totals = [sum(number(part.get(key)) for part in parts) for key in keys]
    known = cost is not None
    return Usage(
        calls=1,
        input=totals[0],
        output=totals[1],
        cache_read=totals[2],
        cache_write=totals[3],
        cost_usd=cost,
        price_source="agent" if known else "",
        unpriced_calls=0 if known else 1,
    )


def _model(answers: list[Event]) -> str:
    names = [str(mapping(event.get("message")).get("model") or "") for event in answers]
    return next((name for name in reversed(names) if name and name != "<synthetic>"), "")


def _denials(results: list[Event], events: list[Event]) -> dict[str, int]:
    """Tool -> refused calls, each once however many results tell of it; also calls of tools that are switched off."""
    seen: dict[str, str] = {}
    for result in results:
        for index, entry in enumerate(listing(result.get("permission_denials"))):
            denial = mapping(entry)
            seen[str(denial.get("tool_use_id") or index)] = str(denial.get("tool_name") or "?")
    for event in events:
        for flat in flattened(event) if event.get("type") == "user" else ():
            off = _SWITCHED_OFF.match(str(flat["content"])) if flat["is_error"] else None
            if off is not None:
                seen.setdefault(str(flat["tool_use_id"]), off[1])
    names = list(seen.values())
    return {name: names.count(name) for name in sorted(set(names))}


_SWITCHED_OFF = re.compile(r"(?:<tool_use_error>)?(?:Error: )?No such tool available: (\w+)")


def mcp_rules(server: MCPServer) -> list[str]:
    return [f"mcp__{server.name}__{tool}" for tool in server.allowed_tools] or [f"mcp__{server.name}"]


def _server(server: MCPServer) -> dict[str, object]:
    if server.transport == "stdio":
        return {
            "type": "stdio",
            "command": server.command,
            "args": list(server.args),
            "env": server.env,
        }
    if not server.url:
        raise AgentError(ErrorKind.CONFIG, f"the MCP server {server.name} has no url")
    return {
        "type": "sse" if server.transport == "sse" else "http",
        "url": server.url,
        "headers": server.headers,
    }


def _endpoints(env: dict[str, str]) -> tuple[str, ...]:
    if env.get("CLAUDE_CODE_USE_BEDROCK"):
        region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or "us-east-1"
        named = env.get("ANTHROPIC_BEDROCK_BASE_URL")
        return (named or f"https://bedrock-runtime.{region}.amazonaws.com", f"https://sts.{region}.amazonaws.com")
    if env.get("CLAUDE_CODE_USE_VERTEX"):
        region = env.get("CLOUD_ML_REGION") or "us-east5"
        return (f"https://{region}-aiplatform.googleapis.com", "https://oauth2.googleapis.com")
    return (env.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com",)


AGENT: Agent = ClaudeCode()
