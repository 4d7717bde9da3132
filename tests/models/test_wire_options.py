"""What a request carries beside the question: as the official SDKs send it for the same call, and nothing more."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import msgspec
import openai
import pytest

from adjudge.domain import Binary, ConfigError, Criterion, DecisionJudge, ErrorKind, Levels, OpenRouter, ProviderOptions
from adjudge.models import CredentialsError, RetryPolicy, resolve
from tests.support.clients import CLIENTS, MODELS, ROUTER, judge_for, passes, request_of, run_with, with_litellm
from tests.support.provider import Client, LoopbackProvider
from tests.support.replies import HttpError, Payload, Reply, Usage, Verdict
from tests.support.request import Request

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ENCODED = base64.b64encode(PIXEL).decode()
NO_ENDPOINTS = "No endpoints found that support the provided 'tool_choice' value. To learn more, visit the docs."
LLMS = tuple(client for client in CLIENTS if client != "jev")
every_llm = pytest.mark.parametrize("client", LLMS)


@pytest.fixture(autouse=True, name="_litellm")
def litellm_is_there() -> Iterator[None]:
    yield from with_litellm()


def with_openai(**call: Any) -> Request:
    """What OpenAI's SDK sends for a call."""
    with LoopbackProvider() as provider:
        openai.OpenAI(base_url=provider.url + "/api/v1", api_key="dummy-key", max_retries=0).chat.completions.create(
            **call
        )
        return provider.requests[0]


def with_anthropic(client: dict[str, Any], **call: Any) -> Request:
    """What Anthropic's SDK sends for a call."""
    with LoopbackProvider() as provider:
        anthropic.Anthropic(base_url=provider.url, max_retries=0, **client).messages.create(**call)
        return provider.requests[0]


def question(request: Request, *names: str) -> dict[str, Any]:
    """What every call asks: the part of a request that no option changes."""
    return {name: request.body[name] for name in ("model", "messages", "tools", "max_tokens", *names)}


def test_openrouter_request_is_the_sdks() -> None:
    router = msgspec.structs.replace(
        ROUTER, referer="https://example.org", title="our evals", defaults={"data_collection": "deny"}
    )
    ours = request_of("openrouter", router=router)
    theirs = with_openai(
        **question(ours),
        tool_choice={"type": "function", "function": {"name": "submit_evaluation"}},
        extra_headers={"HTTP-Referer": "https://example.org", "X-Title": "our evals"},
        extra_body={"usage": {"include": True}, "provider": {"data_collection": "deny"}},
    )
    assert ours.body == theirs.body
    assert ours.path == theirs.path == "/api/v1/chat/completions"
    for header in ("authorization", "content-type", "http-referer", "x-title"):
        assert ours.headers[header] == theirs.headers[header]


def test_openrouter_is_told_no_attribution_that_nobody_gave() -> None:
    request = request_of("openrouter")
    assert not {"http-referer", "x-title"} & request.headers.keys()
    assert "provider" not in request.body


@pytest.mark.parametrize(
    ("inherit", "own", "sent"),
    [
        (False, {}, {"data_collection": "deny", "sort": "price"}),
        (True, {}, {"data_collection": "deny", "sort": "price", "order": ["z-ai"]}),
        (False, {"only": ["novita"]}, {"data_collection": "deny", "only": ["novita"]}),
    ],
    ids=["pins left out", "pins inherited", "its own"],
)
def test_openrouter_routing(inherit: bool, own: dict[str, Any], sent: dict[str, Any]) -> None:
    router = OpenRouter(
        base_url=ROUTER.base_url,
        defaults={"data_collection": "deny"},
        models={"z-ai/glm-5.2": {"order": ["z-ai"], "sort": "price"}},
        inherit_pins=inherit,
    )
    judge = judge_for("openrouter", options=ProviderOptions(routing=own, fallbacks=("a/b",), max_tokens=99))
    request = request_of("openrouter", judge, router=router)
    assert request.body["provider"] == sent
    assert (request.body["models"], request.body["max_tokens"]) == (["a/b"], 99)


def test_openrouter_bills_each_reply() -> None:
    usage = Usage(input=70, output=20, cache_read=30, reasoning=5, billed=0.0125)
    with LoopbackProvider([Verdict({"rationale": "fine", "passed": True}, usage=usage)]) as provider:
        result = run_with(provider, "openrouter")
    spent = result.usage
    assert (spent.input, spent.cache_read, spent.output, spent.reasoning) == (70, 30, 20, 5)
    assert (spent.cost_usd, spent.price_source) == (0.0125, "billed")


