"""Every fault on every wire ends as a recovered verdict or as one unscored verdict of a known kind."""

from __future__ import annotations

import pytest

from adjudge.domain import ErrorKind
from adjudge.models import RetryPolicy
from tests.support.llm import judged, llm_judge, whole
from tests.support.provider import LoopbackProvider
from tests.support.replies import (
    CutBody,
    CutConnection,
    Empty,
    Html,
    HttpError,
    Malformed,
    NotObject,
    Refusal,
    Reply,
    SlowBody,
    Stall,
    Text,
    ToolCall,
    Truncated,
    Verdict,
    WrongShape,
)

GOOD = Verdict({"rationale": "fine", "passed": True})
MODELS = {"anthropic": "claude-sonnet-5-5", "openai": "openai:/gpt-4o"}

PASSING: dict[str, tuple[Reply, ErrorKind]] = {
    "408": (HttpError(408), ErrorKind.PROVIDER_ERROR),
    "429": (HttpError(429, retry_after=0), ErrorKind.RATE_LIMITED),
    "429 with a date": (HttpError(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), ErrorKind.RATE_LIMITED),
    "429 with nonsense": (HttpError(429, retry_after="soon"), ErrorKind.RATE_LIMITED),
    "500": (HttpError(500), ErrorKind.PROVIDER_ERROR),
    "503": (HttpError(503), ErrorKind.PROVIDER_ERROR),
    "529": (HttpError(529), ErrorKind.RATE_LIMITED),
    "proxy page": (Html(502), ErrorKind.PROVIDER_ERROR),
    "cut body": (CutBody(), ErrorKind.CONNECTION),
    "cut connection": (CutConnection(), ErrorKind.CONNECTION),
    "stall": (Stall(), ErrorKind.TIMEOUT),
    "slow body": (SlowBody(GOOD, seconds=30), ErrorKind.TIMEOUT),
    "not JSON": (Malformed(), ErrorKind.PROVIDER_ERROR),
    "a list": (NotObject(), ErrorKind.PROVIDER_ERROR),
    "wrong shape": (WrongShape(), ErrorKind.PROVIDER_ERROR),
}

LASTING: dict[str, tuple[Reply, ErrorKind]] = {
    "400": (HttpError(400, message="max_tokens: too large"), ErrorKind.REQUEST_REJECTED),
    "401": (HttpError(401), ErrorKind.CREDENTIALS),
    "403": (HttpError(403), ErrorKind.CREDENTIALS),
    "404": (HttpError(404), ErrorKind.MODEL_NOT_FOUND),
    "413": (HttpError(413), ErrorKind.REQUEST_REJECTED),
    "quota": (HttpError(429, kind="insufficient_quota", message="insufficient_quota"), ErrorKind.CREDENTIALS),
    "refusal": (Refusal("I would rather not."), ErrorKind.REFUSED),
    "empty": (Empty(), ErrorKind.UNPARSEABLE),
    "truncated": (Truncated({"rationale": "it is", "passed": True}), ErrorKind.TRUNCATED),
    "prose": (Text("I think it passes: true."), ErrorKind.UNPARSEABLE),
    "quoted verdict": (Text('It says {"rationale": "x", "passed": true} but I disagree.'), ErrorKind.UNPARSEABLE),
    "wrong tool": (ToolCall("submit_score", {"rationale": "x", "score": 5}), ErrorKind.UNPARSEABLE),
    "string for boolean": (Verdict({"rationale": "x", "passed": "true"}), ErrorKind.UNPARSEABLE),
    "number for boolean": (Verdict({"rationale": "x", "passed": 1}), ErrorKind.UNPARSEABLE),
    "null": (Verdict({"rationale": "x", "passed": None}), ErrorKind.UNPARSEABLE),
    "no value": (Verdict({"rationale": "passed: true"}), ErrorKind.UNPARSEABLE),
}


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_passes_is_recovered(wire: str, name: str) -> None:
    fault, _ = PASSING[name]
    with LoopbackProvider([fault, GOOD]) as provider:
        result = judged(provider, judges=[llm_judge(model=MODELS[wire])], retry=_impatient())
        assert len(provider.requests) == 2
    assert result.score("case-0000", "good").value is True


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_stays_is_unscored_after_the_last_attempt(wire: str, name: str) -> None:
    fault, kind = PASSING[name]
    with LoopbackProvider(lambda _: fault) as provider:
        result = judged(provider, judges=[llm_judge(model=MODELS[wire])], retry=_impatient(attempts=2))
        assert len(provider.requests) == 2
    assert result.summary("good").unscored_kinds == {kind.value: 1}
    assert result.exit_code == 4


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("name", LASTING)
def test_what_repeating_cannot_mend_is_unscored_after_one_attempt(wire: str, name: str) -> None:
    """Only an answer that is no verdict is asked for again, with what was wrong with it."""
    fault, kind = LASTING[name]
    judge = llm_judge(model=MODELS[wire])
    told = kind in (ErrorKind.UNPARSEABLE, ErrorKind.TRUNCATED)
    with LoopbackProvider(lambda _: fault) as provider:
        result = judged(provider, judges=[judge])
        assert len(provider.requests) == (judge.attempts if told else 1)
        assert all("could not be used" in request.prompt for request in provider.requests[1:])
    assert result.summary("good").unscored_kinds == {kind.value: 1}


@pytest.mark.parametrize("wire", MODELS)
def test_invalid_tool_arguments_are_unscored(wire: str) -> None:
    with LoopbackProvider(lambda _: ToolCall("submit_evaluation", '{"rationale": "x", "passed": tru')) as provider:
        result = judged(provider, judges=[llm_judge(model=MODELS[wire])])
    assert result.summary("good").unscored_kinds == {"unparseable": 1}


@pytest.mark.parametrize("wire", MODELS)
def test_a_verdict_as_the_whole_text_counts_where_a_server_ignores_tools(wire: str) -> None:
    with LoopbackProvider(lambda _: Text('```json\n{"rationale": "fine", "passed": true}\n```')) as provider:
        result = judged(provider, judges=[llm_judge(model=MODELS[wire])])
    assert result.score("case-0000", "good").value is True


@pytest.mark.parametrize("answer", [9, 0, 5.4, -1], ids=str)
def test_off_scale_numbers_are_unscored_and_never_clamped(answer: float) -> None:
    with LoopbackProvider(lambda _: Verdict({"rationale": "x", "score": answer})) as provider:
        result = judged(provider, judges=[llm_judge(scale=whole(1, 5))])
    assert result.summary("good").unscored_kinds == {"off_scale": 1}


def test_a_dead_endpoint_is_unscored() -> None:
    with LoopbackProvider() as provider:
        address = provider.env()
    with LoopbackProvider() as provider:
        result = judged(provider, env=address, retry=_impatient(attempts=2))
    assert result.summary("good").unscored_kinds == {"connection": 1}


def test_the_time_limit_of_a_judge_bounds_all_its_attempts() -> None:
    import time

    began = time.monotonic()
    with LoopbackProvider(lambda _: Stall()) as provider:
        result = judged(provider, judges=[llm_judge(timeout_s=1.5)], retry=_impatient(attempts=50))
    assert time.monotonic() - began < 10
    assert result.summary("good").unscored_kinds == {"timeout": 1}


def _impatient(attempts: int = 3) -> RetryPolicy:
    return RetryPolicy(attempts=attempts, base_s=0.005, cap_s=0.01, attempt_timeout_s=1.0)
