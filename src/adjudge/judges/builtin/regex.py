"""Is a regular expression found, or found nowhere, in an output or a field of the record?"""

from __future__ import annotations

import re
from typing import Any

from adjudge.judges.builtin.trace import listed, matching, output_files

_OF_TRAJECTORY = ("conversation", "reasoning", "tool_trace")


def judge(
    outputs: dict[str, Any],
    *,
    pattern: str,
    output: str | None = None,
    field: str | None = None,
    absent: bool = False,
    flags: list[str] | None = None,
) -> tuple[bool, str]:
    """Pass when the pattern is found in one of the files that `output` names, or in the text `field` of the record.

    With `absent`, pass when it is found in none. No file that `output` names is a fail either way.

    Raises:
        ValueError: the record has no such text, or a file that is not text could decide.
        re.error: the pattern is no regular expression.
    """
    if (output is None) == (field is None):
        raise ValueError("exactly one of output and field must be given")
    regex = re.compile(pattern, _combined(flags or []))
    texts: dict[str, Any] = {}
    if output is not None:
        files = output_files(outputs)
        texts = {name: files[name] for name in matching(files, output)}
        if not texts:
            return False, f"There is no output {output!r}."
    elif field is not None:
        texts = {field: _field(outputs, field)}
    unread = [name for name, text in texts.items() if not isinstance(text, str)]
    for name, text in texts.items():
        found = regex.search(text) if isinstance(text, str) else None
        if found:
            line = text.count("\n", 0, found.start()) + 1
            return not absent, f"{pattern!r} is found in {name}, line {line}: {found[0][:100]!r}."
    if unread:
        raise ValueError(f"not text, so it cannot be searched: {listed(unread)}")
    return absent, f"{pattern!r} is not found in {listed(texts)}."


def _combined(names: list[str]) -> int:
    flags = 0
    for name in names:
        flags |= getattr(re, name.upper())
    return flags


def _field(outputs: dict[str, Any], field: str) -> str:
    text = outputs.get(field)
    if not isinstance(text, str):
        raise ValueError(f"the case has no text {field!r}")
    if not text and field in _OF_TRAJECTORY and not outputs.get("events"):
        raise ValueError(f"the case has no {field}: no trajectory is recorded")
    return text
