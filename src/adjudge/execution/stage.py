"""The execute stage: the agent under test on every case, each resumable by itself."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.agents import AgentError, agent_of, version_of
from adjudge.cases import CaseFolder
from adjudge.domain import CaseRun, ErrorKind, Execution, ExecutionResult, RunMode, RunState
from adjudge.execution.batch_run import BatchRunner
from adjudge.execution.case_run import CaseRunner
from adjudge.execution.files import case_entry, run_result
from adjudge.execution.hooks import HookError, Hooks, hook_variables
from adjudge.execution.setting import Setting
from adjudge.execution.workspace import RESOURCES, content_key
from adjudge.whole_files import write_json

Keep = Callable[[str, CaseRun], Awaitable[None]]
"""Makes the record of a case's run durable: (its key, the record)."""


class Stage:
    """Runs the agent on cases. `kept` are the records of an earlier session, case -> (key, record)."""

    def __init__(
        self,
        execution: Execution,
        cases: Sequence[CaseFolder],
        run: Path,
        *,
        kept: Mapping[str, tuple[str, CaseRun]],
        keep: Keep,
        environ: Mapping[str, str],
        note: Callable[[str], None],
        again: bool = False,
    ) -> None:
        self.execution = execution
        self.cases = cases
        self.run = run
        self._kept = kept
        self._keep = keep
        self._environ = environ
        self._note = note
        self._again = again
        digest = hashlib.sha256(str(run.resolve()).encode()).hexdigest()[:8]
        self._root = Path(tempfile.gettempdir()).resolve() / "agent-eval" / f"{run.name}-{digest}"
        variables = hook_variables(
            workspace=self._root,
            run_id=run.name,
            config=execution.config,
            project=execution.project,
            model=execution.models.get("skill", ""),
        )
        self.hooks = Hooks(execution.hooks, run / "hooks", variables, environ=environ, note=note)
        self._setting = Setting(execution, run, self._root, self.hooks, environ)
        self._version = self._agent_version()
        shared = [Path(file.source) for file in execution.files if file.source]
        if not execution.in_repo:
            shared += [self._setting.project / name for name in RESOURCES]
        agents = [execution.agent, *(step.agent for step in execution.steps if step.agent is not None)]
        shared += [Path(name) for agent in agents for name in agent.plugin_dirs]
        plain = msgspec.structs.replace(execution, parallelism=1, max_failure_rate=0.0)
        self._key = hashlib.sha256(msgspec.json.encode(plain, order="sorted"))
        self._key.update(self._version.encode())
        self._key.update(" ".join(map(content_key, shared)).encode())
        self._runs: dict[str, CaseRun] = {}

    def home(self, case: str) -> Path:
        """Where what is left of a case lies."""
        return self._setting.home(case)

    async def execute(self) -> dict[str, CaseRun]:
        """Run what has not been run, and write `run_result.json` and `collection.json`. Case -> record."""
        began = time.monotonic()
        done = {case.id for case in self.cases if self._is_done(case)}
        todo = [case for case in self.cases if case.id not in done]
        self._runs = {case: self._kept[case][1] for case in done}
        if todo:
            self._root.mkdir(parents=True, exist_ok=True)
            try:
                self._setting.common = await self.hooks.run("before_all", self._setting.project, also=self._root)
            except HookError as error:
                await self._all_failed(todo, str(error))
            else:
                if self.execution.mode is RunMode.BATCH:
                    runner = BatchRunner(self._setting, finish=self._finish, note=self._note)
                    await runner.run(self.cases)  # when one of them has to run, all have
                else:
                    await self._each(todo)
        self._write(time.monotonic() - began)
        return self._runs

    async def before_scoring(self) -> None:
        """Raises HookError when judging must not begin."""
        await self.hooks.run("before_scoring", self._setting.project)

    async def close(self) -> None:
        """What follows when everything is judged, whatever happened before."""
        with contextlib.suppress(HookError):
            await self.hooks.run("after_all", self._setting.project)
            await self.hooks.run("before_report", self._setting.project)
        await asyncio.to_thread(shutil.rmtree, self._root, ignore_errors=True)

    def result(self) -> ExecutionResult:
        """How the runs went, in order of the cases' names."""
        execution = self.execution
        return ExecutionResult(
            agent=execution.agent.name if execution.agent.template is None else "cli",
            agent_version=self._version,
            model=self._setting.model,
            mode=execution.mode,
            cases=tuple(self._runs[case] for case in sorted(self._runs)),
            max_failure_rate=execution.max_failure_rate,
            hook_failures=tuple(self.hooks.failures),
        )

    def _agent_version(self) -> str:
        try:
            return version_of(agent_of(self.execution.agent), self._environ)
        except (AgentError, OSError):
            return ""

    def _is_done(self, case: CaseFolder) -> bool:
        key, run = self._kept.get(case.id, ("", None))
        if run is None or key != self.key(case) or not self._setting.home(case.id).is_dir():
            return False
        return run.state is not RunState.ERROR and not (self._again and run.state is not RunState.OK)

    def key(self, case: CaseFolder) -> str:
        """Of everything that can change what the agent does with a case."""
        digest = self._key.copy()
        digest.update(json.dumps(case.inputs, sort_keys=True, default=str).encode())
        for name in ("answers.yaml", *(file.dest for file in self.execution.files if not file.source)):
            digest.update(content_key(Path(case.source, name)).encode())
        return digest.hexdigest()

    async def _each(self, cases: Sequence[CaseFolder]) -> None:
        runner = CaseRunner(self._setting)
        places = asyncio.Semaphore(1 if self.execution.in_repo else self.execution.parallelism)

        async def one(case: CaseFolder) -> None:
            async with places:
                shutil.rmtree(self._setting.home(case.id), ignore_errors=True)
                run = await runner.run(case)
                await self._finish(case, run)

        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(one(case))

    async def _finish(self, case: CaseFolder, run: CaseRun) -> None:
        home = self._setting.home(case.id)
        home.mkdir(parents=True, exist_ok=True)
        write_json(home / "run_result.json", case_entry(run))
        await self._keep(self.key(case), run)
        self._runs[case.id] = run
        if run.state is not RunState.OK:
            self._note(f"{case.id}: the agent's run: {run.state.value}: {run.error or f'exit {run.exit_code}'}")

    async def _all_failed(self, cases: Sequence[CaseFolder], error: str) -> None:
        for case in cases:
            run = CaseRun(case=case.id, state=RunState.ERROR, kind=ErrorKind.CONFIG, error=error)
            await self._finish(case, run)

    def _write(self, wall_s: float) -> None:
        result = self.result()
        write_json(self.run / "run_result.json", run_result(result, self.execution, wall_s=wall_s))
        write_json(self.run / "collection.json", {run.case: run.collected for run in result.cases})
