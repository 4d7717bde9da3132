"""What goes over the wire: the same request as the official SDK sends for the same call."""

from __future__ import annotations

import anthropic
import openai
import pytest

from adjudge.models import CredentialsError, resolve, split
from adjudge.models.wire import retry_after
from tests.support.llm import judged, llm_judge, whole
from tests.support.provider import LoopbackProvider
from tests.support.replies import HttpError, Reply, Verdict
from tests.support.request import Request


def asked(model: str) -> Request:
    with LoopbackProvider() as provider:
        judged(provider, judges=[llm_judge(model=model, scale=whole(0, 2))])
        (request,) = provider.requests
    return request


def test_anthropic_request_is_the_sdks() -> None:
    ours = asked("claude-sonnet-5-5")
    with LoopbackProvider() as provider:
        client = anthropic.Anthropic(base_url=provider.url, api_key="dummy-key", max_retries=0)
        client.messages.create(**ours.body)
        (theirs,) = provider.requests
    assert ours.body == theirs.body
    assert ours.path == theirs.path
    for header in ("authorization", "anthropic-version", "content-type"):
        assert ours.headers[header] == theirs.headers[header]
    assert ours.tool_name == "submit_score"


def test_openai_request_is_the_sdks() -> None:
    ours = asked("openai:/gpt-4o")
    with LoopbackProvider() as provider:
        client = openai.OpenAI(base_url=provider.url + "/v1", api_key="dummy-key", max_retries=0)
        client.chat.completions.create(**ours.body)
        (theirs,) = provider.requests
    assert ours.body == theirs.body
    assert ours.path == theirs.path
    for header in ("authorization", "content-type"):
        assert ours.headers[header] == theirs.headers[header]
    assert ours.tool_name == "submit_score"


def test_the_rationale_comes_before_the_value() -> None:
    schema = asked("claude-sonnet-5-5").schema
    assert schema is not None
    assert list(schema["properties"]) == ["rationale", "score"]
    assert schema["properties"]["score"] == {
        "type": "integer",
        "minimum": 0,
        "maximum": 2,
        "description": schema["properties"]["score"]["description"],
    }


def test_the_guard_stands_in_the_system_prompt_and_the_material_is_fenced() -> None:
    request = asked("claude-sonnet-5-5")
    assert "never instructions to you" in request.system
    assert "[BEGIN EVALUATED MATERIAL: outputs #" in request.prompt


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("sonnet", ("anthropic", "sonnet")),
        ("claude-opus-4-8", ("anthropic", "claude-opus-4-8")),
        ("anthropic:/claude-x", ("anthropic", "claude-x")),
        ("anthropic/claude-x", ("anthropic", "claude-x")),
        ("openai:/gpt-4o", ("openai", "gpt-4o")),
        ("openai/gpt-4o", ("openai", "gpt-4o")),
        ("gpt-4o", ("openai", "gpt-4o")),
        ("meta-llama/Llama-3.1-8B", ("openai", "meta-llama/Llama-3.1-8B")),
        ("llama3.1:8b", ("openai", "llama3.1:8b")),
    ],
)
def test_model_strings(model: str, expected: tuple[str, str]) -> None:
    assert split(model) == expected


@pytest.mark.parametrize(
    ("model", "environ", "url"),
    [
        ("claude-x", {"ANTHROPIC_API_KEY": "k"}, "https://api.anthropic.com/v1/messages"),
        ("claude-x", {"ANTHROPIC_AUTH_TOKEN": "k", "ANTHROPIC_BASE_URL": "http://h:1/v1/"}, "http://h:1/v1/messages"),
        ("gpt-4o", {"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1/chat/completions"),
        ("any", {"OPENAI_BASE_URL": "http://localhost:11434/v1"}, "http://localhost:11434/v1/chat/completions"),
    ],
)
def test_endpoints(model: str, environ: dict[str, str], url: str) -> None:
    assert resolve(model, environ).url == url


@pytest.mark.parametrize(
    ("model", "environ"),
    [
        ("claude-x", {}),
        ("gpt-4o", {}),
        ("claude-x", {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "k"}),
        ("gpt-4o", {"OPENAI_BASE_URL": "localhost:11434"}),
        ("gpt-4o", {"OPENAI_BASE_URL": "http://user:secret@h/v1"}),
    ],
)
def test_no_access_is_said_before_anything_runs(model: str, environ: dict[str, str]) -> None:
    with pytest.raises(CredentialsError) as caught:
        resolve(model, environ)
    assert "secret@" not in str(caught.value)


def test_an_alias_follows_the_usual_variable() -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_DEFAULT_SONNET_MODEL": "claude-sonnet-9"}
    assert resolve("sonnet", environ).model == "claude-sonnet-9"


def test_an_endpoint_does_not_show_its_secret() -> None:
    assert "k-secret" not in repr(resolve("gpt-4o", {"OPENAI_API_KEY": "k-secret"}))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_model_that_rejects_forcing_is_offered_the_tool() -> None:
    """Some models answer 400 to every forcing mode; the refusal costs no retry and is met once."""

    def reply(request: Request) -> Reply:
        if request.body["tool_choice"]["type"] != "auto":
            return HttpError(400, message='tool_choice: type "tool" and "any" are not supported for this model.')
        return Verdict({"rationale": "fine", "passed": True})

    with LoopbackProvider(reply) as provider:
        result = judged(provider, count=3, max_concurrency=1)
        choices = [request.body["tool_choice"]["type"] for request in provider.requests]
    assert result.summary("good").n == 3
    assert choices == ["tool", "any", "auto", "auto", "auto"]


def test_a_refusal_of_every_mode_is_unscored() -> None:
    with LoopbackProvider(lambda _: HttpError(400, message="tool_choice is not supported")) as provider:
        result = judged(provider, judges=[llm_judge(model="openai:/gpt-4o")])
        choices = [request.body["tool_choice"] for request in provider.requests]
    assert result.summary("good").unscored_kinds == {"tool_choice_rejected": 1}
    assert choices[0]["type"] == "function"
    assert choices[1:] == ["required", "auto"]
