"""What a gate has against files of a repository, for the review pages of GitHub and GitLab."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath

import msgspec

from adjudge.domain import Decision, GateCheck, Problem, RunResult, Snapshot, Word
from adjudge.report.words import one_line

MAX_TITLE, MAX_MESSAGE = 200, 1_000
_HARD = "hard check"


class Level(StrEnum):
    """How grave an annotation is; the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """One line of text at a line of a file. The texts may come from what is judged: whoever writes them escapes them.

    `file` is relative to the repository; empty where there is none. `line` counts from 1.
    """

    level: Level
    title: str
    message: str
    file: str = ""
    line: int = 1


def gate_annotations(
    result: RunResult, snapshot: Snapshot, *, folders: Mapping[str, str] | None = None, root: Path | None = None
) -> list[Annotation]:
    """What a run's gate says of its tasks and judges, the gravest first.

    Args:
        folders: Case -> the folder that it was read from.
        root: The repository's; the working directory, when not given.
    """
    places = _Places(snapshot, folders or {}, root or Path.cwd())
    found = [*_of_gate(result, places), *_of_agent(result, places), *_of_soft_checks(result, places)]
    found += problem_annotations(result.warnings, root=root)
    return sorted(found, key=lambda one: list(Level).index(one.level))


def problem_annotations(problems: Iterable[Problem], *, root: Path | None = None) -> list[Annotation]:
    """The problems of a config, at their lines."""
    return [
        Annotation(
            level=Level.WARNING if problem.warning else Level.ERROR,
            title=one_line(f"config: {problem.key}" if problem.key else "config", MAX_TITLE),
            message=one_line(f"{problem.message} ({problem.hint})" if problem.hint else problem.message, MAX_MESSAGE),
            file=_below(problem.file, root or Path.cwd()) if problem.file else "",
            line=max(1, problem.line),
        )
        for problem in problems
    ]


def _of_gate(result: RunResult, places: _Places) -> Iterator[Annotation]:
    for check in result.gate.checks:
        level = _level(check)
        if level is None:
            continue
        about = ": ".join(part for part in (check.case or check.judge, _what(check)) if part)
        file, line = places.of_check(check)
        yield Annotation(
            level=level,
            title=one_line(about, MAX_TITLE),
            message=one_line(check.reason, MAX_MESSAGE),
            file=file,
            line=line,
        )


def _level(check: GateCheck) -> Level | None:
    """`None` when there is nothing to say."""
    if check.decision in (Decision.FAIL, Decision.BROKEN):
        return Level.ERROR
    if check.decision is Decision.INCONCLUSIVE:
        return Level.WARNING
    return Level.NOTICE if check.metric in (_HARD, Word.NOISE, Word.FLAKY) else None


def _what(check: GateCheck) -> str:
    """`hard check expected_files`, `correctness regressed`, `error_rate`."""
    if check.metric == _HARD:
        return f"{_HARD} {check.judge}"
    return f"{check.criterion} {check.metric}".strip()


def _of_agent(result: RunResult, places: _Places) -> Iterator[Annotation]:
    level = next((_level(check) for check in result.gate.checks if check.metric == "execution"), None)
    for run in result.execution.failed if result.execution is not None else ():
        yield Annotation(
            level=level or Level.NOTICE,
            title=one_line(f"{run.case}: the agent's run: {run.state.value}", MAX_TITLE),
            message=one_line(run.error or (run.kind.sentence if run.kind else run.state.value), MAX_MESSAGE),
            file=places.of_case(run.case),
        )


def _of_soft_checks(result: RunResult, places: _Places) -> Iterator[Annotation]:
    for row in result.tasks.rows if result.tasks is not None else ():
        for name in row.soft:
            said = next((s.rationale for s in result.scores if (s.case, s.judge) == (row.task, name)), "")
            yield Annotation(
                level=Level.WARNING,
                title=one_line(f"{row.task}: soft check {name}", MAX_TITLE),
                message=one_line(said or "failed", MAX_MESSAGE),
                file=places.of_case(row.task),
            )


class _Places:
    """Where in the repository a task, a dimension or a judge is defined."""

    def __init__(self, snapshot: Snapshot, folders: Mapping[str, str], root: Path) -> None:
        self.root = root
        self.folders = folders
        self.judges = {judge.name: judge.location for judge in snapshot.judges}
        self.of_tasks = snapshot.tasks is not None
        self.suite = snapshot.execution.project if snapshot.execution is not None else ""

    def of_check(self, check: GateCheck) -> tuple[str, int]:
        if check.case:
            return self.of_case(check.case), 1
        file, _, place = self.judges.get(check.judge, "").partition(":")
        if PurePosixPath(file).suffix:  # the built-in checks of tasks are defined in no file
            line = place.partition(":")[0]
            return _below(file, self.root), int(line) if line.isdecimal() else 1
        return (_below(f"{self.suite}/rubric.md", self.root) if self.of_tasks else ""), 1

    def of_case(self, case: str) -> str:
        """A task's task.yaml; the baseline, where there is no such task any more."""
        if not self.of_tasks:
            return ""
        folder = self.folders.get(case)
        return _below(f"{folder}/task.yaml" if folder else f"{self.suite}/baseline.json", self.root)


def _below(path: str, root: Path) -> str:
    """A path as it is written from the repository's root; as it is, where it lies elsewhere."""
    real = os.path.realpath(path)
    home = os.path.realpath(root)
    return os.path.relpath(real, home) if os.path.commonpath((real, home)) == home else path
