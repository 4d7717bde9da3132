"""Suites whose agent is a model in a container, which a loopback provider plays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adjudge.domain import CaseRun, RunResult
from tests.support.configs import Files, judged, write_suite
from tests.support.hosted import Agent, Fault, Hosted
from tests.support.llm import QUICK
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply
from tests.support.request import Request

INPUT: Files = {"input.yaml": "request: say it\n"}
RUNNER: dict[str, Any] = {"type": "responses-api"}


def suite(folder: Path, **sections: Any) -> Path:
    whole: dict[str, Any] = {
        "runner": RUNNER,
        "execution": {"prompt": "do it"},
        "models": {"skill": "gpt-5.2"},
        "cases": {"case-1": INPUT},
        **sections,
    }
    return write_suite(folder, **whole)


def ran(folder: Path, hosted: Hosted | Agent, *, options: Mapping[str, Any] = {}, **sections: Any) -> RunResult:
    """Run an agent that the provider plays, and judge what it leaves."""
    served = hosted if isinstance(hosted, Hosted) else Hosted(hosted)
    with LoopbackProvider(hosted=served) as provider:
        environ = {**provider.env("openai"), "PROVIDER": provider.url, **options.get("environ", {})}
        return judged(suite(folder, **sections), **{"retry": QUICK, **options, "environ": environ})


def run_of(result: RunResult, case: str = "case-1") -> CaseRun:
    assert result.execution is not None
    run = result.execution.run(case)
    assert run is not None
    return run


def home(folder: Path, case: str = "case-1") -> Path:
    return folder / "run/cases" / case


def fault(path: str, *replies: Reply | None, method: str = "POST") -> Fault:
    """Answers for the first requests to paths below /v1 that end so; the last one of `replies` stays."""
    left = list(replies)

    def answer(request: Request) -> Reply | None:
        if request.method != method or not request.path.endswith(path):
            return None
        return left.pop(0) if len(left) > 1 else left[0]

    return answer
