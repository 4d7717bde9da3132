"""Gemini CLI: `gemini -o stream-json`."""

from __future__ import annotations

from typing import Any

import msgspec

from adjudge.agents.base import (
    Agent,
    Ask,
    Event,
    Launch,
    Told,
    environment,
    json_lines,
    mapping,
    number,
    run_failure,
    takes_no_effort,
)
from adjudge.agents.process import Ran
from adjudge.domain import MCPServer, Usage

REFUSED = ("tool_not_registered", "invalid_tool_params", "policy_violation")


class Gemini:
    name = "gemini"
    binary = "gemini"
    credentials = ("GEMINI_API_KEY", "GOOGLE_*")
    install = "npm install -g @google/gemini-cli"
    needs = ("--output-format", "--approval-mode", "--skip-trust")

    def launch(self, ask: Ask) -> Launch:
        takes_no_effort(ask, self.name)
        argv = [self.binary, "-o", "stream-json", "--skip-trust"]
        argv += ["--approval-mode", "yolo" if ask.confined and not ask.listed else "auto_edit"]
        if ask.model:
            argv += ["-m", ask.model.removeprefix("gemini/").removeprefix("google/")]
        settings: dict[str, Any] = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        if ask.mcp_servers:
            settings["mcpServers"] = {server.name: _server(server) for server in ask.mcp_servers}
        env = environment(ask, self.credentials)
        return Launch(
            argv=tuple(argv),
            env=env,
            stdin=ask.prompt.encode("utf-8", "replace"),
            files={".gemini/settings.json": msgspec.json.encode(settings).decode()},
            endpoints=(env.get("GOOGLE_GEMINI_BASE_URL") or "https://generativelanguage.googleapis.com",),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        return read(json_lines(ran.text()), ran)


def read(events: list[Event], ran: Ran) -> Told:
    """What a stream of events in this form says. Its messages come in pieces."""
    whole = joined(events)
    said = [str(event.get("content") or "") for event in whole if event.get("type") == "message"]
    flat = [part for event in whole for part in flattened(event)]
    last = next((event for event in reversed(events) if event.get("type") == "result"), {})
    models = list(mapping(mapping(last.get("stats")).get("models")))
    told = str(mapping(last.get("error")).get("message") or "") if last.get("status") == "error" else None
    return Told(
        text=said[-1] if said else "",
        events=tuple(flat),
        usage=usage_of(mapping(last.get("stats"))),
        turns=sum(event.get("type") == "assistant" for event in flat),
        model=models[0] if models else str(next((e.get("model") for e in events if e.get("type") == "init"), "")),
        denials=_denials(events),
        failure=run_failure(ran, told, complete=bool(last), unfinished="the agent ended without a result"),
    )


def joined(events: list[Event]) -> list[Event]:
    """The events that tell what was said and done, with the pieces of each message put together."""
    whole: list[Event] = []
    for event in events:
        kind = event.get("type")
        if kind == "message" and event.get("role") == "assistant":
            piece = str(event.get("content") or "")
            if event.get("delta") and whole and whole[-1].get("type") == "message":
                whole[-1] = {**whole[-1], "content": whole[-1]["content"] + piece}
            else:
                whole.append({**event, "content": piece})
        elif kind in ("tool_use", "tool_result"):
            whole.append(event)
    return whole


def flattened(event: Event) -> list[Event]:
    """Our flat form of one event, whose message is whole."""
    kind = event.get("type")
    if kind == "message" and event.get("role") == "assistant":
        return [{"type": "assistant", "text": str(event.get("content") or "")}]
    if kind == "tool_use":
        call = {"id": event.get("tool_id"), "name": event.get("tool_name"), "input": event.get("parameters", {})}
        return [{"type": "assistant", "text": "", "tools": [call]}]
    if kind == "tool_result":
        bad = event.get("status") == "error"
        said = {"tool_use_id": event.get("tool_id"), "content": str(event.get("output") or ""), "is_error": bad}
        return [{"type": "tool_result", **said}]
    return []


def usage_of(stats: Event) -> Usage:
    """What the statistics of a result say was used."""
    cached = number(stats.get("cached"))
    return Usage(
        calls=1,
        input=max(0, number(stats.get("input_tokens")) - cached),
        output=number(stats.get("output_tokens")),
        cache_read=cached,
        unpriced_calls=1,
    )


def _denials(events: list[Event]) -> dict[str, int]:
    names = {event.get("tool_id"): str(event.get("tool_name")) for event in events if event.get("type") == "tool_use"}
    refused = [
        names.get(event.get("tool_id"), "?")
        for event in events
        if event.get("type") == "tool_result" and mapping(event.get("error")).get("type") in REFUSED
    ]
    return {name: refused.count(name) for name in sorted(set(refused))}


def _server(server: MCPServer) -> dict[str, Any]:
    common: dict[str, Any] = {"trust": True}
    if server.allowed_tools:
        common["includeTools"] = server.allowed_tools
    if server.tool_timeout_s:
        common["timeout"] = int(server.tool_timeout_s * 1000)
    if server.transport == "stdio":
        return {"command": server.command, "args": server.args, "env": server.env, **common}
    key = "url" if server.transport == "sse" else "httpUrl"
    return {key: server.url, "headers": server.headers, **common}


AGENT: Agent = Gemini()
