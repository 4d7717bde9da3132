"""What coding tasks are gated by, once it is known which model judges them and which of them run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from adjudge.domain import (
    ConfigError,
    Execution,
    Judge,
    JudgeIdentity,
    LLMJudge,
    Problem,
    StoreError,
    SuiteBaseline,
    TaskBaseline,
    TaskRules,
)
from adjudge.engine.options import RunOptions
from adjudge.models import Endpoint
from adjudge.trust import calibration_of, read_certificate


def planned_rules(
    rules: TaskRules, judges: Sequence[Judge], endpoints: Mapping[str, Endpoint], options: RunOptions, *, partial: bool
) -> TaskRules:
    """The rules with the model and the decoding of the rubric's judge, and without a baseline that no judge can be held
    against.

    Raises:
        ConfigError: the certificate cannot be read.
    """
    judge = next((one for one in judges if one.name == rules.judge), None)
    calibration = msgspec.structs.replace(rules.calibration, required=options.require_calibration)
    if not isinstance(judge, LLMJudge):  # left out: there are no scores to compare, but tasks can be missing
        known = rules.baseline and SuiteBaseline(tasks={task: TaskBaseline() for task in rules.baseline.tasks})
        return msgspec.structs.replace(rules, baseline=known, selected=partial, calibration=calibration)
    decoding = hashlib.sha256(f"{judge.effort}\0{judge.max_tokens}".encode()).hexdigest()
    endpoint = endpoints.get(judge.name)
    identity = msgspec.structs.replace(
        rules.identity, model=endpoint.model if endpoint is not None else judge.model, decoding=decoding
    )
    try:
        certificate = read_certificate(Path(rules.certificate)) if rules.certificate else None
    except StoreError as error:
        raise ConfigError(f"{error}; adjudge calibrate writes another") from None
    calibration = msgspec.structs.replace(calibration_of(certificate, identity), required=options.require_calibration)
    baseline = rules.baseline
    if options.accept_baseline and not partial and _changes(identity, baseline):
        baseline = None  # another judge's scores, of which none will be kept
    return msgspec.structs.replace(
        rules, identity=identity, selected=partial, calibration=calibration, baseline=baseline
    )


def _changes(identity: JudgeIdentity, baseline: SuiteBaseline | None) -> tuple[str, ...]:
    return identity.changes(baseline.judge) if baseline is not None and baseline.judge is not None else ()


def identity_problems(rules: TaskRules, *, accept: bool) -> list[Problem]:
    """Why this run's scores cannot be compared with the baseline's: another judge gave them."""
    changes = _changes(rules.identity, rules.baseline)
    if not changes:
        return []
    hint = "calibrate the judge anew, then --update-baseline accept takes this run's scores"
    if accept:
        hint = "only some of the tasks run, and the others would keep that judge's scores: run all of them"
    return [
        Problem(
            key="baseline.json",
            message=f"its scores are of another judge, and do not compare with this run's: {', '.join(changes)}",
            hint=hint,
        )
    ]


def author_warnings(
    rules: TaskRules, tasks: Sequence[str], endpoints: Mapping[str, Endpoint], execution: Execution | None
) -> list[Problem]:
    """Tasks whose reference solution was written by a model that now works on them, or judges: what is measured then is
    how far the model agrees with itself."""
    roles: list[tuple[str, set[str]]] = [("judge", {endpoint.model for endpoint in endpoints.values()})]
    done = set(execution.submissions) if execution is not None else set(tasks)
    if execution is not None:
        roles.insert(0, ("agent under test", {*execution.models.values(), execution.agent.name}))
    found = []
    for role, models in roles:
        known = {_bare(model): model for model in sorted(models) if model}
        alike: dict[str, list[str]] = {}
        for task in tasks:
            if role == "judge" or task not in done:
                for name in sorted(known.keys() & _words(rules.authors.get(task, ""))):
                    alike.setdefault(known[name], []).append(task)
        found += [
            Problem(
                key="golden.json",
                message=f"{model} wrote the reference solution of {_listed(names)}, and is the {role} as well: its "
                "scores there show how far it agrees with itself",
                hint="let a person or another model write it",
                warning=True,
            )
            for model, names in sorted(alike.items())
        ]
    return found


def _words(author: str) -> set[str]:
    return {_bare(word) for word in re.split(r"[\s,;()]+", author) if word}


def _bare(model: str) -> str:
    """A model's name without its provider and the day of its version: `anthropic/claude-opus-4-7-20260401`."""
    name = re.sub(r"\[.*\]$|@.*$", "", model.lower()).rpartition("/")[2]
    return re.sub(r"^anthropic\.|[-.](\d{8}|\d{4}-\d{2}-\d{2}|latest)(-v\d.*)?$", "", name)


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
