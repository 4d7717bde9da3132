"""A unified diff, taken apart by file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|["\\abfnrtv])')
_NAMED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
MAX_LINE = 2000
"""Characters of a line that regular expressions see."""


@dataclass(slots=True, frozen=True)
class Line:
    """One line of a hunk: its sign (space, - or +), its number on its side (after for context), and its text."""

    sign: str
    number: int
    text: str


@dataclass(slots=True)
class FileDiff:
    """What changed in one file; a path is None where the file is not there."""

    old: str | None = None
    new: str | None = None
    renamed: bool = False
    hunks: list[list[Line]] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.new or self.old or ""

    def lines(self, sign: str) -> Iterator[Line]:
        for hunk in self.hunks:
            yield from (line for line in hunk if line.sign == sign)


def take_apart(diff: str) -> list[FileDiff]:
    """The files of a unified diff, with or without git's headers. Text that is no diff gives none."""
    files: list[FileDiff] = []
    current: FileDiff | None = None
    lines = diff.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("diff --git "):
            current = FileDiff(*_git_names(line))
            files.append(current)
        elif line.startswith("--- ") and at < len(lines) and lines[at].startswith("+++ "):
            old, new = _name(line[4:]), _name(lines[at][4:])
            at += 1
            if current is None or current.hunks:
                current = FileDiff()
                files.append(current)
            current.old, current.new = old, new
        elif current is not None and line.startswith(("rename from ", "rename to ")):
            current.renamed = True
            if line.startswith("rename from "):
                current.old = _unquoted(line[12:])
            else:
                current.new = _unquoted(line[10:])
        elif current is not None and line.startswith("new file mode"):
            current.old = None
        elif current is not None and line.startswith("deleted file mode"):
            current.new = None
        elif current is not None and (match := _HUNK.match(line)):
            hunk, at = _hunk(lines, at, match)
            current.hunks.append(hunk)
    return files


def _hunk(lines: list[str], at: int, match: re.Match[str]) -> tuple[list[Line], int]:
    """The lines of a hunk by its own counts, so that a removed line `-- x` is no header."""
    old, new = int(match[1]), int(match[3])
    left, right = int(match[2] or 1), int(match[4] or 1)
    hunk: list[Line] = []
    while at < len(lines) and (left > 0 or right > 0):
        sign, text = lines[at][:1], lines[at][1:].removesuffix("\r")[:MAX_LINE]
        if sign == "-":
            hunk.append(Line("-", old, text))
            old, left = old + 1, left - 1
        elif sign == "+":
            hunk.append(Line("+", new, text))
            new, right = new + 1, right - 1
        elif sign in (" ", ""):
            hunk.append(Line(" ", new, text))
            old, new, left, right = old + 1, new + 1, left - 1, right - 1
        elif sign != "\\":
            break
        at += 1
    return hunk, at


def _git_names(line: str) -> tuple[str | None, str | None]:
    rest = line[len("diff --git ") :]
    if rest.startswith('"') or rest.endswith('"'):
        return None, None  # the other headers have them
    half = len(rest) // 2
    if rest[2:half] == rest[half + 3 :] and rest[half : half + 1] == " ":
        return rest[2:half], rest[half + 3 :]
    old, _, new = rest.partition(" b/")
    return old.removeprefix("a/"), new or None


def _name(text: str) -> str | None:
    name = _unquoted(text.split("\t")[0].rstrip("\r"))
    if name == "/dev/null":
        return None
    return name[2:] if name[:2] in ("a/", "b/") else name


def _unquoted(text: str) -> str:
    text = text.rstrip("\r")
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text

    def byte(match: re.Match[str]) -> str:
        code = match[1]
        return chr(_NAMED[code] if code in _NAMED else int(code, 8) & 255)

    inner = _ESCAPE.sub(byte, text[1:-1])
    try:
        return inner.encode("latin-1").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return inner
