"""What is asked, how often, and what is kept: the engine against a provider that counts."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

import adjudge
from adjudge.domain import ConfigError, Decision, Status, StoreError
from tests.support.llm import QUICK, judged, llm_judge, whole
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Reply, Usage, Verdict
from tests.support.request import Request

PASSES = Verdict({"rationale": "fine", "passed": True}, usage=Usage(input=1000, output=100))


def test_a_verdict_holds_what_the_model_said_and_what_it_cost() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        result = judged(provider)
    score = result.score("case-0000", "good")
    assert (score.value, score.rationale, score.status) == (True, "fine", Status.SCORED)
    assert score.usage is not None
    assert (score.usage.input, score.usage.output, score.usage.price_source) == (1000, 100, "genai-prices")
    assert score.usage.cost_usd == pytest.approx(1000 * 2e-6 + 100 * 10e-6)
    assert result.decision == "pass"


def test_the_same_question_is_asked_once_and_paid_for_once() -> None:
    twins = [llm_judge("first"), llm_judge("second")]
    with LoopbackProvider(lambda _: PASSES, latency=0.05) as provider:
        result = judged(provider, judges=twins, count=3)
        assert len(provider.requests) == 3
    assert result.usage.calls == 3
    assert result.summary("second").n == 3


def test_samples_never_share_an_answer() -> None:
    def reply(request: Request) -> Reply:
        return Verdict({"rationale": f"call {request.index}", "score": 1 + request.index % 5})

    with LoopbackProvider(reply) as provider:
        result = judged(provider, judges=[llm_judge(scale=whole(1, 5), samples=5)], count=1)
        assert len(provider.requests) == 5
    score = result.score("case-0000", "good")
    assert sorted(sample.value for sample in score.samples if sample.value is not None) == [1, 2, 3, 4, 5]
    assert score.value == 3
    assert score.agreement == pytest.approx(0.2)


def test_the_same_run_again_asks_nothing() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        first = judged(provider, count=4, output="run")
        again = judged(provider, count=4, output="run")
        assert len(provider.requests) == 4
    assert msgspec.json.encode(first) == msgspec.json.encode(again)


def test_a_new_run_directory_is_served_from_the_cache() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        first = judged(provider, count=4, output="run-1")
        again = judged(provider, count=4, output="run-2")
        assert len(provider.requests) == 4
    assert msgspec.json.encode(first) == msgspec.json.encode(again)


def test_fresh_asks_again_and_still_asks_twins_once() -> None:
    twins = [llm_judge("first"), llm_judge("second")]
    with LoopbackProvider(lambda _: PASSES) as provider:
        judged(provider, judges=twins, output="run")
        judged(provider, judges=twins, output="run", fresh=True)
        assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "change",
    [{"prompt": "Is it bad? {{ inputs }}{{ outputs }}"}, {"model": "claude-haiku-5-5"}, {"max_tokens": 99}],
    ids=["prompt", "model", "max_tokens"],
)
def test_whatever_can_change_the_answer_asks_anew(change: dict[str, Any]) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        judged(provider, output="run")
        judged(provider, output="run", judges=[llm_judge(**change)])
        assert len(provider.requests) == 2


def test_an_edited_suite_does_not_report_verdicts_of_the_old_one() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        judged(provider, output="run", count=2)
        edited = judged(provider, output="run", count=2, judges=[llm_judge(prompt="{{ inputs }}?")], offline=True)
    assert edited.summary("good").unscored_kinds == {"offline": 2}
    assert edited.exit_code == 4


def test_offline_answers_from_the_journal_and_says_what_is_missing() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        judged(provider, output="run", count=2)
        known = len(provider.requests)
        result = judged(provider, output="run", count=3, offline=True)
        assert len(provider.requests) == known
    assert [score.status for score in result.scores] == [Status.SCORED, Status.SCORED, Status.UNSCORED]
    assert result.gate.decision is Decision.BROKEN


def test_offline_needs_no_credentials() -> None:
    suite = adjudge.Suite(name="s", cases=[adjudge.Case(id="a", outputs={"x": "y"})], judges=(llm_judge(),))
    result = adjudge.run(suite, offline=True)
    assert result.summary("good").unscored_kinds == {"offline": 1}


def test_the_budget_holds_and_a_higher_one_goes_on() -> None:
    each = 1000 * 2e-6 + 100 * 10e-6
    with LoopbackProvider(lambda _: PASSES, latency=0.02) as provider:
        first = judged(provider, count=10, output="run", budget_usd=each * 3.5)
        assert len(provider.requests) == 3
        assert first.summary("good").unscored_kinds == {"budget": 7}
        assert first.exit_code == 4
        judged(provider, count=10, output="run", budget_usd=each * 3.5)
        assert len(provider.requests) == 3
        second = judged(provider, count=10, output="run", budget_usd=1.0)
        assert len(provider.requests) == 10
    assert second.decision == "pass"
    assert second.usage.cost_usd == pytest.approx(each * 10)


def test_a_budget_that_cannot_bind_is_refused() -> None:
    suite = adjudge.Suite(name="s", cases=[adjudge.Case(id="a")], judges=(llm_judge(model="openai:/no-such-model"),))
    with pytest.raises(ConfigError, match="no price is known"):
        adjudge.run(suite, budget_usd=1.0, environ={"OPENAI_API_KEY": "k"})


def test_unknown_prices_stay_unknown() -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        result = judged(provider, judges=[llm_judge(model="openai:/my-own-model")])
    assert result.usage.cost_usd is None
    assert result.usage.unpriced_calls == 1


def test_no_more_requests_are_under_way_than_allowed() -> None:
    with LoopbackProvider(lambda _: PASSES, latency=0.02) as provider:
        judged(provider, count=40, max_concurrency=3)
        assert provider.max_in_flight == 3


def test_a_passing_fault_is_recovered_and_a_lasting_one_leaves_only_that_judge_unscored() -> None:
    def reply(request: Request) -> Reply:
        if request.model == "claude-dead":
            return HttpError(404, message="model: claude-dead")
        return HttpError(529) if request.index % 3 == 0 else PASSES

    with LoopbackProvider(reply) as provider:
        result = judged(provider, judges=[llm_judge(), llm_judge("dead", model="claude-dead")], count=6)
        dead = sum(request.model == "claude-dead" for request in provider.requests)
    assert result.summary("good").n == 6
    assert result.summary("dead").unscored_kinds == {"model_not_found": 6}
    assert dead <= 6


def test_retry_after_is_honoured() -> None:
    import time

    replies = [HttpError(429, retry_after=1), PASSES]
    with LoopbackProvider(replies) as provider:
        began = time.monotonic()
        result = judged(provider)
        assert time.monotonic() - began >= 1.0
    assert result.decision == "pass"


def test_a_wait_past_the_limit_ends_at_once() -> None:
    with LoopbackProvider(lambda _: HttpError(429, retry_after=3600)) as provider:
        result = judged(provider)
        assert len(provider.requests) == 1
    assert result.score("case-0000", "good").error is not None
    assert result.summary("good").unscored_kinds == {"rate_limited": 1}


def test_transient_failures_are_asked_again_by_the_same_command_and_answers_are_not() -> None:
    with LoopbackProvider(lambda _: HttpError(500)) as provider:
        judged(provider, count=2, output="run")
        asked = len(provider.requests)
        assert asked == 2 * QUICK.attempts
    answers: list[Reply] = [PASSES, Verdict({"rationale": "?", "passed": "yes"})]
    with LoopbackProvider(answers) as provider:
        url = provider.env()
        result = judged(provider, count=2, output="run", max_concurrency=1, env=url)
        asked = 1 + llm_judge().attempts
        assert len(provider.requests) == asked
        assert result.summary("good").unscored_kinds == {"unparseable": 1}
        judged(provider, count=2, output="run", env=url)
        assert len(provider.requests) == asked


def test_secrets_stay_out_of_everything_written(tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"

    def reply(request: Request) -> Reply:
        return HttpError(401, message=f"invalid x-api-key: {secret}")

    with LoopbackProvider(reply) as provider:
        judged(provider, env={"ANTHROPIC_API_KEY": secret}, output="run")
    found = [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert found == []


def test_a_journal_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with sqlite3.connect("run/journal.db") as database:
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB)")
        database.execute("INSERT INTO meta VALUES ('schema_version', '999')")
    with LoopbackProvider(lambda _: PASSES) as provider, pytest.raises(StoreError, match="another version"):
        judged(provider, output="run")


def test_a_file_that_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.db").write_text("my diary " * 200)
    with LoopbackProvider(lambda _: PASSES) as provider, pytest.raises(StoreError, match="not a journal"):
        judged(provider, output="run")
    assert (tmp_path / "run" / "journal.db").read_text().startswith("my diary")
