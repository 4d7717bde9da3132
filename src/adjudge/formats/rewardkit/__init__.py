"""The tests folder of Harbor's Reward Kit: judge TOMLs and criteria in Python in, reward.json out."""

from __future__ import annotations

import re
from pathlib import Path

from adjudge.formats.rewardkit.judge_file import Overrides
from adjudge.formats.rewardkit.load import load, load_folders, read_overrides
from adjudge.formats.rewardkit.write import complete, details, remove_stale, reward_numbers, write, write_empty

NAME = "rewardkit"
_MARKS = (b"[judge", b"[[criteri", b"[[reward", b"[scoring")
_IMPORTS = re.compile(rb"^\s*(from|import)\s+rewardkit\b", re.MULTILINE)
_PROJECT = (".git", "pyproject.toml", "setup.py", "package.json")


def detect(path: Path) -> Path | None:
    """The folder, when a judge TOML, a reward.toml or a Python file that imports rewardkit lies in it or one below.

    Reading a tests folder runs every Python file in it, so a whole project is never taken for one.
    """
    if not path.is_dir() or any((path / mark).exists() for mark in _PROJECT):
        return None
    files = [*_files(path), *(file for folder in sorted(path.iterdir()) for file in _files(folder))]
    return path if any(map(_is_ours, files)) else None


def _files(folder: Path) -> list[str]:
    """TOML and Python files of a folder that would be read."""
    if not folder.is_dir() or folder.name.startswith(("__", ".")):
        return []
    return sorted(str(file) for file in folder.iterdir() if file.suffix in (".toml", ".py") and file.is_file())


def _is_ours(file: str) -> bool:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            text = opened.read(65_536)
    except OSError:
        return False
    return bool(_IMPORTS.search(text)) if file.endswith(".py") else any(mark in text for mark in _MARKS)


__all__ = [
    "NAME",
    "Overrides",
    "complete",
    "details",
    "detect",
    "load",
    "load_folders",
    "read_overrides",
    "remove_stale",
    "reward_numbers",
    "write",
    "write_empty",
]
