"""Criteria on files and their text."""

from __future__ import annotations

from pathlib import Path

from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.globs import Globs, walk
from adjudge.judges.criteria.library.reading import (
    UnusableError,
    beginning,
    brief,
    failing,
    is_text,
    locate,
    need_pattern,
    need_string,
    need_whole,
    read_bytes,
    read_text,
)


@failing(False)
def file_exists(workspace: Path, path: str) -> Finding:
    """Whether a file or folder exists."""
    there = _exists(workspace, path)
    return Finding(there, f"{path} {'exists' if there else 'does not exist'}")


@failing(False)
def file_not_exists(workspace: Path, path: str) -> Finding:
    """Whether neither a file nor a folder exists there."""
    there = _exists(workspace, path)
    return Finding(not there, f"{path} {'exists' if there else 'does not exist'}")


@failing(False)
def file_contains(workspace: Path, path: str, text: str) -> Finding:
    """Whether a text occurs in a file."""
    need_string("text", text)
    content, note = read_text(workspace, path, head=True)
    at = content.find(text)
    if at >= 0:
        line = content.count("\n", 0, at) + 1
        return Finding(True, f"{path} contains {brief(text)} in line {line}{note}")
    return Finding(False, f"{path} does not contain {brief(text)}; it begins {beginning(content)}{note}")


@failing(False)
def file_contains_regex(workspace: Path, path: str, pattern: str) -> Finding:
    """Whether a regular expression matches anywhere in a file."""
    expression = need_pattern(pattern)
    content, note = read_text(workspace, path, head=True)
    match = expression.search(content)
    if match:
        line = content.count("\n", 0, match.start()) + 1
        return Finding(True, f"{path} matches {brief(pattern)} in line {line}: {beginning(match[0])}{note}")
    return Finding(False, f"{path} has no match of {brief(pattern)}; it begins {beginning(content)}{note}")


@failing(False)
def file_matches(workspace: Path, path: str, expected: str) -> Finding:
    """Whether a file's text is the expected one, but for space at both ends."""
    wanted = need_string("expected", expected).strip()
    content, note = read_text(workspace, path)
    content = content.strip()
    if content == wanted:
        return Finding(True, f"{path} is as expected{note}")
    return Finding(False, f"{path} differs from what is expected {_difference(content, wanted)}{note}")


@failing(False)
def files_equal(workspace: Path, path1: str, path2: str) -> Finding:
    """Whether two files have the same text but for space at both ends; where one is not text, the same bytes."""
    first, second = read_bytes(workspace, path1), read_bytes(workspace, path2)
    names = f"{path1} and {path2}"
    if first == second:
        return Finding(True, f"{names} are equal, byte for byte")
    if not (is_text(first) and is_text(second)):
        return Finding(False, f"{names} differ; not both are UTF-8 text, so bytes count")
    one, two = (read_text(workspace, path).text.strip() for path in (path1, path2))
    if one == two:
        return Finding(True, f"{names} have the same text")
    return Finding(False, f"{names} differ {_difference(one, two)}")


@failing(False)
def file_count(
    workspace: Path,
    pattern: str,
    minimum: int | None = None,
    maximum: int | None = None,
    exactly: int | None = None,
) -> Finding:
    """Whether as many files match a glob as they should; by default, at least one. `**` crosses folders."""
    bounds = {"minimum": minimum, "maximum": maximum, "exactly": exactly}
    for name, value in bounds.items():
        if value is not None:
            need_whole(name, value, 0)
    if exactly is not None and (minimum is not None or maximum is not None):
        raise ValueError("exactly does not go with minimum or maximum")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise ValueError(f"minimum {minimum} is above maximum {maximum}")
    least = exactly if exactly is not None else 1 if minimum is None and maximum is None else minimum or 0
    most = exactly if exactly is not None else maximum
    globs = Globs([need_string("pattern", pattern)], folders=False)
    found = sorted(path for path in walk(workspace) if globs.match(path))
    count = len(found)
    listed = f": {', '.join(map(brief, found[:10]))}{', ...' if count > 10 else ''}" if found else ""
    return Finding(
        count >= least and (most is None or count <= most),
        f"{count} {'file matches' if count == 1 else 'files match'} {brief(pattern)}{listed}",
    )


def _exists(workspace: Path, path: str) -> bool:
    place = locate(workspace, path)
    try:
        place.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UnusableError(f"{path} cannot be looked at: {error.strerror or error}") from None
    return True


def _difference(actual: str, expected: str) -> str:
    """Where two different texts part, and how they go on."""
    common = min(len(actual), len(expected))
    # A binary search: strings compare far faster than a loop over their characters.
    low, high = 0, common
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if actual[:middle] == expected[:middle] else (low, middle - 1)
    line = actual.count("\n", 0, low) + 1
    return f"from line {line} on: {beginning(actual[low : low + 400])} against {beginning(expected[low : low + 400])}"
