"""The agent under test on one case: workspace, hooks, steps, and what is left of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases import CaseFolder
from adjudge.domain import CaseRun, ErrorKind, Execution, OnFailure, RunState, Step, StepRun
from adjudge.execution.collect import collect
from adjudge.execution.files import merged, tokens, total, worst, worst_state
from adjudge.execution.hooks import HookError, HookOutputs, case_variables
from adjudge.execution.running import Done, Order, resolved, run_agent, skill_prompt
from adjudge.execution.setting import Setting, events_of_run, only_step, write_json, write_streams
from adjudge.execution.workspace import Workspace, make_workspace, states
from adjudge.prompts import InputError, fill
from adjudge.whole_files import write_whole


class CaseRunner:
    """Runs cases one at a time, each in a workspace of its own, or all in the project itself."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.execution = setting.execution

    async def run(self, case: CaseFolder) -> CaseRun:
        """One case in a workspace of its own."""
        fields = {**case.inputs, **self.execution.overrides}
        home = self.setting.home(case.id)
        notes: list[str] = []
        try:
            workspace = await asyncio.to_thread(self._workspace, case, fields)
        except OSError as error:
            text = f"its workspace cannot be made: {error}"
            return CaseRun(case=case.id, state=RunState.ERROR, kind=ErrorKind.INPUT, error=text)
        variables = case_variables(case.id, workspace.folder, case.source)
        home.mkdir(parents=True, exist_ok=True)
        hooks = self.setting.hooks
        hooked = HookOutputs()
        steps: list[StepRun] = []
        dones: list[Done] = []
        aborted = broken = ""
        per_case = not self.execution.in_repo
        before = await asyncio.to_thread(_repository, workspace.folder) if self.execution.in_repo else None
        try:
            if per_case:
                hooked = await hooks.run("before_each", workspace.folder, case=case.id, variables=variables)
            for index, step in enumerate(self.execution.steps or (only_step(self.execution),)):
                done = await self._step(case, step, index, workspace, fields, hooked, variables, steps)
                steps.append(done.run)
                dones.append(done)
                if done.run.state is not RunState.OK and step.on_failure is OnFailure.FAIL and step.id:
                    aborted = step.id
                    break
        except (HookError, InputError) as failed:
            broken = str(failed)
        finally:
            if per_case:
                with contextlib.suppress(HookError):
                    after = {"STEP_EXIT_CODE": str(steps[-1].exit_code)} if steps else {}
                    await hooks.run("after_each", workspace.folder, case=case.id, variables={**variables, **after})
        counts = {}
        if per_case:
            counts = await asyncio.to_thread(
                collect, workspace, home, self.execution.outputs, notes, own_metrics=any(d.metrics for d in dones)
            )
        self._traces(case, home, workspace.folder, dones, hooked, fields)
        changed: tuple[str, ...] = ()
        if before is not None:
            changed = tuple(sorted(set(await asyncio.to_thread(_repository, workspace.folder)) ^ set(before)))
        if per_case:
            await asyncio.to_thread(shutil.rmtree, workspace.folder, ignore_errors=True)
        return record_of(
            self.execution,
            case.id,
            dones,
            broken=broken,
            aborted=aborted,
            notes=notes,
            counts=counts,
            changed=changed,
        )

    def _workspace(self, case: CaseFolder, fields: Mapping[str, Any]) -> Workspace:
        if self.execution.in_repo:
            return Workspace(folder=self.setting.project, before={})
        return make_workspace(
            self.setting.root / "cases" / case.id,
            case=Path(case.source),
            inputs=fields if self.execution.overrides else None,
            files=self.execution.files,
            outputs=self.execution.outputs,
            project=self.setting.project,
        )

    async def _step(
        self,
        case: CaseFolder,
        step: Step,
        index: int,
        workspace: Workspace,
        fields: Mapping[str, Any],
        hooked: HookOutputs,
        variables: Mapping[str, str],
        earlier: Sequence[StepRun],
    ) -> Done:
        folder = workspace.folder
        seen = {**variables, **({"STEP_ID": step.id, "STEP_INDEX": str(index)} if step.id else {})}
        known = {run.id: _as_seen(run, folder, self.execution) for run in earlier}
        arguments = fill(step.arguments, fields, steps=known)
        spec = step.agent or self.execution.agent
        prompt = fill(step.prompt, fields, steps=known) if step.prompt else skill_prompt(spec, step.skill, arguments)
        more = HookOutputs()
        if step.id:
            more = await self.setting.hooks.run("before_step", folder, case=case.id, step=step.id, variables=seen)
        scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="adjudge-settings-"))
        code: int | None = None
        try:
            env = resolved({**self.execution.env, **step.env}, self.setting.environ)
            env |= {**self.setting.common.env, **hooked.env, **more.env}
            order = Order(
                spec=spec,
                prompt=prompt,
                workspace=folder,
                id=step.id,
                model=self.setting.model,
                timeout_s=step.timeout_s or self.execution.timeout_s,
                budget_usd=self.execution.budget_usd if step.budget_usd is None else step.budget_usd,
                env=env,
                task=self.setting.task(
                    step,
                    arguments,
                    fields,
                    scratch=scratch,
                    workspace=folder,
                    log=self.setting.home(case.id) / "simulator.jsonl",
                ),
            )
            done = await run_agent(order, self.setting.environ)
            code = done.run.exit_code
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            if step.id:
                with contextlib.suppress(HookError):
                    after = {**seen, "STEP_EXIT_CODE": "" if code is None else str(code)}
                    await self.setting.hooks.run("after_step", folder, case=case.id, step=step.id, variables=after)
        return done

    def _traces(
        self,
        case: CaseFolder,
        home: Path,
        folder: Path,
        dones: Sequence[Done],
        hooked: HookOutputs,
        fields: Mapping[str, Any],
    ) -> None:
        """What the run leaves beside the agent's outputs: streams, events, the input as it was, hook data."""
        for name in ("input.yaml", "input.yml", "input.json"):
            source = folder / name if not self.execution.in_repo else Path(case.source, name)
            if source.is_file() and not source.is_symlink():
                shutil.copyfile(source, home / name)
        for done in dones:
            place = home / "steps" / done.run.id if done.run.id else home
            write_streams(place, done)
        if dones and dones[-1].run.id:
            write_streams(home, dones[-1])
            write_json(home / "events.json", [event for done in dones for event in events_of_run(done)])
        data = {**self.setting.common.data, **hooked.data}
        simulated = _simulated(home / "simulator.jsonl")
        if simulated:
            data["simulator"] = simulated
        if data:
            import yaml

            text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False)
            write_whole(home / "hook_outputs.yaml", text.encode("utf-8", "replace"))


