"""Is the diff no longer than the task allows?"""

from __future__ import annotations

from adjudge.judges.patch.base import Finding, Patch


def diff_size(patch: Patch) -> Finding:
    """Pass when the lines added and removed are together at most `max_lines`."""
    if patch.max_lines is None:
        return Finding(None, "the task sets no limit of lines")
    total = patch.added + patch.removed
    said = f"{total} lines ({patch.added} added, {patch.removed} removed), at most {patch.max_lines} allowed"
    return Finding(total <= patch.max_lines, said)
