"""Small YAML and JSON files that hold a mapping of plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from adjudge.cases.files import decoded
from adjudge.domain import Problem
from adjudge.located import parse_yaml, read_text


def read_mapping(path: str, shown: str, problems: list[Problem], *, whole_value: str = "") -> dict[str, Any] | None:
    """A YAML or JSON file as a mapping with text keys; `None` with a problem when it is none.

    `whole_value` names a value that is no mapping. What comes back is plain data that can be sent to a worker.
    """
    loaded: Any
    if path.endswith(".json"):
        try:
            loaded = decoded(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"))
        except (OSError, ValueError, RecursionError) as error:
            problems.append(Problem(file=shown, message=f"not valid JSON: {error}"))
            return None
        kind = "another value"
        if loaded is None and whole_value:
            return {whole_value: None}
    else:
        text = read_text(Path(path), shown)
        if isinstance(text, Problem):
            problems.append(text)
            return None
        root, found = parse_yaml(text, shown)
        problems += found
        if found:
            return None
        loaded = root.plain() if root is not None else None
        kind = root.kind if root else "nothing"
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        if whole_value:
            return {whole_value: loaded}
        problems.append(Problem(file=shown, message=f"expected a mapping, got {kind}"))
        return None
    try:
        cleaned: Any = msgspec.to_builtins(loaded, str_keys=True)
        try:
            msgspec.msgpack.encode(cleaned)
        except OverflowError:  # of a number that is too large for 64 bits, and is one more text then
            cleaned = decoded(json.dumps(cleaned).encode())
    except (TypeError, RecursionError, ValueError, OverflowError) as error:
        problems.append(Problem(file=shown, message=f"holds something that is not plain data: {error}"))
        return None
    return dict(cleaned)
