"""OpenHands: `openhands --headless --json`. It approves everything itself, so that it is only run confined."""

from __future__ import annotations

from adjudge.agents.base import (
    Agent,
    Ask,
    Event,
    Launch,
    Told,
    environment,
    failed,
    json_lines,
    must_be_confined,
    takes_no_effort,
    takes_no_servers,
)
from adjudge.agents.process import Ran
from adjudge.domain import Usage

_SAYS = ("final_thought", "message", "content", "text", "thought")
_ANSWERS = ("finish", "message")


class OpenHands:
    name = "openhands"
    binary = "openhands"
    credentials = ("LLM_*",)
    install = "uv tool install openhands --python 3.12"
    needs = ("--headless", "--override-with-envs")

    def launch(self, ask: Ask) -> Launch:
        must_be_confined(ask, self.name)
        takes_no_effort(ask, self.name)
        takes_no_servers(ask, self.name)
        model = {"LLM_MODEL": ask.model.replace(":/", "/", 1)} if ask.model else {}
        env = environment(ask, self.credentials, **model)
        usual = ("https://api.anthropic.com", "https://api.openai.com", "https://llm-proxy.app.all-hands.dev")
        base = env.get("LLM_BASE_URL")
        prompt = str(ask.home / "prompt.txt")
        return Launch(
            argv=(self.binary, "--headless", "--json", "--override-with-envs", "-f", prompt),
            env=env,
            files={"prompt.txt": ask.prompt},
            endpoints=(base,) if base else usual,
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        events = json_lines(ran.text())
        actions = [event for event in events if event.get("type") == "action"]
        answers = [event for event in actions if event.get("action") in _ANSWERS]
        flat: list[Event] = []
        for event in events:
            if event in answers:
                flat.append({"type": "assistant", "text": _said(event)})
            elif event.get("type") == "action":
                given = {key: value for key, value in event.items() if key not in ("type", "action")}
                flat.append({"type": "assistant", "text": "", "tools": [{"name": event.get("action"), "input": given}]})
            elif event.get("type") == "observation":
                flat.append({"type": "tool_result", "content": str(event.get("content") or ""), "is_error": False})
        return Told(
            text=_said(answers[-1]) if answers else "" if events else ran.text(),
            events=tuple(flat),
            usage=Usage(calls=1, unpriced_calls=1),
            turns=len(actions) or None,
            model=ask.model,
            failure=failed(ran),
        )


def _said(event: Event) -> str:
    return next((value for key in _SAYS if isinstance(value := event.get(key), str) and value.strip()), "")


AGENT: Agent = OpenHands()
