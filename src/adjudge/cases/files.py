"""Reading what an agent made: text where it is text, capped, and never through a link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterable, MutableMapping
from math import isfinite
from typing import Any

import msgspec

from adjudge.domain import BinaryFile

MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_CASE_BYTES = 64 * 1024 * 1024
CUT = " bytes more]\n"
"""How a text ends that was cut."""
_PLAIN = msgspec.msgpack.Encoder()
_SPENT = frozenset({"token_usage", "cost_usd", "num_turns", "per_model_usage", "per_model_turns", "models_used"})
_METRICS = _SPENT | {"model", "exit_code", "duration_s"}


def decoded(data: bytes) -> Any:
    """JSON as plain data that can be sent to a worker: a number that is too large for 64 bits is the text of its
    digits, so that one number costs nobody the rest.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        value = msgspec.json.decode(data)
        _PLAIN.encode(value)  # ten times as fast as looking for digits
    except (msgspec.ValidationError, OverflowError):  # sound, but with a number out of range
        return _with_large_numbers(data)
    return value


def _with_large_numbers(data: bytes) -> Any:
    import json  # which alone hands over the digits of a number

    return json.loads(data, parse_int=_integer, parse_float=_float)


def _integer(digits: str) -> int | str:
    value = int(digits) if len(digits) <= 20 else None
    return digits if value is None or not -(2**63) <= value < 2**64 else value


def _float(digits: str) -> float | str:
    value = float(digits)
    return value if isfinite(value) else digits


def read_outputs(home: str, declared: str, notes: list[str]) -> dict[str, str | BinaryFile]:
    """Read a declared output: a file, or every file below a folder, sorted by path.

    `declared` is relative to `home` and so are the keys, with forward slashes. Links are skipped and noted, also
    where a folder on the way is one; a path that is not there gives nothing.

    Raises:
        ValueError: there is more than may be read; a part of it would hide the rest from a judge.
    """
    mode = _mode_without_links(home, declared, notes)
    if stat.S_ISREG(mode):
        return {declared: read_output(f"{home}/{declared}", notes, declared)}
    if not stat.S_ISDIR(mode):
        return {}
    found: dict[str, str | BinaryFile] = {}
    total = 0
    for relative, size in _walk(home, declared, notes):
        total += min(size, MAX_FILE_BYTES)
        if total > MAX_CASE_BYTES:
            raise ValueError(f"the outputs exceed {MAX_CASE_BYTES} bytes at {_shown(relative)}")
        found[_shown(relative)] = read_output(f"{home}/{relative}", notes, _shown(relative))
    return found


def read_output(path: str, notes: list[str], shown: str) -> str | BinaryFile:
    """The text of a file, or a `BinaryFile`. Text that is not UTF-8 is decoded with replacement and noted."""
    with open(path, "rb") as file:  # noqa: PTH123 - as plain as it gets, a hundred thousand times a run
        data = file.read(MAX_FILE_BYTES + 1)
    if b"\0" in data[:8192]:
        return _binary(path)
    if len(data) > MAX_FILE_BYTES:
        size = os.stat(path).st_size  # noqa: PTH116
        notes.append(f"{shown}: cut to {MAX_FILE_BYTES} of {size} bytes")
        return data[:MAX_FILE_BYTES].decode("utf-8", "replace") + f"\n[... cut: {size - MAX_FILE_BYTES}{CUT}"
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.append(f"{shown}: not UTF-8, some characters are replaced")
        return data.decode("utf-8", "replace")


def _binary(path: str) -> BinaryFile:
    with open(path, "rb") as file:  # noqa: PTH123
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return BinaryFile(path, file.tell(), digest)


def _shown(name: str) -> str:
    """A file name as text, also when its bytes are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def read_text(path: str, notes: list[str], shown: str) -> str:
    """Like `read_output`, for files that are always text; a binary one gives the empty string and a note."""
    content = read_output(path, notes, shown)
    if isinstance(content, BinaryFile):
        notes.append(f"{shown}: binary, left out")
        return ""
    return content


def plain_files(folder: str) -> frozenset[str]:
    """Names of the files that lie directly in a folder, links left out; empty when there is no such folder."""
    return listing(folder)[0]


def listing(folder: str) -> tuple[frozenset[str], frozenset[str]]:
    """(plain files, everything else: folders and links) by name; empty when there is no such folder."""
    files: list[str] = []
    others: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (files if entry.is_file(follow_symlinks=False) else others).append(entry.name)
    except FileNotFoundError:
        return frozenset(), frozenset()
    return frozenset(files), frozenset(others)


def stamps(folder: str, names: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """(name, size, time of the last change in ns) of those names that are plain files in a folder."""
    found = []
    for name in names:
        try:
            told = os.lstat(f"{folder}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            continue
        if stat.S_ISREG(told.st_mode):
            found.append((name, told.st_size, told.st_mtime_ns))
    return tuple(found)


def drop_harness_files(
    files: MutableMapping[str, str | BinaryFile],
    *,
    home: str,
    declared: Collection[str],
    present: Collection[str],
    notes: list[str],
) -> None:
    """Take out what no agent made but the program that ran it: logs in an output folder that are those of the case, and
    a `metrics.json` of tokens and cost. A path that is declared itself stays."""
    for folder in declared:
        for name in ("stdout.log", "stderr.log", "metrics.json"):
            path = f"{folder}/{name}"
            if path not in files or path in declared:
                continue
            if name == "metrics.json":
                drop = _is_metrics(files[path])
            else:
                drop = name in present and _same(files[path], read_output(f"{home}/{name}", [], name))
            if drop:
                del files[path]
                notes.append(f"{path}: written by the program that ran the agent, not by the agent; left out")


def _same(one: str | BinaryFile, other: str | BinaryFile) -> bool:
    if isinstance(one, BinaryFile) and isinstance(other, BinaryFile):
        return one.sha256 == other.sha256
    return one == other


def _is_metrics(content: str | BinaryFile) -> bool:
    if not isinstance(content, str):
        return False
    try:
        read = msgspec.json.decode(content.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return False
    return isinstance(read, dict) and read.keys() <= _METRICS and not read.keys().isdisjoint(_SPENT)


def _mode_without_links(home: str, declared: str, notes: list[str]) -> int:
    """The file mode of a path below `home`; 0 when it is not there, or when it or a folder on the way is a link."""
    path = home
    mode = 0
    for part in declared.split("/"):
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0
        if stat.S_ISLNK(mode):
            notes.append(f"{declared}: a link, not followed")
            return 0
    return mode


def _walk(home: str, declared: str, notes: list[str]) -> list[tuple[str, int]]:
    """(relative path, size in bytes) of every file below a folder, sorted."""
    found: list[tuple[str, int]] = []
    pending = [declared]
    while pending:
        folder = pending.pop()
        with os.scandir(f"{home}/{folder}") as entries:
            for entry in entries:
                relative = f"{folder}/{entry.name}"
                if entry.is_symlink():
                    notes.append(f"{relative}: a link, not followed")
                elif entry.is_dir():
                    pending.append(relative)
                elif entry.is_file():
                    found.append((relative, entry.stat().st_size))
                else:
                    notes.append(f"{relative}: neither a file nor a folder, left out")
    return sorted(found)
