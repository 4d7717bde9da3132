"""A case whose agent wrote nothing but the letters q and z, so that a leak out of a fence shows in any form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adjudge.prompts import PromptError, render, template_variables

TEXT = "qzq zz\nqqz zq\n\nzqqz"
CALLS = [
    {"name": "qz", "input": {"command": "zq -q", "count": 2}},
    {"name": "zq", "input": {"command": "qq", "nested": ["zz", {"key": "qz"}]}},
]
RECORD: dict[str, Any] = {
    "case_id": "case-1",
    "files": {"notes.md": "zz qq", "main.py": TEXT, "shot.png": {"_binary": True, "path": "/w/s.png", "name": "s.png"}},
    "conversation": TEXT,
    "reasoning": "zqz",
    "tool_trace": "1. qz: zq",
    "inputs": "**prompt**: qzq",
    "evidence": "zzz",
    "tool_calls": CALLS,
    "events": [{"type": "assistant", "text": TEXT}, {"type": "result", "text": "zq"}],
    "stdout": "qqq",
    "annotations": {"expected": "a human wrote this", "points": 3},
    "exit_code": 0,
    "cost_usd": 0.25,
}
_BLOCK = re.compile(
    r"\[BEGIN EVALUATED MATERIAL: [^\[\]\n]* #([0-9a-f]{12})\]\n.*?\n[ \t]*\[END EVALUATED MATERIAL #\1\]",
    re.DOTALL | re.IGNORECASE,
)


def prompt(source: str, record: Mapping[str, Any] = RECORD) -> str:
    return render(source, template_variables(record, {"limit": 3}))


def outside(text: str) -> str:
    """What stands outside of every block: a block ends at the first line that repeats its code."""
    return _BLOCK.sub("", text)


def leaks(source: str, record: Mapping[str, Any] = RECORD) -> str:
    """What the agent wrote outside of a fence, in the order of the prompt; a prompt that is refused shows nothing."""
    try:
        shown = prompt(source, record)
    except PromptError:
        return ""
    return "".join(re.findall("[qz]", outside(shown), re.IGNORECASE))
