"""Files that a reader never sees half of."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in the place of whatever is there, in one step.

    Raises:
        OSError: it cannot be written; what was there still is.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Any) -> None:
    """JSON, indented, in one step; what UTF-8 cannot hold is escaped.

    Raises:
        OSError: as `write_whole`.
    """
    try:
        data = msgspec.json.encode(content)
    except UnicodeEncodeError:
        data = json.dumps(msgspec.to_builtins(content), ensure_ascii=True).encode()
    write_whole(path, msgspec.json.format(data, indent=1) + b"\n")
