"""What happens to everything else when one model cannot be asked."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import ConfigError, RunResult, Status, Suite
from adjudge.engine import RunOptions, make_plan
from adjudge.engine.observer import Silent
from adjudge.engine.run import execute
from tests.support.configs import check, llm, write_suite
from tests.support.llm import QUICK, call, cases, environment, judged, llm_judge
from tests.support.provider import LoopbackProvider
from tests.support.replies import CutConnection, HttpError, Reply, Text, Verdict
from tests.support.request import Request

PASSES = Verdict({"rationale": "fine", "passed": True})
OPENAI = "openai:/gpt-5.2"
ROUTED = "openrouter:/z-ai/glm-5.2"
CASES = {f"case-{k}": {"output/a.md": f"answer {k}"} for k in (1, 2)}
THREE = [llm("first"), llm("second", model=OPENAI), llm("third", model=ROUTED), check("fourth")]


def closed_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}"


def run(
    folder: Path, provider: LoopbackProvider, *options: str, judges: list[dict[str, Any]] = THREE, **env: str
) -> subprocess.CompletedProcess[str]:
    """`adjudge run` over two cases with what Anthropic's client needs, and nothing of the others."""
    config = write_suite(folder, judges, CASES)
    known = {**environment(folder), **provider.env("anthropic"), **env}
    return call("run", config, "--output", "run", *options, cwd=folder, env=known)


