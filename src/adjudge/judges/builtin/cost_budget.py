"""Did the agent's run cost at most what it may?"""

from __future__ import annotations

from typing import Any


def judge(outputs: dict[str, Any], *, max_cost_usd: float = 1.0) -> tuple[bool, str]:
    """Pass when the recorded cost is known and at most `max_cost_usd`."""
    cost = outputs.get("cost_usd")
    if cost is None:
        return False, "No cost is recorded for this case."
    passes = cost <= max_cost_usd
    return passes, f"The run cost ${cost:.4f}, {'within' if passes else 'over'} the budget of ${max_cost_usd:.4f}."
