"""Did the agent read the files that it was expected to read?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from adjudge.judges.builtin.trace import Call, calls, listed

_READS = frozenset({"Read", "NotebookRead", "read", "read_file", "ReadFile", "view"})
_SEARCHES = frozenset({"Grep", "grep"})
_SHELLS = frozenset({"Bash", "bash", "shell"})
_PATH_KEYS = ("file_path", "path", "notebook_path", "filename")


def judge(
    outputs: dict[str, Any],
    *,
    min_coverage: float = 0.8,
    match: str = "suffix",
    include_subagents: bool = True,
    include_grep: bool = True,
    preloaded_files: list[str] | None = None,
) -> tuple[bool, str]:
    """Pass when at least `min_coverage` of the annotation `expected_files` was read, or when it names no files.

    `match` compares paths exactly, by their last component, or (`suffix`) lets the shorter one be the end of the
    longer one, whole components only. Files that are preloaded count as read; calls that failed do not.

    Raises:
        ValueError: `expected_files` is no list of text, or files are expected and the case has no trajectory.
    """
    expected = _expected((outputs.get("annotations") or {}).get("expected_files"))
    if not expected:
        return True, "The case expects no files to be read: nothing to verify."
    made = [call for call in calls(outputs) if include_subagents or not call.subagent]
    read = [*(preloaded_files or ()), *(path for call in made for path in _paths(call, grep=include_grep))]
    parts = [_parts(path) for path in read]
    missed = [path for path in expected if not any(_same(_parts(path), other, match) for other in parts)]
    hits = len(expected) - len(missed)
    passes = hits / len(expected) >= min_coverage
    if not passes and not outputs.get("events") and not outputs.get("tool_calls"):
        raise ValueError("the case has no trajectory (events.json), so it is not known what was read")
    missing = f"; not read: {listed(missed)}" if missed else ""
    return passes, f"Read {hits} of {len(expected)} expected files (at least {min_coverage:g} needed){missing}."


def _expected(given: Any) -> list[str]:
    if given is None:
        return []
    files = [given] if isinstance(given, str) else given
    if not isinstance(files, list) or not all(isinstance(file, str) and _parts(file) for file in files):
        raise ValueError("the annotation expected_files must be a list of paths")
    return list(dict.fromkeys(files))


def _paths(call: Call, *, grep: bool) -> Iterator[str]:
    if call.failed:
        return
    if call.name in _READS or (grep and call.name in _SEARCHES):
        found = next((call.given[key] for key in _PATH_KEYS if isinstance(call.given.get(key), str)), "")
        if found:
            yield found
    elif call.name in _SHELLS:
        paths = call.given.get("read_paths")
        yield from (path for path in paths if isinstance(path, str)) if isinstance(paths, list) else ()


def _parts(path: str) -> tuple[str, ...]:
    """The components of a path; nothing for the current folder. The root is a component of its own."""
    clean = posixpath.normpath(path.strip().replace("\\", "/")) if path.strip() else "."
    return tuple(
        part
        for part in (("/",) if clean.startswith("/") else ()) + tuple(clean.split("/"))
        if part != "" and part != "."
    )


def _same(one: tuple[str, ...], other: tuple[str, ...], match: str) -> bool:
    if not one or not other:
        return False
    if match == "exact":
        return one == other
    if match == "basename":
        return one[-1] == other[-1]
    short, long = sorted((one, other), key=len)
    return long[-len(short) :] == short
