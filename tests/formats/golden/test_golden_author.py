"""Whoever wrote a task's reference solution should neither be tested nor judge on it: golden.json's `author`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge import formats
from adjudge.engine import RunOptions, make_plan
from tests.support.golden import SOLUTION, agent, judged, patch_of, scoring, write_suite
from tests.support.provider import LoopbackProvider

CLAUDE = {"type": "claude-code", "model": "claude-opus-4-7"}


def suite(folder: Path, author: str, *tasks: str, **settings: Any) -> Path:
    root = write_suite(folder, {task: {} for task in tasks or ("fix-load",)}, **settings)
    patch = patch_of(root / "repo", SOLUTION)
    for task in tasks or ("fix-load",):
        (root / "tasks" / task / "golden.json").write_text(json.dumps({"patch": patch, "author": author}))
    return root


def said(root: Path, **options: object) -> list[str]:
    plan = make_plan(formats.load(root), RunOptions(offline=True, keep_going=True, **options))  # type: ignore[arg-type]
    return [str(problem) for problem in plan.warnings if problem.key == "golden.json"]


@pytest.mark.parametrize(
    "author",
    [
        "claude-opus-4-7",
        "Claude-Opus-4-7",
        "anthropic/claude-opus-4-7",
        "anthropic:/claude-opus-4-7",
        "claude-opus-4-7-20260401",
        "claude-opus-4-7@20260401",
        "anthropic.claude-opus-4-7-20260401-v1:0",
        "written by claude-opus-4-7, checked by a person",
    ],
)
def test_the_model_under_test_is_told_of_however_the_author_spells_it(tmp_path: Path, author: str) -> None:
    (text,) = said(suite(tmp_path, author, agent=CLAUDE))
    assert "claude-opus-4-7 wrote the reference solution of fix-load, and is the agent under test as well" in text


@pytest.mark.parametrize("author", ["", "a person", "claude-opus-4-6", "claude-opus-4-70", "claude", "gpt-5.4", "4-7"])
def test_anybody_else_is_not(tmp_path: Path, author: str) -> None:
    assert said(suite(tmp_path, author, agent=CLAUDE)) == []


def test_the_judge_is_told_of_and_every_task_is_named_once(tmp_path: Path) -> None:
    root = suite(tmp_path, "claude-sonnet-4-6", "a", "b", agent=CLAUDE)
    (text,) = said(root)
    assert "claude-sonnet-4-6 wrote the reference solution of a, b, and is the judge as well" in text
    assert "of b, and is the judge" in said(root, cases=("b",))[0]


def test_the_models_that_the_command_line_names_count(tmp_path: Path) -> None:
    root = suite(tmp_path, "claude-opus-4-7")
    assert said(root) == []
    assert len(said(root, agent_model="claude-opus-4-7")) == 1
    assert len(said(root, judge_model="anthropic/claude-opus-4-7")) == 1
    assert len(said(root, judge_model="anthropic/claude-opus-4-7", agent_model="claude-opus-4-7")) == 2
    assert said(root, judge_model="anthropic/claude-opus-4-7", no_llm=True) == []


def test_an_agent_without_a_model_may_be_the_author_by_its_own_name(tmp_path: Path) -> None:
    (text,) = said(suite(tmp_path, "claude-code"))
    assert "claude-code wrote the reference solution of fix-load, and is the agent under test" in text


def test_the_result_says_it_too(tmp_path: Path) -> None:
    root = suite(tmp_path, "claude-sonnet-4-6", agent=agent(tmp_path, "echo x > app.py"))
    with LoopbackProvider(scoring(correctness=4, scope=4)) as provider:
        result = judged(root, provider)
    assert [problem.key for problem in result.warnings] == ["revision", "golden.json"]
    stored = json.loads(Path("run", "result.json").read_text())["warnings"]
    assert "is the judge as well" in stored[1]["message"]


def test_a_golden_json_that_cannot_be_read_is_told_of_before_anybody_asks_for_it(tmp_path: Path) -> None:
    for text in ("{", '{"patch": 3}', "{}", '{"patch_file": "gone.patch"}', '{"autor": "x", "patch": "x"}'):
        root = suite(tmp_path, "a person")
        (root / "tasks" / "fix-load" / "golden.json").write_text(text)
        (problem,) = [one for one in formats.load(root).warnings if one.key != "revision"]
        assert problem.file.endswith("fix-load/golden.json")
        assert "cannot be read" in problem.message
