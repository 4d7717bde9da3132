"""The agent under test on all cases in one run."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec
import yaml

from adjudge.cases import CaseFolder
from adjudge.domain import CaseRun, ErrorKind, RunState, TokenUsage
from adjudge.execution.batch import Share, case_order, entries, shared_out
from adjudge.execution.case_run import record_of
from adjudge.execution.programs import resolved
from adjudge.execution.running import Done, Order, run_agent, skill_prompt
from adjudge.execution.setting import Setting, only_step, write_streams
from adjudge.execution.workspace import Workspace, make_workspace, states
from adjudge.prompts import InputError, fill
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
        found, shares = entries([(case.id, case.inputs) for case in cases])
        flat = [{**entry, **self.execution.overrides} if isinstance(entry, dict) else entry for entry in found]
        text = yaml.safe_dump(flat, allow_unicode=True, sort_keys=False)
        workspace = await asyncio.to_thread(
            make_workspace,
            self.setting.root / "batch",
            case=None,
            outputs=self.execution.outputs,
            project=self.setting.project,
            extra={"batch.yaml": text},
        )
        step = only_step(self.execution)
        first = flat[0] if flat and isinstance(flat[0], dict) else {}
        try:
            arguments = fill(step.arguments, first)
            prompt = fill(step.prompt, first) if step.prompt else ""
        except InputError as error:
            for case in cases:
                text = str(error)
                await self.finish(case, CaseRun(case=case.id, state=RunState.ERROR, kind=ErrorKind.CONFIG, error=text))
            return
        scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="adjudge-settings-"))
        try:
            order = Order(
                spec=self.execution.agent,
                prompt=prompt or skill_prompt(self.execution.agent, step.skill, arguments),
                workspace=workspace.folder,
                model=self.setting.model,
                timeout_s=self.execution.timeout_s,
                budget_usd=self.execution.budget_usd,
                env={**resolved(self.execution.env, self.setting.environ), **self.setting.common.env},
                task=self.setting.task(
                    step,
                    arguments,
                    {},
                    scratch=scratch,
                    workspace=workspace.folder,
                    log=self.setting.run / "simulator.jsonl",
                ),
            )
            done = await run_agent(order, self.setting.environ)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        write_streams(self.setting.run, done)
        write_whole(self.setting.run / "batch.yaml", text.encode("utf-8", "replace"))
        write_whole(self.setting.run / "case_order.yaml", yaml.safe_dump(case_order(shares), sort_keys=False).encode())
        await self._share_out(cases, shares, workspace, done)

    async def _share_out(
        self, cases: Sequence[CaseFolder], shares: Sequence[Share], workspace: Workspace, done: Done
    ) -> None:
        if self.setting.common.data:
            told = yaml.safe_dump(self.setting.common.data, allow_unicode=True, sort_keys=False)
            write_whole(self.setting.run / "hook_outputs.yaml", told.encode("utf-8", "replace"))
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
            home = self.setting.home(case.id)
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            for name in sorted(owned[case.id]):
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(workspace.folder / name, home / name, follow_symlinks=False)
            given = {**case.inputs, **self.execution.overrides}
            text = yaml.safe_dump(given, allow_unicode=True, sort_keys=False)
            write_whole(home / "input.yaml", text.encode("utf-8", "replace"))
            counts = {
                output.path: sum(name == output.path or name.startswith(f"{output.path}/") for name in owned[case.id])
                for output in self.execution.outputs
                if output.path
            }
            left = [f"{name} is a link, and left out of the workspace" for name in workspace.left_out]
            whole = record_of(self.execution, case.id, [done], counts=counts, notes=left)
            await self.finish(case, _part(whole, len(cases), first=case is cases[0]))


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
