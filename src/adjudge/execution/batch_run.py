"""The agent under test on all cases in one run."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import yaml

from adjudge.cases import CaseFolder
from adjudge.domain import CaseRun, ErrorKind, RunState, Step, TokenUsage
from adjudge.execution.batch import Share, all_entries, case_order, shared_out
from adjudge.execution.case_run import record_of
from adjudge.execution.programs import resolved
from adjudge.execution.running import Done, Order, run_agent, skill_prompt
from adjudge.execution.setting import (
    HOOK_OUTPUTS,
    SIMULATOR,
    Setting,
    only_step,
    write_hook_outputs,
    write_streams,
)
from adjudge.execution.workspace import Workspace, make_workspace, states
from adjudge.prompts import InputError, entry_fields, fill
from adjudge.whole_files import write_whole


class BatchRunner:
    """`finish` is called with each case's record once what belongs to it lies in its place."""

    def __init__(
        self,
        setting: Setting,
        *,
        finish: Callable[[CaseFolder, CaseRun], Awaitable[None]],
        note: Callable[[str], None],
    ) -> None:
        self.setting = setting
        self.execution = setting.execution
        self.finish = finish
        self.note = note

    async def run(self, cases: Sequence[CaseFolder]) -> None:
        """All cases in one run. When one of them has to run again, all have."""
        found, shares = all_entries([(case.id, case.inputs) for case in cases])
        overrides = self.execution.overrides
        flat = [{**entry, **overrides} if isinstance(entry, dict) else entry for entry in found]
        first = {**(entry_fields(found[0]) if found else {}), **overrides}
        text = yaml.safe_dump(flat, allow_unicode=True, sort_keys=False)
        step = only_step(self.execution)
        try:
            arguments = fill(step.arguments, first)
            prompt = fill(step.prompt, first) if step.prompt else ""
        except InputError as error:
            await self._no_run(cases, ErrorKind.CONFIG, str(error))
            return
        for name in (SIMULATOR, HOOK_OUTPUTS):  # of an earlier session
            (self.setting.run / name).unlink(missing_ok=True)
        try:
            workspace = await asyncio.to_thread(
                make_workspace,
                self.setting.root / "batch",
                case=None,
                outputs=self.execution.outputs,
                project=self.setting.project,
                extra={"batch.yaml": text},
            )
        except OSError as error:
            await self._no_run(cases, ErrorKind.INPUT, f"the workspace of the batch cannot be made: {error}")
            return
        try:
            done = await self._agent(step, prompt, arguments, workspace)
        except OSError as error:
            await self._no_run(cases, ErrorKind.CONFIG, str(error))
            return
        write_streams(self.setting.run, done)
        write_whole(self.setting.run / "batch.yaml", text.encode("utf-8", "replace"))
        write_whole(self.setting.run / "case_order.yaml", yaml.safe_dump(case_order(shares), sort_keys=False).encode())
        write_hook_outputs(self.setting.run, self.setting.common.data)
        await self._share_out(cases, shares, workspace, done)

    async def _no_run(self, cases: Sequence[CaseFolder], kind: ErrorKind, error: str) -> None:
        for case in cases:
            await self.finish(case, CaseRun(case=case.id, state=RunState.ERROR, kind=kind, error=error))

    async def _agent(self, step: Step, prompt: str, arguments: str, workspace: Workspace) -> Done:
        with self.setting.scratch() as name:
            order = Order(
                spec=self.execution.agent,
                prompt=prompt or skill_prompt(self.execution.agent, step.skill, arguments),
                workspace=workspace.folder,
                scratch=Path(name),
                model=self.setting.model,
                timeout_s=self.execution.timeout_s,
                budget_usd=self.execution.budget_usd,
                env={**resolved(self.execution.env, self.setting.environ), **self.setting.common.env},
                task=self.setting.task(
                    step,
                    arguments or prompt,
                    {},
                    scratch=Path(name),
                    workspace=workspace.folder,
                    log=self.setting.run / SIMULATOR,
                ),
                retry=self.setting.retry,
                journal=self.setting.journal("batch"),
            )
            return await run_agent(order, self.setting.environ)

    async def _share_out(
        self, cases: Sequence[CaseFolder], shares: Sequence[Share], workspace: Workspace, done: Done
    ) -> None:
        notes: list[str] = []
        present = sorted(set(states(workspace.folder)) - ({"output/metrics.json"} if done.metrics else set()))
        owned: dict[str, set[str]] = {share.case: set() for share in shares}
        for output in self.execution.outputs:
            names = [name for name in present if name == output.path or name.startswith(f"{output.path}/")]
            for case_id, own in shared_out(names, output, shares, notes).items() if output.path else ():
                owned[case_id] |= set(own)
        for note in notes:
            self.note(f"batch: {note}")
        for case in cases:
            counts = {
                output.path: sum(name == output.path or name.startswith(f"{output.path}/") for name in owned[case.id])
                for output in self.execution.outputs
                if output.path
            }
            left = [f"{name} is a link, and left out of the workspace" for name in workspace.left_out]
            whole = record_of(self.execution, case.id, [done], counts=counts, notes=left)
            part = _part(whole, len(cases), first=case is cases[0])
            try:
                await asyncio.to_thread(self._give, case, sorted(owned[case.id]), workspace.folder)
            except OSError as error:
                text = f"its outputs cannot be collected: {error}"
                part = msgspec.structs.replace(
                    part, state=RunState.ERROR, kind=ErrorKind.INPUT, error=text, collected={}
                )
            await self.finish(case, part)

    def _give(self, case: CaseFolder, names: Sequence[str], workspace: Path) -> None:
        """Put a case's input and its files of the workspace into its place.

        Raises:
            OSError: something cannot be copied or written.
        """
        home = self.setting.home(case.id)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        text = yaml.safe_dump({**case.inputs, **self.execution.overrides}, allow_unicode=True, sort_keys=False)
        write_whole(home / "input.yaml", text.encode("utf-8", "replace"))
        for name in names:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(workspace / name, home / name, follow_symlinks=False)


def _part(whole: CaseRun, count: int, *, first: bool) -> CaseRun:
    """A case's share of the run: all parts together are the whole again."""
    usage = whole.token_usage
    if usage is not None:
        given = {name: getattr(usage, name) for name in usage.__struct_fields__}
        usage = TokenUsage(**{name: n // count + (n % count if first else 0) for name, n in given.items()})
    return msgspec.structs.replace(
        whole,
        duration_s=round(whole.duration_s / count, 3),
        cost_usd=None if whole.cost_usd is None else whole.cost_usd / count,
        token_usage=usage,
        per_model_usage=whole.per_model_usage if first else {},
        per_model_turns=whole.per_model_turns if first else {},
        num_turns=whole.num_turns if first else None,
        notes=(*whole.notes, f"one run for {count} cases: time, cost and tokens are shared out evenly"),
    )
