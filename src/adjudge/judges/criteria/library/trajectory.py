"""Criteria on what an agent did, from its trajectory in the Agent Trajectory Interchange Format (ATIF)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.data import read_json
from adjudge.judges.criteria.library.reading import MAX_BYTES, UnusableError, brief, failing, need_string, need_whole

TRAJECTORY = "/logs/agent/trajectory.json"


@failing(False)
def trajectory_tool_used(workspace: Path, tool_name: str, min_count: int = 1, path: str = TRAJECTORY) -> Finding:
    """Whether the agent called a tool often enough."""
    need_whole("min_count", min_count, 0)
    count = _calls(workspace, tool_name, path)
    return Finding(count >= min_count, f"{brief(tool_name)} was called {_times(count)}, wanted {_times(min_count)}")


@failing(False)
def trajectory_tool_not_used(workspace: Path, tool_name: str, path: str = TRAJECTORY) -> Finding:
    """Whether the agent never called a tool; without a trajectory, it is not known and counts as no."""
    count = _calls(workspace, tool_name, path)
    return Finding(count == 0, f"{brief(tool_name)} was called {_times(count)}")


@failing(0.0)
def trajectory_turn_count(workspace: Path, max_turns: int, path: str = TRAJECTORY) -> Finding:
    """1.0 for at most `max_turns` steps of the agent, then falling evenly to 0.0 at twice as many."""
    need_whole("max_turns", max_turns, 0)
    turns = sum(step.get("source") == "agent" for step in _steps(workspace, path))
    said = f"the agent took {turns} {'turn' if turns == 1 else 'turns'}, at most {max_turns} wanted"
    if turns <= max_turns:
        return Finding(1.0, said)
    return Finding(max(0.0, 1.0 - (turns - max_turns) / max_turns) if max_turns else 0.0, said)


def _calls(workspace: Path, tool_name: str, path: str) -> int:
    need_string("tool_name", tool_name)
    count = 0
    for step in _steps(workspace, path):
        calls = step.get("tool_calls") or []
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise UnusableError(f"{path} is no trajectory: tool_calls is {brief(calls)}")
        count += sum(call.get("function_name") == tool_name for call in calls)
    return count


def _steps(workspace: Path, path: str) -> list[dict[str, Any]]:
    data, _ = read_json(workspace, path, MAX_BYTES)
    steps = data.get("steps") if isinstance(data, dict) else None
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise UnusableError(f"{path} is no trajectory: it has no list of steps")
    return steps


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
