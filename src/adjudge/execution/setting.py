"""What all runs of a stage share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.agents import Task, json_lines
from adjudge.domain import Execution, Step
from adjudge.execution.hooks import HookOutputs, Hooks
from adjudge.execution.interception import rules, settings_file
from adjudge.execution.running import Done
from adjudge.models import RetryPolicy
from adjudge.prompts import as_text
from adjudge.whole_files import write_json, write_whole

SIMULATOR = "simulator.jsonl"
"""What was decided of intercepted tool calls."""
HOOK_OUTPUTS = "hook_outputs.yaml"


class Setting:
    """The execution, the run directory, the folder of all workspaces, the hooks, and what `before_all` handed on."""

    def __init__(
        self,
        execution: Execution,
        run: Path,
        root: Path,
        hooks: Hooks,
        environ: Mapping[str, str],
        *,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.execution = execution
        self.run = run.resolve()  # a hook that writes there starts in the workspace
        self.root = root
        self.hooks = hooks
        self.environ = environ
        self.retry = retry
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

    def journal(self, name: str, step: str = "") -> Path:
        """Where the responses that a run of the agent has paid for are kept, whatever becomes of the run."""
        return self.run / "responses" / name / f"{step or 'run'}.json"

    def forget(self, name: str) -> None:
        """Go on with no response of an earlier session."""
        shutil.rmtree(self.journal(name).parent, ignore_errors=True)

    def scratch(self) -> tempfile.TemporaryDirectory[str]:
        """A folder for one run of the agent: its settings and its home. It lies beside the workspaces, so that what a
        run that was killed leaves goes with theirs."""
        self.root.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix="run-", dir=self.root, ignore_cleanup_errors=True)

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
        one_by_one = spec.name == "codex"
        return Task(
            values=values,
            system_prompt=spec.instructions,
            subagent_model=subagents,
            permission_mode=spec.permission_mode,
            plugin_dirs=spec.plugin_dirs,
            settings=settings_file(
                self.execution, {} if one_by_one else spec.settings, scratch=scratch, workspace=workspace, log=log
            ),
            options=spec.settings if one_by_one else {},
            allowed=allowed,
            denied=denied,
        )


def only_step(execution: Execution) -> Step:
    """The execution as the one step of a pipeline, without a name."""
    return Step(id="", skill=execution.skill, prompt=execution.prompt, arguments=execution.arguments)


def write_hook_outputs(place: Path, data: Mapping[str, Any]) -> None:
    """What hooks handed on for judges, with what the simulator of the run in this folder decided."""
    log = place / SIMULATOR
    simulated = json_lines(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else []
    told = {**data, **({"simulator": simulated} if simulated else {})}
    if told:
        import yaml

        text = yaml.safe_dump(told, allow_unicode=True, sort_keys=False)
        write_whole(place / HOOK_OUTPUTS, text.encode("utf-8", "replace"))


def write_streams(place: Path, done: Done) -> None:
    """A run's streams, and its events where it told of any."""
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / "stdout.log", done.stdout)
    write_whole(place / "stderr.log", done.stderr)
    if done.events:
        write_json(place / "events.json", list(done.events))
