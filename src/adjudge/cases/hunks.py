"""Unified diffs that fit: whole hunks of every file, the room shared fairly, and what is left out is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from adjudge.prompts.budget import fair_cap

_FILE = re.compile(r"^diff --git ", re.MULTILINE)
_HUNK = re.compile(r"^@@ ", re.MULTILINE)
_NAME = re.compile(r"^(?:\+\+\+ b/|--- a/|rename to )([^\t\n]+)", re.MULTILINE)


class FileDiff(msgspec.Struct, frozen=True):
    """One file's part of a diff: its head lines, and its hunks."""

    name: str
    head: str
    hunks: tuple[str, ...]

    @property
    def length(self) -> int:
        return len(self.head) + sum(map(len, self.hunks))


def split_diff(diff: str) -> tuple[FileDiff, ...]:
    """A diff file by file; what stands before the first file is dropped."""
    starts = [mark.start() for mark in _FILE.finditer(diff)]
    found = []
    for start, end in zip(starts, [*starts[1:], len(diff)], strict=True):
        text = diff[start:end]
        marks = [mark.start() for mark in _HUNK.finditer(text)]
        head = text[: marks[0]] if marks else text
        names = _NAME.findall(head)
        first = head.split("\n", 1)[0]
        name = names[-1] if names else first.rpartition(" b/")[2]
        hunks = tuple(text[a:b] for a, b in zip(marks, [*marks[1:], len(text)], strict=True))
        found.append(FileDiff(name, head, hunks))
    return tuple(found)


def capped_diff(diff: str, limit: int) -> tuple[str, tuple[str, ...]]:
    """(the diff in about `limit` characters, what was left out in words).

    Every file keeps its head and as many whole hunks, from its first, as its share of the room holds; a first hunk
    that is longer than that is cut after a line. Nothing is cut from a diff that fits.
    """
    if len(diff) <= limit:
        return diff, ()
    files = split_diff(diff)
    if not files:
        return _lines(diff, limit), (f"the diff: {len(diff) - limit} of {len(diff)} characters are left out",)
    heads = sum(len(file.head) for file in files)
    caps = _shares([sum(map(len, file.hunks)) for file in files], max(0, limit - heads))
    parts: list[str] = []
    notes: list[str] = []
    room = limit
    for number, (file, cap) in enumerate(zip(files, caps, strict=True)):
        if len(file.head) > room:
            rest = len(files) - number
            mark = f"[... {rest} more files are left out ...]\n"
            return "".join([*parts, mark]), (*notes, f"the diff: {rest} of {len(files)} files are left out")
        text, gone = _kept(file, cap)
        parts.append(text)
        room -= len(text)
        if gone:
            parts.append(f"[... {gone} ...]\n")
            notes.append(f"the diff of {file.name}: {gone}")
    return "".join(parts), tuple(notes)


def _shares(lengths: Sequence[int], room: int) -> list[int]:
    cap = fair_cap(lengths, room)
    return [min(length, cap) for length in lengths]


def _kept(file: FileDiff, cap: int) -> tuple[str, str]:
    kept: list[str] = []
    size = 0
    for hunk in file.hunks:
        if size + len(hunk) > cap:
            break
        kept.append(hunk)
        size += len(hunk)
    left = len(file.hunks) - len(kept)
    if not left:
        return file.head + "".join(kept), ""
    characters = sum(map(len, file.hunks[len(kept) :]))
    if not kept:  # of a file that is one long hunk, its beginning says more than nothing
        begun = _lines(file.hunks[0], cap)
        kept, characters = [begun], characters - len(begun)
        gone = f"{characters} characters of {left} {'hunk' if left == 1 else 'hunks'} are left out"
    else:
        gone = f"{left} of {len(file.hunks)} hunks, {characters} characters, are left out"
    return file.head + "".join(kept), gone


def _lines(text: str, cap: int) -> str:
    """The beginning of a text, up to the end of a line."""
    return text[: text.rfind("\n", 0, max(0, cap)) + 1]
