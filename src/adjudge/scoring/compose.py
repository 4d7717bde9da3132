"""From verdicts to the whole result: everything right of the journal, as one pure function."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from adjudge.domain import (
    GUARD,
    Baseline,
    CaseRewards,
    CaseStub,
    Criterion,
    ErrorKind,
    ExecutionResult,
    GateCheck,
    Guard,
    Judge,
    JudgeSummary,
    LLMJudge,
    PairwiseJudge,
    PairwiseResult,
    Review,
    RunResult,
    Score,
    Snapshot,
    Usage,
    Verdict,
    unscored,
)
from adjudge.scoring.baseline import regressions
from adjudge.scoring.formula import formula_rewards
from adjudge.scoring.gate import decide, threshold_of
from adjudge.scoring.pairwise import pairwise_result, pairwise_summary
from adjudge.scoring.panel import panel_agreement, panel_scores
from adjudge.scoring.reduce import decided, penalised, reduce_samples
from adjudge.scoring.reward import RewardScorer
from adjudge.scoring.summarise import summarise
from adjudge.scoring.task_table import task_table
from adjudge.scoring.tasks import task_checks


class BaselineLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run may fall below its baseline: judges with a threshold by `max_drop` where the threshold does not
    say, the others only when `every_judge`."""

    max_drop: float = 0.5
    every_judge: bool = False
    allow_missing: bool = False


def compose(
    snapshot: Snapshot,
    verdicts: Iterable[Verdict],
    *,
    version: str = "",
    execution: ExecutionResult | None = None,
    baseline: Baseline | None = None,
    limits: BaselineLimits = BaselineLimits(),  # noqa: B008 - frozen
    labels: Review | None = None,
) -> RunResult:
    """Score, summarise and gate what the journal holds.

    Verdicts of cases, judges or samples that are not in the snapshot do not count. What the snapshot asks for and the
    journal lacks is unscored as interrupted. Order of the verdicts does not matter. With a `baseline` the run is held
    against it. `labels` are what people said of this run; judges are set beside them.
    """
    held: dict[tuple[str, str, str], list[Verdict]] = {}
    wanted = {stub.id for stub in snapshot.cases}
    for verdict in verdicts:
        if verdict.case in wanted:
            held.setdefault((verdict.case, verdict.judge, verdict.criterion), []).append(verdict)
    columns = _Columns(snapshot, held, labels)
    scores: list[Score] = []
    summaries: list[JudgeSummary] = []
    compared: list[PairwiseResult] = []
    panels = {members[0]: name for name, members in snapshot.panels.items()}
    for judge in snapshot.judges:
        if judge.name in panels:
            _add_panel(panels[judge.name], columns, scores, summaries)
        own = [(criterion, columns.of(judge, criterion)) for criterion in judge.criteria]
        made = [_summary(columns, judge, criterion, column) for criterion, column in own]
        scores += [score for _, column in own for score in column]
        if isinstance(judge, PairwiseJudge):
            theirs = [score for _, column in own for score in column]
            ids = [stub.id for stub in snapshot.cases]
            result = pairwise_result(judge, theirs, ids, baseline=snapshot.baseline, seed=snapshot.seed)
            compared.append(result)
            made = [pairwise_summary(result, model=snapshot.models.get(judge.name, ""), orders=made)]
        summaries += made
    rewards = _rewards(snapshot, scores)
    if snapshot.reward is not None:
        winners = {case.case: case for result in compared for case in result.cases}
        ids = [stub.id for stub in snapshot.cases]
        rewards = formula_rewards(
            snapshot.reward,
            snapshot.judges,
            scores,
            ids,
            pairwise=winners,
            panels=snapshot.panels,
            left_out=snapshot.left_out,
        )
    usage = sum((summary.usage for summary in summaries if summary.usage), Usage())
    return RunResult(
        adjudge=version,
        suite=snapshot.suite,
        description=snapshot.description,
        format=snapshot.format,
        selection=snapshot.selection,
        seed=snapshot.seed,
        gate=decide(
            summaries,
            snapshot.thresholds,
            snapshot.left_out,
            rewards=rewards,
            pass_threshold=snapshot.pass_threshold,
            execution=execution,
            regressions=[
                *_regressions(snapshot, summaries, scores, baseline, limits),
                *_tasks(snapshot, scores),
            ],
        ),
        judges=tuple(summaries),
        scores=tuple(scores),
        rewards=rewards,
        cases=snapshot.cases,
        usage=usage,
        execution=execution,
        pairwise=tuple(compared),
        baseline=snapshot.baseline,
        left_out=snapshot.left_out,
        warnings=snapshot.warnings,
        tasks=task_table(snapshot.tasks, [stub.id for stub in snapshot.cases], scores) if snapshot.tasks else None,
    )


