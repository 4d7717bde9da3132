"""What coding tasks are gated by, once it is known which model judges them and which of them run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.domain import Judge, LLMJudge, Problem, TaskRules
from adjudge.engine.options import RunOptions
from adjudge.models import Endpoint
from adjudge.trust import calibration_of, read_certificate


def planned_rules(
    rules: TaskRules, judges: Sequence[Judge], endpoints: Mapping[str, Endpoint], options: RunOptions, *, partial: bool
) -> TaskRules:
    """The rules with the model and the decoding of the rubric's judge, and without a baseline that no judge can be held
    against."""
    judge = next((one for one in judges if one.name == rules.judge), None)
    calibration = msgspec.structs.replace(rules.calibration, required=options.require_calibration)
    if not isinstance(judge, LLMJudge):  # left out: there are no scores to compare
        return msgspec.structs.replace(rules, baseline=None, selected=partial, calibration=calibration)
    decoding = hashlib.sha256(f"{judge.effort}\0{judge.max_tokens}".encode()).hexdigest()
    endpoint = endpoints.get(judge.name)
    identity = msgspec.structs.replace(
        rules.identity, model=endpoint.model if endpoint is not None else judge.model, decoding=decoding
    )
    calibration = msgspec.structs.replace(
        calibration_of(read_certificate(Path(rules.certificate)) if rules.certificate else None, identity),
        required=options.require_calibration,
    )
    return msgspec.structs.replace(rules, identity=identity, selected=partial, calibration=calibration)


def identity_problems(rules: TaskRules, *, accept: bool) -> list[Problem]:
    """Why this run's scores cannot be compared with the baseline's: another judge gave them."""
    baseline = rules.baseline
    if baseline is None or baseline.judge is None or accept:
        return []
    changes = rules.identity.changes(baseline.judge)
    if not changes:
        return []
    return [
        Problem(
            key="baseline.json",
            message=f"its scores are of another judge, and do not compare with this run's: {', '.join(changes)}",
            hint="calibrate the judge anew, then --update-baseline accept takes this run's scores",
        )
    ]