def record_of(
    execution: Execution,
    case: str,
    dones: Sequence[Done],
    *,
    broken: str = "",
    aborted: str = "",
    notes: Sequence[str] = (),
    counts: Mapping[str, int] = {},
    changed: Sequence[str] = (),
) -> CaseRun:
    """The runs of a case's steps as one. `broken` says what kept the agent from being run."""
    steps = [done.run for done in dones]
    state = worst_state([step.state for step in steps])
    codes = [step.exit_code for step in steps]
    kind = next((step.kind for step in steps if step.kind), None)
    said = broken or next((step.error for step in steps if step.error), "")
    if broken:
        state, kind = RunState.ERROR, ErrorKind.CONFIG
    if changed and state is RunState.OK:
        state, said, codes = RunState.FAILED, f"the agent changed the repository: {', '.join(changed[:10])}", [1]
    left = sum(done.left_behind for done in dones)
    if left:
        notes = [*notes, f"{left} processes that the agent had left running were ended"]
    usage = [_by_model(done) for done in dones]
    return CaseRun(
        case=case,
        state=state,
        exit_code=None if state is RunState.ERROR and not any(code is not None for code in codes) else worst(codes),
        duration_s=round(sum(step.duration_s for step in steps), 3),
        cost_usd=total([step.cost_usd for step in steps]),
        num_turns=total([step.num_turns for step in steps]),
        token_usage=tokens([step.token_usage for step in steps]),
        per_model_usage=merged(usage),
        per_model_turns={
            done.told.model: done.run.num_turns for done in dones if done.told.model and done.run.num_turns
        },
        permission_denials=tuple(
            {"tool_name": tool, "count": count} for done in dones for tool, count in done.told.denials.items()
        ),
        error=said,
        kind=kind,
        steps=tuple(steps) if execution.steps else (),
        aborted_at_step=aborted,
        repo_modified=tuple(changed),
        notes=tuple(notes),
        collected=dict(counts),
    )


def _as_seen(run: StepRun, folder: Path, execution: Execution) -> dict[str, Any]:
    """What later steps may say of an earlier one."""
    paths = [output.path for output in execution.outputs if output.path] or ["output"]
    files = [name for name in sorted(states(folder)) if any(name == p or name.startswith(f"{p}/") for p in paths)]
    return {"output": run.output, "exit_code": run.exit_code, "files": files}


def _by_model(done: Done) -> dict[str, dict[str, Any]]:
    own = done.metrics.get("per_model_usage")
    if isinstance(own, dict):
        return {str(model): usage for model, usage in own.items() if isinstance(usage, dict)}
    usage = done.run.token_usage
    if not done.told.model or usage is None:
        return {}
    return {done.told.model: {**msgspec.to_builtins(usage), "cost_usd": done.run.cost_usd}}


def _simulated(log: Path) -> list[Any]:
    if not log.is_file():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]


def _repository(folder: Path) -> list[str]:
    """What differs from the last commit."""
    command = ["git", "-C", str(folder), "status", "--porcelain=v1", "--untracked-files=all"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    lines = ended.stdout.splitlines() if ended.returncode == 0 else []
    return [line[3:] for line in lines if not line[3:].startswith((".adjudge/", "eval/runs/"))]
