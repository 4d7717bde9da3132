"""The agents of Eval Banana by name, and templates of one's own."""

from __future__ import annotations

import os
import re

import msgspec

from adjudge.domain import AGENTS, AgentSpec, CommandTemplate, Problem, PromptBy
from adjudge.formats.banana.settings import CONFIG, AgentTable, Settings
from adjudge.formats.convert import nearest

BUILT_IN: dict[str, CommandTemplate] = {
    "codex": CommandTemplate(
        command=("codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"),
        model_flag="--model",
        default_model="gpt-5.6-sol",
        effort_flag=("-c", "model_reasoning_effort={effort}"),
        default_effort="high",
    ),
    "claude": CommandTemplate(
        command=("claude", "-p"),
        shared_flags=("--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose"),
        model_flag="--model",
        model_env=("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL"),
        effort_flag=("--effort", "{effort}"),
    ),
    "gemini": CommandTemplate(
        command=("gemini",),
        shared_flags=("--approval-mode", "yolo", "--output-format", "stream-json"),
        prompt_flag="-p",
        model_flag="--model",
    ),
    "grok": CommandTemplate(
        command=("grok",),
        shared_flags=("--always-approve", "--no-auto-update"),
        prompt_flag="-p",
        model_flag="--model",
        default_model="grok-4.5",
        effort_flag=("--reasoning-effort", "{effort}"),
        default_effort="high",
    ),
    "openhands": CommandTemplate(
        command=("openhands",),
        shared_flags=("--headless", "--json", "--override-with-envs"),
        prompt_flag="-t",
        model_env=("LLM_MODEL",),
    ),
    "opencode": CommandTemplate(command=("opencode", "run")),
    "pi": CommandTemplate(command=("pi",), shared_flags=("--print", "--no-session")),
}
"""What a table `[agents.NAME]` of one of these names starts from."""
_OURS = {"claude": "claude-code"}
_NO_EFFORT = ("gemini", "openhands", "cursor")
_VARIABLE = re.compile(r"\{env:(\w+)\}")
_COMMAND_KEYS = (
    *("command", "shared_flags", "prompt_flag", "prompt_position", "prompt_by", "model_flag", "model_env_vars"),
    "reasoning_effort_flag",
)


class Harness(msgspec.Struct, frozen=True):
    """Who judges: the agent, its model and effort when no check names others."""

    spec: AgentSpec
    model: str
    effort: str


def harness_of(settings: Settings, problems: list[Problem]) -> Harness | None:
    """The agent that the settings name; `None` after reporting why there is none."""
    name = settings.agent
    table = settings.agents.get(name)
    built_in = BUILT_IN.get(name)
    if table is None and built_in is None and name not in AGENTS:
        known = [*BUILT_IN, *(other for other in AGENTS if other not in _OURS.values()), *settings.agents]
        hint = nearest(name, known)
        problems.append(Problem(file=CONFIG, key="harness.agent", message=f"there is no agent {name!r}", hint=hint))
        return None
    env = {"CI": "1", "PYTHONUNBUFFERED": "1"}
    for key, value in {**((table.provider_env if table else None) or {}), **settings.env}.items():
        env[key] = _spelled(value, key, problems)
    env |= {"EVAL_BANANA_PROJECT_ROOT": _literal(str(settings.root)), "EVAL_BANANA_HARNESS_AGENT": name}
    table = table or AgentTable()
    changes = any(getattr(table, key) is not None for key in _COMMAND_KEYS)
    start = built_in or CommandTemplate(command=(), model_flag="--model")
    template = (
        _template(name, table, start, settings, problems)
        if changes or (built_in is None and name not in AGENTS)
        else None
    )
    model = settings.model or (start.default_model if table.default_model is None else table.default_model)
    effort = settings.reasoning_effort or (
        start.default_effort if table.reasoning_effort is None else table.reasoning_effort
    )
    _check_means(name, template, settings, problems)
    spec = AgentSpec(name=_OURS.get(name, name), template=template, env=env, own_home=settings.own_home)
    return Harness(spec, model, effort)


def _template(
    name: str, table: AgentTable, start: CommandTemplate, settings: Settings, problems: list[Problem]
) -> CommandTemplate | None:
    key = f"agents.{name}"
    command = tuple(table.command) if table.command is not None else start.command
    if not command:
        problems.append(Problem(file=CONFIG, key=f"{key}.command", message="a new agent needs a command"))
        return None
    if "/" in command[0] and not os.path.isabs(command[0]):  # noqa: PTH117
        command = (str(settings.root / command[0]), *command[1:])
    position = start.prompt_position if table.prompt_position is None else table.prompt_position
    if position not in ("tail", "after_command"):
        text = f"must be tail or after_command, got {position!r}"
        problems.append(Problem(file=CONFIG, key=f"{key}.prompt_position", message=text))
    by = table.prompt_by or "argument"
    if by not in tuple(PromptBy):
        text = f"must be stdin, argument or file, got {by!r}"
        problems.append(Problem(file=CONFIG, key=f"{key}.prompt_by", message=text))
        by = "argument"
    flag = table.reasoning_effort_flag
    if flag is not None and flag and not any("{effort}" in word for word in flag):
        text = "must hold {effort}"
        problems.append(Problem(file=CONFIG, key=f"{key}.reasoning_effort_flag", message=text))
    return msgspec.structs.replace(
        start,
        command=command,
        shared_flags=start.shared_flags if table.shared_flags is None else tuple(table.shared_flags),
        prompt_by=PromptBy(by),
        prompt_flag=start.prompt_flag if table.prompt_flag is None else table.prompt_flag,
        prompt_position=position,
        model_flag=start.model_flag if table.model_flag is None else table.model_flag,
        model_env=start.model_env if table.model_env_vars is None else tuple(table.model_env_vars),
        default_model="",
        effort_flag=start.effort_flag if flag is None else tuple(flag),
        default_effort="",
    )


def _check_means(name: str, template: CommandTemplate | None, settings: Settings, problems: list[Problem]) -> None:
    """An agent that takes no effort, or no model, says so before anything is paid."""
    if settings.reasoning_effort and (name in _NO_EFFORT if template is None else not template.effort_flag):
        text = f"the agent {name} takes no reasoning effort, and {settings.reasoning_effort!r} is asked for"
        problems.append(Problem(key="harness.reasoning_effort", message=text))
    if settings.model and template is not None and not (template.model_flag or template.model_env):
        text = f"the agent {name} takes no model, and {settings.model!r} is asked for"
        problems.append(Problem(key="harness.model", message=text))


def _spelled(value: str, key: str, problems: list[Problem]) -> str:
    """`{env:NAME}` as `${NAME}`, and every other dollar sign as itself."""
    for name in _VARIABLE.findall(value):
        if name not in os.environ:
            text = f"the variable {name} is not set, so {key} lacks it"
            problems.append(Problem(file=CONFIG, key=key, message=text, warning=True))
    return _VARIABLE.sub(lambda match: f"${{{match[1]}}}", _literal(value))


def _literal(text: str) -> str:
    return text.replace("$", "$$")