@pytest.mark.parametrize("refused", [0, 1, 2], ids=["function", "required", "auto"])
@pytest.mark.parametrize("error", [HttpError(404, message=NO_ENDPOINTS), HttpError(400, message="bad tool_choice")])
def test_openrouter_is_asked_down_the_ladder(refused: int, error: HttpError) -> None:
    ladder: list[Any] = [{"type": "function", "function": {"name": "submit_evaluation"}}, "required", "auto"]

    def reply(request: Request) -> Reply:
        return error if request.body["tool_choice"] in ladder[:refused] else passes("openrouter")

    with LoopbackProvider(reply) as provider:
        result = run_with(provider, "openrouter", count=2, max_concurrency=1)
        choices = [request.body["tool_choice"] for request in provider.requests]
    assert choices == [*ladder[: refused + 1], ladder[refused]]
    assert [score.tool_choice for score in result.scores] == [["", "required", "auto"][refused]] * 2
    assert result.summary("good").n == 2


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HttpError(404, message=NO_ENDPOINTS), ErrorKind.NO_ENDPOINTS),
        (Payload({"error": {"code": 404, "message": NO_ENDPOINTS}}), ErrorKind.NO_ENDPOINTS),
        (HttpError(400, message="tool_choice is not supported"), ErrorKind.TOOL_CHOICE_REJECTED),
        (HttpError(404, message="no such model"), ErrorKind.MODEL_NOT_FOUND),
    ],
    ids=["no endpoints", "no endpoints, inside", "tool_choice", "no model"],
)
def test_what_refuses_every_rung_is_unscored_and_not_asked_again(error: Reply, kind: ErrorKind) -> None:
    with LoopbackProvider(lambda _: error) as provider:
        result = run_with(provider, "openrouter", count=3, max_concurrency=1)
        assert len(provider.requests) == (1 if kind is ErrorKind.MODEL_NOT_FOUND else 3)
    assert result.summary("good").unscored_kinds == {kind: 3}


@pytest.mark.parametrize("model", ["hosted_vllm/some-model", "litellm:/openai/gpt-4o", "litellm:/anthropic/claude-x"])
def test_litellm_request_is_litellms(model: str) -> None:
    import litellm

    def env(url: str) -> dict[str, str]:
        return {"OPENAI_API_BASE": f"{url}/v1", "ANTHROPIC_API_BASE": url}

    keys = {"OPENAI_API_KEY": "dummy-key", "ANTHROPIC_API_KEY": "dummy-key"}
    with LoopbackProvider() as provider:
        result = run_with(provider, "litellm", judge_for("litellm", model=model), env={**keys, **env(provider.url)})
        (ours,) = provider.requests
    assert result.summary("good").n == 1
    direct = request_of("openrouter")  # the same question in the form that LiteLLM takes
    with LoopbackProvider() as provider:
        call = question(direct, "tool_choice") | {"model": model.removeprefix("litellm:/")}
        base = provider.url if "anthropic" in model else provider.url + "/v1"
        asyncio.run(litellm.acompletion(**call, api_base=base, api_key="dummy-key", max_retries=0))
        (theirs,) = provider.requests
    assert ours.body == theirs.body
    assert ours.path == theirs.path


@pytest.mark.parametrize("attempts", [1, 3])
def test_litellm_repeats_nothing_of_its_own_accord(attempts: int) -> None:
    retry = RetryPolicy(attempts=attempts, base_s=0.005, cap_s=0.01)
    with LoopbackProvider(lambda _: HttpError(500)) as provider:
        run_with(provider, "litellm", retry=retry)
        assert len(provider.requests) == attempts


def test_litellm_usage_is_counted() -> None:
    usage = Usage(input=70, output=20, cache_read=30, reasoning=5)
    with LoopbackProvider([Verdict({"rationale": "fine", "passed": True}, usage=usage)]) as provider:
        spent = run_with(provider, "litellm").usage
    assert (spent.input, spent.cache_read, spent.output, spent.reasoning, spent.calls) == (70, 30, 20, 5, 1)


def test_jev_request_and_reading() -> None:
    levels = Levels(("nothing", "half", "everything"))
    criteria = (
        Criterion(name="on_topic", description="Is it on topic?", scale=Binary()),
        Criterion(name="short", description="Is it short?", scale=Binary()),
        Criterion(name="complete", description="How complete is it?", scale=levels),
    )
    judge = judge_for("jev", criteria=criteria)
    reply = Verdict({"on_topic": 0.5, "short": 0.49, "complete": (1.25, 0.8)}, usage=Usage(input=33, output=3))
    with LoopbackProvider([reply]) as provider:
        result = run_with(provider, "jev", judge)
        (request,) = provider.requests
    assert request.path == "/v1/systemone"
    assert request.headers["authorization"] == "Bearer dummy-key"
    assert list(request.body) == ["state", "model", "questions"]
    assert request.body["model"] == "jev-latest"
    assert "the answer" in request.body["state"]
    assert request.body["questions"] == {
        "on_topic": {"type": "noul", "instructions": "Is it on topic?"},
        "short": {"type": "noul", "instructions": "Is it short?"},
        "complete": {
            "type": "score",
            "instructions": "How complete is it?",
            "criteria": ["nothing", "half", "everything"],
        },
    }
    found = {score.criterion: (score.value, score.normalised, score.confidence) for score in result.scores}
    assert found == {"on_topic": (True, 1.0, 0.5), "short": (False, 0.0, 0.49), "complete": (1.25, 0.625, 0.8)}
    assert (result.usage.calls, result.usage.input, result.usage.output) == (1, 33, 3)


