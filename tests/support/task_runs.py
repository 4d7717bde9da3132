"""A run of coding tasks beside a baseline in which every word occurs, composed as a run directory is."""

from __future__ import annotations

from collections.abc import Mapping

from adjudge.domain import (
    Calibration,
    CaseStub,
    Criterion,
    ErrorKind,
    Likert,
    LLMJudge,
    Quarantined,
    RunResult,
    Snapshot,
    Status,
    SuiteBaseline,
    TaskBaseline,
    TaskRules,
    Trust,
    Verdict,
    unscored,
)
from adjudge.scoring import compose
from tests.support.build import boolean_judge

DIMENSIONS = ("correctness", "scope")
HARD, SOFT = "expected_files", "commit_message"
STALE = Calibration(
    trust=Trust.UNCALIBRATED, reason="the certificate is stale: it is of a judge with another model opus -> sonnet"
)
BASELINE = {
    "falls": (5, 5),
    "wobbles": (4, 4),
    "rises": (2, 4),
    "keeps": (4, 4),
    "silent": (4, 4),
    "lost": (4, 4),
    "away": (5, 4),
    "broken": (5, 5),
    "other": (4, 4),
    "gone": (3, 3),
}
NOW: Mapping[str, tuple[tuple[int, ...] | None, tuple[int, ...] | None]] = {
    "keeps": ((4, 4, 4), (4, 4, 4)),
    "falls": ((2, 2, 2), (5, 5, 5)),
    "wobbles": ((4, 3, 3), (4, 4, 4)),
    "rises": ((5, 5, 5), (4, 4, 4)),
    "silent": ((), (4, 4, 4)),
    "lost": (None, (4, 4, 4)),
    "away": ((1, 5, 1), (4, 4, 4)),
    "other": ((3, 3, 3), (4, 4, 4)),
    "fresh": ((4, 5, 4), (4, 4, 4)),
}
"""Task -> the samples of each dimension; none where the judge could not tell, `None` where it failed."""


def task_run(
    *,
    calibration: Calibration = STALE,
    baseline: bool = True,
    judge: bool = True,
    names: Mapping[str, str] | None = None,
    copies: int = 1,
) -> RunResult:
    """The run, with a baseline only where its judge is asked; `names` are other names for tasks, and `copies` is how
    often every task of `NOW` is there."""
    rename = names or {}

    def named(task: str, copy: int = 0) -> str:
        return rename.get(task, task) + (f"-{copy}" if copy else "")

    tasks = [(task, copy) for copy in range(copies) for task in (*NOW, "broken")]
    kept = {
        named(task, copy): TaskBaseline(
            digest="old" if task == "other" else "",
            scores={name: (float(value),) * 3 for name, value in zip(DIMENSIONS, scores, strict=True)},
        )
        for copy in range(copies)
        for task, scores in BASELINE.items()
    }
    rules = TaskRules(
        judge="rubric",
        hard={named(*task): (HARD,) for task in tasks},
        soft={named(*task): (SOFT,) for task in tasks},
        digests={named(*task): "new" for task in tasks},
        baseline=SuiteBaseline(tasks=kept) if baseline and judge else None,
        quarantined=(Quarantined(task=named("away"), until="2999-01-01"),),
        calibration=calibration,
    )
    verdicts: list[Verdict] = []
    for task, copy in tasks:
        case, broken = named(task, copy), task == "broken"
        verdicts += [_checked(case, HARD, not broken), _checked(case, SOFT, task != "keeps")]
        for name, samples in zip(DIMENSIONS, NOW.get(task, ((), ())), strict=True):
            verdicts += _scored(case, name, samples, skip=broken)
    checks = [boolean_judge(HARD), boolean_judge(SOFT)]
    rubric = LLMJudge(
        name="rubric",
        criteria=tuple(Criterion(name=name, scale=Likert(5), abstain=True) for name in DIMENSIONS),
        samples=3,
    )
    snapshot = Snapshot(
        suite="evals",
        format="golden",
        cases=tuple(CaseStub(named(*task)) for task in tasks),
        judges=(*checks, rubric) if judge else tuple(checks),
        models={"rubric": "claude-sonnet-4-6"},
        tasks=rules,
    )
    return compose(snapshot, verdicts)


def _checked(task: str, name: str, value: bool) -> Verdict:
    why = "" if value else "nothing was changed in app.py"
    return Verdict(case=task, judge=name, criterion=name, sample=0, status=Status.SCORED, value=value, rationale=why)


def _scored(task: str, name: str, samples: tuple[int, ...] | None, *, skip: bool) -> list[Verdict]:
    if samples is None:
        return [unscored(task, "rubric", name, ErrorKind.TIMEOUT, sample=k) for k in range(3)]
    if not samples:
        status = Status.SKIPPED if skip else Status.ABSTAINED
        return [Verdict(case=task, judge="rubric", criterion=name, sample=k, status=status) for k in range(3)]
    return [
        Verdict(
            case=task, judge="rubric", criterion=name, sample=k, status=Status.SCORED, value=value, rationale="seen"
        )
        for k, value in enumerate(samples)
    ]
