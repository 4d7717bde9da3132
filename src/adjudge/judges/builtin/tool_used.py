"""Did the agent call a tool, often enough and with such input?"""

from __future__ import annotations

from typing import Any

from adjudge.judges.builtin.trace import as_text, called, recorded_calls


def judge(
    outputs: dict[str, Any], *, tool: str, min_calls: int = 1, input_matches: dict[str, str] | None = None
) -> tuple[bool, str]:
    """Pass with at least `min_calls` calls, of subagents too, whose name and inputs match the patterns.

    Raises:
        ValueError: the case has no trajectory.
    """
    named = [call for call in recorded_calls(outputs) if called(tool, call.name)]
    wanted = (input_matches or {}).items()
    fitting = [
        call
        for call in named
        if all(key in call.given and called(pattern, as_text(call.given[key])) for key, pattern in wanted)
    ]
    like = f", {len(fitting)} of them with such input" if wanted else ""
    return len(fitting) >= min_calls, f"{len(named)} calls of {tool}{like}; at least {min_calls} needed."
