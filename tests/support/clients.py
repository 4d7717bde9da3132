"""One judge a way of reaching a model, each answered by the loopback provider."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import adjudge
from adjudge.domain import Binary, Criterion, DecisionJudge, ModelJudge, OpenRouter, RunResult, Suite
from tests.support.llm import QUICK, cases, llm_judge
from tests.support.provider import Client, LoopbackProvider
from tests.support.replies import Verdict
from tests.support.request import Request

CLIENTS: tuple[Client, ...] = get_args(Client)
MODELS: dict[Client, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "openai:/gpt-5.2",
    "openrouter": "openrouter:/z-ai/glm-5.2",
    "litellm": "hosted_vllm/some-model",
}
ROUTER = OpenRouter(base_url="$OPENROUTER_BASE_URL")


def judge_for(client: Client, **fields: Any) -> ModelJudge:
    """A judge that asks one question with a yes or no answer; a decision model is shown a file."""
    if client != "jev":
        return llm_judge(**{"model": MODELS[client], **fields})
    Path("answer.md").write_text("the answer\n")
    criterion = Criterion(name="good", description="Is it good?", scale=Binary())
    return DecisionJudge(**{"name": "good", "files": ("answer.md",), "criteria": (criterion,), **fields})


def passes(client: Client) -> Verdict:
    """What the judge's model says when all is well."""
    return Verdict({"good": 0.9} if client == "jev" else {"rationale": "fine", "passed": True})


def run_with(
    provider: LoopbackProvider,
    client: Client,
    *judges: ModelJudge,
    count: int = 1,
    env: dict[str, str] | None = None,
    router: OpenRouter = ROUTER,
    **options: Any,
) -> RunResult:
    """Judge in this process with what one client needs in its environment, and nothing else."""
    suite = Suite(name="suite", cases=cases(count), judges=judges or (judge_for(client),), openrouter=router)
    options = {"retry": QUICK, "workers": 1, **options}
    return adjudge.run(suite, environ={**provider.env(client), **(env or {})}, **options)


def request_of(client: Client, *judges: ModelJudge, **options: Any) -> Request:
    """The one request that judging a case takes."""
    with LoopbackProvider() as provider:
        run_with(provider, client, *judges, **options)
        (request,) = provider.requests
    return request


def with_litellm() -> Iterator[None]:
    """LiteLLM is imported before any clock runs; what it leaves in the environment ends with the test."""
    before = dict(os.environ)
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_OFFLINE_MODE="True")
    import litellm  # noqa: F401 - 3 s, and its list of prices is not fetched only if told so

    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]
    os.environ.update(before)
