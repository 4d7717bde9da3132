"""The agent under test on one case: workspace, hooks, steps, and what is left of them."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases import PATCH, CaseFolder
from adjudge.domain import CaseRun, ErrorKind, Execution, OnFailure, RunState, Step, StepRun
from adjudge.execution.collect import collect
from adjudge.execution.files import merged, tokens, total, turns_of, worst, worst_state
from adjudge.execution.hooks import HookError, HookOutputs, case_variables
from adjudge.execution.in_repo import changed, project_state
from adjudge.execution.programs import resolved
from adjudge.execution.repository import check_out, keep_work
from adjudge.execution.running import (
    Done,
    Order,
    per_model,
    per_model_turns,
    run_agent,
    skill_prompt,
)
from adjudge.execution.setting import SIMULATOR, Setting, only_step, write_hook_outputs, write_streams
from adjudge.execution.workspace import Workspace, make_workspace, states
from adjudge.prompts import InputError, fill
from adjudge.sandbox import Checkout, GitError
from adjudge.whole_files import write_json


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
        except (OSError, GitError) as error:
            text = f"its workspace cannot be made: {error}"
            return CaseRun(case=case.id, state=RunState.ERROR, kind=ErrorKind.INPUT, error=text)
        notes += [f"{name} is a link, and left out of the workspace" for name in workspace.left_out]
        variables = case_variables(case.id, workspace.folder, case.source)
        home.mkdir(parents=True, exist_ok=True)
        self._keep_input(case, home, workspace.folder)
        hooks = self.setting.hooks
        hooked = HookOutputs()
        steps: list[StepRun] = []
        dones: list[Done] = []
        aborted = broken = ""
        per_case = not self.execution.in_repo
        before = None if per_case else await asyncio.to_thread(project_state, workspace.folder, self._ours)
        try:
            if per_case:
                hooked = await hooks.run("before_each", workspace.folder, case=case.id, variables=variables)
            for index, step in enumerate(self.execution.steps or (only_step(self.execution),), 1):
                done = await self._step(case, step, index, workspace, fields, hooked, variables, steps)
                steps.append(done.run)
                dones.append(done)
                if done.run.state is not RunState.OK and step.on_failure is OnFailure.FAIL and step.id:
                    aborted = step.id
                    break
        except (HookError, InputError, OSError) as failed:
            broken = str(failed)
        finally:
            if per_case:
                with contextlib.suppress(HookError):
                    after = {"STEP_EXIT_CODE": str(steps[-1].exit_code)} if steps else {}
                    await hooks.run("after_each", workspace.folder, case=case.id, variables={**variables, **after})
        counts: dict[str, int] = {}
        if workspace.checkout is not None:
            broken = broken or await asyncio.to_thread(self._keep_work, case, workspace.checkout, dones, counts, notes)
        elif per_case:
            counts = await asyncio.to_thread(
                collect, workspace, home, self.execution.outputs, notes, own_metrics=any(d.metrics for d in dones)
            )
        self._traces(home, dones, hooked)
        modified: tuple[str, ...] = ()
        if before is not None:
            now = await asyncio.to_thread(project_state, workspace.folder, self._ours)
            modified = await asyncio.to_thread(changed, workspace.folder, before, now)
        elif not per_case:
            notes.append("the project is no git repository, or git fails: whether the agent changed it is not known")
        if per_case:
            await asyncio.to_thread(shutil.rmtree, workspace.folder, ignore_errors=True)
        if workspace.checkout is not None:
            await asyncio.to_thread(shutil.rmtree, workspace.checkout.shadow.folder, ignore_errors=True)
        return record_of(
            self.execution,
            case.id,
            dones,
            broken=broken,
            aborted=aborted,
            notes=notes,
            counts=counts,
            changed=modified,
        )

    @property
    def _ours(self) -> list[str]:
        """Where we write ourselves, below the project."""
        run, project = self.setting.run.resolve(), self.setting.project.resolve()
        own = [f"{run.relative_to(project).as_posix()}/"] if run.is_relative_to(project) else []
        return [".adjudge/", "eval/runs/", *own]

    def _keep_work(
        self, case: CaseFolder, checkout: Checkout, dones: Sequence[Done], counts: dict[str, int], notes: list[str]
    ) -> str:
        """Keep what was done to the repository; says why that cannot be known."""
        spec = self.execution.agent
        try:
            counts[PATCH], said = keep_work(
                checkout,
                self.setting.home(case.id),
                prompt=str(case.inputs.get("prompt", "")),
                events=[event for done in dones for event in done.events],
                said=dones[-1].run.output if dones else "",
                source=spec.name if spec.template is None else "cli",
            )
        except (GitError, OSError) as error:
            return f"what the agent changed cannot be known: {error}"
        notes += said
        return ""

    def _workspace(self, case: CaseFolder, fields: Mapping[str, Any]) -> Workspace:
        if case.repository is not None:
            folder = self.setting.root / "cases" / case.id
            checkout = check_out(case.repository, folder, self.setting.environ)
            return Workspace(folder=folder, before={}, checkout=checkout)
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
        code: int | None = None
        try:
            if step.id:
                more = await self.setting.hooks.run("before_step", folder, case=case.id, step=step.id, variables=seen)
            env = resolved({**self.execution.env, **step.env}, self.setting.environ)
            env |= {**self.setting.common.env, **hooked.env, **more.env}
            with self.setting.scratch() as name:
                order = Order(
                    spec=spec,
                    prompt=prompt,
                    workspace=folder,
                    scratch=Path(name),
                    id=step.id,
                    model=self.setting.model,
                    timeout_s=step.timeout_s or self.execution.timeout_s,
                    budget_usd=self.execution.budget_usd if step.budget_usd is None else step.budget_usd,
                    env=env,
                    task=self.setting.task(
                        step,
                        arguments or prompt,
                        fields,
                        scratch=Path(name),
                        workspace=folder,
                        log=self.setting.home(case.id) / SIMULATOR,
                    ),
                    retry=self.setting.retry,
                    journal=self.setting.journal(case.id, step.id),
                )
                done = await run_agent(order, self.setting.environ)
            code = done.run.exit_code
        finally:
            if step.id:
                with contextlib.suppress(HookError):
                    after = {**seen, "STEP_EXIT_CODE": "" if code is None else str(code)}
                    await self.setting.hooks.run("after_step", folder, case=case.id, step=step.id, variables=after)
        return done

    def _keep_input(self, case: CaseFolder, home: Path, folder: Path) -> None:
        """The input as the agent is given it, whatever it writes over it later."""
        for name in ("input.yaml", "input.yml", "input.json"):
            if case.repository is not None:
                return
            source = folder / name if not self.execution.in_repo else Path(case.source, name)
            if source.is_file() and not source.is_symlink():
                shutil.copyfile(source, home / name)

    def _traces(self, home: Path, dones: Sequence[Done], hooked: HookOutputs) -> None:
        """What the run leaves beside the agent's outputs: streams, events, hook data."""
        for done in dones:
            place = home / "steps" / done.run.id if done.run.id else home
            write_streams(place, done)
        if dones and dones[-1].run.id:
            write_streams(home, dones[-1])
            write_json(home / "events.json", [event for done in dones for event in done.events])
        write_hook_outputs(home, {**self.setting.common.data, **hooked.data})


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
        per_model_turns=turns_of([_turns(done) for done in dones]),
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
    own = per_model(done.metrics)
    if own:
        return own
    usage = done.run.token_usage
    if not done.told.model or usage is None:
        return {}
    return {done.told.model: {**msgspec.to_builtins(usage), "cost_usd": done.run.cost_usd}}


def _turns(done: Done) -> dict[str, int]:
    own = per_model_turns(done.metrics)
    if own or not done.told.model or not done.run.num_turns:
        return own
    return {done.told.model: done.run.num_turns}
