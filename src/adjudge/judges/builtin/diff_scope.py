"""Does what the agent made and changed stay within bounds?"""

from __future__ import annotations

from typing import Any

from adjudge.judges.builtin.trace import listed, output_files, path_matches


def judge(
    outputs: dict[str, Any],
    *,
    allowed: list[str] | None = None,
    forbidden: list[str] | None = None,
    max_files: int | None = None,
    max_lines: int | None = None,
) -> tuple[bool, str]:
    """Pass when every file is allowed, none is forbidden, and files and their lines are within the limits.

    Lines are those of the files as they are now: a record holds no diff.

    Raises:
        ValueError: the case has no files at all, or a file without lines could exceed `max_lines`.
    """
    files = output_files(outputs)
    if not files:
        raise ValueError("the case has neither outputs nor modified files")
    faults = []
    outside = [path for path in sorted(files) if allowed and not _any(path, allowed)]
    if outside:
        faults.append(f"not allowed: {listed(outside)}")
    touched = [path for path in sorted(files) if _any(path, forbidden or [])]
    if touched:
        faults.append(f"forbidden: {listed(touched)}")
    if max_files is not None and len(files) > max_files:
        faults.append(f"{len(files)} files, at most {max_files}")
    lines = sum(len(content.splitlines()) for content in files.values() if isinstance(content, str))
    if max_lines is not None and lines > max_lines:
        faults.append(f"{lines} lines, at most {max_lines}")
    if faults:
        return False, f"Out of scope: {'; '.join(faults)}."
    binary = [path for path, content in files.items() if not isinstance(content, str)]
    if max_lines is not None and binary:
        raise ValueError(f"not text, so its lines cannot be counted: {listed(binary)}")
    return True, f"Within scope: {len(files)} files, {lines} lines."


def _any(path: str, patterns: list[str]) -> bool:
    return any(path_matches(path, pattern) for pattern in patterns)
