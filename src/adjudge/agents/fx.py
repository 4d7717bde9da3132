"""fx: `fx ask --json`. It asks nobody before it acts, so that it is only run confined."""

from __future__ import annotations

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
    listing,
    mapping,
    must_be_confined,
    number,
)
from adjudge.agents.process import Ran
from adjudge.domain import ErrorKind, Usage


class Fx:
    name = "fx"
    binary = "fx"
    credentials = ("AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "FX_MODEL")
    install = "see fx.sh"
    needs = ("ask",)

    def launch(self, ask: Ask) -> Launch:
        if not ask.writes:
            must_be_confined(ask, self.name)
        if any(server.allowed_tools for server in ask.mcp_servers):
            raise AgentError(ErrorKind.CONFIG, "fx cannot be held to some of a server's tools")
        if not (ask.environ.get("AI_GATEWAY_API_KEY") or ask.environ.get("VERCEL_OIDC_TOKEN")):
            raise AgentError(ErrorKind.CREDENTIALS, "fx needs AI_GATEWAY_API_KEY or VERCEL_OIDC_TOKEN")
        files = {".fx/settings.json": _json({"effort": ask.effort})} if ask.effort else {}
        if ask.mcp_servers:
            servers = {
                server.name: {
                    "command": server.command,
                    "args": server.args,
                    "env": server.env,
                }
                if server.transport == "stdio"
                else {"url": server.url, "headers": server.headers}
                for server in ask.mcp_servers
            }
            files[".fx/mcp.json"] = _json({"mcpServers": servers})
        model = {"FX_MODEL": ask.model} if ask.model else {}
        return Launch(
            argv=(self.binary, "--no-additional-dirs", "ask", "--json", "--yolo"),
            env=environment(ask, self.credentials, FX_AUTO_UPGRADE="0", FX_SOUND="0", **model),
            stdin=ask.prompt.encode("utf-8", "replace"),
            files=files,
            endpoints=("https://ai-gateway.vercel.sh",),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        """Its output is one JSON object, once it is done."""
        told = _object(ran.text())
        usage = mapping(told.get("usage"))
        text = str(told.get("final_output") or "")
        calls = [mapping(call) for call in listing(told.get("tool_calls"))]
        return Told(
            text=text,
            events=(
                *({"type": "assistant", "text": "", "tools": [call]} for call in calls),
                {"type": "assistant", "text": text},
            ),
            usage=Usage(
                calls=1,
                input=number(usage.get("input_tokens")),
                output=number(usage.get("output_tokens")),
                unpriced_calls=1,
            ),
            turns=number(told.get("steps")) or None,
            model=str(told.get("model") or ask.model),
            failure=_failure(ran, told),
        )


def _failure(ran: Ran, told: Event) -> tuple[ErrorKind, str] | None:
    ended = failed(ran)
    if ended is not None:
        return ended
    if told.get("error") or number(told.get("exit_code")):
        said = str(told.get("error") or f"exit code {told.get('exit_code')}")
        return classified(said), f"the agent's run failed: {said[:300]}"
    return None if told else (ErrorKind.CRASHED, "the agent ended without a result")


def _object(text: str) -> Event:
    try:
        return mapping(msgspec.json.decode(text.strip().encode("utf-8", "replace")))
    except (msgspec.DecodeError, RecursionError):
        return {}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


AGENT: Agent = Fx()
