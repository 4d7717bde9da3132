"""Folders of golden coding tasks: a deterministic gate, a rubric, and a baseline."""

from __future__ import annotations

from pathlib import Path

from adjudge.formats.golden.load import JUDGE, RUBRIC, SETTINGS, TASKS, load
from adjudge.formats.golden.rubric import Dimension, Rubric, read_rubric
from adjudge.formats.golden.state import (
    BASELINE,
    QUARANTINE,
    read_baseline,
    read_quarantine,
    write_baseline,
    write_quarantine,
)

NAME = "golden"


def detect(path: Path) -> Path | None:
    """The folder that holds `tasks/<id>/task.yaml`: the path itself, or `evals` within it."""
    for folder in (path, path / "evals"):
        if any((folder / TASKS).glob("*/task.yaml")):
            return folder
    return None


__all__ = [
    "BASELINE",
    "JUDGE",
    "NAME",
    "QUARANTINE",
    "RUBRIC",
    "SETTINGS",
    "TASKS",
    "Dimension",
    "Rubric",
    "detect",
    "load",
    "read_baseline",
    "read_quarantine",
    "read_rubric",
    "write_baseline",
    "write_quarantine",
]
