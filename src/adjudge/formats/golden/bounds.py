"""Values of golden.yaml and task.yaml that have the right type and make no sense."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from adjudge.domain import EFFORTS
from adjudge.formats.golden.schema import AgentFile, JudgeFile, ShownFile, SuiteFile, TaskFile


def out_of_bounds(settings: SuiteFile) -> Iterator[tuple[str, str]]:
    """(key, what is wrong with it) of golden.yaml."""
    agent = settings.agent if isinstance(settings.agent, AgentFile) else AgentFile()
    judge, shown = settings.judge or JudgeFile(), settings.shown or ShownFile()
    if settings.gate not in ("interval", "point"):
        yield "gate", f"must be interval or point, got {settings.gate!r}"
    if judge.effort and judge.effort not in EFFORTS:
        yield "judge.effort", f"must be one of {', '.join(EFFORTS)}, got {judge.effort!r}"
    if not 0 <= settings.max_drop < inf:
        yield "max_drop", f"must be 0 or more, got {settings.max_drop}"
    yield from _at_least_one(
        {"parallelism": settings.parallelism, "judge.samples": judge.samples, "judge.max_tokens": judge.max_tokens}
    )
    for key in shown.__struct_fields__:
        if getattr(shown, key) < 0:
            yield f"shown.{key}", f"must be 0 or more, got {getattr(shown, key)}"
    yield from _above_zero({"agent.timeout": agent.timeout, "judge.timeout": judge.timeout})
    yield from _above_zero({"agent.max_budget_usd": agent.max_budget_usd})


def task_out_of_bounds(task: TaskFile) -> Iterator[tuple[str, str]]:
    """(key, what is wrong with it) of task.yaml."""
    yield from _at_least_one({"max_files_touched": task.max_files_touched, "max_lines_changed": task.max_lines_changed})
    yield from _above_zero({"install_timeout": task.install_timeout, "checks_timeout": task.checks_timeout})


def _at_least_one(given: dict[str, int | None]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if value is not None and value < 1:
            yield key, f"must be 1 or more, got {value}"


def _above_zero(given: dict[str, int | float | None]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if value is not None and not 0 < value < inf:
            yield key, f"must be more than 0, got {value}"
