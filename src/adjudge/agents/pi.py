"""pi: `pi -p --mode json`. It has no permissions, so that it is only run confined, with the tools that are wanted."""

from __future__ import annotations

import msgspec

from adjudge.agents.base import (
    Agent,
    Ask,
    Event,
    Launch,
    Told,
    environment,
    json_lines,
    listing,
    mapping,
    must_be_confined,
    number,
    run_failure,
    takes_no_servers,
)
from adjudge.agents.process import Ran
from adjudge.domain import Usage

_EFFORTS = {"none": "off", "max": "xhigh"}


class Pi:
    name = "pi"
    binary = "pi"
    credentials = (
        "ANTHROPIC_*",
        "OPENAI_*",
        "OPENROUTER_API_KEY",
        "GEMINI_API_KEY",
        "XAI_API_KEY",
        "PI_CODING_AGENT_DIR",
    )
    install = "npm install -g @mariozechner/pi-coding-agent"
    needs = ("--mode", "--no-session", "--tools")

    def launch(self, ask: Ask) -> Launch:
        must_be_confined(ask, self.name)
        takes_no_servers(ask, self.name)
        tools = ["read", "grep", "find", "ls"]
        if ask.listed or ask.writes:
            tools.append("write")
        if not ask.listed:
            tools.append("bash")
        argv = [self.binary, "-p", "--mode", "json", "--no-session", "-ne", "-ns", "-nc", "--tools", ",".join(tools)]
        if ask.model:
            argv += ["--model", ask.model.replace(":/", "/", 1)]
        if ask.effort:
            argv += ["--thinking", _EFFORTS.get(ask.effort, ask.effort)]
        env = environment(ask, self.credentials, PI_OFFLINE="1")
        files = {}
        overrides = {
            provider: {"baseUrl": env[variable]}
            for provider, variable in (("anthropic", "ANTHROPIC_BASE_URL"), ("openai", "OPENAI_BASE_URL"))
            if env.get(variable)
        }
        if overrides and "PI_CODING_AGENT_DIR" not in env:  # it reads no variable for them
            env["PI_CODING_AGENT_DIR"] = str(ask.home / "pi")
            files["pi/models.json"] = msgspec.json.encode({"providers": overrides}).decode()
        bases = tuple(env[name] for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL") if env.get(name))
        settings = ask.environ.get("PI_CODING_AGENT_DIR")
        return Launch(
            argv=tuple(argv),
            env=env,
            stdin=ask.prompt.encode("utf-8", "replace"),
            files=files,
            endpoints=bases or ("https://api.anthropic.com", "https://api.openai.com", "https://openrouter.ai"),
            reads=(settings,) if settings else (),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        events = json_lines(ran.text())
        ended = [mapping(event.get("message")) for event in events if event.get("type") == "message_end"]
        answers = [message for message in ended if message.get("role") == "assistant"]
        last = answers[-1] if answers else {}
        usages = [mapping(message.get("usage")) for message in answers]
        costs = [mapping(usage.get("cost")).get("total") for usage in usages]
        total = sum(float(cost) for cost in costs if isinstance(cost, int | float))
        return Told(
            text=_text(last),
            events=tuple(flat for event in events for flat in _flat(event)),
            usage=Usage(
                calls=1,
                input=sum(number(usage.get("input")) for usage in usages),
                output=sum(number(usage.get("output")) for usage in usages),
                cache_read=sum(number(usage.get("cacheRead")) for usage in usages),
                cache_write=sum(number(usage.get("cacheWrite")) for usage in usages),
                cost_usd=total or None,
                price_source="agent" if total else "",
                unpriced_calls=0 if total else 1,
            ),
            turns=sum(event.get("type") == "turn_end" for event in events),
            model=str(last.get("model") or ask.model),
            failure=run_failure(
                ran,
                str(last.get("errorMessage") or "")
                if last.get("stopReason") == "error"
                else None,  # its status is 0 then
                complete=last.get("stopReason") == "stop",
                unfinished="the agent ended before it answered",
            ),
        )


def _text(message: Event) -> str:
    blocks = [mapping(block) for block in listing(message.get("content"))]
    return "\n".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")


def _flat(event: Event) -> list[Event]:
    if event.get("type") == "message_end" and mapping(event.get("message")).get("role") == "assistant":
        message = mapping(event.get("message"))
        blocks = [mapping(block) for block in listing(message.get("content"))]
        tools = [
            {"id": block.get("id"), "name": block.get("name"), "input": block.get("arguments", {})}
            for block in blocks
            if block.get("type") == "toolCall"
        ]
        return [{"type": "assistant", "text": _text(message), **({"tools": tools} if tools else {})}]
    if event.get("type") == "tool_execution_end":
        said = "\n".join(
            str(mapping(part).get("text") or "") for part in listing(mapping(event.get("result")).get("content"))
        )
        bad = bool(event.get("isError"))
        return [{"type": "tool_result", "tool_use_id": event.get("toolCallId"), "content": said, "is_error": bad}]
    return []


AGENT: Agent = Pi()
