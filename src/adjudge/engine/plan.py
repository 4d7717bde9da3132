"""From a suite and options to what will be asked. Everything that can be known to fail fails here, at once."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from adjudge.domain import (
    BUILTIN_JUDGES,
    BuiltinJudge,
    CaseRef,
    CaseStub,
    ConfigError,
    DecisionJudge,
    Execution,
    Failure,
    Judge,
    LeftOut,
    LLMJudge,
    Matrix,
    PairwiseJudge,
    Problem,
    RewardNode,
    Snapshot,
    Suite,
    closest,
)
from adjudge.engine.options import RunOptions
from adjudge.engine.planned_models import ModelPlanner, place_of, prefix_warnings
from adjudge.engine.planned_tasks import author_warnings, identity_problems, planned_rules
from adjudge.models import Endpoint, is_loopback, known
from adjudge.prompts import template_problem


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a run will do.

    Attributes:
        snapshot: What the run directory remembers.
        judges: The judges that run, with overrides applied.
        refs: The selected cases, in order.
        endpoints: Judge name -> where its model is reached, for LLM judges.
        code_paths: Where judges in code are imported from.
        warnings: Said once when the run starts.
        unavailable: Judge name -> why its model cannot be asked, when the run goes on all the same.
        execution: How the agent under test is run first.
        runs: Where the suite's runs lie, when not in the usual place.
    """

    snapshot: Snapshot
    judges: tuple[Judge, ...]
    refs: tuple[CaseRef, ...]
    endpoints: dict[str, Endpoint]
    code_paths: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()
    unavailable: dict[str, Failure] = {}
    execution: Execution | None = None
    runs: str = ""

    @property
    def verdicts(self) -> int:
        """How many verdicts the run comes to when no condition skips any."""
        return len(self.refs) * sum(len(judge.criteria) * judge.samples for judge in self.judges)

    @property
    def fingerprint(self) -> str:
        """Equal for runs that ask the same of the same cases."""
        return hashlib.sha256(msgspec.json.encode(self.snapshot, order="sorted")).hexdigest()


def make_plan(suite: Suite, options: RunOptions) -> RunPlan:
    """Plan a run.

    Raises:
        ConfigError: with every case that does not exist, every judge without a model or credentials, every extra that
            is not installed.
    """
    suite.check()
    if options.samples is not None and options.samples < 1:
        raise ConfigError(f"samples must be 1 or more, got {options.samples}")
    environ = {**os.environ, **options.environ}
    problems: list[Problem] = []
    warnings: list[Problem] = []
    stubs = _select(suite, options, problems)
    judges: list[Judge] = []
    left_out: list[LeftOut] = []
    models = ModelPlanner(suite, options, environ, problems)
    panels: dict[str, tuple[str, ...]] = {}
    for judge in suite.judges:
        if isinstance(judge, PairwiseJudge) and options.baseline is None:
            if suite.tasks is None:  # nobody wrote that of coding tasks, for which baseline.json is the baseline
                left_out.append(LeftOut(judge.name, "there is no --baseline to compare with"))
            continue
        if isinstance(judge, LLMJudge | DecisionJudge):
            if isinstance(judge, LLMJudge):
                problems += _template_problems(judge)
            if options.no_llm:
                left_out.append(LeftOut(judge.name, "--no-llm"))
                continue
            members = models.judges(judge)
            if len(members) > 1:
                panels[judge.name] = tuple(member.name for member in members)
            judges += members
            continue
        if isinstance(judge, BuiltinJudge):
            problems += _missing_modules(judge)
        judges.append(judge)
    endpoints = models.endpoints
    warnings += prefix_warnings(judges, endpoints, len(stubs))
    if options.budget_usd is not None:
        _check_budget(endpoints, problems, warnings)
    execution = _execution(suite, options)
    if execution is not None and not options.offline and {stub.id for stub in stubs} - set(execution.submissions):
        for problem in _absent_agents(execution, options, environ):
            (warnings if problem.warning else problems).append(problem)
    if execution is not None and suite.matrix is not None:
        warnings += _open_factors(suite.matrix, execution)
    rules = suite.tasks
    kept = suite.warnings
    if rules is not None:
        kept += tuple(author_warnings(rules, [stub.id for stub in stubs], endpoints, execution))
        partial = len(stubs) < len(suite.source.stubs())
        rules = planned_rules(rules, judges, endpoints, options, partial=partial)
        problems += identity_problems(rules, accept=options.accept_baseline)
    if problems:
        raise ConfigError(problems)
    source = suite.source
    snapshot = Snapshot(
        suite=suite.name,
        description=suite.description,
        format=suite.format,
        cases=tuple(stubs),
        judges=tuple(judges),
        models={name: endpoint.label for name, endpoint in endpoints.items()},
        panels=panels,
        thresholds=suite.thresholds,
        rewards=_without(suite.rewards, {gone.judge for gone in left_out}),
        on_error=suite.on_error,
        reward=suite.reward,
        pass_threshold=suite.pass_threshold,
        left_out=tuple(left_out),
        warnings=kept,
        selection=_selection(suite, stubs, options),
        seed=options.seed,
        execution=execution,
        collected=suite.collected,
        baseline=options.baseline.figures.name if options.baseline else "",
        tasks=rules,
    )
    return RunPlan(
        snapshot=snapshot,
        judges=tuple(judges),
        refs=tuple(source.ref(stub.id) for stub in stubs),
        endpoints=endpoints,
        code_paths=suite.code_paths,
        warnings=(*kept, *warnings),
        unavailable=models.unavailable,
        execution=execution,
        runs=suite.runs,
    )


