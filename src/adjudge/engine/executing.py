"""The execute stage within a run: what is kept of it, and the cases as they are judged afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.cases import CaseFolder, read_run
from adjudge.domain import AdjudgeError, CaseRef, CaseRun, ErrorKind, Execution, ExecutionResult, Failure, RunState
from adjudge.engine.material import collected
from adjudge.engine.options import RunOptions
from adjudge.engine.store import Store, put_execution
from adjudge.execution import HookError, Stage
from adjudge.scoring.gate import NOT_RUN


class Executed(msgspec.Struct, frozen=True):
    """The cases with what the agent left of each, and why some of them have nothing to judge."""

    refs: tuple[CaseFolder, ...]
    failures: dict[str, Failure]
    transient: bool
    """A later session may fare better with some of them."""


def make_stage(
    execution: Execution,
    refs: Sequence[CaseRef],
    run: Path,
    store: Store,
    *,
    options: RunOptions,
    environ: Mapping[str, str],
    note: Callable[[str], None],
) -> Stage:
    """The stage for the cases of a run, with what the journal knows of them.

    Raises:
        AdjudgeError: a case is no folder, so that there is nothing to give to an agent.
    """
    folders = [ref for ref in refs if isinstance(ref, CaseFolder)]
    if len(folders) < len(refs):
        raise AdjudgeError("an agent can only be run on cases that are folders")

    async def keep(key: str, done: CaseRun) -> None:
        await store.write([put_execution(done, key)])

    async def settle(told: ExecutionResult) -> None:
        await store.write([store.put_meta("execution", msgspec.json.encode(told))])

    earlier = None if options.fresh else store.meta("execution")
    return Stage(
        execution,
        folders,
        run,
        kept={} if options.fresh else store.executions(),
        keep=keep,
        settle=settle,
        failures=msgspec.json.decode(earlier, type=ExecutionResult).hook_failures if earlier else (),
        environ=environ,
        note=note,
        again=options.retry_unscored,
        fresh=options.fresh,
        retry=options.retry,
    )


async def executed(stage: Stage, store: Store) -> Executed:
    """Run the agent where it has to run, and make ready for judging.

    Raises:
        AdjudgeError: a hook does not let judging begin.
    """
    runs = await stage.execute()
    try:
        await stage.before_scoring()
    except HookError as error:
        raise AdjudgeError(f"nothing is judged: {error}") from None
    root = stage.run.resolve()
    record = read_run(str(root))
    refs = [collected(case, root, record) for case in stage.cases]
    errors = {case: run for case, run in runs.items() if run.state is RunState.ERROR}
    return Executed(
        tuple(refs),
        {case: Failure(ErrorKind.INPUT, f"{NOT_RUN}: {run.error}") for case, run in errors.items()},
        any(run.kind is None or run.kind.transient for run in errors.values()),
    )
