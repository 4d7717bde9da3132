"""The tests folder of Harbor's Reward Kit: judge TOMLs and criteria in Python in, reward.json out."""

from __future__ import annotations

from pathlib import Path

from adjudge.formats.rewardkit.judge_file import Overrides
from adjudge.formats.rewardkit.load import load, load_folders
from adjudge.formats.rewardkit.write import complete, details, remove_stale, reward_numbers, write, write_empty

NAME = "rewardkit"


def detect(path: Path) -> Path | None:
    """The folder, when a judge TOML, a reward.toml or a Python file that names rewardkit lies in it or below it."""
    if not path.is_dir():
        return None
    for file in sorted(path.rglob("*.toml"))[:1000]:
        if _mentions(file, b"[judge", b"[[criterion", b"[[criteria", b"[[reward", b"[scoring"):
            return path
    return path if any(_mentions(file, b"rewardkit") for file in sorted(path.rglob("*.py"))[:1000]) else None


def _mentions(file: Path, *words: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            text = opened.read(65_536)
    except OSError:
        return False
    return any(word in text for word in words)


__all__ = [
    "NAME",
    "Overrides",
    "complete",
    "details",
    "detect",
    "load",
    "load_folders",
    "remove_stale",
    "reward_numbers",
    "write",
    "write_empty",
]
