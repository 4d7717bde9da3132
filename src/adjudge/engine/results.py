"""From a run directory to its result, at any later time."""

from __future__ import annotations

from pathlib import Path

import msgspec

from adjudge._version import __version__
from adjudge.domain import (
    Baseline,
    CaseRun,
    ErrorKind,
    ExecutionResult,
    Problem,
    Review,
    RunResult,
    RunState,
    Snapshot,
    StoreError,
    labelled,
)
from adjudge.engine.rundir import JOURNAL
from adjudge.engine.store import Store
from adjudge.scoring import BaselineLimits, compose


def read_result(run: Path) -> RunResult:
    """The result of a run directory; see `read_run`."""
    return read_run(run)[1]


def read_times(run: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """When judges were asked: (case, judge) -> (started, ended), in seconds since 1970. Not part of a result, which
    does not depend on time.

    Raises:
        StoreError: there is no journal in the folder, or it cannot be read.
    """
    store = Store(run / JOURNAL, readonly=True)
    try:
        return store.times()
    finally:
        store.close()


def read_run(run: Path) -> tuple[Snapshot, RunResult]:
    """Recompute a run's result from its journal, and from what people said in its review.yaml. Pure: the same run
    directory gives the same result. What is wrong with the review is a warning of the result.

    Raises:
        StoreError: there is no journal in the folder, or it cannot be read.
    """
    journal = run / JOURNAL
    if not journal.is_file():
        raise StoreError(f"{run} is no run directory: it has no {JOURNAL}")
    store = Store(journal, readonly=True)
    try:
        snapshot = store.meta("snapshot")
        fingerprint = store.meta("fingerprint")
        if snapshot is None or fingerprint is None:
            raise StoreError(f"{journal} holds no run")
        plan = msgspec.json.decode(snapshot, type=Snapshot)
        baseline, limits = store.meta("baseline"), store.meta("limits")
        labels, warnings = _labels(plan, run)
        result = compose(
            plan,
            store.verdicts(fingerprint.decode()),
            version=__version__,
            execution=_execution(plan, store),
            baseline=msgspec.json.decode(baseline, type=Baseline) if baseline else None,
            limits=msgspec.json.decode(limits, type=BaselineLimits) if limits else BaselineLimits(),
            labels=labels,
        )
        return plan, msgspec.structs.replace(result, warnings=(*result.warnings, *warnings))
    except msgspec.MsgspecError as error:
        raise StoreError(f"{journal} cannot be read: {error}") from None
    finally:
        store.close()


def _labels(plan: Snapshot, run: Path) -> tuple[Review | None, list[Problem]]:
    """What people said of the run, and warnings about how they said it."""
    if not (run / "review.yaml").exists():
        return None, []
    from adjudge.cases.review_files import read_review

    found = read_review(run, labelled(plan))
    if found is None:
        return None, []
    warnings = [msgspec.structs.replace(problem, file="review.yaml", warning=True) for problem in found.problems]
    return found.review, warnings


def _execution(plan: Snapshot, store: Store) -> ExecutionResult | None:
    """How the agent's runs went. What the plan asks for and the journal lacks has not run yet."""
    if plan.execution is None:
        if plan.collected is None:
            return None
        asked = {stub.id for stub in plan.cases}
        runs = [run for run in plan.collected.cases if run.case in asked]
        return msgspec.structs.replace(plan.collected, cases=tuple(runs))
    told = store.meta("execution")
    result = (
        msgspec.json.decode(told, type=ExecutionResult) if told else ExecutionResult(agent=plan.execution.agent.name)
    )
    kept = store.executions()
    waiting = CaseRun(case="", state=RunState.ERROR, kind=ErrorKind.INTERRUPTED, error="not run yet")
    runs = [
        kept[stub.id][1] if stub.id in kept else msgspec.structs.replace(waiting, case=stub.id) for stub in plan.cases
    ]
    return msgspec.structs.replace(result, cases=tuple(runs), max_failure_rate=plan.execution.max_failure_rate)
