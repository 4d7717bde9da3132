"""Tests folders with judge TOMLs: written, loaded, and judged against the loopback provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError, LLMJudge, OnError, Problem, RunResult, Suite
from adjudge.engine import discover, read_run
from adjudge.formats.rewardkit import Overrides, details, load_folders
from adjudge.models import RetryPolicy
from tests.support.llm import QUICK
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Usage, Verdict
from tests.support.request import Request

Files = Mapping[str, str | bytes]
Script = Callable[[Request], Reply] | Sequence[Reply]
MODEL = "openai/gpt-5.2"
HEAD = f'[judge]\njudge = "{MODEL}"\n'
GOOD = '[[criterion]]\ndescription = "Is it good?"\nname = "good"\n'


def criteria(*names: str, keys: str = "") -> str:
    """Yes-or-no criteria, one a name, each with the same further keys."""
    return "".join(f'[[criterion]]\nname = "{name}"\ndescription = "Ask {name}."\n{keys}\n' for name in names)


def put(folder: Path, files: Files) -> Path:
    """Write files below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def loaded(tmp_path: Path, tests: Files | str, *, workspace: Files | None = None, **options: Any) -> Suite:
    """A tests folder as a suite; a text is the only judge TOML."""
    tests = {"quality.toml": tests} if isinstance(tests, str) else tests
    home = put(tmp_path / "app", workspace or {})
    options.setdefault("overrides", Overrides())
    return load_folders([put(tmp_path / "tests", tests)], workspace=home, discover=discover, **options)


def llm(tmp_path: Path, text: str, **options: Any) -> LLMJudge:
    """The LLM judge that a TOML becomes."""
    (judge,) = loaded(tmp_path, text, **options).judges
    assert isinstance(judge, LLMJudge)
    return judge


def refused(tmp_path: Path, tests: Files | str) -> list[Problem]:
    """The errors of a tests folder that cannot be used."""
    with pytest.raises(ConfigError) as raised:
        loaded(tmp_path, tests)
    return [problem for problem in raised.value.problems if not problem.warning]


@dataclass(frozen=True)
class Judged:
    """A run: what it came to, what stands in reward-details.json, and what the provider saw."""

    result: RunResult
    details: dict[str, Any]
    requests: tuple[Request, ...]
    max_in_flight: int
    run: Path

    @property
    def scores(self) -> dict[str, float | None]:
        return {reward.name: reward.score for reward in self.result.rewards[0].rewards}

    @property
    def reward(self) -> float | None:
        return self.scores["reward"]

    @property
    def leaf(self) -> dict[str, Any]:
        """The details of the only judge."""
        leaf: dict[str, Any] = self.details["reward"]
        return leaf

    def row(self, name: str) -> dict[str, Any]:
        return next(row for row in self.leaf["criteria"] if row["name"] == name)

    @property
    def warnings(self) -> str:
        return "\n".join(self.leaf.get("warnings", ()))


def judged(
    tmp_path: Path,
    tests: Files | str,
    script: Script | None = None,
    *,
    workspace: Files | None = None,
    on_error: OnError = OnError.FAIL,
    overrides: Overrides | None = None,
    latency: float = 0.0,
    retry: RetryPolicy = QUICK,
    **options: Any,
) -> Judged:
    """Judge a workspace in this process."""
    suite = loaded(tmp_path, tests, workspace=workspace, on_error=on_error, overrides=overrides or Overrides())
    run = tmp_path / "run"
    with LoopbackProvider(script, latency=latency) as provider:
        environ = {**provider.env(), **provider.env("jev"), **provider.env("litellm")}
        result = adjudge.run(
            suite, environ=environ, retry=retry, output=run, cache=tmp_path / "cache.db", workers=1, **options
        )
        seen, most = tuple(provider.requests), provider.max_in_flight
    snapshot, _ = read_run(run)
    return Judged(result, details(result, snapshot), seen, most, run)


def answers(values: Mapping[str, Any], *, usage: Usage | None = None) -> Callable[[Request], Reply]:
    """Answer every criterion by its name; where one is asked alone, by its description `Ask NAME.` or as the only."""

    def reply(request: Request) -> Reply:
        if request.wire == "jev":
            return Verdict({key: values[key] for key in request.questions}, usage or Usage())
        properties = (request.schema or {})["properties"]
        if "rationale" not in properties:
            return Verdict({key: _answer(properties[key]["properties"], values[key]) for key in properties}, used)
        name = next((name for name in values if f"Ask {name}." in request.system), next(iter(values)))
        return Verdict(_answer(properties, values[name]), used)

    used = usage or Usage()
    return reply


def in_turn(*values: Mapping[str, Any]) -> Callable[[Request], Reply]:
    """The first request is answered by the first values, and so on; the last stand for all that follow."""
    return lambda request: answers(values[min(request.index, len(values) - 1)])(request)


def _answer(properties: Iterable[str], value: Any) -> dict[str, Any]:
    field = next(key for key in properties if key != "rationale")
    return {"rationale": "because", field: value}
