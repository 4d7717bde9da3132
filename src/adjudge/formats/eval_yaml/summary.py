"""Run directories of agent-eval-harness, read as results: summary.yaml, and run_result.json where there is one."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from adjudge.domain import (
    CaseRun,
    CaseStub,
    CheckJudge,
    Criterion,
    Decision,
    ErrorKind,
    ExecutionResult,
    Failure,
    GateCheck,
    GateResult,
    JudgeSummary,
    Problem,
    RunMode,
    RunResult,
    RunState,
    SampleRecord,
    Score,
    Status,
    StoreError,
    TokenUsage,
    Usage,
    Value,
    finite,
)
from adjudge.scoring import summarise
from adjudge.scoring.gate import execution_checks

SUMMARY = "summary.yaml"
RUN_RESULT = "run_result.json"
PAIRWISE = "pairwise"
_PYTHON = "tag:yaml.org,2002:python/"
_BOOLEAN = ("boolean", "bool")
_SKIPPED = "Skipped: condition"
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Plain YAML. A Python tuple is a list; of every other Python object only its tag is kept, and nothing is run."""


class _Foreign:
    """A Python object in the file, which is not made."""

    def __init__(self, tag: str) -> None:
        self.tag = tag


_Loader.add_constructor(f"{_PYTHON}tuple", lambda loader, node: _Loader.construct_sequence(loader, node, deep=True))
_Loader.add_multi_constructor(_PYTHON, lambda loader, suffix, node: _Foreign(suffix))


def read_summary(folder: Path) -> RunResult:
    """The result that a run directory of agent-eval-harness holds.

    Summaries are computed anew from the scores; a judge that has figures and no scores keeps its figures, with a
    warning. A value that is no boolean and no finite number, or missing without a reason, is unscored. Thresholds are
    not part of such a directory, so its gate is inconclusive.

    Raises:
        StoreError: a file cannot be read, or is not of that form.
    """
    path = folder / SUMMARY
    document = _mapping(_parsed(path), f"{path}")
    if not {"judges", "per_case"} & document.keys():
        raise StoreError(f"{path} is no summary of a run: it has neither judges nor per_case")
    judged = _mapping(document.get("judges"), f"{path}: judges")
    by_case = _mapping(document.get("per_case"), f"{path}: per_case")
    scores: dict[str, dict[str, Score]] = {name: {} for name in judged}
    kinds: dict[str, str] = {name: _text(_entry(about).get("judge_type")) for name, about in judged.items()}
    for case, records in by_case.items():
        for judge, record in _mapping(records, f"{path}: per_case.{case}").items():
            kinds[judge] = _text(_entry(record).get("judge_type")) or kinds.get(judge, "")
            scores.setdefault(judge, {})[case] = _score(case, judge, record, kinds[judge])
    execution, cases = _execution(folder / RUN_RESULT)
    stubs = {case: CaseStub(id=case) for case in sorted({*by_case, *cases})}
    names = [name for name in scores if name != PAIRWISE]
    summaries = [_summary(name, scores[name], kinds[name], _entry(judged.get(name)), stubs) for name in names]
    told = [
        Problem(file=str(path), key=f"judges.{name}", message="has figures but no scores case by case", warning=True)
        for name in names
        if not scores[name]
    ]
    told += _told_of_pairwise(document, path)
    reason = f"{path.name} holds no thresholds, so nothing was decided"
    checks = [GateCheck("", "threshold", Decision.INCONCLUSIVE, reason)]
    checks += [
        msgspec.structs.replace(check, decision=Decision.INCONCLUSIVE)
        for check in (execution_checks(execution) if execution is not None else ())
        if check.decision is not Decision.PASS
    ]
    run_id = _text(document.get("run_id")) or folder.name
    return RunResult(
        suite=folder.absolute().parent.name or run_id,
        description=f"run {run_id}",
        format="eval_yaml",
        gate=GateResult(Decision.INCONCLUSIVE, tuple(checks)),
        judges=tuple(summaries),
        scores=tuple(score for name in names for _, score in sorted(scores[name].items())),
        cases=tuple(stubs.values()),
        usage=sum((summary.usage for summary in summaries if summary.usage), Usage()),
        warnings=tuple(told),
        execution=execution,
    )


def _parsed(path: Path) -> Any:
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")
    try:
        return yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from None
    except yaml.MarkedYAMLError as error:
        line = f" on line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise StoreError(f"{path} is not valid YAML{line}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise StoreError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise StoreError(f"{path} is nested too deeply") from None


