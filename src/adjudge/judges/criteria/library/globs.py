"""Walking the workspace and matching paths, without following a link."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from adjudge.judges.criteria.library.reading import UnusableError, brief

MAX_ENTRIES = 500_000


class Globs:
    """Patterns for paths with `/`: `*` and `?` stay within a name, `**` crosses folders, `[abc]` is one of these.

    With `folders`, a pattern that matches a folder covers everything in it, so `src` means `src/**`.
    """

    def __init__(self, patterns: Any, *, folders: bool = True, name: str = "pattern") -> None:
        """
        Raises:
            ValueError: a pattern is not a string that may match something in the workspace.
        """
        listed = [patterns] if isinstance(patterns, str) else patterns
        if not isinstance(listed, Iterable) or isinstance(listed, bytes):
            raise ValueError(f"{name} must be a glob or a list of globs, got {brief(patterns)}")
        translated = [_translate(pattern, name) for pattern in listed]
        end = r"(?:/.*)?\Z" if folders else r"\Z"
        self._expression = re.compile(f"(?s:{'|'.join(translated)}){end}") if translated else None

    def match(self, path: str) -> bool:
        """Whether one of the patterns matches the whole path."""
        return self._expression is not None and self._expression.match(path) is not None


def walk(root: Path, *, skip: frozenset[str] = frozenset()) -> Iterator[str]:
    """Every file below a folder, relative to it, with `/`. Links are entries of their own and never followed.

    `skip` has folders, relative to the root, that are not entered.

    Raises:
        UnusableError: there is no such folder, or it has more entries than are looked at.
    """
    seen = 0
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(root / prefix))
        except OSError as error:
            if not prefix:
                raise UnusableError(f"{root} cannot be looked at: {error.strerror or error}") from None
            raise UnusableError(f"{prefix} cannot be looked at: {error.strerror or error}") from None
        seen += len(entries)
        if seen > MAX_ENTRIES:
            raise UnusableError(f"there are more than {MAX_ENTRIES} files, which are too many to look at")
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if not entry.is_dir(follow_symlinks=False):
                yield path
            elif path not in skip:
                pending.append(f"{path}/")


def _translate(pattern: Any, name: str) -> str:
    if not isinstance(pattern, str) or not pattern.strip("/"):
        raise ValueError(f"{name}: a glob must be a non-empty string, got {brief(pattern)}")
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise ValueError(f"{name}: a glob is relative to the folder that is looked at, got {brief(pattern)}")
    parts = [part for part in pattern.split("/") if part not in ("", ".")] or ["**"]
    parts = [part for at, part in enumerate(parts) if part != "**" or at == 0 or parts[at - 1] != "**"]
    found = ""
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part == "**":
            found += ".*" if last else "(?:[^/]+/)*"
        else:
            found += _segment(part, name) + ("" if last else "/")
    return found


def _segment(part: str, name: str) -> str:
    """One name of a glob as a regular expression."""
    found, at = "", 0
    while at < len(part):
        character = part[at]
        at += 1
        close = part.find("]", at + 1) if character == "[" else -1
        if character == "*":
            # Several stars in a row mean one, and would cost far more.
            found += "" if found.endswith("[^/]*") else "[^/]*"
        elif character == "?":
            found += "[^/]"
        elif close > 0:
            inside = part[at:close].replace("\\", r"\\").replace("[", r"\[").replace("&", r"\&").replace("~", r"\~")
            inside = f"^{inside[1:]}" if inside.startswith("!") else f"\\{inside}" if inside[0] == "^" else inside
            found += f"(?!/)[{inside}]"
            at = close + 1
        else:
            found += re.escape(character)
    try:
        re.compile(found)
    except re.error as error:
        raise ValueError(f"{name}: {brief(part)} is no glob: {error}") from None
    return found