def test_models_without_credentials_are_all_named_before_anything_runs(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        ended = run(tmp_path, provider)
        assert provider.requests == []
    assert ended.returncode == 2
    assert not (tmp_path / "run").exists()
    said = " ".join(ended.stderr.split())
    for judge, variable in (("second", "OPENAI_API_KEY"), ("third", "OPENROUTER_API_KEY")):
        assert f"judge '{judge}'" in said
        assert variable in said
    assert "judge 'first'" not in said
    assert "--keep-going" in said
    lines = (tmp_path / "eval.yaml").read_text().splitlines()
    places = [
        str(1 + next(k for k, line in enumerate(lines) if f"name: {name}" in line)) for name in ("second", "third")
    ]
    assert [f"eval.yaml:{place}:" in said for place in places] == [True, True]


def test_keep_going_runs_the_rest_and_leaves_those_unscored(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        ended = run(tmp_path, provider, "--keep-going")
        assert {request.model for request in provider.requests} == {"claude-sonnet-5-5"}
        assert len(provider.requests) == 2
    assert ended.returncode == 4
    result = adjudge.read(tmp_path / "run")
    assert [result.summary(name).n for name in ("first", "second", "third", "fourth")] == [2, 0, 0, 2]
    for name in ("second", "third"):
        assert result.summary(name).unscored_kinds == {"credentials": 2}
        assert ended.stderr.count(f"{name}: ") == 1
    assert result.decision == "broken"


def test_keep_going_goes_on_once_the_credentials_are_there() -> None:
    judges = [llm_judge("first"), llm_judge("second", model=OPENAI)]
    with LoopbackProvider(lambda _: PASSES) as provider:
        without = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
        first = judged(provider, judges=judges, count=3, output="run", keep_going=True, env=without)
        assert first.summary("second").unscored_kinds == {"credentials": 3}
        second = judged(provider, judges=judges, count=3, output="run")
        assert [request.wire for request in provider.requests] == ["anthropic"] * 3 + ["openai"] * 3
    assert (second.decision, second.summary("second").n) == ("pass", 3)


def test_keep_going_excuses_nothing_but_credentials() -> None:
    judges = [llm_judge("first", prompt="{{ nothing_of_that_name }}"), llm_judge("second", model="")]
    with LoopbackProvider() as provider, pytest.raises(ConfigError) as caught:
        judged(provider, judges=judges, keep_going=True)
    assert len(caught.value.problems) == 2


def test_a_threshold_on_what_could_not_be_asked_is_not_met(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        config = write_suite(tmp_path, [llm("second", model=OPENAI)], thresholds={"second": {"min_pass_rate": 0.0}})
        result = adjudge.run(config, environ=provider.env("anthropic"), keep_going=True, workers=1)
        assert provider.requests == []
    assert (result.decision, result.exit_code) == ("broken", 4)


def two(reply: Callable[[Request], Reply], count: int = 5, **options: Any) -> tuple[RunResult, list[Request]]:
    """A judge that is answered, beside one of another model whose requests are answered by `reply`."""
    judges = [llm_judge("sound"), llm_judge("sick", model=OPENAI)]

    def answer(request: Request) -> Reply:
        return reply(request) if request.wire == "openai" else PASSES

    with LoopbackProvider(answer) as provider:
        return judged(provider, judges=judges, count=count, **options), provider.requests


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(HttpError(401, message="invalid key"), "credentials", id="revoked key"),
        pytest.param(HttpError(404, message="no such model"), "model_not_found", id="unknown model"),
        pytest.param(HttpError(403, message="not for you"), "credentials", id="forbidden"),
        pytest.param(
            HttpError(429, kind="insufficient_quota", message="insufficient_quota"), "credentials", id="quota"
        ),
        pytest.param(CutConnection(), "connection", id="cut connection"),
        pytest.param(Text("hm"), "unparseable", id="no verdicts"),
    ],
)
def test_a_model_that_cannot_be_used_leaves_only_its_own_judge_unscored(fault: Reply, kind: str) -> None:
    result, _ = two(lambda _: fault)
    assert result.summary("sound").n == 5
    assert result.summary("sick").unscored_kinds == {kind: 5}
    assert result.decision == "broken"


@pytest.mark.parametrize("status", [401, 404])
def test_what_nothing_will_help_is_asked_no_more(status: int) -> None:
    result, requests = two(lambda _: HttpError(status), count=30, max_concurrency=1)
    assert sum(request.wire == "openai" for request in requests) == 1
    assert result.summary("sound").n == 30


def test_a_key_that_is_revoked_half_way_keeps_what_was_answered() -> None:
    result, _ = two(lambda request: PASSES if request.index < 6 else HttpError(401), count=8, max_concurrency=1)
    assert result.summary("sound").n == 8
    sick = result.summary("sick")
    assert sick.n > 0
    assert sick.n + sick.unscored_kinds["credentials"] == 8


def test_an_endpoint_that_is_not_there_costs_its_own_judge_alone() -> None:
    judges = [llm_judge("sound"), llm_judge("sick", model=OPENAI)]
    with LoopbackProvider(lambda _: PASSES) as provider:
        gone = {"OPENAI_BASE_URL": f"{closed_port()}/v1"}
        result = judged(provider, judges=judges, count=40, env=gone)
    assert result.summary("sound").n == 40
    assert result.summary("sick").unscored_kinds == {"connection": 40}


@pytest.mark.parametrize("status", [401, 404])
def test_a_model_that_cannot_be_used_is_told_of_once(tmp_path: Path, status: int) -> None:
    def reply(request: Request) -> Reply:
        return HttpError(status, message="the reason") if request.wire == "openai" else PASSES

    judges = [llm("sound"), llm("sick", model=OPENAI)]
    with LoopbackProvider(reply) as provider:
        ended = run(tmp_path, provider, "--max-concurrency", "1", judges=judges, **provider.env("openai"))
    assert ended.returncode == 4
    (said,) = [line for line in ended.stderr.splitlines() if "sick: " in line]
    assert "the reason" in said
    assert "sound: " not in ended.stderr


class Listener(Silent):
    """Keeps what everybody is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str, *, detail: bool = False) -> None:
        if not detail:
            self.notes.append(text)


def test_an_endpoint_that_is_not_there_is_told_of_once_as_a_retry_and_once_as_the_end(tmp_path: Path) -> None:
    suite = Suite(name="s", cases=cases(9), judges=(llm_judge(model=OPENAI),))
    options = RunOptions(output=tmp_path / "run", environ={"OPENAI_BASE_URL": closed_port()}, retry=QUICK, workers=1)
    listener = Listener()
    asyncio.run(execute(make_plan(suite, options), options, listener))
    ended = [note for note in listener.notes if note.startswith("good: ")]
    waits = [note for note in listener.notes if "trying again" in note]
    assert (len(ended), len(waits), len(listener.notes)) == (1, 1, 2)


def sometimes(lost: set[str]) -> Callable[[Request], Reply]:
    """No verdict on the tasks that are lost."""

    def reply(request: Request) -> Reply:
        return Text("hm") if any(f"task {name}\n" in request.prompt for name in lost) else PASSES

    return reply


def test_retry_unscored_asks_only_what_has_no_score() -> None:
    judges = [llm_judge("one", attempts=1), llm_judge("two", attempts=1, prompt="Two? {{ inputs }} {{ outputs }}")]
    lost = {"1", "3"}
    with LoopbackProvider(sometimes(lost)) as provider:
        first = judged(provider, judges=judges, count=4, output="run")
        assert first.summary("one").unscored_kinds == {"unparseable": 2}
        assert len(provider.requests) == 8
        judged(provider, judges=judges, count=4, output="run")
        assert len(provider.requests) == 8  # an answer is an answer, unless told otherwise
        lost.clear()
        second = judged(provider, judges=judges, count=4, output="run", retry_unscored=True)
        prompts = [request.prompt for request in provider.requests[8:]]
        assert len(prompts) == 4
        assert all("task 1\n" in prompt or "task 3\n" in prompt for prompt in prompts)
        judged(provider, judges=judges, count=4, output="run", retry_unscored=True)
        assert len(provider.requests) == 12
    assert second.decision == "pass"
    assert [second.summary(name).n for name in ("one", "two")] == [4, 4]


def test_retry_unscored_leaves_skips_abstentions_and_fails_alone(tmp_path: Path) -> None:
    judges = [
        llm("failed"),
        llm("abstained", prompt="Tell? {{ outputs }}", abstain=True),
        llm("skipped", condition="False"),
    ]
    config = write_suite(tmp_path, judges)

    def reply(request: Request) -> Reply:
        return Verdict({"rationale": "r", "passed": None if "Tell?" in request.prompt else False})

    with LoopbackProvider(reply) as provider:
        options: dict[str, Any] = {"environ": provider.env(), "workers": 1, "output": "run"}
        first = adjudge.run(config, **options)
        second = adjudge.run(config, retry_unscored=True, **options)
        assert len(provider.requests) == 2
    assert [score.status for score in first.scores] == [Status.SCORED, Status.ABSTAINED, Status.SKIPPED]
    assert first.scores == second.scores


def test_retry_unscored_asks_only_the_samples_that_were_lost() -> None:
    judge = llm_judge(samples=4, attempts=1)
    with LoopbackProvider(lambda request: Text("hm") if request.index in (1, 2, 3) else PASSES) as provider:
        first = judged(provider, judges=[judge], output="run", max_concurrency=1)
        assert first.summary("good").unscored_kinds == {"too_few_votes": 1}
        second = judged(provider, judges=[judge], output="run", retry_unscored=True)
        assert len(provider.requests) == 4 + 3
    assert second.score("case-0000", "good").value is True


def test_retry_unscored_spends_its_own_attempts_and_counts_them() -> None:
    with LoopbackProvider(lambda request: PASSES if request.index == 4 else Text("hm")) as provider:
        judged(provider, judges=[llm_judge(attempts=3)], output="run")
        assert len(provider.requests) == 3
        result = judged(provider, judges=[llm_judge(attempts=3)], output="run", retry_unscored=True)
        assert len(provider.requests) == 5
    assert result.score("case-0000", "good").value is True
    assert result.usage.calls == 2


def test_the_flag_goes_on_in_the_last_run_although_it_is_finished(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [llm()], CASES)
    answers = iter([PASSES, *[Text("hm")] * 3])
    with LoopbackProvider(lambda _: next(answers, PASSES)) as provider:
        env = environment(tmp_path, provider)
        first = call("run", config, "--max-concurrency", "1", cwd=tmp_path, env=env)
        second = call("run", config, "--retry-unscored", cwd=tmp_path, env=env)
        assert len(provider.requests) == 5
    assert (first.returncode, second.returncode) == (4, 0), second.stderr
    assert len(list((tmp_path / ".adjudge" / "runs" / "suite").iterdir())) == 1
