"""The code judge of the quickstart: how much of a change lies where the request points."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)")


@dataclass
class FileDiff:
    """One file of a unified diff. `old` is None for a new file, `new` for a deleted one."""

    old: str | None
    new: str | None
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.new or self.old or ""


def parse_diff(text: str) -> list[FileDiff]:
    """The files of a `git diff`.

    Hunks are read by the counts in their headers, so a removed line `-- x`, which shows as `--- x`, is not taken for
    the header of a file.
    """
    files: list[FileDiff] = []
    old_left = new_left = 0
    for line in text.split("\n"):
        if old_left > 0 or new_left > 0:
            mark, rest = line[:1], line[1:]
            if mark == "\\":  # "\ No newline at end of file"
                continue
            if mark == "+":
                files[-1].added.append(rest)
                new_left -= 1
            elif mark == "-":
                files[-1].removed.append(rest)
                old_left -= 1
            else:
                old_left -= 1
                new_left -= 1
        elif line.startswith("diff --git "):
            twice = line.removeprefix("diff --git ")  # "a/<path> b/<path>"; a rename says so on lines of its own
            quoted = _QUOTED.match(twice)
            path = _path(quoted.group() if quoted else twice[: len(twice) // 2], "a/")
            files.append(FileDiff(path, path))
        elif not files:
            continue
        elif hunk := _HUNK.match(line):
            old_left, new_left = (1 if count is None else int(count) for count in hunk.groups())
        elif line.startswith(("--- ", "rename from ")):
            files[-1].old = _path(line.removeprefix("--- ").removeprefix("rename from "), "a/")
        elif line.startswith(("+++ ", "rename to ")):
            files[-1].new = _path(line.removeprefix("+++ ").removeprefix("rename to "), "b/")
        elif line.startswith("new file mode"):
            files[-1].old = None
        elif line.startswith("deleted file mode"):
            files[-1].new = None
    return files


def _path(text: str, prefix: str) -> str | None:
    """A path as git writes it: perhaps quoted, `/dev/null` for no file."""
    text = text.rstrip("\t\r")
    if _QUOTED.fullmatch(text):
        text = _ESCAPE.sub(_unescape, text[1:-1].encode()).decode("utf-8", "replace")
    return None if text == "/dev/null" else text.removeprefix(prefix)


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8)]) if code.isdigit() else {b"t": b"\t", b"n": b"\n", b"r": b"\r"}.get(code, code)


def scope(outputs: dict[str, Any], also: Collection[str] = ()) -> tuple[float, str]:
    """Share, from 0 to 1, of the touched files that belong to the request.

    A file belongs when the request names it (`quote`, `quote.py`), when it defines a name that the request has in
    backticks, or when one of its removed lines uses such a name. A test file belongs when the request speaks of tests
    or when the file that it tests belongs. Files in `also` always belong.

    It goes by names alone. A request that names nothing ("yen have no decimals") gives it nothing to go by, and a
    change that does too much within the right file looks perfect to it.
    """
    files = outputs.get("files", {})
    changes = parse_diff(files.get("output/change.diff", ""))
    if not changes:
        return 0.0, "the diff touches no file"
    request = outputs.get("inputs", "").partition("**repository**")[0]
    words = set(re.findall(r"\w+", request.lower()))
    names = {name for quoted in re.findall(r"`([^`\n]+)`", request) for name in re.findall(r"[^\W\d]\w+", quoted)}

    def named(change: FileDiff) -> bool:
        text = "\n".join([files.get(f"output/files/{change.path}", ""), *change.removed])
        removed = "\n".join(change.removed)
        return _stem(change) in words or any(
            re.search(rf"^\s*(?:def|class) {name}\b", text, re.MULTILINE) or re.search(rf"\b{name}\b", removed)
            for name in names
        )

    belonging = {change.path for change in changes if change.path in also or named(change)}
    tested = {f"test_{PurePosixPath(path).stem}" for path in belonging}
    for change in changes:
        if _is_test(change) and ("tests" in words or "test" in words or _stem(change) in tested):
            belonging.add(change.path)
    strays = [change.path for change in changes if change.path not in belonging]
    rationale = f"{len(belonging)} of {len(changes)} touched files belong to the request"
    return len(belonging) / len(changes), rationale + (f"; not {', '.join(strays)}" if strays else "")


def _stem(change: FileDiff) -> str:
    return PurePosixPath(change.path).stem.lower()


def _is_test(change: FileDiff) -> bool:
    return _stem(change).startswith("test_")
