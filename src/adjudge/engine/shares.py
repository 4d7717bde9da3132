"""How the judges of a case are shared out, and what becomes of what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from adjudge.domain import (
    CriterionJudge,
    DecisionJudge,
    Failure,
    Judge,
    LLMJudge,
    ScriptJudge,
    Status,
    Verdict,
)
from adjudge.engine.options import RunOptions
from adjudge.engine.plan import RunPlan
from adjudge.engine.pool import CaseOutcome, WorkerPool, cores
from adjudge.engine.protocol import Item, Job

PARTS = 64
"""At most, of a case's criteria."""
_PROMPTS_A_WORKER = 500
CRITERIA_AT_ONCE = 8
"""They wait for commands more than they compute."""


def worker_count(plan: RunPlan, options: RunOptions) -> int:
    """How many processes: one a core where judges run in them, fewer where they only render some prompts."""
    cases = len(plan.refs)
    criteria = sum(isinstance(judge, CriterionJudge) for judge in plan.judges)
    if plan.judges and all(isinstance(judge, ScriptJudge) for judge in plan.judges):
        return 0
    if criteria:
        return options.workers or min(CRITERIA_AT_ONCE, criteria * cases)
    only_prompts = all(isinstance(judge, LLMJudge | DecisionJudge) for judge in plan.judges)
    useful = cases // _PROMPTS_A_WORKER + 1 if only_prompts else cases
    return options.workers or min(cores(), max(1, useful))


def verdicts_of(case: str, judge: Judge, item: Item) -> Iterator[Verdict]:
    """What a worker's item says, once per criterion."""
    if item.skipped:
        yield from skipped(case, judge)
        return
    outcome = item.outcome
    assert outcome is not None
    if outcome.failure is not None:
        for verdict in failed(case, judge, outcome.failure, rationale=outcome.rationale, printed=outcome.printed):
            yield msgspec.structs.replace(verdict, exit_code=outcome.exit_code)
        return
    for criterion in judge.criteria:
        yield Verdict(
            case=case,
            judge=judge.name,
            criterion=criterion.name,
            status=Status.SCORED,
            value=outcome.value,
            rationale=outcome.rationale,
            printed=outcome.printed,
            confidence=outcome.confidence,
            model=outcome.model,
            exit_code=outcome.exit_code,
        )


def skipped(case: str, judge: Judge, note: str = "") -> Iterator[Verdict]:
    """Nothing was asked, and nothing is missing."""
    for criterion in judge.criteria:
        yield Verdict(
            case=case,
            judge=judge.name,
            criterion=criterion.name,
            status=Status.SKIPPED,
            notes=(note,) if note else (),
        )


def parts_of(judges: tuple[Judge, ...]) -> list[tuple[int, ...]]:
    """The judges of a case in parts that may run at the same time: criteria are independent of each other."""
    criteria = [index for index, judge in enumerate(judges) if isinstance(judge, CriterionJudge)]
    others = tuple(k for k, judge in enumerate(judges) if not isinstance(judge, CriterionJudge | ScriptJudge))
    if not others and not criteria and judges:
        return []
    size = max(1, len(criteria) // PARTS)
    parts = [tuple(criteria[start : start + size]) for start in range(0, len(criteria), size)]
    return [others, *parts] if others or not parts else parts


async def all_parts(pool: WorkerPool, jobs: list[Job]) -> CaseOutcome:
    """The outcomes of a case's jobs as one."""
    outcomes = await asyncio.gather(*map(pool.run, jobs))
    failure = next((outcome.failure for outcome in outcomes if outcome.failure), None)
    notes = tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes))
    return CaseOutcome(failure, [item for outcome in outcomes for item in outcome.items], notes)


def failed(case: str, judge: Judge, failure: Failure, *, rationale: str = "", printed: str = "") -> Iterator[Verdict]:
    """The same failure for every criterion and sample of a judge."""
    for criterion in judge.criteria:
        for sample in range(judge.samples):
            yield Verdict(
                case=case,
                judge=judge.name,
                criterion=criterion.name,
                sample=sample,
                status=Status.UNSCORED,
                error=failure,
                rationale=rationale,
                printed=printed,
            )


def first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first exception of a group that is not a mere consequence of another's cancellation."""
    for error in group.exceptions:
        return first_cause(error) if isinstance(error, BaseExceptionGroup) else error
    return group