def _mapping(value: Any, where: str) -> dict[str, Any]:
    """A mapping with its keys as text; an empty one for nothing.

    Raises:
        StoreError: it is something else.
    """
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise StoreError(f"{where}: a mapping is expected, not {_said(value)}")
    odd = [key for key in value if not isinstance(key, str | int | float | datetime.date)]
    if odd:
        raise StoreError(f"{where}: a key is {_said(odd[0])}, not text")
    return {str(key): item for key, item in value.items()}


def _entry(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _score(case: str, judge: str, record: Any, kind: str) -> Score:
    """The score of one record; what is not of their form is unscored, and says so."""

    def made(status: Status, value: Value | None = None, error: Failure | None = None, **more: Any) -> Score:
        place = float(value) if isinstance(value, bool) else None
        return Score(
            case=case, judge=judge, criterion=judge, status=status, value=value, normalised=place, error=error, **more
        )

    if not isinstance(record, dict):
        return made(Status.UNSCORED, error=Failure(ErrorKind.WRONG_TYPE, f"a record is expected, not {_said(record)}"))
    rationale = _text(record.get("rationale"))
    more: dict[str, Any] = {"rationale": rationale, "usage": _usage(record.get("usage"))}
    more.update(_sampled(record, kind))
    raw = record.get("value")
    if raw is None and record.get("error") is not None:
        return made(Status.UNSCORED, error=Failure(ErrorKind.RAISED, _told(record["error"])), **more)
    if raw is None and rationale.startswith(_SKIPPED):
        return made(Status.SKIPPED, **more)
    value = _value(raw, kind)
    if isinstance(value, Failure):
        return made(Status.UNSCORED, error=value, **more)
    return made(Status.SCORED, value, **more)


def _value(raw: Any, kind: str) -> Value | Failure:
    """A boolean or a finite number. A judge that is said to be boolean may have written 1 and 0."""
    if isinstance(raw, bool):
        return raw
    if kind in _BOOLEAN and isinstance(raw, int | float) and raw in (0, 1):
        return bool(raw)
    if isinstance(raw, int | float):
        try:
            return finite(raw)
        except ValueError:
            return Failure(ErrorKind.WRONG_TYPE, "the value is no finite number of at most 64 bits")
    if raw is None:
        return Failure(ErrorKind.WRONG_TYPE, "there is neither a value nor an error")
    return Failure(ErrorKind.WRONG_TYPE, f"the value is {_said(raw)}, not a boolean or a number")


def _sampled(record: Mapping[Any, Any], kind: str) -> dict[str, Any]:
    """The samples of a record, and how far they agree with its value."""
    values = _entry(record.get("stability")).get("values")
    if not isinstance(values, list) or len(values) < 2:
        return {}
    found = [_value(value, kind) for value in values]
    samples = tuple(
        SampleRecord(Status.UNSCORED, error=said) if isinstance(said, Failure) else SampleRecord(Status.SCORED, said)
        for said in found
    )
    usable = [sample.value for sample in samples if sample.value is not None]
    agreement = usable.count(record["value"]) / len(usable) if usable and record.get("value") is not None else None
    return {"samples": samples, "agreement": agreement}


def _summary(
    name: str, scores: Mapping[str, Score], kind: str, figures: Mapping[Any, Any], stubs: Mapping[str, CaseStub]
) -> JudgeSummary:
    shown = "" if kind in (*_BOOLEAN, "numeric") else kind
    if not scores:
        return _from_figures(name, shown, figures)
    samples = max(len(score.samples) for score in scores.values()) or 1
    criterion = Criterion(name=name)
    judge = CheckJudge(name=name, criteria=(criterion,), samples=samples, code="")
    ordered = [score for _, score in sorted(scores.items())]
    return msgspec.structs.replace(summarise(judge, criterion, ordered, stubs=stubs), kind=shown or "unknown")


def _from_figures(name: str, kind: str, figures: Mapping[Any, Any]) -> JudgeSummary:
    rate, mean = _number(figures.get("pass_rate")), _number(figures.get("mean"))
    value = mean if rate is None else rate
    metric = None if value is None else ("mean" if rate is None else "pass_rate")
    errors = _count(figures.get("errored_cases"))
    return JudgeSummary(
        judge=name,
        criterion=name,
        kind=kind or "unknown",
        metric=metric,
        value=value,
        n=_count(figures.get("scored_cases")),
        unscored=errors,
        unscored_kinds={ErrorKind.RAISED.value: errors} if errors else {},
    )


def _told_of_pairwise(document: Mapping[str, Any], path: Path) -> list[Problem]:
    if not document.get(PAIRWISE):
        return []
    return [Problem(file=str(path), key=PAIRWISE, message="pairwise results are not read", warning=True)]


def collected_run(folder: Path, cases: Sequence[str]) -> ExecutionResult | None:
    """How the agent's runs went whose outputs lie in a run directory, as far as it says so.

    Raises:
        StoreError: its `run_result.json` cannot be read.
    """
    found, _ = _execution(folder / RUN_RESULT)
    if found is None or found.cases[0].case:
        return found
    state, code, error = found.cases[0].state, found.cases[0].exit_code, found.cases[0].error
    runs = [CaseRun(case=case, state=state, exit_code=code, error=error) for case in cases]
    return msgspec.structs.replace(found, cases=tuple(runs))


def _execution(path: Path) -> tuple[ExecutionResult | None, Iterable[str]]:
    """How the agent went, and the cases that it ran; nothing when the file is not there.

    A run of all cases in one batch has no figures a case: its figures stand under the case ``""``.
    """
    if not path.exists():
        return None, ()
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is not valid JSON: {error}") from None
    whole = _mapping(document, f"{path}")
    cases = _mapping(whole.get("per_case"), f"{path}: per_case")
    runs = [_case_run(case, record) for case, record in sorted(cases.items())]
    batch = whole.get("execution_mode") == RunMode.BATCH.value or not runs
    return ExecutionResult(
        agent=_text(whole.get("agent")),
        agent_version=_text(whole.get("agent_version")),
        model=_text(whole.get("model")),
        mode=RunMode.BATCH if batch else RunMode.CASE,
        cases=tuple(runs or [_case_run("", whole)]),
    ), cases


def _case_run(case: str, record: Any) -> CaseRun:
    about = _entry(record)
    code, error = about.get("exit_code"), _text(about.get("error"))
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    state = RunState.TIMEOUT if code == -1 else RunState.FAILED if code or error else RunState.OK
    if about.get("state") == RunState.ERROR.value:
        state = RunState.ERROR
    turns = about.get("num_turns")
    return CaseRun(
        case=case,
        state=state,
        exit_code=code,
        duration_s=_number(about.get("duration_s")) or 0.0,
        cost_usd=_number(about.get("cost_usd")),
        num_turns=None if turns is None else _count(turns),
        token_usage=_tokens(about.get("token_usage")),
        error=error,
        aborted_at_step=_text(about.get("aborted_at_step")),
    )


def _tokens(raw: Any) -> TokenUsage | None:
    if not isinstance(raw, dict):
        return None
    return TokenUsage(**{name: _count(raw.get(name)) for name in TokenUsage.__struct_fields__})


def _usage(raw: Any) -> Usage | None:
    """What a judge's calls used, where a record says so under the names that providers and that tool use."""
    if not isinstance(raw, dict):
        return None

    def first(*names: str) -> int:
        return next((count for name in names if (count := _count(raw.get(name)))), 0)

    cost = _number(raw.get("cost_usd"))
    return Usage(
        calls=first("calls", "num_calls") or 1,
        input=first("input", "input_tokens"),
        output=first("output", "output_tokens"),
        cache_read=first("cache_read", "cache_read_input_tokens"),
        cache_write=first("cache_create", "cache_creation_input_tokens"),
        cost_usd=cost,
        price_source="" if cost is None else "summary.yaml",
        unpriced_calls=(first("calls", "num_calls") or 1) if cost is None else 0,
    )


def _number(raw: Any) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    try:
        return float(raw) if math.isfinite(raw) else None
    except OverflowError:
        return None


def _count(raw: Any) -> int:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw < 2**63 else 0


def _text(raw: Any) -> str:
    return raw if isinstance(raw, str) else ""


def _told(error: Any) -> str:
    return error if isinstance(error, str) else f"the error is {_said(error)}"


def _said(raw: Any) -> str:
    """What kind of thing it is; never what it holds, which may be huge."""
    if isinstance(raw, _Foreign):
        return f"the Python object {raw.tag[:80]}"
    names: Sequence[tuple[type | tuple[type, ...], str]] = (
        (str, "text"),
        (list, "a list"),
        (dict, "a mapping"),
        (bool, "a boolean"),
        ((int, float), "a number"),
        (type(None), "nothing"),
    )
    return next((name for kind, name in names if isinstance(raw, kind)), f"a {type(raw).__name__}")
