"""Are these files among the outputs?"""

from __future__ import annotations

from typing import Any

from adjudge.judges.builtin.trace import listed, matching, output_files


def judge(outputs: dict[str, Any], *, paths: list[str]) -> tuple[bool, str]:
    """Pass when each path or pattern matches at least one file that the agent made or changed."""
    files = {*output_files(outputs), *(outputs.get("files") or ())}
    missing = [path for path in paths if not matching(files, path)]
    if missing:
        return False, f"Missing: {listed(missing, 10)}."
    return True, f"There is a file for each of {listed(paths, 10)}."
