"""Configs of the eval_yaml format on disk: written, loaded for what it says of them, and judged."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

import adjudge
from adjudge.domain import ConfigError, Judge, Problem, RunResult, Score, Suite
from tests.support.llm import QUICK
from tests.support.provider import LoopbackProvider

Files = Mapping[str, str | bytes]
"""Relative path -> content, of a case folder; an input.yaml is added where there is no input."""

ANSWER: Files = {"output/answer.md": "The answer.\n"}
PASSES = "return True, 'fine'"


def check(name: str = "ok", code: str = PASSES, **keys: Any) -> dict[str, Any]:
    """A check as an eval.yaml spells it; `condition` stands for the key `if`, and `...` leaves a key out."""
    return _judge({"name": name, "check": textwrap.dedent(code)}, keys)


def llm(name: str = "good", **keys: Any) -> dict[str, Any]:
    """An LLM judge as an eval.yaml spells it, pass or fail unless `score_range` or `feedback_type` says otherwise."""
    if not {"prompt", "llm_rubric", "prompt_file"} & keys.keys():
        keys["prompt"] = "Is it good? {{ outputs }}"
    if not {"score_range", "feedback_type"} & keys.keys():
        keys["feedback_type"] = "bool"
    return _judge({"name": name, "model": "claude-sonnet-5-5"}, keys)


def _judge(judge: dict[str, Any], keys: dict[str, Any]) -> dict[str, Any]:
    if "condition" in keys:
        keys["if"] = keys.pop("condition")
    return {key: value for key, value in {**judge, **keys}.items() if value is not ...}


def write_case(folder: Path, files: Files = ANSWER) -> Path:
    """Write one case folder."""
    if not {"input.yaml", "input.yml", "input.json"} & files.keys():
        files = {"input.yaml": "request: say it\n", **files}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def write_suite(
    folder: Path,
    judges: Iterable[Mapping[str, Any]] | None = None,
    cases: Mapping[str, Files] | Sequence[str] = ("case-1",),
    **sections: Any,
) -> Path:
    """Write an eval.yaml with its cases, and return its path; a section given as `...` is left out."""
    top: dict[str, Any] = {
        "name": "suite",
        "dataset": {"path": "cases"},
        "outputs": [{"path": "output"}],
        "judges": [dict(judge) for judge in ([check()] if judges is None else judges)],
        **sections,
    }
    kept = {key: value for key, value in top.items() if value is not ...}
    return write_text(folder, yaml.safe_dump(kept, sort_keys=False, allow_unicode=True), cases)


def write_text(folder: Path, text: str | bytes, cases: Mapping[str, Files] | Sequence[str] = ("case-1",)) -> Path:
    """Write an eval.yaml as it is, with its cases, and return its path."""
    named = cases if isinstance(cases, Mapping) else dict.fromkeys(cases, ANSWER)
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    for name, files in named.items():
        write_case(folder / "cases" / name, files)
    config = folder / "eval.yaml"
    config.write_bytes(text.encode() if isinstance(text, str) else text)
    return config


def problems(config: Path, **options: Any) -> list[Problem]:
    """Everything that loading the config has to say, warnings included."""
    try:
        return list(adjudge.load(config, **options).warnings)
    except ConfigError as error:
        return error.problems


def errors(config: Path, **options: Any) -> list[str]:
    """What keeps the config from loading, a line each."""
    return [str(problem) for problem in problems(config, **options) if not problem.warning]


def warnings(config: Path, **options: Any) -> list[str]:
    return [str(problem) for problem in problems(config, **options) if problem.warning]


def only_judge(config: Path) -> Judge:
    (judge,) = adjudge.load(config).judges
    return judge


def judged(suite: Suite | Path, **options: Any) -> RunResult:
    """Judge in this process, with one worker."""
    return adjudge.run(suite, **{"workers": 1, "output": "run", **options})


def only_score(suite: Suite | Path, **options: Any) -> Score:
    """The score of a suite of one judge and one case."""
    (found,) = judged(suite, **options).scores
    return found


def asked(suite: Suite | Path, provider: LoopbackProvider, **options: Any) -> RunResult:
    """Judge with models that the loopback provider answers for."""
    environ = {**provider.env(), **options.pop("environ", {})}
    return judged(suite, **{"retry": QUICK, "environ": environ, **options})


def hurried(suite: Suite, seconds: float) -> Suite:
    """The suite with another time limit for every judge."""
    judges = tuple(msgspec.structs.replace(judge, timeout_s=seconds) for judge in suite.judges)
    return msgspec.structs.replace(suite, judges=judges)
