"""Suites with LLM judges against the loopback provider, in this process and as a command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import adjudge
from adjudge.domain import Binary, Case, Criterion, LLMJudge, Numeric, RunResult, Scale, Suite
from adjudge.models import RetryPolicy
from tests.support.provider import LoopbackProvider

ROOT = Path(__file__).parent.parent.parent
QUICK = RetryPolicy(attempts=4, base_s=0.01, cap_s=0.05, attempt_timeout_s=5.0)


def llm_judge(name: str = "good", *, scale: Scale | None = None, **fields: Any) -> LLMJudge:
    """A judge that shows the whole case and asks one question."""
    fields.setdefault("prompt", "Is it good?\n\n{{ inputs }}\n\n{{ outputs }}")
    fields.setdefault("model", "claude-sonnet-5-5")
    return LLMJudge(name=name, criteria=(Criterion(name=name, scale=scale or Binary()),), **fields)


def whole(low: float, high: float) -> Numeric:
    return Numeric(low, high, integer=True)


def cases(count: int) -> list[Case]:
    """Cases that differ, so that no two prompts are the same."""
    return [
        Case(id=f"case-{k:04d}", inputs={"request": f"task {k}"}, outputs={"a.md": f"answer {k}"}) for k in range(count)
    ]


def judged(
    provider: LoopbackProvider,
    *,
    judges: Iterable[LLMJudge] | None = None,
    count: int = 1,
    env: Mapping[str, str] | None = None,
    suite: Mapping[str, Any] | None = None,
    **options: Any,
) -> RunResult:
    """Run a suite in this process, with retries that do not make a test wait."""
    built = Suite(name="suite", cases=cases(count), judges=tuple(judges or [llm_judge()]), **(suite or {}))
    options.setdefault("retry", QUICK)
    options.setdefault("workers", 1)
    return adjudge.run(built, environ={**provider.env(), **(env or {})}, **options)


def write_config(folder: Path, count: int, *, judges: str = "") -> Path:
    """An eval.yaml with `count` cases and one LLM judge, on disk."""
    for k in range(count):
        case = folder / "cases" / f"case-{k:04d}"
        (case / "output").mkdir(parents=True)
        (case / "input.yaml").write_text(f"request: task {k}\n")
        (case / "output" / "a.md").write_text(f"answer {k}\n")
    config = folder / "eval.yaml"
    config.write_text(
        "name: suite\ndataset: {path: cases}\noutputs: [{path: output}]\njudges:\n"
        "  - name: good\n    feedback_type: bool\n    model: claude-sonnet-5-5\n"
        '    prompt: "Is it good? {{ inputs }} {{ outputs }}"\n' + judges
    )
    return config


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "adjudge", *map(str, arguments)]


def environment(home: Path, provider: LoopbackProvider | None = None, **more: str) -> dict[str, str]:
    """What a command sees: nothing of the machine but the path, and the loopback provider's address."""
    base = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    return {**base, **(provider.env() if provider else {}), **more}


def call(*arguments: str | Path, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        command(*arguments), check=False, cwd=cwd, env=dict(env), capture_output=True, text=True, timeout=120
    )
