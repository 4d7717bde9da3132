"""Ready criteria on trajectories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library.trajectory import (
    trajectory_tool_not_used,
    trajectory_tool_used,
    trajectory_turn_count,
)


def write(folder: Path, steps: Any) -> str:
    (folder / "t.json").write_text(json.dumps({"schema_version": "ATIF-v1.2", "steps": steps}))
    return "t.json"


def agent(*tools: str) -> dict[str, Any]:
    return {"source": "agent", "message": "", "tool_calls": [{"function_name": tool} for tool in tools]}


def test_calls_are_counted_over_all_steps(tmp_path: Path) -> None:
    path = write(tmp_path, [{"source": "user"}, agent("bash", "edit"), agent("bash"), {"source": "agent"}])
    assert trajectory_tool_used(tmp_path, "bash", path=path).value is True
    assert trajectory_tool_used(tmp_path, "bash", 2, path).value is True
    assert trajectory_tool_used(tmp_path, "bash", 3, path) == Finding(
        False, "'bash' was called 2 times, wanted 3 times"
    )
    assert trajectory_tool_used(tmp_path, "ba", path=path).value is False
    assert trajectory_tool_used(tmp_path, "none", 0, path).value is True
    assert trajectory_tool_not_used(tmp_path, "edit", path) == Finding(False, "'edit' was called once")
    assert trajectory_tool_not_used(tmp_path, "web", path).value is True


@pytest.mark.parametrize(
    ("turns", "most", "value"),
    [(0, 0, 1.0), (1, 0, 0.0), (4, 4, 1.0), (5, 4, 0.75), (6, 4, 0.5), (8, 4, 0.0), (20, 4, 0.0), (2, 9, 1.0)],
)
def test_turns_fall_evenly(tmp_path: Path, turns: int, most: int, value: float) -> None:
    path = write(tmp_path, [agent() for _ in range(turns)] + [{"source": "user"}, {"source": "system"}])
    assert trajectory_turn_count(tmp_path, most, path).value == value


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"steps": {}}', '{"steps": [1]}', '{"steps": [{"tool_calls": [3]}]}', '{"steps": null}'],
)
def test_a_bad_trajectory_counts_against_the_agent(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.json").write_text(content)
    assert trajectory_tool_used(tmp_path, "x", 0, "t.json").value is False
    assert trajectory_tool_not_used(tmp_path, "x", "t.json").value is False
    if "tool_calls" not in content:
        assert trajectory_turn_count(tmp_path, 9, "t.json").value == 0.0


def test_the_trajectory_lies_where_harbor_puts_it(tmp_path: Path) -> None:
    for finding in (
        trajectory_tool_used(tmp_path, "x"),
        trajectory_tool_not_used(tmp_path, "x"),
        trajectory_turn_count(tmp_path, 3),
    ):
        assert not finding.value
        assert "/logs/agent/trajectory.json does not exist" in finding.evidence


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3", None])
def test_numbers_must_be_whole_and_not_negative(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match="max_turns must be a whole number of at least 0"):
        trajectory_turn_count(tmp_path, wrong)
    with pytest.raises(ValueError, match="min_count must be a whole number of at least 0"):
        trajectory_tool_used(tmp_path, "x", wrong)


def test_calls_may_be_null(tmp_path: Path) -> None:
    path = write(tmp_path, [{"source": "agent", "tool_calls": None}])
    assert trajectory_tool_not_used(tmp_path, "x", path).value is True
