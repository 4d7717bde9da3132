"""Did every tool call of the agent come back without an error?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adjudge.judges.builtin.trace import Call, calls, content_text, listed, tool_results

_HEAD = 50
_ERROR = re.compile(r"(?<![a-z])error(?![a-z])", re.IGNORECASE)


def judge(outputs: dict[str, Any]) -> tuple[bool, str]:
    """Pass when no result of a tool call is an error, and when there are no calls.

    A result is an error with `is_error`, as a mapping with an `error`, or as a text that has the word *error* within
    its first 50 characters. Results are paired with calls by `tool_use_id`; one that a call carries itself (`result`,
    `output`) counts too.

    Raises:
        ValueError: there are calls, and not one result is recorded.
    """
    made = calls(outputs)
    results = tool_results(outputs)
    known = {call.id for call in made if call.id}
    strays = [result for result in results if str(result.get("tool_use_id") or "") not in known]
    if not made and not strays:
        return True, "There are no tool calls."
    answered = [call for call in made if call.results or _own(call) or call.failed]
    if not answered and not strays:
        raise ValueError("there are tool calls, but no result of any is recorded")
    bad = [f"{number}. {call.name or '?'}: {reason}" for number, call in enumerate(made, 1) if (reason := _fault(call))]
    bad += [f"{result.get('tool_name') or 'unknown call'}: {reason}" for result in strays if (reason := _of(result))]
    if bad:
        return False, f"{len(bad)} of {len(made) or len(strays)} tool calls failed: {listed(bad, 10)}"
    open_ = len(made) - len(answered)
    return True, f"No error in {len(made)} tool calls" + (f", of which {open_} have no result." if open_ else ".")


def _own(call: Call) -> list[Any]:
    return [call.entry[key] for key in ("result", "output") if call.entry.get(key) is not None]


def _fault(call: Call) -> str:
    own = _own(call)
    found = [*(_of(result) for result in call.results), *(_content(content) for content in own)]
    if call.failed:
        found.append(_quote(content_text(own[0])) if own else "")
        found.append("is_error")
    return next((reason for reason in found if reason), "")


def _of(result: Mapping[str, Any]) -> str:
    if result.get("is_error") is True:
        return _quote(content_text(result.get("content"))) or "is_error"
    return _content(result.get("content"))


def _content(content: Any) -> str:
    """What makes an error of what a tool gave back; nothing when it is none."""
    if isinstance(content, Mapping):
        return _quote(str(content["error"])) if content.get("error") else ""
    text = content_text(content)
    found = _ERROR.search(text[: _HEAD + 1])
    return _quote(text) if found and found.end() <= _HEAD else ""


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"
