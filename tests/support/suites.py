"""Suites on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import adjudge
from adjudge.domain import RunResult

Cases = Mapping[str, Mapping[str, str]]


def write_suite(folder: Path, judges: list[dict[str, Any]], *, cases: Cases | None = None, **top: Any) -> Path:
    """An eval.yaml with these judges, and case folders: name -> {path: text}; `input.yaml` is added where it lacks."""
    for name, files in (cases or {"case-1": {"output/a.md": "hello"}}).items():
        for path, text in {"input.yaml": "ask: something\n", **files}.items():
            target = folder / "cases" / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    config = {"name": "suite", "dataset": {"path": "cases"}, "outputs": [{"path": "output"}], "judges": judges, **top}
    written = folder / "eval.yaml"
    written.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    return written


def run_suite(
    folder: Path, judges: list[dict[str, Any]], *, options: Mapping[str, Any] | None = None, **rest: Any
) -> RunResult:
    """Write a suite and judge it in this process."""
    return adjudge.run(write_suite(folder, judges, **rest), **{"workers": 1, **(options or {})})


def check(name: str, code: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "check": code, **keys}
