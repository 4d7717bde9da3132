"""Cursor's agent: `cursor-agent -p`, held by the rules of a config of our own."""

from __future__ import annotations

import msgspec

from adjudge.agents import claude_code
from adjudge.agents.base import (
    Agent,
    Ask,
    Launch,
    Told,
    environment,
    json_lines,
    mapping,
    takes_no_effort,
    takes_no_servers,
)
from adjudge.agents.process import Ran
from adjudge.domain import Usage

_NAMES = {
    "Bash": "Shell",
    "Edit": "Write",
    "MultiEdit": "Write",
    "NotebookEdit": "Write",
    "Grep": "Read",
    "Glob": "Read",
}
_KNOWN = ("Shell", "Read", "Write", "WebFetch")


class Cursor:
    name = "cursor"
    binary = "cursor-agent"
    credentials = ("CURSOR_API_KEY",)
    install = "see cursor.com/cli"
    needs = ("--output-format", "--print")

    def launch(self, ask: Ask) -> Launch:
        takes_no_effort(ask, self.name)
        takes_no_servers(ask, self.name)
        argv = [self.binary, "-p", "--output-format", "stream-json", "--trust"]
        if ask.confined and not ask.listed:
            argv.append("--force")
        if ask.model:
            argv += ["--model", ask.model]
        allowed = ask.allowed if ask.listed else ("Read(**)", "Bash", *(["Edit"] if ask.writes else []))
        denied = ask.denied if ask.listed else () if ask.writes else ("Edit",)
        rules = {"allow": _rules(allowed), "deny": _rules(denied)}
        config = msgspec.json.encode({"version": 1, "editor": {"vimMode": False}, "permissions": rules}).decode()
        return Launch(
            argv=tuple(argv),
            env=environment(ask, self.credentials),
            stdin=ask.prompt.encode("utf-8", "replace"),
            files={".cursor/cli-config.json": config},
            endpoints=("https://api2.cursor.sh", "https://api.cursor.com", "https://api2direct.cursor.sh"),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        events = json_lines(ran.text())
        told = claude_code.read(events, ran)
        flat = list(told.events)
        for event in events:
            if event.get("type") == "tool_call" and event.get("subtype") == "completed":
                for name, call in mapping(event.get("tool_call")).items():
                    tool = {"id": event.get("call_id"), "name": name, "input": mapping(call).get("args", {})}
                    flat.append({"type": "assistant", "text": "", "tools": [tool]})
        usage = Usage(calls=1, unpriced_calls=1)
        return msgspec.structs.replace(told, events=tuple(flat), usage=usage, model=told.model or ask.model)


def _rules(rules: tuple[str, ...]) -> list[str]:
    """Claude Code's rules as Cursor spells them; what it has no tool for is left out."""
    found: list[str] = []
    for rule in rules:
        name, bracket, rest = rule.partition("(")
        spelled = _NAMES.get(name, name)
        if spelled in _KNOWN:
            found.append(f"{spelled}({rest}" if bracket else f"{spelled}(**)")
    return list(dict.fromkeys(found))


AGENT: Agent = Cursor()
