"""The `eval_checks/` folders of Eval Banana: 0/1 checks by script or by coding agent."""

from __future__ import annotations

from pathlib import Path

from adjudge.formats.banana.load import CASE, Check, Loaded, check_files, definition_digest, load, load_project
from adjudge.formats.banana.settings import CONFIG, EXCLUDED, Flags, Settings, find_root
from adjudge.formats.banana.write import report, write

NAME = "banana"


def detect(path: Path) -> Path | None:
    """The folder, when it or one below it is called `eval_checks` and holds YAML, or when it has a config."""
    if not path.is_dir():
        return None
    if (path / CONFIG).is_file() or next(check_files(path.resolve(), EXCLUDED), None) is not None:
        return path
    return None


__all__ = [
    "CASE",
    "CONFIG",
    "NAME",
    "Check",
    "Flags",
    "Loaded",
    "Settings",
    "check_files",
    "definition_digest",
    "detect",
    "find_root",
    "load",
    "load_project",
    "report",
    "write",
]
