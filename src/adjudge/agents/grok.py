"""Grok Build: `grok --prompt-file`, whose stream has the shapes of Claude Code's."""

from __future__ import annotations

from adjudge.agents import claude_code
from adjudge.agents.base import Agent, Ask, Launch, Told, environment, json_lines, takes_no_servers
from adjudge.agents.process import Ran


class Grok:
    name = "grok"
    binary = "grok"
    credentials = ("XAI_API_KEY", "GROK_*")
    install = "npm install -g @xai-official/grok"
    needs = ("--prompt-file", "--output-format", "--permission-mode", "--allow", "--deny")

    def launch(self, ask: Ask) -> Launch:
        takes_no_servers(ask, self.name)
        prompt = str(ask.home / "prompt.txt")
        argv = [self.binary, "--prompt-file", prompt, "--output-format", "streaming-messages-json"]
        argv += ["--no-subagents", "--disable-web-search"]
        if ask.listed:
            argv += ["--permission-mode", "dontAsk"]
            argv += [word for rule in _with_writes(ask.allowed) for word in ("--allow", rule)]
            argv += [word for rule in ask.denied for word in ("--deny", rule)]
        else:
            argv += ["--permission-mode", "bypassPermissions" if ask.confined else "dontAsk"]
            runs = ("Bash",) if ask.confined or ask.writes else ()
            argv += [word for rule in ("Read", "Grep", "Glob", *runs) for word in ("--allow", rule)]
        if ask.model:
            argv += ["-m", ask.model.removeprefix("xai/")]
        if ask.effort:
            argv += ["--effort", ask.effort]
        env = environment(ask, self.credentials, GROK_HOME=str(ask.home / "grok"), GROK_DISABLE_AUTOUPDATER="1")
        named = tuple(env[name] for name in ("GROK_XAI_API_BASE_URL", "GROK_MODELS_BASE_URL") if env.get(name))
        return Launch(
            argv=tuple(argv),
            env=env,
            files={"prompt.txt": ask.prompt},
            endpoints=named or ("https://api.x.ai", "https://cli-chat-proxy.grok.com"),
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        """It ends with exit status 0 when a tool is refused; the result says that it was cancelled."""
        return claude_code.read(json_lines(ran.text()), ran)


def _with_writes(rules: tuple[str, ...]) -> list[str]:
    """Its Write tool has rules of its own."""
    return [spelled for rule in rules for spelled in (rule, *([f"Write{rule[4:]}"] if rule.startswith("Edit") else []))]


AGENT: Agent = Grok()
