"""Whether the programs of an execution can be started, as far as that can be known without running anything."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from adjudge.agents import AgentError, absence, agent_of, expand
from adjudge.domain import RESPONSES_API, AgentSpec, Execution
from adjudge.models import CredentialsError
from adjudge.models.responses import ResponsesAccess, responses_access

SKILLS = (".skills", "skills", ".claude/skills", ".agents/skills")
"""Where skills lie in a workspace."""
_PROVIDES = ("before_all", "before_each", "before_step")
_PLACE = re.compile(r"\{[A-Za-z_][\w-]*\}")


class Absent(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is not there, or what an agent that is none needs. `key` is where the config names it; `certain`
    is false when a hook that runs before may still put it there."""

    key: str
    message: str
    certain: bool


def absent_programs(execution: Execution, environ: Mapping[str, str]) -> Iterator[Absent]:
    """The programs of an execution's agents that cannot be started here, each said once.

    A command of the author's may be built or fetched by a hook of the author's, so that its absence is certain only
    without such a hook; the agents that we know have a way to be installed that is no hook.
    """
    hooked = any(execution.hooks.get(phase) for phase in _PROVIDES)
    own = execution.steps and all(step.agent is not None for step in execution.steps)
    named = [] if own else [("runner", execution.agent, execution.env)]
    named += [
        (f"execution.steps[{index}].runner", step.agent, {**execution.env, **step.env})
        for index, step in enumerate(execution.steps)
        if step.agent is not None
    ]
    told: set[str] = set()
    for key, spec, env in named:
        message = absent_program(spec, environ, resolved(env, environ), model=execution.models.get("skill", ""))
        if message and message not in told:
            told.add(message)
            own_program = spec.template is not None or spec.name == RESPONSES_API
            yield Absent(key=key, message=message, certain=not (own_program and hooked))
    for key, skill in _packed_skills(execution):
        if not hooked and not execution.files and skill_folder(Path(execution.project), skill) is None:
            yield Absent(key=key, message=no_skill(skill), certain=True)


def absent_program(spec: AgentSpec, environ: Mapping[str, str], own: Mapping[str, str], *, model: str = "") -> str:
    """Why the program of an agent cannot be started under the user's variables and those of a run (`own`); empty when
    it can, or when that is known only in the workspace: for a path that starts there, and for a name with a place that
    a case fills."""
    env = seen_by(spec, environ, own)
    try:
        if spec.name == RESPONSES_API:
            access_of(spec, env, model=model)
            return ""
        agent = agent_of(spec)
    except (AgentError, CredentialsError) as error:
        return str(error)
    word = agent.binary
    if spec.template is not None and _PLACE.search(word):
        return ""
    if os.sep in word:
        if not Path(word).is_absolute() or shutil.which(word) is not None:
            return ""
        return f"the agent {agent.name} needs {word}, which is not there, or no program"
    beside = any(not Path(entry).is_absolute() for entry in env.get("PATH", os.defpath).split(os.pathsep))
    return "" if beside and shutil.which(word, path=env.get("PATH")) is None else absence(agent, env)


def seen_by(spec: AgentSpec, environ: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The variables by which an agent is found: the user's, those of its block, and those of a run (`own`)."""
    return {**environ, **{name: expand(value, environ) for name, value in spec.env.items()}, **own}


def access_of(spec: AgentSpec, environ: Mapping[str, str], *, model: str) -> ResponsesAccess:
    """Where the model of a `responses-api` agent is reached.

    Raises:
        CredentialsError: it cannot be.
    """
    return responses_access(settings_of(spec, environ), environ, model=model)


def settings_of(spec: AgentSpec, environ: Mapping[str, str]) -> dict[str, Any]:
    """An agent's own settings with every `$NAME` replaced."""

    def replaced(value: Any) -> Any:
        if isinstance(value, str):
            return expand(value, environ)
        if isinstance(value, dict):
            return {key: replaced(part) for key, part in value.items()}
        return [replaced(part) for part in value] if isinstance(value, list) else value

    return {name: replaced(value) for name, value in spec.settings.items()}


def _packed_skills(execution: Execution) -> Iterator[tuple[str, str]]:
    """The skills that are handed over as files, each with where the config names it."""
    if execution.skill and execution.agent.name == RESPONSES_API:
        yield "execution.skill", execution.skill
    for index, step in enumerate(execution.steps):
        if step.skill and (step.agent or execution.agent).name == RESPONSES_API:
            yield f"execution.steps[{index}].skill", step.skill


def skill_folder(workspace: Path, skill: str) -> Path | None:
    """Where a skill lies in a workspace."""
    folders = [workspace / place / skill for place in SKILLS]
    return next((folder for folder in folders if (folder / "SKILL.md").is_file()), None)


def no_skill(skill: str) -> str:
    return f"there is no skill {skill!r}: no SKILL.md of it lies below {', '.join(SKILLS)}"


def resolved(env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """`$NAME` replaced by the variable; an entry that is only a variable that is not set is left out."""
    found: dict[str, str] = {}
    for name, value in env.items():
        text = expand(value, environ)
        if text or not value.startswith("$"):
            found[name] = text
    return found
