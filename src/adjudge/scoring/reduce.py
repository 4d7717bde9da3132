"""From samples to one score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_low

import msgspec

from adjudge.domain import (
    Binary,
    Criterion,
    CriterionJudge,
    ErrorKind,
    Failure,
    Judge,
    Levels,
    OffScaleError,
    Reduce,
    SampleRecord,
    Score,
    Status,
    Usage,
    Value,
    Verdict,
)


def reduce_samples(judge: Judge, criterion: Criterion, verdicts: Sequence[Verdict]) -> Score:
    """Reduce the samples of one (case, judge, criterion).

    Booleans by strict majority of the usable votes (a tie is false), numbers and levels by the lower median, unless
    the judge says otherwise. Unscored and abstained samples do not vote; when fewer than half of the samples asked
    (or than `min_votes`) are usable the score is unscored. `verdicts` holds at least one, all of the same case, in
    sample order.
    """
    first = verdicts[0]
    usage = _total_usage(verdicts)
    records = (
        tuple(SampleRecord(v.status, v.value, v.error, v.rationale) for v in verdicts) if judge.samples > 1 else ()
    )

    notes = tuple(dict.fromkeys(note for verdict in verdicts for note in verdict.notes))

    def score(
        status: Status,
        value: Value | None = None,
        error: Failure | None = None,
        said: Verdict | None = None,
        agreement: float | None = None,
    ) -> Score:
        return Score(
            case=first.case,
            judge=judge.name,
            criterion=criterion.name,
            status=status,
            value=value,
            normalised=None if value is None else normalise(criterion, value),
            error=error,
            rationale=said.rationale if said else "",
            printed=said.printed if said else "",
            agreement=agreement,
            samples=records,
            usage=usage,
            notes=notes,
            tool_choice=next((v.tool_choice for v in verdicts if v.tool_choice), ""),
            confidence=said.confidence if said else None,
            model=said.model if said and isinstance(judge, CriterionJudge) else "",
            denials=_denials(verdicts),
            exit_code=first.exit_code,
            shown_chars=next((v.shown_chars for v in verdicts if v.shown_chars), ()),
        )

    if judge.samples == 1 or first.status is Status.SKIPPED:
        return score(first.status, first.value, first.error, first)
    usable = [v for v in verdicts if v.status is Status.SCORED]
    if not usable or len(usable) < _votes_needed(judge):
        return score(*_without_value(verdicts, len(usable), judge.samples))
    values = [v.value for v in usable if v.value is not None]
    reduced = _reduce(judge.reduce, criterion, values)
    said = next((v for v in usable if v.value == reduced), usable[0])
    return score(Status.SCORED, reduced, None, said, sum(v == reduced for v in values) / len(values))


def _denials(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Refused calls over all samples."""
    total: Counter[str] = Counter()
    for verdict in verdicts:
        total.update(verdict.denials)
    return dict(sorted(total.items()))


def decided(judge: Judge, criterion: Criterion, verdicts: Sequence[Verdict]) -> bool:
    """True if no further sample can change the score: more than half of all samples said the same, and they are enough
    for a score."""
    values = [v.value for v in verdicts if v.criterion == criterion.name and v.status is Status.SCORED]
    if not values or len(values) < _votes_needed(judge):
        return False
    commonest, votes = Counter(values).most_common(1)[0]
    return votes * 2 > judge.samples or (commonest is False and votes * 2 == judge.samples)


def _votes_needed(judge: Judge) -> float:
    """The least number of usable samples for a score; never more than are asked."""
    return min(judge.min_votes, judge.samples) or judge.samples / 2


def normalise(criterion: Criterion, value: Value) -> float | None:
    """The value in [0, 1] after `negate`; `None` where the scale does not say how, or the value lies off it."""
    scale = criterion.scale
    if scale is None:
        if not isinstance(value, bool):
            return None
        scale = Binary()
    try:
        share = scale.normalise(value)
    except (OffScaleError, OverflowError):
        return None
    if not 0 <= share <= 1:
        return None
    return 1 - share if criterion.negate else share


def penalised(criterion: Criterion, score: Score) -> Score:
    """The score of a case whose material tries to instruct its judge: the lowest value there is."""
    if score.status is not Status.SCORED:
        return score
    value = _lowest(criterion)
    return msgspec.structs.replace(score, value=value, normalised=0.0, raw=score.value, flagged=True)


def _lowest(criterion: Criterion) -> Value:
    """The value on the criterion's scale that counts least."""
    scale = criterion.scale
    if isinstance(scale, Binary):
        return criterion.negate
    if isinstance(scale, Levels) and not scale.mean:
        return scale.labels[-1 if criterion.negate else 0]
    bounds = (scale.schema() if scale else {"minimum": 1, "maximum": 5})["maximum" if criterion.negate else "minimum"]
    return int(bounds) if float(bounds).is_integer() else float(bounds)


def _without_value(verdicts: Sequence[Verdict], usable: int, asked: int) -> tuple[Status, None, Failure | None]:
    errors = [v.error for v in verdicts if v.error]
    abstained = sum(v.status is Status.ABSTAINED for v in verdicts)
    if abstained >= len(errors) and abstained + usable >= asked / 2:
        return Status.ABSTAINED, None, None
    unfinished = [e for e in errors if e.kind is ErrorKind.INTERRUPTED]
    if unfinished:
        return (
            Status.UNSCORED,
            None,
            Failure(ErrorKind.INTERRUPTED, f"{asked - len(unfinished)} of {asked} samples asked"),
        )
    if usable:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(e.kind for e in errors).items()))
        return Status.UNSCORED, None, Failure(ErrorKind.TOO_FEW_VOTES, f"{usable} of {asked} samples usable ({kinds})")
    counted = Counter(e.kind for e in errors)
    commonest = max(errors, key=lambda e: counted[e.kind])
    return Status.UNSCORED, None, commonest


def _reduce(rule: Reduce, criterion: Criterion, values: Sequence[Value]) -> Value:
    booleans = all(isinstance(v, bool) for v in values)
    if rule is Reduce.MAJORITY or (rule is Reduce.AUTO and booleans):
        if booleans:
            return sum(map(bool, values)) * 2 > len(values)
        return Counter(values).most_common(1)[0][0]
    if isinstance(criterion.scale, Levels) and not criterion.scale.mean:
        labels = criterion.scale.labels
        return labels[median_low([labels.index(str(v)) for v in values])]
    return median_low([v for v in values if not isinstance(v, str)])


def _total_usage(verdicts: Sequence[Verdict]) -> Usage | None:
    usages = [v.usage for v in verdicts if v.usage]
    if not usages:
        return None
    total = usages[0]
    for usage in usages[1:]:
        total = total + usage
    return total