def blocked_judges(snapshot: Snapshot, case: str, verdicts: Iterable[Verdict]) -> frozenset[str]:
    """Judges that need not be asked about a case, because gates that it failed leave them without effect."""
    held: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        held.setdefault((case, verdict.judge, verdict.criterion), []).append(verdict)
    judged = {judge for _, judge, _ in held}
    judges = [judge for judge in snapshot.judges if judge.name in judged]
    columns = _Columns(msgspec.structs.replace(snapshot, cases=(CaseStub(id=case),)), held)
    scores = {(j.name, c.name): columns.of(j, c)[0] for j in judges for c in j.criteria}
    return RewardScorer(snapshot.judges, scores).blocked(snapshot.rewards)


def _regressions(
    snapshot: Snapshot,
    summaries: list[JudgeSummary],
    scores: list[Score],
    baseline: Baseline | None,
    limits: BaselineLimits,
) -> list[GateCheck]:
    if baseline is None:
        return []
    return regressions(
        summaries,
        scores,
        baseline,
        {name: threshold for name, threshold in snapshot.thresholds.items() if threshold.min_win_rate is None},
        max_drop=limits.max_drop,
        every_judge=limits.every_judge,
        allow_missing=limits.allow_missing,
    )


def _tasks(snapshot: Snapshot, scores: list[Score]) -> list[GateCheck]:
    if snapshot.tasks is None:
        return []
    return task_checks(snapshot.tasks, [stub.id for stub in snapshot.cases], scores)


def _rewards(snapshot: Snapshot, scores: Iterable[Score]) -> tuple[CaseRewards, ...]:
    if not snapshot.rewards:
        return ()
    by_case: dict[str, dict[tuple[str, str], Score]] = {stub.id: {} for stub in snapshot.cases}
    for score in scores:
        by_case[score.case][score.judge, score.criterion] = score
    return tuple(
        CaseRewards(case, tuple(map(RewardScorer(snapshot.judges, held, snapshot.on_error).score, snapshot.rewards)))
        for case, held in by_case.items()
    )


class _Columns:
    """The scores of one judge and criterion over all cases, made once."""

    def __init__(
        self, snapshot: Snapshot, held: dict[tuple[str, str, str], list[Verdict]], labels: Review | None = None
    ) -> None:
        self.snapshot = snapshot
        self.held = held
        self.labels = labels
        self.paid: set[str] = set()
        self.made: dict[tuple[str, str], list[Score]] = {}

    def of(self, judge: Judge, criterion: Criterion) -> list[Score]:
        key = (judge.name, criterion.name)
        if key not in self.made:
            self.made[key] = [self._score(judge, criterion, stub.id) for stub in self.snapshot.cases]
            if isinstance(judge, LLMJudge) and judge.guard is Guard.PENALIZE and criterion.name != GUARD:
                guard = next(other for other in judge.criteria if other.name == GUARD)
                clean = self.of(judge, guard)
                scores = zip(self.made[key], clean, strict=True)
                self.made[key] = [
                    penalised(criterion, score) if said.value is False else score for score, said in scores
                ]
        return self.made[key]

    def _score(self, judge: Judge, criterion: Criterion, case: str) -> Score:
        verdicts = self.held.get((case, judge.name, criterion.name), [])
        if len(verdicts) > 1:
            verdicts.sort(key=repr)
        samples = {v.sample: v for v in verdicts}
        full = [
            samples.get(k)
            or unscored(case, judge.name, criterion.name, ErrorKind.INTERRUPTED, "not judged yet", sample=k)
            for k in range(judge.samples)
        ]
        if judge.early_stop and len(samples) < judge.samples and decided(judge, criterion, list(samples.values())):
            full = [samples[k] for k in sorted(samples)]
        return reduce_samples(judge, criterion, [_paid_once(v, self.paid) for v in full])


def _summary(columns: _Columns, judge: Judge, criterion: Criterion, column: list[Score]) -> JudgeSummary:
    snapshot = columns.snapshot
    return summarise(
        judge,
        criterion,
        column,
        stubs={stub.id: stub for stub in snapshot.cases},
        threshold=threshold_of(snapshot.thresholds, judge.name, criterion.name),
        model=snapshot.models.get(judge.name, ""),
        labels=columns.labels,
    )


def _add_panel(name: str, columns: _Columns, scores: list[Score], summaries: list[JudgeSummary]) -> None:
    """The score that a panel's members come to together."""
    snapshot = columns.snapshot
    by_name = {judge.name: judge for judge in snapshot.judges}
    members = [by_name[member] for member in snapshot.panels[name]]
    for index, criterion in enumerate(members[0].criteria):
        theirs = [columns.of(member, member.criteria[index]) for member in members]
        named = msgspec.structs.replace(criterion, name=name) if criterion.name == members[0].name else criterion
        column = panel_scores(name, named, theirs)
        scores += column
        judge = LLMJudge(name=name, criteria=(named,))
        summary = _summary(columns, judge, named, column)
        agreement = panel_agreement(snapshot.panels[name], theirs)
        summaries.append(msgspec.structs.replace(summary, kind="panel", panel=agreement))


def _paid_once(verdict: Verdict, paid: set[str]) -> Verdict:
    """The verdict without its usage when an earlier one was read from the same call."""
    if not verdict.call:
        return verdict
    if verdict.call in paid:
        return msgspec.structs.replace(verdict, usage=None)
    paid.add(verdict.call)
    return verdict