@pytest.mark.parametrize("model", ["", "jev-latest"])
@pytest.mark.parametrize(("characters", "asked"), [(120_000, 1), (129_000, 0)])
def test_jev_reads_up_to_its_limit_and_nothing_is_cut(model: str, characters: int, asked: int) -> None:
    judge = judge_for("jev", model=model)
    Path("answer.md").write_text("x" * characters + "the end")
    with LoopbackProvider() as provider:
        result = run_with(provider, "jev", judge)
        assert len(provider.requests) == asked
        assert all("x" * characters + "the end" in request.prompt for request in provider.requests)
    assert result.summary("good").unscored_kinds == ({} if asked else {"input": 1})


def test_jev_is_shown_no_image() -> None:
    Path("shot.png").write_bytes(PIXEL)
    with LoopbackProvider() as provider:
        result = run_with(provider, "jev", judge_for("jev", files=("answer.md", "shot.png")))
        assert provider.requests == []
    assert result.summary("good").unscored_kinds == {"input": 1}


def test_jev_needs_its_key_and_files() -> None:
    with LoopbackProvider() as provider, pytest.raises(ConfigError, match="TYPESAFE_API_KEY"):
        run_with(provider, "openai", judge_for("jev"))
    with LoopbackProvider() as provider, pytest.raises(ConfigError, match="needs files"):
        run_with(provider, "jev", DecisionJudge(name="good", criteria=(Criterion(name="good", scale=Binary()),)))


def test_anthropic_images_are_the_sdks() -> None:
    Path("shot.png").write_bytes(PIXEL)
    ours = request_of("anthropic", judge_for("anthropic", files=("shot.png",)))
    first, image, last = ours.body["messages"][0]["content"]
    blocks = [first, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ENCODED}}, last]
    call = question(ours, "system", "tool_choice") | {"messages": [{"role": "user", "content": blocks}]}
    assert ours.body == with_anthropic({"api_key": "dummy-key"}, **call).body
    assert (first["type"], image["type"], last["type"]) == ("text", "image", "text")


@pytest.mark.parametrize("client", ["openai", "openrouter", "litellm"])
def test_images_are_data_urls_by_chat_completions(client: Client) -> None:
    Path("shot.png").write_bytes(PIXEL)
    ours = request_of(client, judge_for(client, files=("shot.png",)))
    system, user = ours.body["messages"]
    first, image, last = user["content"]
    assert image == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ENCODED}"}}
    theirs = with_openai(
        model=ours.model, messages=[system, {"role": "user", "content": [first, image, last]}], max_tokens=9
    )
    assert ours.body["messages"] == theirs.body["messages"]


LONG = "Mind this rule of ours. " * 400
SHORT = "Mind this rule of ours. " * 20


@pytest.mark.parametrize(("rubric", "marked"), [(LONG, True), (SHORT, False)], ids=["long", "short"])
def test_what_is_the_same_for_every_case_is_kept_where_it_is_long_enough(rubric: str, marked: bool) -> None:
    judge = judge_for("anthropic", model="claude-sonnet-4-6", prompt=rubric + "\n{{ outputs }}")
    with LoopbackProvider(lambda _: passes("anthropic")) as provider:
        run_with(provider, "anthropic", judge, count=2)
        first, second = (request.body["messages"][0]["content"] for request in provider.requests)
        (ours, _) = provider.requests
    assert first[0] == second[0]
    assert first[1] != second[1]
    assert first[0].get("cache_control") == ({"type": "ephemeral"} if marked else None)
    assert ours.raw.count(b"cache_control") == int(marked)
    assert ours.body == with_anthropic({"api_key": "dummy-key"}, **question(ours, "system", "tool_choice")).body


def test_tokens_that_were_kept_are_counted_apart() -> None:
    usage = Usage(input=10, output=20, cache_read=3000, cache_write=500, reasoning=7)
    with LoopbackProvider([Verdict({"rationale": "fine", "passed": True}, usage=usage)]) as provider:
        spent = run_with(provider, "anthropic").usage
    assert (spent.input, spent.cache_read, spent.cache_write, spent.output) == (10, 3000, 500, 20)
    assert spent.reasoning == 7


