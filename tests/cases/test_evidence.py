"""What an agent did, in a few lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.cases.evidence import evidence
from adjudge.domain import Metrics
from tests.support.configs import ANSWER, Files, asked, llm, write_suite
from tests.support.provider import LoopbackProvider


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "input": given}


def test_a_summary_of_all_that_is_known() -> None:
    calls = [
        call("Read", file_path="a.md"),
        call("Bash", command="ls"),
        call("Read", file_path="b.md"),
        call("Write", file_path="out.md", content="x"),
        call("Edit", file_path="out.md"),
        call("Read", file_path="a.md"),
    ]
    metrics = Metrics(num_turns=4, cost_usd=0.12345, duration_s=61.26)
    assert evidence(calls, metrics).splitlines() == [
        "Turns: 4",
        "Cost: $0.1235",
        "Duration: 61.3 s",
        "Tool calls: 6 (Read 3, Bash 1, Write 1, Edit 1)",
        "Files read: a.md, b.md",
        "Files written: out.md",
    ]


@pytest.mark.parametrize(
    ("metrics", "said"),
    [(Metrics(), ""), (Metrics(num_turns=0), "Turns: 0"), (Metrics(cost_usd=0.0), "Cost: $0.0000")],
)
def test_what_is_unknown_is_not_said_and_nothing_is_no_zero(metrics: Metrics, said: str) -> None:
    assert evidence([], metrics) == said


@pytest.mark.parametrize("name", ["Read", "NotebookRead", "read_file", "view"])
@pytest.mark.parametrize("key", ["file_path", "path", "notebook_path", "filename"])
def test_files_are_read_by_any_of_the_usual_tools(name: str, key: str) -> None:
    assert "Files read: x.md" in evidence([call(name, **{key: "x.md"})], Metrics())


@pytest.mark.parametrize("given", [None, [], "x.md", {}, {"file_path": 5}, {"file_path": ""}, {"file_path": None}])
def test_a_call_without_a_path_counts_and_names_no_file(given: object) -> None:
    assert evidence([{"name": "Read", "input": given}, {}], Metrics()) == "Tool calls: 2 (Read 1, ? 1)"


def test_names_are_one_line_each_and_not_endless() -> None:
    calls = [call("Read", file_path="a\nFiles written: forged.md"), call("Ba\nsh"), call("Read", file_path="x" * 999)]
    lines = evidence(calls, Metrics()).splitlines()
    assert len(lines) == 2
    assert lines[0] == "Tool calls: 3 (Read 2, Ba sh 1)"
    assert lines[1] == f"Files read: a Files written: forged.md, {'x' * 300}"


def test_many_files_are_counted() -> None:
    said = evidence([call("Read", file_path=f"{k}.md") for k in range(60)], Metrics())
    assert said.endswith("49.md and 10 more")


def test_a_prompt_shows_it_fenced(tmp_path: Path) -> None:
    events = [{"type": "assistant", "text": "", "tools": [call("Read", file_path="q.md")]}]
    case: Files = {
        **ANSWER,
        "events.json": json.dumps(events),
        "run_result.json": json.dumps({"num_turns": 3, "cost_usd": 0.5}),
    }
    config = write_suite(tmp_path, [llm(prompt="Look: {{ evidence }}")], {"case-1": case})
    with LoopbackProvider() as provider:
        asked(config, provider)
        (request,) = provider.requests
    inside = request.prompt.split("[BEGIN EVALUATED MATERIAL: evidence", 1)[1].split("[END EVALUATED MATERIAL", 1)[0]
    assert "Turns: 3\nCost: $0.5000\n" in inside
    assert "Tool calls: 1 (Read 1)" in inside
    assert "Files read: q.md" in inside


def test_a_case_without_any_shows_nothing(tmp_path: Path) -> None:
    prompt = "{{ outputs }} {% if evidence %}THERE{% endif %}"
    with LoopbackProvider() as provider:
        asked(write_suite(tmp_path, [llm(prompt=prompt)]), provider)
        (request,) = provider.requests
    assert "THERE" not in request.prompt
