"""Two runs side by side: what changed, and whether that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from adjudge.domain import (
    Comparison,
    Disagreement,
    Interval,
    JudgeComparison,
    RunResult,
    RunTotals,
    Score,
    Status,
    TokenUsage,
)
from adjudge.scoring.baseline import PAIRWISE, Kind, Scored, same_scale, scale_of, scored
from adjudge.stats import bootstrap_mean, effect_size, holm, interval_method, mcnemar, mean_of, wilcoxon

LEVEL = 0.95
MAX_DISAGREEMENTS = 10
MAX_RATIONALE = 300
_CLOSE = 1e-12


def compare(
    run: RunResult, baseline: RunResult, *, seed: int = 0, names: tuple[str, str] = ("run", "baseline")
) -> Comparison:
    """Compare each criterion of each judge over the cases that both runs have scored. Pure.

    Booleans are tested with McNemar's exact test, numbers and levels with Wilcoxon's signed-rank test; p is corrected
    after Holm for all judges that have one. Where the kinds of value, or the scales as far as the scores show them,
    differ, nothing is compared and `note` says so. `names` are what the two are called. Pairwise judges, which compare
    runs themselves, stay out.
    """
    ours, theirs = _columns(run), _columns(baseline)
    costs = [{(s.judge, s.criterion): s.usage for s in result.judges} for result in (run, baseline)]
    judges = []
    for key in (key for key in ours if key in theirs):
        paid = [usage.cost_usd if (usage := cost.get(key)) else None for cost in costs]
        compared = _judge(key, ours[key], theirs[key], seed)
        judges.append(msgspec.structs.replace(compared, cost_a=paid[0], cost_b=paid[1]))
    cases = [[stub.id for stub in result.cases] for result in (run, baseline)]
    return Comparison(
        a=_totals(run, names[0]),
        b=_totals(baseline, names[1]),
        judges=tuple(_corrected(judges)),
        judges_only_in_a=tuple(_name(*key) for key in ours if key not in theirs),
        judges_only_in_b=tuple(_name(*key) for key in theirs if key not in ours),
        cases_only_in_a=_without(cases[0], cases[1]),
        cases_only_in_b=_without(cases[1], cases[0]),
        seed=seed,
        notes=tuple(_notes(run, baseline, judges)),
    )


def _columns(result: RunResult) -> dict[tuple[str, str], dict[str, Score]]:
    """(judge, criterion) -> case -> score; also for judges that have a summary and no scores."""
    pairwise = {s.judge for s in result.judges if s.kind == PAIRWISE}
    columns: dict[tuple[str, str], dict[str, Score]] = {
        (s.judge, s.criterion): {} for s in result.judges if s.judge not in pairwise
    }
    for score in result.scores:
        if score.judge in pairwise:
            continue
        columns.setdefault((score.judge, score.criterion), {})[score.case] = score
    return columns


def _judge(key: tuple[str, str], ours: Mapping[str, Score], theirs: Mapping[str, Score], seed: int) -> JudgeComparison:
    asked = [
        [case for case, score in column.items() if score.status is not Status.SKIPPED] for column in (ours, theirs)
    ]
    theirs_too = set(asked[1])
    both = [case for case in asked[0] if case in theirs_too]
    a, b = scored(ours.values()), scored(theirs.values())
    paired = [case for case in both if case in a.values and case in b.values]
    base = JudgeComparison(
        judge=key[0],
        criterion=key[1],
        unscored_a=sum(case not in a.values for case in both),
        unscored_b=sum(case not in b.values for case in both),
        only_in_a=len(asked[0]) - len(both),
        only_in_b=len(asked[1]) - len(both),
    )
    why_not = _incomparable(a, b)
    if not why_not and not paired:
        why_not = "no case has a score in both runs"
    gaps = [] if why_not else _gaps(a, b, paired)
    if not all(map(math.isfinite, gaps)):
        why_not = "the values are too large to subtract"
    if why_not:
        return msgspec.structs.replace(base, n=len(paired), note=f"not compared: {why_not}")
    falls = _falls(a, b)
    compared = _compared(base, gaps, boolean=a.kind is Kind.BOOLEANS, falls=falls, seed=seed)
    values = [mean_of([float(numbers[case]) for case in paired]) for numbers in (a.numbers, b.numbers)]
    unknown = a.kind is Kind.NUMBERS and bool(a.places) != bool(b.places)
    return msgspec.structs.replace(
        compared,
        value_a=values[0],
        value_b=values[1],
        disagreements=_disagreements(paired, gaps, (ours, theirs), falls),
        note="the scale is known for one of the runs only" if unknown else "",
    )


def _compared(
    base: JudgeComparison, gaps: Sequence[float], *, boolean: bool, falls: bool, seed: int
) -> JudgeComparison:
    up, down = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    bounds = bootstrap_mean(gaps, level=LEVEL, seed=seed)
    return msgspec.structs.replace(
        base,
        metric="pass_rate" if boolean else "mean",
        n=len(gaps),
        difference=mean_of(gaps),
        interval=Interval(*bounds, LEVEL, interval_method(len(gaps))) if bounds else None,
        test="mcnemar exact" if boolean else "wilcoxon signed-rank",
        p=mcnemar(up, down) if boolean else wilcoxon(gaps).p,
        effect=effect_size(gaps),
        better=down if falls else up,
        worse=up if falls else down,
        equal=len(gaps) - up - down,
        lower_is_better=falls,
    )


def _falls(a: Scored, b: Scored) -> bool:
    """Whether less is better, as far as the scores show it."""
    scale = scale_of(a) or scale_of(b) or scale_of(a, b)
    return scale is not None and scale[0] > scale[1]


def _gaps(a: Scored, b: Scored, cases: Sequence[str]) -> list[float]:
    """a - b on each case, without what binary fractions add to it: 0.3 - 0.1 is 0.2, and ties with 0.2."""
    gaps = []
    ours, theirs = a.numbers, b.numbers
    for case in cases:
        first, second = float(ours[case]), float(theirs[case])
        near = math.isclose(first, second, rel_tol=_CLOSE)
        gaps.append(0.0 if near else float(f"{first - second:.10g}"))
    return gaps


def _disagreements(
    paired: Sequence[str],
    gaps: Sequence[float],
    columns: tuple[Mapping[str, Score], Mapping[str, Score]],
    falls: bool,
) -> tuple[Disagreement, ...]:
    """The largest differences; of equal ones first those where the run is worse, then in the order of the cases."""
    differing = [(gap, case) for gap, case in zip(gaps, paired, strict=True) if gap]
    differing.sort(key=lambda found: (-abs(found[0]), (found[0] > 0) != falls))
    found = []
    for _, case in differing[:MAX_DISAGREEMENTS]:
        a, b = (column[case] for column in columns)
        assert a.value is not None
        assert b.value is not None
        found.append(Disagreement(case, a.value, b.value, a.rationale[:MAX_RATIONALE], b.rationale[:MAX_RATIONALE]))
    return tuple(found)


def _incomparable(a: Scored, b: Scored) -> str:
    """Why the values of two runs cannot be set side by side; nothing when they can, or when a run has none."""
    if not a.values or not b.values:
        return ""
    for side, whose in ((a, "run"), (b, "baseline")):
        if side.kind is Kind.MIXED:
            return f"the {whose} has {Kind.MIXED}"
    if a.kind is not b.kind:
        return f"the run has {a.kind}, the baseline {b.kind}"
    if a.kind is Kind.LEVELS and (len(a.numbers) < len(a.values) or len(b.numbers) < len(b.values)):
        return "the place of some labels on their scale is not known"
    return "" if same_scale(a, b) else "the scales differ"


def _corrected(judges: Sequence[JudgeComparison]) -> list[JudgeComparison]:
    adjusted = iter(holm([judge.p for judge in judges if judge.p is not None]))
    return [judge if judge.p is None else msgspec.structs.replace(judge, p_holm=next(adjusted)) for judge in judges]


def _totals(result: RunResult, name: str) -> RunTotals:
    runs = result.execution.cases if result.execution else ()
    tokens = [run.token_usage for run in runs if run.token_usage is not None]
    return RunTotals(
        name=name,
        suite=result.suite,
        cases=len(result.cases),
        judging=result.usage,
        agent_cost_usd=result.execution.cost_usd if result.execution else None,
        agent_tokens=TokenUsage(
            input=sum(used.input for used in tokens),
            output=sum(used.output for used in tokens),
            cache_read=sum(used.cache_read for used in tokens),
            cache_create=sum(used.cache_create for used in tokens),
        )
        if tokens
        else None,
    )


def _notes(run: RunResult, baseline: RunResult, judges: Sequence[JudgeComparison]) -> Iterable[str]:
    if run.suite != baseline.suite:
        yield f"the runs are of different suites: {run.suite} and {baseline.suite}"
    models = [{(s.judge, s.criterion): s.model for s in result.judges if s.model} for result in (run, baseline)]
    for judge in judges:
        key = (judge.judge, judge.criterion)
        a, b = (model.get(key) for model in models)
        if a and b and a != b:
            yield f"{_name(*key)}: judged by {a}, in the baseline by {b}: a difference may be the judge's"
    for name, table in (("the run", run.tasks), ("the baseline", baseline.tasks)):
        if table is not None:
            yield f"in {name} the judge {table.judge} is {table.calibration.trust.value}: {table.calibration.reason}"
    if not judges:
        yield "the runs have no judge in common"


def _without(cases: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(case for case in cases if case not in known)


def _name(judge: str, criterion: str) -> str:
    return judge if judge == criterion else f"{judge}.{criterion}"
