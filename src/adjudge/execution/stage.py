"""The execute stage: the agent under test on every case, each resumable by itself."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.agents import AgentError, agent_of, version_of
from adjudge.cases import CaseFolder
from adjudge.domain import (
    RESPONSES_API,
    AdjudgeError,
    CaseRun,
    ErrorKind,
    Execution,
    ExecutionResult,
    RunMode,
    RunState,
)
from adjudge.execution.batch_run import BatchRunner
from adjudge.execution.case_run import CaseRunner
from adjudge.execution.files import case_entry, run_result
from adjudge.execution.hooks import HookError, Hooks, hook_variables
from adjudge.execution.programs import access_of, resolved, seen_by
from adjudge.execution.repository import submitted_run
from adjudge.execution.setting import Setting
from adjudge.execution.workspace import RESOURCES, content_key, links_left_out
from adjudge.models import CredentialsError, RetryPolicy
from adjudge.whole_files import write_json

Keep = Callable[[str, CaseRun], Awaitable[None]]
"""Makes the record of a case's run durable: (its key, the record)."""
Settle = Callable[[ExecutionResult], Awaitable[None]]
"""Makes what is told of the whole stage durable, without its cases, which are kept one by one."""
ELSEWHERE = "work done elsewhere"
_OF_CASES = ("before_each", "before_step", "after_step", "after_each")


