"""Tests folders with criteria in Python: written, loaded by a worker of their own, judged by the same worker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adjudge.api import make_options
from adjudge.domain import ConfigError, OnError, Problem, RewardScore, RunResult, Suite
from adjudge.engine import SpareWorker, discover, make_plan, read_run
from adjudge.engine.observer import Silent
from adjudge.engine.run import execute
from adjudge.formats.rewardkit import Overrides, details, load_folders
from tests.support.judge_folders import Files, put

HEAD = "from pathlib import Path\nimport os, rewardkit as rk\nfrom rewardkit import criterion\n"
"""How the criteria files of these tests begin."""

_SCORE = '@criterion(description="is {value}", range=(-100, 100), shared=True)\ndef scored(ws, value): return value\n'


def scores(*values: float | tuple[float, float]) -> str:
    """A criteria file with a criterion for each value, or for each (value, weight), called c0, c1..."""
    text = HEAD + _SCORE
    for k, given in enumerate(values):
        value, weight = given if isinstance(given, tuple) else (given, 1.0)
        text += f'rk.scored({value}, weight={weight}, name="c{k}")\n'
    return text


def returns(expression: str, decorator: str = "@criterion") -> str:
    """A criteria file with one criterion, `c`, that returns the value of an expression."""
    return f"{HEAD}{decorator}\ndef c(workspace):\n    return {expression}\n"


@dataclass(frozen=True)
class Graded:
    """What the tests folders of one run came to."""

    suite: Suite
    result: RunResult
    details: dict[str, Any]

    @property
    def rewards(self) -> dict[str, float | None]:
        return {reward.name: reward.score for reward in self._rewards}

    @property
    def reward(self) -> float | None:
        """The only reward."""
        (value,) = self.rewards.values()
        return value

    @property
    def failures(self) -> dict[str, str]:
        """Why rewards have no value."""
        return {reward.name: reward.failure for reward in self._rewards if reward.score is None}

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The criteria of every leaf in the details by name."""
        return {row["name"]: row for detail in self.details.values() for row in _rows(detail)}

    @property
    def values(self) -> dict[str, float]:
        return {name: row["value"] for name, row in self.rows.items()}

    @property
    def row(self) -> dict[str, Any]:
        """The only criterion."""
        (row,) = self.rows.values()
        return row

    @property
    def warnings(self) -> str:
        return "\n".join(map(str, self.suite.warnings))

    @property
    def _rewards(self) -> tuple[RewardScore, ...]:
        return self.result.rewards[0].rewards


def _rows(detail: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from detail.get("criteria", ())
    for component in detail.get("components", ()):
        yield from _rows(component["detail"])


def graded(
    tmp_path: Path, tests: Files | str, *, workspace: Files | None = None, on_error: OnError = OnError.FAIL
) -> Graded:
    """Judge a workspace by one tests folder; a text is its only criteria file."""
    return graded_each(tmp_path, {"tests": tests}, workspace=workspace, on_error=on_error)


def graded_each(
    tmp_path: Path,
    folders: dict[str, Files | str],
    *,
    workspace: Files | None = None,
    on_error: OnError = OnError.FAIL,
    workers: int = 1,
) -> Graded:
    """Judge a workspace by several tests folders, by name, in one run."""
    paths = [put(tmp_path / name, _files(files)) for name, files in folders.items()]
    home = put(tmp_path / "app", workspace or {})
    options = make_options(output=tmp_path / "run", cache=tmp_path / "cache.db", workers=workers)
    with SpareWorker() as spare:
        suite = load_folders(paths, workspace=home, discover=spare.discover, overrides=Overrides(), on_error=on_error)
        ended = asyncio.run(execute(make_plan(suite, options), options, Silent(), spare=spare))
    snapshot, result = read_run(ended.run)
    return Graded(suite, result, details(result, snapshot))


def read(tmp_path: Path, tests: Files | str) -> Suite:
    """A tests folder as a suite, of which nothing runs."""
    folder, home = put(tmp_path / "tests", _files(tests)), put(tmp_path / "app", {})
    return load_folders([folder], workspace=home, discover=discover, overrides=Overrides())


def problems(tmp_path: Path, tests: Files | str) -> list[Problem]:
    """The errors of a tests folder that cannot be used."""
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, tests)
    return [problem for problem in raised.value.problems if not problem.warning]


def error(tmp_path: Path, tests: Files | str) -> str:
    """The only error of a tests folder, as it is shown, with paths from the tests folder on."""
    (problem,) = problems(tmp_path, tests)
    return str(problem).replace(f"{tmp_path}/tests/", "")


def listed(folder: Path) -> list[str]:
    """The names of what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def _files(tests: Files | str) -> Files:
    return {"checks.py": tests} if isinstance(tests, str) else tests
