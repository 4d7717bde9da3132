"""The `eval_checks/` folders of Eval Banana: 0/1 checks by script or by coding agent."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from pathlib import Path

from adjudge.formats.banana.load import CASE, FOLDER, Check, Loaded, check_files, definition_digest, load, load_project
from adjudge.formats.banana.settings import CONFIG, EXCLUDED, Flags, Settings, find_root
from adjudge.formats.banana.write import report, write

NAME = "banana"
MOST_LOOKED_AT = 5_000
"""Folders, when it is found out whether a tree has checks."""


def detect(path: Path) -> Path | None:
    """The folder, when it has a config, or when it or one below it is called `eval_checks` and holds YAML.

    The nearest folders are looked at first, and only so many: a tree may be as large as it likes.
    """
    if not path.is_dir():
        return None
    return path if (path / CONFIG).is_file() or _holds_checks(path.resolve()) else None


def _holds_checks(root: Path) -> bool:
    waiting = deque([root])
    for _ in range(MOST_LOOKED_AT):
        if not waiting:
            return False
        folder = waiting.popleft()
        if folder.name == FOLDER and next(check_files(folder, EXCLUDED), None) is not None:
            return True
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            waiting += sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and entry.name not in EXCLUDED
            )
    return False


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
