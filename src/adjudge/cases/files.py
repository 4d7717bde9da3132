"""Reading what an agent made: text where it is text, capped, and never through a link."""

from __future__ import annotations

import os
from pathlib import Path

from adjudge.domain import BinaryFile

MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_CASE_BYTES = 64 * 1024 * 1024


def read_outputs(home: Path, declared: str, notes: list[str]) -> dict[str, str | BinaryFile]:
    """Read a declared output: a file, or every file below a folder, sorted by path.

    Keys are relative to `home` with forward slashes. Links are skipped and noted; a path that is not there gives
    nothing.
    """
    top = home / declared
    if top.is_symlink() or not top.resolve().is_relative_to(home.resolve()):
        notes.append(f"{declared}: a link, not followed")
        return {}
    if top.is_file():
        return {declared: read_output(top, notes, declared)}
    if not top.is_dir():
        return {}
    found: dict[str, str | BinaryFile] = {}
    total = 0
    for relative in _walk(home, declared, notes):
        path = home / relative
        total += path.lstat().st_size
        if total > MAX_CASE_BYTES:
            notes.append(f"{relative} and what follows: left out, the case's files exceed {MAX_CASE_BYTES} bytes")
            break
        found[relative] = read_output(path, notes, relative)
    return found


def read_output(path: Path, notes: list[str], shown: str) -> str | BinaryFile:
    """The text of a file, or a `BinaryFile`. Text that is not UTF-8 is decoded with replacement and noted."""
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    size = len(data)
    if b"\0" in data[:8192]:
        return BinaryFile(str(path), path.stat().st_size)
    if size > MAX_FILE_BYTES:
        size = path.stat().st_size
        notes.append(f"{shown}: cut to {MAX_FILE_BYTES} of {size} bytes")
        return data[:MAX_FILE_BYTES].decode("utf-8", "replace") + f"\n[... cut: {size - MAX_FILE_BYTES} bytes more]\n"
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.append(f"{shown}: not UTF-8, some characters are replaced")
        return data.decode("utf-8", "replace")


def read_text(path: Path, notes: list[str], shown: str) -> str:
    """Like `read_output`, for files that are always text; a binary one gives the empty string and a note."""
    content = read_output(path, notes, shown)
    if isinstance(content, BinaryFile):
        notes.append(f"{shown}: binary, left out")
        return ""
    return content


def _walk(home: Path, declared: str, notes: list[str]) -> list[str]:
    found: list[str] = []
    pending = [declared]
    while pending:
        folder = pending.pop()
        with os.scandir(home / folder) as entries:
            for entry in entries:
                relative = f"{folder}/{entry.name}"
                if entry.is_symlink():
                    notes.append(f"{relative}: a link, not followed")
                elif entry.is_dir():
                    pending.append(relative)
                elif entry.is_file():
                    found.append(relative)
                else:
                    notes.append(f"{relative}: neither a file nor a folder, left out")
    return sorted(found)
