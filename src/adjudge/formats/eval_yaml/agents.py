"""The `agent:` block of a judge, and `runner:` blocks: who is run, and by which rules."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adjudge.domain import AGENTS, RESPONSES_API, AgentSpec, CommandTemplate, PromptBy, Sandbox
from adjudge.formats.convert import nearest
from adjudge.formats.eval_yaml.schema import AgentConfig, RunnerConfig

DEFAULT_TIMEOUT_S = 600.0
DEFAULT_BUDGET_USD = 2.0
TYPES = (*AGENTS, "cli", RESPONSES_API)
_READS = ("Read", "Grep", "Glob")
_SPELLED = {"{args}": "{prompt}", "{agent}": "cli", "{system_prompt}": "", "{subagent_model}": "{model}"}

Report = Callable[..., None]
"""`(key, message, hint=, warning=)`"""


def read_runner(
    config: RunnerConfig, report: Report, key: str, *, config_dir: str, judge: bool, under_test: bool = False
) -> AgentSpec | None:
    """The agent of a runner block; `None` after reporting why there is none. The command of an agent under test keeps
    its places for the case's fields."""
    kind = config.type or "claude-code"
    if kind == RESPONSES_API and not under_test:
        text = "the responses-api runner is for the agent under test: no judge can be run by it"
        report(f"{key}.type", text, hint=f"there are: {', '.join((*AGENTS, 'cli'))}")
        return None
    if kind not in TYPES:
        report(f"{key}.type", f"there is no runner {kind!r}", hint=nearest(kind, TYPES))
        return None
    if judge and config.workspace_mode == "repo":
        report(f"{key}.workspace_mode", "repo is not for judges: they work on copies, never in the project itself")
    if judge and config.permission_mode is not None:
        report(f"{key}.permission_mode", "is not used: judges run deny-by-default", warning=True)
    unused = [name for name in ("settings", "plugin_dirs") if getattr(config, name)]
    for name in unused if judge else ():
        report(f"{key}.{name}", "is not used for judges", warning=True)
    template = _template(config, report, key, config_dir, under_test=under_test) if kind == "cli" else None
    if kind == "cli" and template is None:
        return None
    return AgentSpec(name=kind, template=template, env=config.env or {}, instructions=config.system_prompt or "")


def _template(
    config: RunnerConfig, report: Report, key: str, config_dir: str, *, under_test: bool
) -> CommandTemplate | None:
    """A command line, split before anything is put in, so that no value can become several arguments."""
    try:
        words = shlex.split(config.command) if isinstance(config.command, str) else list(config.command or [])
    except ValueError as error:
        report(f"{key}.command", f"cannot be split into words: {error}")
        return None
    if not words:
        report(f"{key}.command", "the cli runner needs a command")
        return None
    spelled = {} if under_test else _SPELLED
    for old, new in {**spelled, "{config_dir}": config_dir}.items():
        words = [word.replace(old, new) for word in words]
    prompt_by = PromptBy.ARGUMENT if any("{prompt}" in word for word in words) else PromptBy.STDIN
    if under_test:
        prompt_by = PromptBy.STDIN
    return CommandTemplate(command=tuple(words), prompt_by=prompt_by, model_env=("ADJUDGE_MODEL",))


def agent_fields(
    config: AgentConfig,
    report: Report,
    *,
    spec: AgentSpec,
    outputs: Sequence[str],
    roots: Sequence[Path],
    execution_timeout: float | None,
) -> dict[str, Any]:
    """The fields of an agent judge that its block sets."""
    allowed = tuple(config.allowed_tools or ())
    if spec.name == "claude-code":
        _check_rules(allowed, report)
    if config.timeout is not None and config.timeout <= 0:
        report("agent.timeout", f"must be above 0 seconds, got {config.timeout}")
    if config.max_budget_usd is not None and config.max_budget_usd <= 0:
        report("agent.max_budget_usd", f"must be above 0, got {config.max_budget_usd}")
    for index, name in enumerate(config.inputs or []):
        if name != "." and name not in outputs:
            report(f"agent.inputs[{index}]", f"there is no output {name!r}", hint=nearest(name, outputs))
    staged = [_context(name, index, roots, report) for index, name in enumerate(config.context or [])]
    names = [path.name for path in staged if path is not None]
    for name in sorted({name for name in names if names.count(name) > 1}):
        report("agent.context", f"two entries are called {name!r}, and would lie in one place")
    sandbox = "off" if config.sandbox is False else config.sandbox or "auto"  # YAML reads a bare `off` as false
    if sandbox not in tuple(Sandbox):
        report("agent.sandbox", f"must be auto, strict or off, got {sandbox!r}", hint=nearest(str(sandbox), Sandbox))
        sandbox = "auto"
    return {
        "agent": spec,
        "inputs": tuple(config.inputs or ()),
        "staged": tuple(str(path) for path in staged if path is not None),
        "allowed_tools": allowed or None,
        "denied_tools": None if config.denied_tools is None else tuple(config.denied_tools),
        "budget_usd": DEFAULT_BUDGET_USD if config.max_budget_usd is None else float(config.max_budget_usd),
        "timeout_s": float(config.timeout or execution_timeout or DEFAULT_TIMEOUT_S),
        "sandbox": Sandbox(sandbox),
    }


def _check_rules(allowed: Sequence[str], report: Report) -> None:
    """The traps of Claude Code's rules."""
    key = "agent.allowed_tools"
    bare = [rule for rule in allowed if rule.strip() in _READS]
    if bare:
        hint = "; ".join(f"write {rule}(**)" for rule in bare)
        report(key, f"{', '.join(bare)} without a path lets the judge read the whole machine", hint=hint, warning=True)
    for rule in allowed:
        if rule.startswith("Write("):
            hint = f"write Edit{rule[5:]}"
            report(key, f"{rule} matches nothing: Write follows the rules of Edit", hint=hint, warning=True)
    if allowed and not any(rule.startswith("Edit") for rule in allowed):
        text = "no rule lets the judge write ./output/score.json, so its verdict is read from what it says last"
        report(key, text, hint="add Edit(output/**)", warning=True)


def _context(name: str, index: int, roots: Sequence[Path], report: Report) -> Path | None:
    """A path that exists within the project."""
    key = f"agent.context[{index}]"
    for root in roots:
        path = root / name
        try:
            if not path.exists():
                continue
        except (OSError, ValueError):
            continue
        if not any(path.resolve().is_relative_to(other.resolve()) for other in roots):
            report(key, f"{name} lies outside of the project")
            return None
        return path.absolute()
    report(key, f"there is no {name!r}", hint="paths start at this file's folder, then at the current one")
    return None