class Stage:
    """Runs the agent on cases. `kept` are the records of an earlier session, case -> (key, record), and `failures` what
    failed of its hooks."""

    def __init__(
        self,
        execution: Execution,
        cases: Sequence[CaseFolder],
        run: Path,
        *,
        kept: Mapping[str, tuple[str, CaseRun]],
        keep: Keep,
        settle: Settle,
        failures: Sequence[str] = (),
        environ: Mapping[str, str],
        note: Callable[[str], None],
        again: bool = False,
        fresh: bool = False,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.execution = execution
        self.cases = cases
        self.run = run
        self._kept = kept
        self._keep = keep
        self._settle = settle
        self._earlier = tuple(failures)
        self._environ = environ
        self._note = note
        self._again = again
        self._fresh = fresh
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
        self._setting = Setting(execution, run, self._root, self.hooks, environ, retry=retry)
        self._version = self._agent_version()
        agents = [execution.agent, *(step.agent for step in execution.steps if step.agent is not None)]
        plain = msgspec.structs.replace(execution, parallelism=1, max_failure_rate=0.0, submissions={})
        self._key = hashlib.sha256(msgspec.json.encode(plain, order="sorted"))
        self._key.update(self._version.encode())
        project = self._setting.project
        shared = [content_key(Path(file.source)) for file in execution.files if file.source]
        if not execution.in_repo:
            shared += [content_key(project / name, below=project) for name in RESOURCES]
        shared += [content_key(Path(name)) for agent in agents for name in agent.plugin_dirs]
        self._key.update(" ".join(shared).encode())
        self._runs: dict[str, CaseRun] = {}
        self._began = False

    def home(self, case: str) -> Path:
        """Where what is left of a case lies."""
        return self._setting.home(case)

    async def execute(self) -> dict[str, CaseRun]:
        """Run what has not been run, and write `run_result.json` and `collection.json`. Case -> record."""
        began = time.monotonic()
        done = {case.id for case in self.cases if self._is_done(case)}
        todo = [case for case in self.cases if case.id not in done]
        self._runs = {case: self._kept[case][1] for case in done}
        self._earlier = self._still(self._earlier, done, all_kept=not todo)
        if todo:
            self._began = True
            for name in [] if self.execution.in_repo else links_left_out(self._setting.project):
                self._note(f"{name} is a link to no file of the project: no workspace holds it")
            self._root.mkdir(parents=True, exist_ok=True)
            if self._fresh:
                for name in ("batch", *(case.id for case in todo)):
                    self._setting.forget(name)
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
        await self._settle(self._told())
        return self._runs

    async def before_scoring(self) -> None:
        """Raises HookError when judging must not begin."""
        await self.hooks.run("before_scoring", self._setting.project)

    async def close(self) -> None:
        """What follows when everything is judged, whatever happened before: `after_all` where `before_all` was begun,
        `before_report` always, and their failures into the result."""
        with contextlib.suppress(HookError):
            if self._began:
                await self.hooks.run("after_all", self._setting.project)
            await self.hooks.run("before_report", self._setting.project)
        await asyncio.to_thread(shutil.rmtree, self._root, ignore_errors=True)
        try:
            await self._settle(self._told())
        except AdjudgeError as error:  # what follows a run must come to its end
            self._note(f"what failed of the hooks cannot be kept: {error}")

    def result(self) -> ExecutionResult:
        """How the runs went, in order of the cases' names."""
        execution = self.execution
        return ExecutionResult(
            agent=self._agent(),
            agent_version=self._version,
            model=self._setting.model,
            mode=execution.mode,
            cases=tuple(self._runs[case] for case in sorted(self._runs)),
            max_failure_rate=execution.max_failure_rate,
            hook_failures=tuple(dict.fromkeys((*self._earlier, *self.hooks.failures))),
        )

    def _told(self) -> ExecutionResult:
        return msgspec.structs.replace(self.result(), cases=())

    @staticmethod
    def _still(failures: Sequence[str], done: Iterable[str], *, all_kept: bool) -> tuple[str, ...]:
        """What failed in an earlier session of the hooks of runs that are kept. What stopped one is no longer true; nor
        is what failed before judging and before the report, which is done anew."""
        again = ("before_scoring", "before_report")
        if all_kept:
            return tuple(text for text in failures if not text.startswith(tuple(f"hook {name}." for name in again)))
        mine = tuple(f"hook {phase}.{case}." for phase in _OF_CASES for case in done)
        return tuple(text for text in failures if text.startswith(mine))

    def _agent(self) -> str:
        if set(self.execution.submissions) >= {case.id for case in self.cases}:
            return ELSEWHERE
        return self.execution.agent.name if self.execution.agent.template is None else "cli"

    def _agent_version(self) -> str:
        if self._agent() == ELSEWHERE:
            return ""
        spec = self.execution.agent
        try:
            if spec.name == RESPONSES_API:
                seen = seen_by(spec, self._environ, resolved(self.execution.env, self._environ))
                access = access_of(spec, seen, model=self._setting.model)
                return f"{access.model} at {access.base}"
            return version_of(agent_of(spec), self._environ)
        except (AgentError, CredentialsError, OSError):
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
        submission = self.execution.submissions.get(case.id)
        if submission is not None:
            digest.update(msgspec.json.encode(submission))
            digest.update(content_key(Path(submission.trace)).encode() if submission.trace else b"")
        for name in ("answers.yaml", *(file.dest for file in self.execution.files if not file.source)):
            digest.update(content_key(Path(case.source, name)).encode())
        return digest.hexdigest()

    async def _each(self, cases: Sequence[CaseFolder]) -> None:
        runner = CaseRunner(self._setting)
        places = asyncio.Semaphore(1 if self.execution.in_repo else self.execution.parallelism)

        async def one(case: CaseFolder) -> None:
            async with places:
                shutil.rmtree(self._setting.home(case.id), ignore_errors=True)
                await self._finish(case, await self._one(runner, case))

        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(one(case))

    async def _one(self, runner: CaseRunner, case: CaseFolder) -> CaseRun:
        """Run the agent on a case, or take in what was done elsewhere."""
        submission = self.execution.submissions.get(case.id)
        if submission is None:
            return await runner.run(case)
        folder = self._root / "cases" / case.id
        home = self._setting.home(case.id)
        return await asyncio.to_thread(submitted_run, case, submission, folder, home, self._environ)

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
