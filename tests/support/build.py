"""Verdicts, scores, snapshots and whole results, short to write and hypothesis-made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from adjudge.domain import (
    Binary,
    CaseStub,
    CheckJudge,
    Criterion,
    Decision,
    ErrorKind,
    Failure,
    GateCheck,
    GateResult,
    HumanAgreement,
    Interval,
    Judge,
    JudgeSummary,
    LeftOut,
    Problem,
    RunResult,
    SampleRecord,
    Scale,
    Score,
    Snapshot,
    Stability,
    Status,
    Threshold,
    Usage,
    Value,
    Verdict,
    unscored,
)


def judge(name: str = "good", scale: Scale | None = None, *, negate: bool = False, **fields: Any) -> CheckJudge:
    """A judge with one criterion, called like itself."""
    criterion = Criterion(name=name, scale=scale, negate=negate)
    return CheckJudge(name=name, criteria=(criterion,), code="return True", **fields)


def said(value: Value, case: str = "a", by: str = "good", sample: int = 0, **fields: Any) -> Verdict:
    """A verdict with a value."""
    return Verdict(case=case, judge=by, criterion=by, sample=sample, status=Status.SCORED, value=value, **fields)


def lost(case: str = "a", by: str = "good", sample: int = 0, kind: ErrorKind = ErrorKind.TIMEOUT) -> Verdict:
    """A verdict that could not be had."""
    return unscored(case, by, by, kind, sample=sample)


def abstained(case: str = "a", by: str = "good", sample: int = 0) -> Verdict:
    return Verdict(case=case, judge=by, criterion=by, sample=sample, status=Status.ABSTAINED)


def skipped(case: str = "a", by: str = "good", sample: int = 0) -> Verdict:
    return Verdict(case=case, judge=by, criterion=by, sample=sample, status=Status.SKIPPED)


def score(value: Value | None = None, case: str = "a", by: str = "good", **fields: Any) -> Score:
    """A score with a value, or with the status and error that `fields` give."""
    fields.setdefault("status", Status.UNSCORED if value is None else Status.SCORED)
    if fields["status"] is Status.UNSCORED:
        fields.setdefault("error", Failure(ErrorKind.TIMEOUT))
    return Score(case=case, judge=by, criterion=by, value=value, **fields)


def scores(values: Iterable[Value | None], by: str = "good") -> list[Score]:
    """One score a case, the cases called 0, 1, 2...; `None` is unscored."""
    return [score(value, case=str(k), by=by) for k, value in enumerate(values)]


def stubs(count: int, labels: Mapping[int, Any] | None = None) -> dict[str, CaseStub]:
    """Cases called 0, 1, 2..., with what people said of some of them."""
    labels = labels or {}
    return {
        str(k): CaseStub(id=str(k), annotations={"acceptable": labels[k]} if k in labels else {}) for k in range(count)
    }


def snapshot(
    judges: Sequence[Judge],
    cases: Iterable[str] = ("a",),
    thresholds: Mapping[str, Threshold] | None = None,
    **fields: Any,
) -> Snapshot:
    return Snapshot(
        suite="suite",
        judges=tuple(judges),
        cases=tuple(CaseStub(id=case) for case in cases),
        thresholds=dict(thresholds or {}),
        **fields,
    )


def result(
    scores: Sequence[Score] = (),
    *,
    judges: Sequence[JudgeSummary] | None = None,
    checks: Sequence[GateCheck] = (),
    decision: Decision = Decision.PASS,
    **fields: Any,
) -> RunResult:
    """A result with these scores; one judge, `good`, unless others are given."""
    shown = judges if judges is not None else [summary(scores)]
    fields.setdefault("suite", "suite")
    fields.setdefault("cases", tuple(CaseStub(id=case) for case in dict.fromkeys(s.case for s in scores)))
    return RunResult(gate=GateResult(decision, tuple(checks)), judges=tuple(shown), scores=tuple(scores), **fields)


def summary(scores: Sequence[Score] = (), by: str = "good", **fields: Any) -> JudgeSummary:
    """A summary that counts these scores."""
    fields.setdefault("kind", "check")
    fields.setdefault("n", sum(s.status is Status.SCORED for s in scores))
    fields.setdefault("unscored", sum(s.status is Status.UNSCORED for s in scores))
    fields.setdefault("abstained", sum(s.status is Status.ABSTAINED for s in scores))
    fields.setdefault("skipped", sum(s.status is Status.SKIPPED for s in scores))
    return JudgeSummary(judge=by, criterion=by, **fields)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 2**40)
VALUE = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), FINITE, TEXT)
JSON = st.recursive(
    st.one_of(st.none(), VALUE),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=5,
)
USAGE = st.builds(Usage, calls=COUNT, input=COUNT, cost_usd=st.none() | FINITE, price_source=TEXT, unpriced_calls=COUNT)
FAILURE = st.builds(Failure, kind=st.sampled_from(ErrorKind), message=TEXT)
INTERVAL = st.builds(Interval, low=FINITE, high=FINITE, level=FINITE, method=TEXT)
STATUS = st.sampled_from(Status)
SAMPLE = st.builds(SampleRecord, status=STATUS, value=st.none() | VALUE, error=st.none() | FAILURE, rationale=TEXT)
SCORE = st.builds(
    Score,
    case=TEXT,
    judge=TEXT,
    criterion=TEXT,
    status=STATUS,
    value=st.none() | VALUE,
    normalised=st.none() | FINITE,
    error=st.none() | FAILURE,
    rationale=TEXT,
    printed=TEXT,
    agreement=st.none() | FINITE,
    samples=st.lists(SAMPLE, max_size=3).map(tuple),
    usage=st.none() | USAGE,
)
PEOPLE = st.builds(
    HumanAgreement,
    n=COUNT,
    agree=COUNT,
    false_pass=COUNT,
    false_fail=COUNT,
    cut=st.none() | FINITE,
    false_pass_cases=st.lists(TEXT, max_size=3).map(tuple),
)
NAME = st.text("xyz", min_size=1)
SUMMARY = st.builds(
    JudgeSummary,
    judge=NAME,
    criterion=NAME,
    kind=st.sampled_from(["check", "code", "builtin", "llm"]),
    model=TEXT,
    metric=st.sampled_from([None, "pass_rate", "mean"]),
    value=st.none() | FINITE,
    interval=st.none() | INTERVAL,
    n=COUNT,
    unscored=COUNT,
    abstained=COUNT,
    unscored_kinds=st.dictionaries(st.sampled_from([kind.value for kind in ErrorKind]), COUNT, max_size=3),
    sample_mean=st.none() | FINITE,
    stability=st.none() | st.builds(Stability, samples=COUNT, stable_cases=COUNT, cases=COUNT),
    people=st.none() | PEOPLE,
    usage=st.none() | USAGE,
)
CHECK = st.builds(
    GateCheck,
    judge=TEXT,
    metric=TEXT,
    decision=st.sampled_from(Decision),
    reason=TEXT,
    value=st.none() | FINITE,
    bound=st.none() | FINITE,
)
RESULT = st.builds(
    RunResult,
    suite=TEXT,
    description=TEXT,
    selection=TEXT,
    seed=st.integers(-(2**60), 2**60),
    gate=st.builds(GateResult, decision=st.sampled_from(Decision), checks=st.lists(CHECK, max_size=3).map(tuple)),
    judges=st.lists(SUMMARY, max_size=3, unique_by=lambda made: made.judge).map(tuple),
    scores=st.lists(SCORE, max_size=4).map(tuple),
    cases=st.lists(st.builds(CaseStub, id=TEXT, annotations=st.dictionaries(TEXT, JSON, max_size=3)), max_size=3).map(
        tuple
    ),
    usage=USAGE,
    left_out=st.lists(st.builds(LeftOut, judge=TEXT, why=TEXT), max_size=2).map(tuple),
    warnings=st.lists(st.builds(Problem, message=TEXT, line=COUNT, warning=st.booleans()), max_size=2).map(tuple),
)


def boolean_judge(name: str = "good", **fields: Any) -> CheckJudge:
    return judge(name, Binary(), **fields)
