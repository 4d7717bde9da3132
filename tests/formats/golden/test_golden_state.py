"""baseline.json and quarantine.json that people wrote by hand."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import ConfigError, Problem
from adjudge.formats.golden import load, read_baseline, read_quarantine
from adjudge.formats.golden.schema import ShownFile
from tests.support.golden import write_suite

TODAY = datetime.date(2026, 12, 3)


@pytest.mark.parametrize("key", ["diff", "final_message", "tool_calls"])
def test_a_judge_that_is_shown_less_is_another_judge(tmp_path: Path, key: str) -> None:
    root = write_suite(tmp_path)
    before = load(root).tasks
    write_suite(tmp_path, shown={key: 100})
    after = load(root).tasks
    write_suite(tmp_path, shown={key: getattr(ShownFile(), key)})
    same = load(root).tasks
    assert before is not None
    assert after is not None
    assert same is not None
    assert after.identity.changes(before.identity) == ("prompt",)
    assert same.identity == before.identity


def faults(problems: list[Problem]) -> list[str]:
    return [problem.message for problem in problems if not problem.warning]


@pytest.mark.parametrize("key", ["dimention", "Dimension", "dim"])
def test_a_misspelt_key_does_not_put_a_whole_task_away(tmp_path: Path, key: str) -> None:
    path = tmp_path / "quarantine.json"
    path.write_text(json.dumps([{"task": "a", key: "scope", "until": "2999-01-01", "reason": "flips"}]))
    problems: list[Problem] = []
    assert read_quarantine(path, "quarantine.json", TODAY, ["a"], problems) == ((), ())
    assert [repr(key) in told for told in faults(problems)] == [True]


@pytest.mark.parametrize(
    "given",
    [
        {"a": {"scope": 9}},
        {"a": {"scope": -3}},
        {"version": 1, "judge": {}, "tasks": {"a": {"scores": {"scope": [4, 1e308]}}}},
        {"version": 1, "judge": {}, "tasks": {"a": {"scores": {"scope": [0]}}}},
        {"version": 1, "judge": {}, "taks": {"a": {"scores": {"scope": [4]}}}},
    ],
)
def test_a_baseline_of_scores_that_no_rubric_gives_is_none(tmp_path: Path, given: dict[str, Any]) -> None:
    """A pass against it would say nothing."""
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(given))
    problems: list[Problem] = []
    assert read_baseline(path, "baseline.json", problems) is None
    assert len(faults(problems)) == 1


def test_a_dimension_that_there_is_not_is_told_of(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    entries = [{"task": "fix-load", "dimension": name, "until": "2999-01-01"} for name in ("scope", "scopes")]
    (root / "quarantine.json").write_text(json.dumps(entries))
    told = [problem.message for problem in load(root).warnings if problem.file.endswith("quarantine.json")]
    assert told == ["there is no dimension 'scopes'"]


def test_a_folder_without_tasks_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "rubric.md").write_text("1. scope\n   - 5: good\n   - 1: bad\n")
    with pytest.raises(ConfigError, match="there is no task"):
        load(tmp_path)
