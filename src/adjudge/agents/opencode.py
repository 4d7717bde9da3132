"""OpenCode: `opencode run --format json`, held by the permissions of a config of our own."""

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
)
from adjudge.agents.process import Ran
from adjudge.domain import MCPServer, Usage

_BASES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "/v1"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1", ""),
    "openrouter": ("OPENROUTER_BASE_URL", "https://openrouter.ai", "/api/v1"),
    "google": ("GOOGLE_GEMINI_BASE_URL", "https://generativelanguage.googleapis.com", ""),
}
REFUSED = ("The user has specified a rule", "The user rejected permission")


class OpenCode:
    name = "opencode"
    binary = "opencode"
    credentials = ("ANTHROPIC_*", "OPENAI_*", "OPENROUTER_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY")
    install = "npm install -g opencode-ai"
    needs = ("run",)

    def launch(self, ask: Ask) -> Launch:
        argv = [self.binary, "run", "--format", "json"]
        if ask.model:
            argv += ["-m", ask.model.replace(":/", "/", 1)]
        if ask.effort:
            argv += ["--variant", ask.effort]
        edits: Any = "allow" if ask.writes else {"*": "deny", "*/output/*": "allow"} if ask.listed else "deny"
        runs = "allow" if not ask.listed and (ask.confined or ask.writes) else "deny"
        outside = "allow" if not ask.listed else "deny"
        rules = {"edit": edits, "bash": runs, "webfetch": "deny", "external_directory": outside}
        config: dict[str, Any] = {"permission": rules, "provider": {}, "autoupdate": False, "share": "disabled"}
        for provider, (variable, _, path) in _BASES.items():
            if base := ask.environ.get(variable):
                config["provider"][provider] = {"options": {"baseURL": base.rstrip("/") + path}}
        if ask.mcp_servers:
            config["mcp"] = {server.name: _server(server) for server in ask.mcp_servers}
        env = environment(
            ask,
            self.credentials,
            OPENCODE_CONFIG=str(ask.home / "opencode.json"),
            OPENCODE_DISABLE_AUTOUPDATE="1",
        )
        return Launch(
            argv=tuple(argv),
            env=env,
            stdin=ask.prompt.encode("utf-8", "replace"),
            files={"opencode.json": msgspec.json.encode(config).decode()},
            endpoints=tuple(ask.environ.get(name) or usual for name, usual, _ in _BASES.values()),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        return read(json_lines(ran.text()), ran, ask)


def read(events: list[Event], ran: Ran, ask: Ask) -> Told:
    """What a stream of events in this form says. A rejected question ends the run without an answer."""
    parts = [(str(event.get("type")), mapping(event.get("part"))) for event in events]
    texts = [str(part.get("text") or "") for kind, part in parts if kind == "text"]
    steps = [part for kind, part in parts if kind == "step_finish"]
    complete = bool(steps) and steps[-1].get("reason") == "stop"
    refused = [
        str(part.get("tool"))
        for kind, part in parts
        if kind == "tool_use" and str(mapping(part.get("state")).get("error") or "").startswith(REFUSED)
    ]
    return Told(
        text=texts[-1] if texts and complete else "",
        events=tuple(flat for kind, part in parts for flat in flattened(kind, part)),
        usage=usage_of(steps),
        turns=len(steps),
        model=ask.model,
        denials={name: refused.count(name) for name in sorted(set(refused))},
        failure=run_failure(
            ran,
            _told(events),
            complete=complete,
            unfinished="the agent ended before it answered, as it does when a question of its is rejected",
        ),
    )


def usage_of(steps: list[Event]) -> Usage:
    """The sum of what each step says it used. A cost of 0 is one that it does not know."""
    given = [step.get("cost") for step in steps]
    costs = [float(cost) for cost in given if isinstance(cost, int | float) and abs(cost) < 2**53]
    tokens = [mapping(step.get("tokens")) for step in steps]
    known = bool(costs) and sum(costs) > 0
    return Usage(
        calls=1,
        input=sum(number(part.get("input")) for part in tokens),
        output=sum(number(part.get("output")) for part in tokens),
        cache_read=sum(number(mapping(part.get("cache")).get("read")) for part in tokens),
        cache_write=sum(number(mapping(part.get("cache")).get("write")) for part in tokens),
        reasoning=sum(number(part.get("reasoning")) for part in tokens),
        cost_usd=sum(costs) if known else None,
        price_source="agent" if known else "",
        unpriced_calls=0 if known else 1,
    )


def _told(events: list[Event]) -> str | None:
    """The last error that the stream tells of."""
    errors = [mapping(event.get("error")) for event in events if event.get("type") == "error"]
    return str(mapping(errors[-1].get("data")).get("message") or errors[-1].get("name") or "") if errors else None


def flattened(kind: str, part: Event) -> list[Event]:
    """Our flat form of one part of a message."""
    if kind == "text":
        return [{"type": "assistant", "text": str(part.get("text") or "")}]
    if kind != "tool_use":
        return []
    state = mapping(part.get("state"))
    call = {"id": part.get("callID"), "name": part.get("tool"), "input": state.get("input", {})}
    bad = state.get("status") == "error"
    said = str(state.get("error") if bad else state.get("output") or "")
    return [
        {"type": "assistant", "text": "", "tools": [call]},
        {"type": "tool_result", "tool_use_id": part.get("callID"), "content": said, "is_error": bad},
    ]


def _server(server: MCPServer) -> dict[str, Any]:
    if server.transport == "stdio":
        command = [server.command, *server.args]
        return {"type": "local", "command": command, "environment": server.env, "enabled": True}
    return {"type": "remote", "url": server.url, "headers": server.headers, "enabled": True}


AGENT: Agent = OpenCode()
