"""A judge beside what people said of the same cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.domain import (
    CaseStub,
    Criterion,
    HumanAgreement,
    OffScaleError,
    Review,
    Score,
    Status,
    Threshold,
    finite,
    label_name,
)


def compare_with_people(
    criterion: Criterion,
    scores: Sequence[Score],
    stubs: Mapping[str, CaseStub],
    threshold: Threshold | None,
    *,
    judge: str,
    labels: Review | None = None,
) -> HumanAgreement | None:
    """Set the scores beside what people said: `labels` of this run, and the annotations `verdicts[judge]` and
    `acceptable`; see `said_by_people`.

    A number counts as a pass from `cut` upwards: the judge's `min_mean` where there is one, else the middle of its
    scale. Scores without a usable value, and cases without a label, are left out.

    Returns:
        `None` when no case is labelled, or when a numeric judge gives nothing to cut at.
    """
    cut = _cut(criterion, threshold)
    agree = 0
    false_pass: list[str] = []
    false_fail: list[str] = []
    numeric = False
    for score in scores:
        if score.status is not Status.SCORED:
            continue
        said = said_by_people(stubs[score.case], judge, criterion.name, labels)
        human = _passes(said, cut)
        machine = _passes(score.value, cut)
        if human is None or machine is None:
            continue
        numeric = numeric or not isinstance(score.value, bool)
        if human == machine:
            agree += 1
        else:
            (false_pass if machine else false_fail).append(score.case)
    n = agree + len(false_pass) + len(false_fail)
    if not n:
        return None
    return HumanAgreement(
        n=n,
        agree=agree,
        false_pass=len(false_pass),
        false_fail=len(false_fail),
        cut=cut if numeric else None,
        false_pass_cases=tuple(false_pass),
        false_fail_cases=tuple(false_fail),
    )


def said_by_people(stub: CaseStub, judge: str, criterion: str, labels: Review | None) -> Any:
    """What people said of a case for a criterion, or `None`.

    What is said of the judge goes before what is said of the case as a whole, and of the two the review of this run
    before the annotations, which were there before it.
    """
    if labels is None:
        return human_label(stub.annotations, judge)
    said = labels.verdict(stub.id, label_name(judge, criterion))
    if said is None:
        verdicts = stub.annotations.get("verdicts")
        said = verdicts.get(judge) if isinstance(verdicts, Mapping) else None
    if said is None:
        said = labels.acceptable(stub.id)
    return human_label(stub.annotations, judge) if said is None else said


def human_label(annotations: Mapping[str, Any], judge: str) -> Any:
    """What people said of this case for this judge, or `None`."""
    verdicts = annotations.get("verdicts")
    if isinstance(verdicts, Mapping) and verdicts.get(judge) is not None:
        return verdicts[judge]
    return annotations.get("acceptable")


def _passes(value: Any, cut: float | None) -> bool | None:
    if isinstance(value, bool):
        return value
    try:
        return None if cut is None else finite(value) >= cut
    except OffScaleError:
        return None


def _cut(criterion: Criterion, threshold: Threshold | None) -> float | None:
    if threshold and threshold.min_mean is not None:
        return threshold.min_mean
    bounds = scale_bounds(criterion)
    return sum(bounds) / 2 if bounds else None


def scale_bounds(criterion: Criterion) -> tuple[float, float] | None:
    """Lowest and highest value of a numeric scale, or `None` for other scales."""
    schema = criterion.scale.schema() if criterion.scale else {}
    return (schema["minimum"], schema["maximum"]) if "minimum" in schema else None
