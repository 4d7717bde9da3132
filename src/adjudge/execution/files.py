"""The files of a run directory that tell of the agent's runs, as their users know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adjudge.domain import CaseRun, Execution, ExecutionResult, RunState, TokenUsage


def case_entry(run: CaseRun) -> dict[str, Any]:
    """A case's part of run_result.json."""
    entry: dict[str, Any] = {
        "exit_code": run.exit_code,
        "state": run.state.value,
        "duration_s": run.duration_s,
        "token_usage": msgspec.to_builtins(run.token_usage),
        "cost_usd": run.cost_usd,
        "num_turns": run.num_turns,
        "per_model_usage": run.per_model_usage,
        "per_model_turns": run.per_model_turns,
        "permission_denials": list(run.permission_denials),
    }
    if run.error:
        entry["error"] = run.error
    if run.steps:
        entry["steps"] = {
            step.id: {
                "exit_code": step.exit_code,
                "state": step.state.value,
                "duration_s": step.duration_s,
                "token_usage": msgspec.to_builtins(step.token_usage),
                "cost_usd": step.cost_usd,
                "num_turns": step.num_turns,
                **({"error": step.error} if step.error else {}),
            }
            for step in run.steps
        }
    if run.aborted_at_step:
        entry["aborted_at_step"] = run.aborted_at_step
    if run.repo_modified:
        entry["repo_modified"] = list(run.repo_modified)
    return entry


def run_result(result: ExecutionResult, execution: Execution, *, wall_s: float) -> dict[str, Any]:
    """run_result.json. What is summed is null when no part of it is known; a failed case is never hidden by the rest:
    the exit code is -1 when any case ran out of time, else the largest."""
    runs = result.cases
    optional = {
        "skill": execution.skill,
        "skill_args": execution.arguments,
        "effort": execution.agent.effort,
        "input_overrides": execution.overrides,
    }
    parameters: dict[str, Any] = {
        "execution_mode": execution.mode.value,
        "max_budget_usd": execution.budget_usd,
        "timeout_s": execution.timeout_s,
        **{name: value for name, value in optional.items() if value},
    }
    return {
        "exit_code": worst([run.exit_code for run in runs]),
        "duration_s": round(sum(run.duration_s for run in runs), 3),
        "wall_clock_s": round(wall_s, 3),
        "cost_usd": total([run.cost_usd for run in runs]),
        "token_usage": msgspec.to_builtins(tokens([run.token_usage for run in runs])),
        "num_turns": total([run.num_turns for run in runs]),
        "per_model_usage": merged([run.per_model_usage for run in runs]),
        "per_model_turns": turns_of([run.per_model_turns for run in runs]),
        "permission_denials": [denial for run in runs for denial in run.permission_denials],
        "num_cases": len(runs),
        "failed_cases": [run.case for run in result.failed],
        "model": result.model,
        "agent": result.agent,
        "agent_version": result.agent_version,
        "execution_mode": execution.mode.value,
        "eval_params": parameters,
        "per_case": {run.case: case_entry(run) for run in runs},
    }


def worst(codes: Sequence[int | None]) -> int:
    """-1 before everything; a run that could not start counts as 1."""
    known = [1 if code is None else code for code in codes]
    return -1 if -1 in known else max((abs(code) for code in known), default=0)


def worst_state(states: Sequence[RunState]) -> RunState:
    order = (RunState.ERROR, RunState.TIMEOUT, RunState.FAILED)
    return next((state for state in order if state in states), RunState.OK)


def total(values: Sequence[float | None]) -> Any:
    """The sum of what is known; `None` when nothing is."""
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known else None


def tokens(parts: Sequence[TokenUsage | None]) -> TokenUsage | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return TokenUsage(
        sum(part.input for part in known),
        sum(part.output for part in known),
        sum(part.cache_read for part in known),
        sum(part.cache_create for part in known),
    )


def merged(parts: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Usage by model, summed key by key."""
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for model, usage in part.items():
            own = found.setdefault(model, {})
            for key, value in usage.items():
                if isinstance(value, int | float):
                    own[key] = round(own.get(key, 0) + value, 6)
    return found


def turns_of(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        for model, count in part.items():
            found[model] = found.get(model, 0) + count
    return found
