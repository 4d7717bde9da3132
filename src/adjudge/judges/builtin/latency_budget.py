"""Did the agent's run take at most as long as it may?"""

from __future__ import annotations

from typing import Any


def judge(outputs: dict[str, Any], *, max_duration_s: float) -> tuple[bool, str]:
    """Pass when the recorded duration is at most `max_duration_s` seconds.

    Raises:
        ValueError: no duration is recorded.
    """
    duration = outputs.get("duration_s")
    if duration is None:
        raise ValueError("no duration is recorded for this case")
    passes = duration <= max_duration_s
    return passes, f"The run took {duration:.1f} s, {'within' if passes else 'over'} the limit of {max_duration_s:g} s."
