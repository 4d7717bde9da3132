"""Any program as an agent, by a template of its command line."""

from __future__ import annotations

import re

import msgspec

from adjudge.agents.base import AgentError, Ask, Launch, Told, environment, failed
from adjudge.agents.process import Ran
from adjudge.agents.stories import story
from adjudge.domain import CommandTemplate, ErrorKind, PromptBy, Usage
from adjudge.domain.secrets import looks_secret

PLACES = ("prompt", "model", "effort", "workspace", "output_dir", "timeout", "max_budget_usd")
_PLACE = re.compile(r"\{(" + "|".join(PLACES) + r")\}")
_ANY_PLACE = re.compile(r"\{([A-Za-z_][\w-]*)\}")
_LONGEST_ARGUMENT = 120_000
"""Bytes. Linux takes no argument of 128 KiB."""


PROVIDERS = (
    *("ANTHROPIC_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_API_KEY", "GOOGLE_*", "XAI_API_KEY", "MISTRAL_API_KEY"),
    *("AZURE_*", "AWS_*", "LLM_*", "CODEX_API_KEY", "CURSOR_API_KEY", "AI_GATEWAY_API_KEY", "CLAUDE_CODE_*"),
)
"""What a program that we do not know may need to reach a model. Other secrets must be given to it by name."""


def _plain(ask: Ask) -> dict[str, str]:
    """The variables of the user that hold no secret."""
    return {name: value for name, value in ask.environ.items() if not looks_secret(name, value)}


def _model(template: CommandTemplate, model: str) -> dict[str, str]:
    return dict.fromkeys(template.model_env, model) if model else {}


class Command:
    """A program with a template; `name` is what the suite calls it."""

    credentials: tuple[str, ...] = PROVIDERS
    install = ""
    needs: tuple[str, ...] = ()

    def __init__(self, name: str, template: CommandTemplate) -> None:
        self.name = name
        self.binary = template.command[0]
        self._template = template

    def launch(self, ask: Ask) -> Launch:
        template = self._template
        model = ask.model or template.default_model
        effort = ask.effort or template.default_effort
        parts = [*template.command, *template.shared_flags, template.model_flag, *template.effort_flag]
        named = set(_PLACE.findall(" ".join(parts)))
        if model and not (template.model_flag or template.model_env or "model" in named):
            raise AgentError(ErrorKind.CONFIG, f"the agent {self.name} takes no model, and {model!r} is asked for")
        if ask.effort and not (template.effort_flag or "effort" in named):
            raise AgentError(ErrorKind.CONFIG, f"the agent {self.name} takes no effort, and {effort!r} is asked for")
        file = ask.home / "prompt.txt"
        prompt = str(file) if template.prompt_by is PromptBy.FILE else ask.prompt
        values = {
            "prompt": prompt,
            "model": model,
            "effort": effort,
            "workspace": str(ask.cwd),
            "output_dir": str(ask.output or ask.cwd),
            "timeout": f"{ask.timeout_s:g}",
            "max_budget_usd": "" if ask.budget_usd is None else f"{ask.budget_usd:g}",
        }

        if ask.task is not None:
            if template.prompt_by is PromptBy.STDIN and "prompt" in ask.task.values:
                del values["prompt"]  # an input field of this name; the prompt itself is on standard input
            values = {**ask.task.values, **values}

        def filled(argument: str) -> str:
            place = _PLACE if ask.task is None else _ANY_PLACE
            return place.sub(lambda match: values.get(match[1], match[0]), argument)

        given = [template.prompt_flag, prompt] if template.prompt_flag else [prompt]
        if template.prompt_by is PromptBy.STDIN or "prompt" in named:
            given = []
        argv = [filled(argument) for argument in template.command]
        if template.prompt_position == "after_command":
            argv += given
        argv += [filled(argument) for argument in template.shared_flags]
        if model and template.model_flag:
            argv += [template.model_flag, model]
        if effort:
            argv += [filled(argument) for argument in template.effort_flag]
        if template.prompt_position != "after_command":
            argv += given
        if any(len(argument.encode("utf-8", "replace")) > _LONGEST_ARGUMENT for argument in argv):
            text = f"the prompt is too long for an argument of {self.name}; let it read standard input or a file"
            raise AgentError(ErrorKind.CONFIG, text)
        by_file = template.prompt_by is PromptBy.FILE
        seen = _plain(ask) if ask.task is None else dict(ask.environ)  # the author's own program, for the author
        return Launch(
            argv=tuple(argv),
            env={**seen, **environment(ask, self.credentials), **_model(template, model)},
            stdin=ask.prompt.encode("utf-8", "replace") if template.prompt_by is PromptBy.STDIN else b"",
            files={"prompt.txt": ask.prompt} if by_file else {},
        )

    def tell(self, ran: Ran, ask: Ask) -> Told:
        """Its output is an event stream of a kind that we know, or else what it says."""
        told = story(ran, ask)
        if told is None:
            told = Told(text=ran.text(), usage=Usage(calls=1, unpriced_calls=1))
        model = told.model or ask.model or self._template.default_model
        return msgspec.structs.replace(told, failure=told.failure or failed(ran), model=model)
