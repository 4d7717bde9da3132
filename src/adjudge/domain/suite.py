"""A suite: what a user wrote, read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

import msgspec

from adjudge.domain.agent import AgentSpec
from adjudge.domain.case import Case, CaseSource, InlineCases
from adjudge.domain.catalogue import BUILTIN_JUDGES
from adjudge.domain.errors import ConfigError, Problem
from adjudge.domain.execution import Execution, ExecutionResult, Matrix
from adjudge.domain.gate import Threshold
from adjudge.domain.judge import EFFORTS, BuiltinJudge, CheckJudge, DecisionJudge, Judge, LLMJudge, Mode, ScriptJudge
from adjudge.domain.providers import OpenRouter
from adjudge.domain.reward import OnError, RewardFormula, RewardNode
from adjudge.domain.scale import Binary, Levels
from adjudge.domain.snippet import compile_snippet
from adjudge.domain.tasks import TaskRules


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """Cases, judges and gates, ready to be planned.

    Attributes:
        name: Names the runs; one path segment.
        cases: Where the cases come from; a list of `Case` will do.
        judges: In the order in which reports show them.
        thresholds: By judge name.
        default_model: For LLM judges that name none.
        openrouter: How its models are reached and routed.
        execution: How the agent under test is run before anything is judged; `None` to judge what is there.
        collected: How the runs went whose outputs are judged, where their run directory says so.
        matrix: The factors of a factorial run.
        tasks: What coding tasks are gated by.
        runs: Where the runs of the agent lie, a folder; empty for the usual place.
        runner: The agent that answers for `runner:/` models; Claude Code when none is named.
        rewards: Numbers composed from the scores of each case.
        reward: A formula over the judges of each case.
        on_error: What a criterion without a score does to a reward.
        pass_threshold: Least share of all binary verdicts that must pass; `None` when each judge is gated by itself.
        code_paths: Folders that code judges are imported from, first one first.
        format: The dialect it was read from; empty when built in Python.
        warnings: What the reader found worth saying.
    """

    name: str
    cases: CaseSource | Sequence[Case] = ()
    judges: tuple[Judge, ...] = ()
    thresholds: dict[str, Threshold] = {}
    description: str = ""
    default_model: str = ""
    openrouter: OpenRouter | None = None
    execution: Execution | None = None
    collected: ExecutionResult | None = None
    matrix: Matrix | None = None
    tasks: TaskRules | None = None
    runs: str = ""
    runner: AgentSpec | None = None
    rewards: tuple[RewardNode, ...] = ()
    on_error: OnError = OnError.FAIL
    reward: RewardFormula | None = None
    pass_threshold: float | None = None
    code_paths: tuple[str, ...] = ()
    format: str = ""
    warnings: tuple[Problem, ...] = ()

    @property
    def source(self) -> CaseSource:
        if isinstance(self.cases, Sequence):
            return InlineCases(self.cases)
        return self.cases

    def check(self) -> None:
        """Raise for a suite that no reader has checked.

        Raises:
            ConfigError: with every duplicate or unknown name, and for a name that is not one path segment.
        """
        problems: list[str] = []
        if isinstance(self.cases, Sequence):
            problems += [text for case in self.cases if (text := _case_problem(case))]
        names = [judge.name for judge in self.judges]
        ids = [stub.id for stub in self.source.stubs()]
        if self.name in {"", ".", ".."} or Path(self.name).name != self.name or not self.name.isprintable():
            problems.append(f"suite name {self.name!r} must be one path segment")
        problems += [f"two judges are called {name!r}" for name in duplicates(names)]
        problems += [f"two cases are called {case_id!r}" for case_id in duplicates(ids)]
        valid = {*names, *(f"{judge.name}.{criterion.name}" for judge in self.judges for criterion in judge.criteria)}
        problems += [f"threshold for unknown judge {name!r}" for name in self.thresholds if name not in valid]
        for name, threshold in self.thresholds.items():
            shares = (threshold.min_pass_rate, threshold.min_win_rate, threshold.max_error_rate)
            if not all(share is None or 0 <= share <= 1 for share in shares):
                problems.append(f"threshold of {name!r}: rates must be from 0 to 1")
            if threshold.min_mean is not None and not isfinite(threshold.min_mean):
                problems.append(f"threshold of {name!r}: min_mean must be a finite number")
            if threshold.decide_by not in ("point", "interval"):
                problems.append(
                    f"threshold of {name!r}: decide_by must be point or interval, got {threshold.decide_by!r}"
                )
        for judge in self.judges:
            if isinstance(judge, BuiltinJudge):
                problems += _builtin_problems(judge)
            if isinstance(judge, CheckJudge):
                try:
                    compile_snippet(judge.code, judge.name)
                except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                    problems.append(f"judge {judge.name!r}: the check is not valid Python: {error}")
            if isinstance(judge, ScriptJudge) and judge.condition is not None:
                problems.append(f"judge {judge.name!r}: a script takes no condition")
            if not isinstance(judge, LLMJudge | DecisionJudge) and judge.samples > 1:
                problems.append(f"judge {judge.name!r}: only judges that ask a model take samples")
            problems += [f"judge {judge.name!r}: {text}" for text in _judge_problems(judge)]
            try:
                msgspec.msgpack.encode(judge)
            except (TypeError, ValueError, OverflowError, RecursionError) as error:
                problems.append(f"judge {judge.name!r} holds something that is not plain data: {error}")
            criteria = [criterion.name for criterion in judge.criteria]
            problems += [f"judge {judge.name!r} has two criteria called {name!r}" for name in duplicates(criteria)]
        if problems:
            raise ConfigError([Problem(message=text) for text in problems])


def _builtin_problems(judge: BuiltinJudge) -> Iterator[str]:
    known = {name for name, info in BUILTIN_JUDGES.items() if info.kind == "python"}
    if judge.builtin in BUILTIN_JUDGES.keys() - known:
        yield f"judge {judge.name!r}: {judge.builtin!r} asks a model, and no Python answers for it: use an LLMJudge"
    elif judge.builtin not in known:
        listed = ", ".join(sorted(known))
        yield f"judge {judge.name!r}: there is no builtin judge {judge.builtin!r}; there are: {listed}"


def _judge_problems(judge: Judge) -> Iterator[str]:
    """Rules between the fields of a judge that asks a model."""
    if not isinstance(judge, LLMJudge | DecisionJudge):
        return
    if judge.min_votes > judge.samples:
        yield f"min_votes is {judge.min_votes}, of {judge.samples} samples"
    if judge.mode is Mode.BATCHED and any(criterion.files for criterion in judge.criteria):
        yield "files of a criterion need mode individual"
    if judge.html not in ("text", "source"):
        yield f"html must be text or source, got {judge.html!r}"
    if isinstance(judge, DecisionJudge):
        if not judge.files and not judge.reference and all(not criterion.files for criterion in judge.criteria):
            yield "a decision model needs files to judge"
        for criterion in judge.criteria:
            if not isinstance(criterion.scale, Binary | Levels):
                yield f"criterion {criterion.name!r}: a decision model answers binary and levels criteria only"
        return
    if judge.instructions and "{criteria}" not in judge.instructions:
        yield "instructions must contain {criteria}"
    if judge.effort and judge.effort not in EFFORTS:
        yield f"effort must be one of {', '.join(EFFORTS)}, got {judge.effort!r}"
    if len(set(judge.panel)) != len(judge.panel):
        yield "the panel names a model twice"


def _case_problem(case: Case) -> str | None:
    """Why a case built in Python cannot be sent to a worker."""
    if not isinstance(case, Case):
        return f"a case must be a Case, got {type(case).__name__}"
    try:
        msgspec.msgpack.decode(msgspec.msgpack.encode(case), type=Case)
        msgspec.json.encode(case.annotations)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return f"case {case.id!r} holds something that is not plain data: {error}"
    return None if case.id.isprintable() and case.id else f"case {case.id!r}: the id must be readable text"


def duplicates(names: Sequence[str]) -> list[str]:
    """The names that occur more than once, in order of first repetition."""
    seen: set[str] = set()
    repeated: list[str] = []
    for name in names:
        if name in seen and name not in repeated:
            repeated.append(name)
        seen.add(name)
    return repeated
