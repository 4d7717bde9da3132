"""The eval.yaml of agent-eval-harness."""

from __future__ import annotations

from pathlib import Path

from adjudge.formats.eval_yaml.load import load
from adjudge.formats.eval_yaml.schema import json_schema
from adjudge.formats.eval_yaml.write import write

NAME = "eval_yaml"


def detect(path: Path) -> Path | None:
    """The config file, when the path is one or is a folder that holds one."""
    if path.is_dir():
        for name in ("eval.yaml", "eval.yml"):
            if (path / name).is_file():
                return path / name
        return None
    return path if path.suffix in (".yaml", ".yml") else None


__all__ = ["NAME", "detect", "json_schema", "load", "write"]
