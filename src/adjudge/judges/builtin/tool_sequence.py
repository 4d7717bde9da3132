"""Did the agent call these tools, in this order?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjudge.judges.builtin.trace import called, listed, recorded_calls


def judge(outputs: dict[str, Any], *, tools: list[str], mode: str = "in_order") -> tuple[bool, str]:
    """Pass when the root agent's calls hold the patterns in order, are exactly them, or have a call for each.

    Raises:
        ValueError: the case has no trajectory, or the mode is unknown.
    """
    names = [call.name for call in recorded_calls(outputs) if not call.subagent]
    made = listed(names, 20) or "none"
    if mode == "exact":
        same = len(names) == len(tools) and all(map(called, tools, names))
        return same, f"The calls are {'exactly' if same else 'not exactly'} {listed(tools, 20)}: {made}."
    if mode == "in_order":
        missing = _first_missing(tools, names)
    elif mode == "any_order":
        missing = _first_unmatched(tools, names)
    else:
        raise ValueError(f"mode must be in_order, exact or any_order, got {mode!r}")
    if missing is None:
        return True, f"The calls hold {listed(tools, 20)}: {made}."
    after = f" after the {missing} before it" if mode == "in_order" and missing else ""
    return False, f"No call of {tools[missing]}{after}: {made}."


def _first_missing(tools: Sequence[str], names: Sequence[str]) -> int | None:
    at = 0
    for name in names:
        if at < len(tools) and called(tools[at], name):
            at += 1
    return at if at < len(tools) else None


def _first_unmatched(tools: Sequence[str], names: Sequence[str]) -> int | None:
    """The first pattern for which no call is left, when calls are shared out as well as can be (Kuhn 1955)."""
    holder: dict[int, int] = {}

    def place(tool: int, tried: set[int]) -> bool:
        for index, name in enumerate(names):
            if index not in tried and called(tools[tool], name):
                tried.add(index)
                if index not in holder or place(holder[index], tried):
                    holder[index] = tool
                    return True
        return False

    return next((tool for tool in range(len(tools)) if not place(tool, set())), None)
