"""Did the agent leave a tool alone?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from adjudge.judges.builtin.trace import called, listed, recorded_calls


def judge(outputs: dict[str, Any], *, tool: str) -> tuple[bool, str]:
    """Pass when no call, of subagents neither, has a name that matches the pattern.

    Raises:
        ValueError: the case has no trajectory.
    """
    made = recorded_calls(outputs)
    used = Counter(call.name for call in made if called(tool, call.name))
    if used:
        return False, f"Called: {listed(f'{name} {count} times' for name, count in used.most_common())}."
    return True, f"None of {len(made)} tool calls is one of {tool}."
