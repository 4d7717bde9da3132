"""Every fault by every way of reaching a model: recovered, or unscored of a known kind, and never a score."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adjudge.domain import ErrorKind, RunResult, Status
from adjudge.models import RetryPolicy
from tests.support.clients import CLIENTS, judge_for, passes, run_with, with_litellm
from tests.support.provider import Client, LoopbackProvider
from tests.support.replies import (
    CutBody,
    CutConnection,
    Empty,
    Html,
    HttpError,
    Malformed,
    NotObject,
    Payload,
    Reply,
    SlowBody,
    Stall,
    WrongShape,
)

E = ErrorKind
ERROR_INSIDE = {"error": {"code": 503, "message": "the provider behind is busy"}}

PASSING: dict[str, tuple[Reply, ErrorKind]] = {
    "408": (HttpError(408), E.PROVIDER_ERROR),
    "429": (HttpError(429, retry_after=0), E.RATE_LIMITED),
    "500": (HttpError(500), E.PROVIDER_ERROR),
    "529": (HttpError(529), E.RATE_LIMITED),
    "proxy page": (Html(502), E.PROVIDER_ERROR),
    "page as success": (Html(200), E.PROVIDER_ERROR),
    "cut body": (CutBody(), E.CONNECTION),
    "cut connection": (CutConnection(), E.CONNECTION),
    "stall": (Stall(), E.TIMEOUT),
    "slow body": (SlowBody(Empty(), seconds=30), E.TIMEOUT),
    "not JSON": (Malformed(), E.PROVIDER_ERROR),
    "a list": (NotObject(), E.PROVIDER_ERROR),
    "wrong shape": (WrongShape(), E.PROVIDER_ERROR),
    "error as success": (Payload(ERROR_INSIDE), E.PROVIDER_ERROR),
}
LASTING: dict[str, tuple[Reply, ErrorKind]] = {
    "400": (HttpError(400, message="max_tokens: too large"), E.REQUEST_REJECTED),
    "401": (HttpError(401), E.CREDENTIALS),
    "402": (HttpError(402), E.CREDENTIALS),
    "403": (HttpError(403), E.CREDENTIALS),
    "404": (HttpError(404), E.MODEL_NOT_FOUND),
    "413": (HttpError(413), E.REQUEST_REJECTED),
    "quota": (HttpError(429, kind="insufficient_quota", message="insufficient_quota"), E.CREDENTIALS),
    "empty": (Empty(), E.UNPARSEABLE),
}
# LiteLLM tells a connection that broke as status 500, and a response of no known shape as a lost connection.
BY_LITELLM = {"cut body": E.PROVIDER_ERROR, "cut connection": E.PROVIDER_ERROR, "a list": E.CONNECTION}

every_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(autouse=True, name="_litellm")
def litellm_is_there() -> Iterator[None]:
    yield from with_litellm()


def unscored(result: RunResult) -> list[str]:
    """The kinds of a run that gave no score."""
    (summary,) = result.judges
    assert summary.n == 0
    assert all(score.status is Status.UNSCORED and score.value is None for score in result.scores)
    assert result.exit_code == 4
    return list(summary.unscored_kinds)


@every_client
@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_passes_is_recovered(client: Client, name: str) -> None:
    fault, _ = PASSING[name]
    with LoopbackProvider([fault, passes(client)]) as provider:
        result = run_with(provider, client, retry=_impatient(0.8))
        assert len(provider.requests) == 2
    assert result.score("case-0000", "good").value is True


@every_client
@pytest.mark.parametrize("name", PASSING)
def test_a_fault_that_stays_is_unscored_after_the_last_attempt(client: Client, name: str) -> None:
    fault, kind = PASSING[name]
    with LoopbackProvider(lambda _: fault) as provider:
        result = run_with(provider, client, retry=_impatient(0.15))
        # OpenRouter's repetitions are a setting of their own.
        assert len(provider.requests) == (4 if client == "openrouter" else 2)
    assert unscored(result) == [BY_LITELLM.get(name, kind) if client == "litellm" else kind]


@every_client
@pytest.mark.parametrize("name", LASTING)
def test_what_repeating_cannot_mend_is_not_repeated(client: Client, name: str) -> None:
    """Only an answer that is no verdict is asked for again, of models that can be told what was wrong."""
    fault, kind = LASTING[name]
    with LoopbackProvider(lambda _: fault) as provider:
        result = run_with(provider, client)
        assert len(provider.requests) == (3 if kind is E.UNPARSEABLE and client != "jev" else 1)
    assert unscored(result) == [kind]


@every_client
def test_a_provider_that_is_not_there_is_unscored(client: Client) -> None:
    with LoopbackProvider() as gone:
        pass
    result = run_with(gone, client, retry=_impatient(0.8))
    assert unscored(result) == [E.PROVIDER_ERROR if client == "litellm" else E.CONNECTION]


@every_client
def test_the_time_limit_of_a_judge_ends_a_provider_that_never_answers(client: Client) -> None:
    with LoopbackProvider(lambda _: Stall()) as provider:
        result = run_with(provider, client, judge_for(client, timeout_s=0.3), retry=RetryPolicy(attempts=50))
        assert len(provider.requests) == 1
    assert unscored(result) == [E.TIMEOUT]


@every_client
def test_a_key_that_the_provider_quotes_is_never_told(client: Client) -> None:
    quoting = HttpError(401, message="Incorrect API key provided: dummy-key.")
    with LoopbackProvider(lambda _: quoting) as provider:
        result = run_with(provider, client)
    assert unscored(result) == [E.CREDENTIALS]
    said = result.judges[0].first_failure
    assert "Incorrect API key provided: ***" in said
    assert "dummy-key" not in said


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"type": "noul", "noul": 1.5}, E.OFF_SCALE),
        ({"type": "noul", "noul": -0.1}, E.OFF_SCALE),
        ({"type": "noul", "noul": True}, E.UNPARSEABLE),
        ({"type": "noul", "noul": "0.9"}, E.UNPARSEABLE),
        ({"type": "noul"}, E.UNPARSEABLE),
        ({"type": "score", "score": 0.9, "confidence": 0.9}, E.UNPARSEABLE),
        (0.9, E.UNPARSEABLE),
        (None, E.UNPARSEABLE),
    ],
    ids=str,
)
def test_a_decision_of_another_kind_is_no_verdict(given: object, kind: ErrorKind) -> None:
    with LoopbackProvider(lambda _: Payload({"model": "jev-1", "answers": {"good": given}})) as provider:
        result = run_with(provider, "jev")
        assert len(provider.requests) == 1
    assert unscored(result) == [kind]


def _impatient(attempt_timeout_s: float) -> RetryPolicy:
    return RetryPolicy(attempts=2, base_s=0.005, cap_s=0.01, attempt_timeout_s=attempt_timeout_s)
