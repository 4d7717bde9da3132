"""Did the agent's run go without an error?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjudge.judges.builtin.trace import content_text, events, listed

_TYPES = frozenset({"error", "turn.failed"})


def judge(outputs: dict[str, Any]) -> tuple[bool, str]:
    """Pass when the exit code is 0 or unknown, and no event is an error or has `is_error`.

    Raises:
        ValueError: the case has no trajectory, and its exit code does not decide either.
    """
    code = outputs.get("exit_code")
    faults = [f"exit code {code}"] if code else []
    found = events(outputs)
    faults += [f"event {number}: {reason}" for number, event in enumerate(found, 1) if (reason := _fault(event))]
    if faults:
        return False, f"{len(faults)} errors: {listed(faults)}"
    if not found:
        raise ValueError("the case has no trajectory (events.json), so it is not known whether there were errors")
    return True, f"No error in {len(found)} events; the exit code is {'not recorded' if code is None else code}."


def _fault(event: Mapping[str, Any]) -> str:
    kind = str(event.get("type") or "")
    subtype = str(event.get("subtype") or "")
    if (
        kind in _TYPES
        or event.get("is_error") is True
        or (kind in ("result", "system") and "error" in subtype.split("_"))
    ):
        said = event.get("content") or event.get("message") or event.get("error") or event.get("result") or ""
        text = " ".join((content_text(said) or str(said)).split())[:120]
        return ": ".join(part for part in (kind, subtype, text) if part)
    return ""
