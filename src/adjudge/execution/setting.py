"""What all runs of a stage share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.agents import Task
from adjudge.domain import Execution, Step
from adjudge.execution.hooks import HookOutputs, Hooks
from adjudge.execution.interception import rules, settings_file
from adjudge.execution.running import Done
from adjudge.prompts import as_text
from adjudge.whole_files import write_json, write_whole


class Setting:
    """The execution, the run directory, the folder of all workspaces, the hooks, and what `before_all` handed on."""

    def __init__(self, execution: Execution, run: Path, root: Path, hooks: Hooks, environ: Mapping[str, str]) -> None:
        self.execution = execution
        self.run = run.resolve()  # a hook that writes there starts in the workspace
        self.root = root
        self.hooks = hooks
        self.environ = environ
        self.common = HookOutputs()

    @property
    def model(self) -> str:
        return self.execution.models.get("skill", "")

    @property
    def project(self) -> Path:
        return Path(self.execution.project or os.getcwd())  # noqa: PTH109

    def home(self, case: str) -> Path:
        """Where what is left of a case lies."""
        return self.run / "cases" / case

    def task(
        self, step: Step, arguments: str, fields: Mapping[str, Any], *, scratch: Path, workspace: Path, log: Path
    ) -> Task:
        """How the agent is set up for one run. `log` is where a simulator writes what it decided."""
        spec = step.agent or self.execution.agent
        allowed, denied = rules(self.execution.permissions)
        subagents = self.execution.models.get("subagent", "")
        values = {name: as_text(value) for name, value in fields.items()}
        values |= {
            "agent": step.skill,
            "args": arguments,
            "subagent_model": subagents,
            "system_prompt": spec.instructions,
        }
        return Task(
            values=values,
            system_prompt=spec.instructions,
            subagent_model=subagents,
            permission_mode=spec.permission_mode,
            plugin_dirs=spec.plugin_dirs,
            settings=settings_file(self.execution, spec.settings, scratch=scratch, workspace=workspace, log=log),
            allowed=allowed,
            denied=denied,
        )


def only_step(execution: Execution) -> Step:
    """The execution as the one step of a pipeline, without a name."""
    return Step(id="", skill=execution.skill, prompt=execution.prompt, arguments=execution.arguments)


def write_streams(place: Path, done: Done) -> None:
    """A run's streams, and its events where it told of any."""
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / "stdout.log", done.stdout)
    write_whole(place / "stderr.log", done.stderr)
    if done.events:
        write_json(place / "events.json", list(done.events))
