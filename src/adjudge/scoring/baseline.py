"""Whether a run fell behind an earlier one, and what of two runs may be set side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from adjudge.domain import (
    Baseline,
    BaselineSummary,
    Decision,
    GateCheck,
    JudgeSummary,
    RunResult,
    Score,
    Status,
    Threshold,
    Value,
)
from adjudge.scoring.gate import threshold_of
from adjudge.stats import mean_of

TOLERANCE = 1e-9
"""How much more than the drop a judge may fall, for the last digits of a division."""
METRIC = "regression"
PAIRWISE = "pairwise"
"""The kind of judges whose answers are of two runs, and say nothing of one."""
_Number = bool | int | float
_Key = tuple[str, str]


class Kind(StrEnum):
    """What the values of a judge are."""

    BOOLEANS = "booleans"
    NUMBERS = "numbers"
    LEVELS = "levels"
    MIXED = "values of several kinds"


@dataclass(frozen=True)
class Scored:
    """The scored values of one criterion of one judge.

    Attributes:
        values: Case -> value on the judge's own scale.
        places: Case -> that value in [0, 1], better ones higher, where it is known.
    """

    values: dict[str, Value]
    places: dict[str, float]

    @property
    def kind(self) -> Kind | None:
        """`None` when there is no value."""
        kinds = {_kind(value) for value in self.values.values()}
        return next(iter(kinds)) if len(kinds) == 1 else (Kind.MIXED if kinds else None)

    @property
    def numbers(self) -> dict[str, _Number]:
        """Case -> what is averaged: booleans and numbers as they are, labels by their place, if it is known."""
        found: dict[str, _Number] = {}
        for case, value in self.values.items():
            if not isinstance(value, str):
                found[case] = value
            elif case in self.places:
                found[case] = self.places[case]
        return found

    def points(self) -> set[tuple[float, float]]:
        """(value, place) as far as places are known; nothing for labels, whose value is their place."""
        return {
            (float(value), self.places[case])
            for case, value in self.values.items()
            if case in self.places and not isinstance(value, str)
        }

    def labels(self) -> set[tuple[str, float]]:
        """(label, place) as far as places are known."""
        return {(v, self.places[c]) for c, v in self.values.items() if c in self.places and isinstance(v, str)}


def scored(scores: Iterable[Score]) -> Scored:
    """The values among the scores of one criterion of one judge."""
    kept = [score for score in scores if score.status is Status.SCORED]
    return Scored(
        values={score.case: score.value for score in kept if score.value is not None},
        places={score.case: score.normalised for score in kept if score.normalised is not None},
    )


def scale_of(*columns: Scored) -> tuple[float, float] | None:
    """The values that count as 0 and as 1, as the places show them; the first is larger when less is better.

    `None` when they show none: fewer than two different numbers have a place, or their places lie on no line.
    """
    if all(column.kind is Kind.LEVELS for column in columns):
        return 0.0, 1.0
    points = set().union(*(column.points() for column in columns))
    if all(column.kind is Kind.BOOLEANS for column in columns):
        points |= {(1 - value, 1 - place) for value, place in points}
    return _line(points)


def same_scale(a: Scored, b: Scored) -> bool:
    """Whether the places of both can be those of one scale: no value has two, and those of numbers lie on a line."""
    labels = a.labels() | b.labels()
    if len({label for label, _ in labels}) < len(labels):
        return False
    points = a.points() | b.points()
    return (len({value for value, _ in points}) < 2 and len(points) < 2) or _line(points) is not None


def _line(points: set[tuple[float, float]]) -> tuple[float, float] | None:
    (low, at_low), (high, at_high) = min(points, default=(0.0, 0.0)), max(points, default=(0.0, 0.0))
    width = high - low
    if not width or at_low == at_high or not math.isfinite(width):
        return None
    slope = (at_high - at_low) / width
    if any(abs(at_low + (value - low) * slope - place) > TOLERANCE for value, place in points):
        return None
    zero, one = low - at_low / slope, high + (1 - at_high) / slope
    return (_tidy(zero), _tidy(one)) if math.isfinite(zero) and math.isfinite(one) else None


def _tidy(bound: float) -> float:
    return float(f"{bound:.9g}") + 0.0


def _kind(value: Value) -> Kind:
    if isinstance(value, bool):
        return Kind.BOOLEANS
    return Kind.LEVELS if isinstance(value, str) else Kind.NUMBERS


def baseline_of(result: RunResult, *, name: str = "") -> Baseline:
    """What later runs can be held against. `name` is what it is called, else the suite.

    Members of panels stay out, and so do pairwise judges, which speak of two runs.
    """
    summaries = [summary for summary in result.judges if _holds(summary)]
    columns = _columns(result.scores)
    kept: dict[str, dict[str, dict[str, _Number | None]]] = {}
    for summary in summaries:
        column = columns.get((summary.judge, summary.criterion), [])
        numbers = scored(column).numbers
        kept.setdefault(summary.judge, {})[summary.criterion] = {
            score.case: numbers.get(score.case) for score in column if score.status is not Status.SKIPPED
        }
    return Baseline(
        name=name or result.suite,
        summaries=tuple(
            BaselineSummary(
                judge=summary.judge,
                criterion=summary.criterion,
                metric=summary.metric,
                value=summary.value,
                n=summary.n,
                scale=scale_of(scored(columns.get((summary.judge, summary.criterion), []))) if summary.n else None,
            )
            for summary in summaries
        ),
        cases=tuple(stub.id for stub in result.cases),
        scores=kept,
    )


def regressions(
    summaries: Sequence[JudgeSummary],
    scores: Sequence[Score],
    baseline: Baseline,
    thresholds: Mapping[str, Threshold],
    *,
    max_drop: float,
    every_judge: bool,
    allow_missing: bool = False,
) -> list[GateCheck]:
    """Hold a run against its baseline, each judge over the cases that both have scored.

    A judge regresses when its mean or pass rate is worse than the baseline's by more than the drop that is admitted:
    its threshold's `max_drop`, else `max_drop`, on its own scale. An equal drop passes. Where less is better
    (`negate`, as the scores show it) a rise counts.

    How far judges without a threshold fell is looked at when `every_judge`; members of panels and pairwise judges never
    are. A case or judge of the baseline that the run lacks, or a judge without one case that both have scored, fails,
    each with a check of its own, unless `allow_missing`. Values of another kind or scale than the baseline's are
    broken: they cannot be measured against it. New cases and judges pass, and are told.

    Raises:
        ValueError: a drop is negative or NaN.
    """
    columns = _columns(scores)
    checks = _cases([score.case for score in scores], baseline, allow_missing)
    gone = Decision.PASS if allow_missing else Decision.FAIL
    held = {(old.judge, old.criterion): old for old in baseline.summaries}
    now = {(s.judge, s.criterion) for s in summaries if _holds(s)}
    for summary in summaries:
        key = (summary.judge, summary.criterion)
        threshold = threshold_of(thresholds, *key)
        if not _holds(summary) or (threshold is None and not every_judge):
            continue
        drop = max_drop if threshold is None or threshold.max_drop is None else threshold.max_drop
        if not drop >= 0:
            raise ValueError(f"{_name(key)}: a drop must be 0 or more, got {drop}")
        if key not in held:
            text = f"{_name(key)}: new, the baseline {baseline.name} does not have it"
            checks.append(GateCheck(key[0], METRIC, Decision.PASS, text))
        else:
            checks.append(_check(key, scored(columns.get(key, [])), held[key], baseline, drop, gone))
    for key in held:
        if key not in now:
            text = f"{_name(key)}: the baseline {baseline.name} has it and this run lacks it{_admitted(allow_missing)}"
            checks.append(GateCheck(key[0], METRIC, gone, text))
    return checks


def _cases(cases: Sequence[str], baseline: Baseline, allow_missing: bool) -> list[GateCheck]:
    now, before = dict.fromkeys(cases), set(baseline.cases)
    decision = Decision.PASS if allow_missing else Decision.FAIL
    checks = [
        GateCheck(
            "",
            METRIC,
            decision,
            f"the case {case} of the baseline {baseline.name} is missing in this run{_admitted(allow_missing)}",
        )
        for case in baseline.cases
        if case not in now
    ]
    new = [case for case in now if case not in before]
    if new:
        shown = ", ".join(new[:5]) + (", ..." if len(new) > 5 else "")
        what = "1 new case that the baseline" if len(new) == 1 else f"{len(new)} new cases that the baseline"
        checks.append(GateCheck("", METRIC, Decision.PASS, f"{what} {baseline.name} does not have: {shown}"))
    return checks


def _check(
    key: _Key, column: Scored, old: BaselineSummary, baseline: Baseline, drop: float, gone: Decision
) -> GateCheck:
    before = baseline.scores.get(key[0], {}).get(key[1], {})
    had = {case: value for case, value in before.items() if value is not None}
    numbers = column.numbers
    common = [case for case in had if case in numbers]

    def check(decision: Decision, text: str, value: float | None = None, bound: float | None = None) -> GateCheck:
        return GateCheck(key[0], METRIC, decision, f"{_name(key)}: {text}", value, bound)

    if not common:
        why = "the baseline has no score" if not had else "this run has no score" if not numbers else ""
        text = f"no case is scored in both runs{f': {why}' if why else ''}{_admitted(gone is Decision.PASS)}"
        return check(gone, text)
    kinds = {isinstance(value, bool) for value in had.values()}
    if len(kinds) > 1 or column.kind is Kind.MIXED:
        whose = "this run" if column.kind is Kind.MIXED else "the baseline"
        return check(Decision.BROKEN, f"{whose} has {Kind.MIXED}, which cannot be compared")
    if kinds != {column.kind is Kind.BOOLEANS}:
        theirs = Kind.BOOLEANS if kinds == {True} else Kind.NUMBERS
        return check(Decision.BROKEN, f"the baseline has {theirs}, this run {column.kind}: they cannot be compared")
    scale = scale_of(column)
    if scale and old.scale and not _alike(scale, old.scale):
        spans = [f"{low:g} to {high:g}" for low, high in (old.scale, scale)]
        return check(Decision.BROKEN, f"the scale was {spans[0]} and is {spans[1]}: they cannot be compared")
    low, high = old.scale or scale or (0.0, 1.0)
    then = mean_of([float(had[case]) for case in common])
    now = mean_of([float(numbers[case]) for case in common])
    sign = 1.0 if high > low else -1.0
    fell = sign * (then - now)
    failed = fell > drop + TOLERANCE
    name = "pass_rate" if kinds == {True} else "mean"
    moved = "equal to" if abs(fell) <= TOLERANCE else f"{abs(fell):.4g} {'worse' if fell > 0 else 'better'} than"
    cases = "1 case" if len(common) == 1 else f"{len(common)} cases"
    text = f"{name} {now:.4g}, {moved} the baseline's {then:.4g} over {cases} of both"
    lost = len(had) - len(common)
    text += f" ({lost} scored there alone)" if lost else ""
    text += f", {'more than' if failed else 'within'} the drop of {drop:g}"
    return check(Decision.FAIL if failed else Decision.PASS, text, now, then - sign * drop)


def _alike(a: tuple[float, float], b: tuple[float, float]) -> bool:
    close = 1e-6 * max(abs(a[1] - a[0]), abs(b[1] - b[0]))
    return abs(a[0] - b[0]) <= close and abs(a[1] - b[1]) <= close


def _holds(summary: JudgeSummary) -> bool:
    return not summary.member_of and summary.kind != PAIRWISE


def _columns(scores: Iterable[Score]) -> dict[_Key, list[Score]]:
    columns: dict[_Key, list[Score]] = {}
    for score in scores:
        columns.setdefault((score.judge, score.criterion), []).append(score)
    return columns


def _admitted(missing: bool) -> str:
    return ", which is admitted" if missing else ""


def _name(key: _Key) -> str:
    return key[0] if key[0] == key[1] else f"{key[0]}.{key[1]}"