EFFORT: dict[Client, tuple[str, Any]] = {
    "anthropic": ("output_config", {"effort": "low"}),
    "openai": ("reasoning_effort", "low"),
    "openrouter": ("reasoning", {"effort": "low"}),
    "litellm": ("reasoning_effort", "low"),
}


@every_llm
def test_effort_is_sent_where_it_is_taken(client: Client) -> None:
    parameter, value = EFFORT[client]
    assert request_of(client, judge_for(client, effort="low")).body[parameter] == value
    assert parameter not in request_of(client).body


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "openai:/gpt-4o"])
def test_effort_is_not_sent_to_models_known_to_take_none(model: str) -> None:
    client: Client = "anthropic" if "claude" in model else "openai"
    body = request_of(client, judge_for(client, model=model, effort="low")).body
    assert not {"output_config", "reasoning_effort", "thinking"} & body.keys()


REFUSALS: list[tuple[Client, str]] = [
    ("anthropic", "This model does not support the effort parameter."),
    ("anthropic", "output_config: Extra inputs are not permitted"),
    ("openai", "Unsupported parameter: 'reasoning_effort' is not supported with this model."),
    ("openai", "Unrecognized request argument supplied: reasoning_effort"),
    ("openrouter", "reasoning is not supported by this model"),
    ("litellm", "Unsupported parameter: 'reasoning_effort' is not supported with this model."),
    ("litellm", "This model does not support the effort parameter."),
]


@pytest.mark.parametrize(("client", "message"), REFUSALS)
def test_a_model_that_refuses_an_effort_is_asked_once_more_without(client: Client, message: str) -> None:
    parameter, _ = EFFORT[client]

    def reply(request: Request) -> Reply:
        return HttpError(400, message=message) if parameter in request.body else passes(client)

    with LoopbackProvider(reply) as provider:
        result = run_with(provider, client, judge_for(client, effort="low"), count=2, max_concurrency=1)
        sent = [parameter in request.body for request in provider.requests]
    assert sent == [True, False, False]
    assert [score.value for score in result.scores] == [True, True]
    assert all(score.notes == (f"the model takes no {parameter}: asked without",) for score in result.scores)


def test_a_subscription_is_sent_as_the_sdk_sends_a_token() -> None:
    with LoopbackProvider() as provider:
        env = {"ANTHROPIC_BASE_URL": provider.url, "CLAUDE_CODE_OAUTH_TOKEN": "oauth-token"}
        run_with(provider, "openai", judge_for("anthropic"), env=env)
        (ours,) = provider.requests
    client = {"auth_token": "oauth-token", "default_headers": {"anthropic-beta": "oauth-2025-04-20"}}
    theirs = with_anthropic(client, **question(ours, "system", "tool_choice"))
    assert ours.body == theirs.body
    for header in ("authorization", "anthropic-beta", "anthropic-version"):
        assert ours.headers[header] == theirs.headers[header]
    assert "x-api-key" not in ours.headers


@pytest.mark.parametrize(
    ("forced", "token", "key"),
    [
        ("1", "oauth-token", None),
        ("true", "oauth-token", None),
        ("", "dummy-key", "dummy-key"),
        ("0", "dummy-key", "dummy-key"),
    ],
)
def test_a_forced_subscription_takes_no_other_key(forced: str, token: str, key: str | None) -> None:
    env = {
        "CLAUDE_CODE_OAUTH_TOKEN": "oauth-token",
        "ANTHROPIC_AUTH_TOKEN": "other-token",
        "REWARDKIT_FORCE_SUBSCRIPTION": forced,
    }
    request = request_of("anthropic", env=env)
    assert request.headers["authorization"] == f"Bearer {token}"
    assert request.headers.get("x-api-key") == key
    assert ("anthropic-beta" in request.headers) is (key is None)


def test_a_forced_subscription_without_a_token_is_said_before_anything_runs() -> None:
    with pytest.raises(CredentialsError, match="CLAUDE_CODE_OAUTH_TOKEN"):
        resolve("claude-x", {"REWARDKIT_FORCE_SUBSCRIPTION": "1", "ANTHROPIC_API_KEY": "k"})


PLAIN = {"model", "messages", "tools", "tool_choice"}
BODIES: dict[Client, set[str]] = {
    "anthropic": {*PLAIN, "max_tokens", "system"},
    "openai": {*PLAIN, "max_tokens"},
    "openrouter": {*PLAIN, "max_tokens", "usage"},
    "litellm": {*PLAIN, "max_tokens"},
    "jev": {"model", "state", "questions"},
}


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_sent_that_nobody_asked_for(client: Client) -> None:
    assert request_of(client).body.keys() == BODIES[client]


def test_the_models_under_test_go_where_they_should() -> None:
    environ = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
    wires = {client: resolve(model, environ).wire.name for client, model in MODELS.items()}
    assert wires == {client: client for client in MODELS}
