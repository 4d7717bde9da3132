"""Whether the programs of an execution can be started, as far as that can be known without running anything."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from adjudge.agents import AgentError, absence, agent_of, expand
from adjudge.domain import AgentSpec, Execution

_PROVIDES = ("before_all", "before_each", "before_step")
_PLACE = re.compile(r"\{[A-Za-z_][\w-]*\}")


class Absent(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is not there. `key` is where the config names it; `certain` is false when a hook that runs before
    may still put it there."""

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
        message = absent_program(spec, environ, resolved(env, environ))
        if message and message not in told:
            told.add(message)
            yield Absent(key=key, message=message, certain=spec.template is None or not hooked)


def absent_program(spec: AgentSpec, environ: Mapping[str, str], own: Mapping[str, str]) -> str:
    """Why the program of an agent cannot be started under the user's variables and those of a run (`own`); empty when
    it can, or when that is known only in the workspace: for a path that starts there, and for a name with a place that
    a case fills."""
    env = {**environ, **{name: expand(value, environ) for name, value in spec.env.items()}, **own}
    try:
        agent = agent_of(spec)
    except AgentError as error:
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


def resolved(env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """`$NAME` replaced by the variable; an entry that is only a variable that is not set is left out."""
    found: dict[str, str] = {}
    for name, value in env.items():
        text = expand(value, environ)
        if text or not value.startswith("$"):
            found[name] = text
    return found