def _execution(suite: Suite, options: RunOptions) -> Execution | None:
    """How the agent is run, with what the options say of it."""
    if suite.execution is None:
        return None
    models = dict(suite.execution.models)
    if options.agent_model:
        models["skill"] = options.agent_model
    overrides = {**suite.execution.overrides, **options.overrides}
    return msgspec.structs.replace(suite.execution, models=models, overrides=overrides)


def _open_factors(matrix: Matrix, execution: Execution) -> list[Problem]:
    """Places of the command that only a cell of the matrix fills."""
    template = execution.agent.template
    words = " ".join(template.command) if template is not None else ""
    known = {**execution.overrides, **({"model": ""} if execution.models.get("skill") else {})}
    return [
        Problem(
            file=_shown_config(execution),
            key="runner.command",
            message=f"{{{name}}} is a factor of the matrix, and has no level in this run",
            hint=f"--matrix runs every level; {'--model M' if name == 'model' else f'--input {name}=...'} chooses one",
            warning=True,
        )
        for name in matrix.factors
        if f"{{{name}}}" in words and name not in known
    ]


def _shown_config(execution: Execution) -> str:
    """The config file, from the current folder on where it lies below it."""
    here = Path.cwd()
    config = Path(execution.config)
    return str(config.relative_to(here) if config.is_relative_to(here) else config) if execution.config else ""


def _absent_agents(execution: Execution, options: RunOptions, environ: Mapping[str, str]) -> list[Problem]:
    """The agents under test that cannot be started; warnings where the run may go on all the same."""
    from adjudge.execution import absent_programs  # with what it takes to run agents

    file = _shown_config(execution)
    found = []
    for absent in absent_programs(execution, environ):
        stops = absent.certain and not options.keep_going
        hint = (
            "--keep-going runs what can run" if stops else "unless a hook puts it there" if not absent.certain else ""
        )
        found.append(Problem(file=file, key=absent.key, message=absent.message, hint=hint, warning=not stops))
    return found


def _without(nodes: tuple[RewardNode, ...], judges: set[str]) -> tuple[RewardNode, ...]:
    """The rewards without the judges that are left out, and without what is empty then."""
    if not judges:
        return nodes
    kept = []
    for node in nodes:
        parts = tuple(part for part in node.parts if part.judge not in judges)
        inputs = _without(node.inputs, judges)
        if parts or inputs:
            kept.append(msgspec.structs.replace(node, parts=parts, inputs=inputs))
    return tuple(kept)


def _select(suite: Suite, options: RunOptions, problems: list[Problem]) -> list[CaseStub]:
    stubs = list(suite.source.stubs())
    ids = {stub.id for stub in stubs}
    problems += [
        Problem(key="--case", message=f"there is no case {name!r}", hint=closest(name, ids))
        for name in options.cases
        if name not in ids
    ]
    tags = {tag for stub in stubs for tag in stub.tags}
    problems += [
        Problem(key="--tag", message=f"no case has the tag {name!r}", hint=closest(name, tags))
        for name in options.tags
        if name not in tags
    ]
    if options.cases:
        stubs = [stub for stub in stubs if stub.id in options.cases]
    if options.tags:
        stubs = [stub for stub in stubs if set(stub.tags) & set(options.tags)]
    if not stubs and not problems:
        problems.append(Problem(message="there are no cases to judge" if not ids else "the selection leaves no case"))
    return stubs


def _template_problems(judge: LLMJudge) -> list[Problem]:
    texts = [judge.prompt, *(text for _, text in judge.context)]
    problems = filter(None, map(template_problem, texts))
    return [Problem(key=f"judge {judge.name!r}", message=problem) for problem in problems]


def _missing_modules(judge: BuiltinJudge) -> list[Problem]:
    info = BUILTIN_JUDGES[judge.builtin]
    absent = [name for name in info.requires if importlib.util.find_spec(name) is None]
    if not absent:
        return []
    file, line, column = place_of(judge.location)
    message = f"the builtin judge {judge.builtin!r} needs {', '.join(absent)}"
    key = f"judge {judge.name!r}"
    return [Problem(file=file, line=line, column=column, key=key, message=message, hint=info.install)]


def _check_budget(endpoints: Mapping[str, Endpoint], problems: list[Problem], warnings: list[Problem]) -> None:
    """A budget binds only where prices are known."""
    for name, endpoint in endpoints.items():
        if endpoint.bills or known(endpoint.model, endpoint.priced_as):
            continue
        message = f"judge {name!r}: no price is known for {endpoint.label}"
        if is_loopback(endpoint):
            warnings.append(Problem(key="--budget", message=f"{message}, so its calls do not count", warning=True))
        else:
            problems.append(Problem(key="--budget", message=f"{message}, so a budget cannot bind"))


def _selection(suite: Suite, stubs: list[CaseStub], options: RunOptions) -> str:
    if not options.cases and not options.tags:
        return ""
    parts = [f"case {name}" for name in options.cases] + [f"tag {name}" for name in options.tags]
    return f"{len(stubs)} of {len(suite.source.stubs())} cases ({', '.join(parts)})"
