"""Config files with positions: values that remember the file, line and column they came from."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adjudge.domain import Problem

MAX_BYTES = 5 * 1024 * 1024


class FileLine(int):
    """The number of a line that also knows its file, for configs that are put together of several."""

    file: str

    def __new__(cls, line: int, file: str) -> FileLine:
        made = super().__new__(cls, line)
        made.file = file
        return made


@dataclass(slots=True)
class Located:
    """A YAML node: `value` is a scalar, a list of `Located`, or a dict of key -> `Located`."""

    value: Any
    line: int
    column: int
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where each key of a mapping stands."""
    replaces: bool = False
    """A list that is tagged to replace another, where one config is laid over another."""

    @property
    def kind(self) -> str:
        if isinstance(self.value, dict):
            return "a mapping"
        return "a list" if isinstance(self.value, list) else kind_name(self.value)

    def plain(self) -> Any:
        """The value without positions."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def kind_name(value: Any) -> str:
    """The word for a scalar's type that a user would use."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true or false"
    names = {
        str: "text",
        int: "a whole number",
        float: "a number",
        datetime.date: "a date",
        datetime.datetime: "a date",
    }
    return names.get(type(value), type(value).__name__)


def read_text(path: Path, shown: str) -> str | Problem:
    """Read a UTF-8 text file (a BOM is dropped), or say in one `Problem` why it cannot be read."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            megabytes = f"{size / 1048576:.0f} MB"
            return Problem(file=shown, message=f"the file is {megabytes}; a config may have {MAX_BYTES // 1048576} MB")
        data = path.read_bytes()
    except IsADirectoryError:
        return Problem(file=shown, message="is a folder, not a file")
    except FileNotFoundError:
        return Problem(file=shown, message="there is no such file")
    except OSError as error:
        return Problem(file=shown, message=f"cannot be read: {error.strerror}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        column = len(data[start : error.start].decode("utf-8-sig" if line == 1 else "utf-8", "replace")) + 1
        encodings = {b"\xff\xfe": " (it looks like UTF-16)", b"\xfe\xff": " (it looks like UTF-16)"}
        message = f"byte 0x{data[error.start]:02x} is not UTF-8{encodings.get(data[:2], '')}"
        return Problem(file=shown, line=line, column=column, message=message, hint="save the file as UTF-8")
