"""Annotations of files at GitHub and GitLab."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import (
    CaseRun,
    Decision,
    ErrorKind,
    Execution,
    ExecutionResult,
    GateCheck,
    GateResult,
    Problem,
    RunResult,
    RunState,
    Snapshot,
    TaskRules,
)
from adjudge.report import code_quality, gate_annotations, problem_annotations, workflow_commands
from adjudge.report.annotations import Annotation, Level
from adjudge.report.github import MAX_CHARS, PER_LEVEL, fitted
from tests.support.build import judge
from tests.support.ci_jobs import commands

ROOT = Path("/repository")
TASKS = Snapshot(
    suite="evals",
    judges=(judge("checks", location="evals/tasks:1:1"), judge("rubric", location="evals/rubric.md:1:1")),
    tasks=TaskRules(judge="rubric"),
    execution=Execution(project="/repository/evals"),
)
FOLDERS = {"fix": "/repository/evals/tasks/fix-it"}
TEXT = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    [
        "\n::error::x",
        "::stop-commands::t",
        "##[add-mask]e",
        "%0A::error::x",
        "a,file=b",
        "a::b",
        "\r\n##[error]x",
        "\x85",
    ]
)


def told(*checks: GateCheck, snapshot: Snapshot = TASKS, **fields: object) -> list[Annotation]:
    made = RunResult(suite="s", gate=GateResult(Decision.FAIL, checks), **fields)  # type: ignore[arg-type]
    return gate_annotations(made, snapshot, folders=FOLDERS, root=ROOT)


def check(decision: Decision, **fields: str) -> GateCheck:
    given = {"judge": "rubric", "metric": "regressed", "reason": "why", "case": "fix", "criterion": "scope"}
    return GateCheck(decision=decision, **{**given, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "level", "title"),
    [
        (check(Decision.FAIL), "error", "fix: scope regressed"),
        (check(Decision.FAIL, judge="checks", metric="hard check", criterion=""), "error", "fix: hard check checks"),
        (check(Decision.BROKEN, metric="unscored"), "error", "fix: scope unscored"),
        (check(Decision.INCONCLUSIVE, metric="changed", criterion=""), "warning", "fix: changed"),
        (check(Decision.PASS, metric="noise"), "notice", "fix: scope noise"),
        (check(Decision.PASS, metric="flaky"), "notice", "fix: scope flaky"),
        (check(Decision.PASS, judge="c", metric="hard check", criterion=""), "notice", "fix: hard check c"),
    ],
)
def test_what_the_gate_says_of_a_task_is_at_its_file(made: GateCheck, level: str, title: str) -> None:
    wanted = Annotation(level=Level(level), title=title, message="why", file="evals/tasks/fix-it/task.yaml")
    assert told(made) == [wanted]


@pytest.mark.parametrize("word", ["same", "improved", "new", "abstained", "error_rate"])
def test_what_is_well_is_not_annotated(word: str) -> None:
    assert told(check(Decision.PASS, metric=word)) == []


@pytest.mark.parametrize(
    ("made", "file"),
    [
        (check(Decision.FAIL, case="gone", metric="missing", criterion=""), "evals/baseline.json"),
        (check(Decision.FAIL, case=""), "evals/rubric.md"),
        (check(Decision.BROKEN, case="", judge="checks", metric="error_rate"), "evals/rubric.md"),
        (check(Decision.INCONCLUSIVE, case="", judge="", metric="calibration"), "evals/rubric.md"),
    ],
)
def test_what_is_of_no_task_is_at_a_file_of_the_suite(made: GateCheck, file: str) -> None:
    (found,) = told(made)
    assert found.file == file


def test_a_judge_of_another_suite_is_annotated_where_it_is_defined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    snapshot = Snapshot(suite="s", judges=(judge("good", location="evals/eval.yaml:12:5"),))
    made = RunResult(suite="s", gate=GateResult(Decision.FAIL, (check(Decision.FAIL, judge="good", case=""),)))
    (found,) = gate_annotations(made, snapshot, root=tmp_path)
    assert (found.file, found.line, found.title) == ("evals/eval.yaml", 12, "good: scope regressed")


def test_a_path_starts_at_the_repository_and_not_at_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    (found,) = problem_annotations([Problem(file="eval.yaml", line=3, message="bad", hint="better")], root=tmp_path)
    assert (found.file, found.line, found.message) == ("sub/eval.yaml", 3, "bad (better)")
    (outside,) = problem_annotations([Problem(file="/elsewhere/eval.yaml", message="bad")], root=tmp_path)
    assert (outside.file, outside.line) == ("/elsewhere/eval.yaml", 1)


def test_an_agent_that_could_not_run_is_annotated_at_its_task() -> None:
    lost = CaseRun(case="fix", state=RunState.ERROR, kind=ErrorKind.CONFIG, error="no such program")
    failed = GateCheck("", "execution", Decision.BROKEN, "1 of 1")
    gate, task = told(failed, execution=ExecutionResult(agent="x", cases=(lost,)))
    assert gate.message == "1 of 1"
    assert (task.level, task.file, task.message) == ("error", "evals/tasks/fix-it/task.yaml", "no such program")


def test_the_gravest_come_first() -> None:
    found = told(check(Decision.PASS, metric="noise"), check(Decision.INCONCLUSIVE), check(Decision.FAIL))
    assert [one.level for one in found] == ["error", "warning", "notice"]


@given(level=st.sampled_from(Level), file=TEXT, title=TEXT, message=TEXT)
def test_no_text_commands_the_runner(level: Level, file: str, title: str, message: str) -> None:
    one = Annotation(level=level, file=file, title=title, message=message, line=7)
    (found,) = commands(workflow_commands([one]))
    assert (found.name, found.data) == (level.value, message)
    wanted = {"file": file, "line": "7", "title": title} if file else {"title": title}
    trimmed = {name: text.rstrip() for name, text in found.properties.items()}  # as the runner does with the last one
    assert trimmed == {name: text.rstrip() for name, text in wanted.items()}


@given(reason=TEXT, case=TEXT, name=TEXT)
def test_no_text_of_a_gate_is_more_than_one_annotation(reason: str, case: str, name: str) -> None:
    made = told(check(Decision.FAIL, reason=reason, case=case, criterion=name))
    assert [found.name for found in commands(workflow_commands(made))] == ["error"]
    assert workflow_commands(made).count("\n") == 1
    json.loads(code_quality(made))


def test_no_more_are_written_than_github_shows_and_the_rest_is_counted() -> None:
    many = [Annotation(level=Level.ERROR, title=str(k), message="m") for k in range(25)]
    one = Annotation(level=Level.NOTICE, title="n", message="m")
    found = commands(workflow_commands([one, *many]))
    assert [command.name for command in found] == ["error"] * PER_LEVEL + ["notice"]
    assert found[PER_LEVEL - 1].data.startswith("16 more of this level")
    assert len(commands(workflow_commands(many[:PER_LEVEL]))) == PER_LEVEL


def test_a_code_quality_report_has_what_gitlab_asks_for() -> None:
    worse = msgspec.structs.replace(check(Decision.FAIL), reason="worse still")
    (entry,) = json.loads(code_quality(told(check(Decision.FAIL))))
    assert entry == {
        "description": "fix: scope regressed: why",
        "check_name": "adjudge",
        "fingerprint": entry["fingerprint"],
        "severity": "major",
        "location": {"path": "evals/tasks/fix-it/task.yaml", "lines": {"begin": 1}},
    }
    (later,) = json.loads(code_quality(told(worse)))
    assert later["fingerprint"] == entry["fingerprint"]


def test_fingerprints_differ_and_what_has_no_file_is_left_out() -> None:
    same = Annotation(level=Level.WARNING, title="t", message="m", file="a")
    entries = json.loads(code_quality([same, same, Annotation(level=Level.ERROR, title="t", message="m")]))
    assert len({entry["fingerprint"] for entry in entries}) == len(entries) == 2


def test_a_summary_that_fits_is_left_alone() -> None:
    assert fitted("x" * MAX_CHARS) == "x" * MAX_CHARS


@pytest.mark.parametrize("limit", [400, 500, 1_000])
def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so(limit: int) -> None:
    text = "".join(f"line {k}\n" for k in range(20)) + "<details><summary>x</summary>\n\n" + "| row |\n" * 200
    cut = fitted(text + "</details>\n", limit)
    assert len(cut) <= limit
    assert cut.count("<details>") == cut.count("</details>")
    assert "too long for GitHub" in cut
    kept = cut.partition("\n</details>")[0].partition("\n*Cut")[0]
    assert text.startswith(kept)
