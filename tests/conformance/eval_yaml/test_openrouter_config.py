"""Keys that say how models are asked: `models.providers.openrouter`, `provider_options`, and adjudge's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.domain import Guard, LLMJudge, OpenRouter
from tests.support.configs import asked, check, errors, llm, only_judge, problems, warnings, write_suite, write_text
from tests.support.provider import LoopbackProvider
from tests.support.replies import Verdict
from tests.support.request import Request

GLM = "openrouter:/z-ai/glm-5.2"
WHERE = "models.providers.openrouter"
PASSES = Verdict({"rationale": "r", "passed": True})


def suite(folder: Path, block: Mapping[str, Any] | None = None, **keys: Any) -> Path:
    """A suite whose one judge asks OpenRouter."""
    models = {"judge": GLM, **({"providers": {"openrouter": dict(block)}} if block is not None else {})}
    return write_suite(folder, [llm(**{"model": ..., **keys})], models=models)


def request_of(config: Path, **environ: str) -> Request:
    """The one request that a suite makes at the loopback provider."""
    with LoopbackProvider(lambda _: PASSES) as provider:
        asked(config, provider, environ={**provider.env("openrouter"), **environ})
        (request,) = provider.requests
    return request


def line_of(folder: Path, text: str) -> int:
    """The one line of the config that holds a text."""
    lines = (folder / "eval.yaml").read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


def test_everything_that_the_block_says_of_judges(tmp_path: Path) -> None:
    routing: dict[str, Any] = {"defaults": {"zdr": True}, "models": {"z-ai/glm-5.2": {"order": ["z-ai"]}}}
    judge = {"concurrency": 2, "max_retries": 0, "timeout_s": 9.5, "extra_body": {"seed": 1}, "inherit_pins": True}
    block = {
        "api_key_env": "MY_KEY",
        "base_url": "https://example.org/api/v1/",
        "attribution": {"referer": "https://me.example", "title": "evals"},
        "routing": routing,
        "judge": judge,
    }
    loaded = adjudge.load(suite(tmp_path, block))
    assert loaded.warnings == ()
    assert loaded.openrouter == OpenRouter(
        api_key_env="MY_KEY",
        base_url="https://example.org/api",
        referer="https://me.example",
        title="evals",
        defaults=routing["defaults"],
        models=routing["models"],
        concurrency=2,
        max_retries=0,
        timeout_s=9.5,
        extra_body={"seed": 1},
        inherit_pins=True,
    )


@pytest.mark.parametrize("block", [None, {}, {"judge": None, "routing": None, "attribution": None}])
def test_a_key_is_all_that_openrouter_needs(tmp_path: Path, block: dict[str, Any] | None) -> None:
    loaded = adjudge.load(suite(tmp_path, block))
    assert loaded.openrouter in (None, OpenRouter())
    assert loaded.warnings == ()


def test_what_the_block_says_is_sent(tmp_path: Path) -> None:
    block = {
        "api_key_env": "MY_KEY",
        "base_url": "$OPENROUTER_BASE_URL",
        "attribution": {"referer": "https://me.example", "title": "evals"},
        "routing": {"defaults": {"data_collection": "deny", "order": ["pinned"]}},
        "judge": {"extra_body": {"seed": 1}},
    }
    request = request_of(suite(tmp_path, block), MY_KEY="my-key", OPENROUTER_API_KEY="")
    assert (request.path, request.model) == ("/api/v1/chat/completions", "z-ai/glm-5.2")
    assert request.headers["authorization"] == "Bearer my-key"
    assert (request.headers["http-referer"], request.headers["x-title"]) == ("https://me.example", "evals")
    assert (request.body["provider"], request.body["seed"]) == ({"data_collection": "deny"}, 1)


def test_what_a_judge_says_of_its_provider_is_sent(tmp_path: Path) -> None:
    options = {
        "routing": {"order": ["z-ai"], "allow_fallbacks": False},
        "fallbacks": ["deepseek/deepseek-v4"],
        "max_tokens": 77,
        "extra_body": {"top_k": 5},
    }
    block = {"base_url": "$OPENROUTER_BASE_URL", "judge": {"extra_body": {"top_k": 1, "seed": 2}}}
    body = request_of(suite(tmp_path, block, provider_options=options)).body
    assert body["provider"] == {"order": ["z-ai"], "allow_fallbacks": False}
    assert body["models"] == ["deepseek/deepseek-v4"]
    assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
    assert (body["top_k"], body["seed"]) == (5, 2)


def test_the_limit_of_requests_is_the_blocks(tmp_path: Path) -> None:
    block = {"base_url": "$OPENROUTER_BASE_URL", "judge": {"concurrency": 2}}
    cases = {f"case-{k}": {"output/a.md": f"answer {k}"} for k in range(12)}
    models = {"judge": GLM, "providers": {"openrouter": block}}
    with LoopbackProvider(lambda _: PASSES, latency=0.02) as provider:
        asked(
            write_suite(tmp_path, [llm(model=...)], cases, models=models), provider, environ=provider.env("openrouter")
        )
        assert provider.max_in_flight == 2
        assert len(provider.requests) == 12


@pytest.mark.parametrize(
    ("block", "where", "said"),
    [
        ({"api_key_env": "sk-or-v1-0123"}, "api_key_env", "the name of a variable"),
        ({"api_key_env": ""}, "api_key_env", "the name of a variable"),
        ({"base_url": "http://example.org"}, "base_url", "https"),
        ({"base_url": "example.org/api"}, "base_url", "https"),
        ({"base_url": "ftp://localhost"}, "base_url", "https"),
        ({"base_url": "https://[example"}, "base_url", "https"),
        ({"base_url": "https://"}, "base_url", "https"),
        ({"base_url": "http://127.evil.example"}, "base_url", "https"),
        ({"judge": {"concurrency": 0}}, "judge", "concurrency >= 1"),
        ({"judge": {"max_retries": -1}}, "judge", "max_retries >= 0"),
        ({"judge": {"timeout_s": 0}}, "judge", "timeout_s > 0"),
        ({"judge": {"timeout_s": float("nan")}}, "judge", "timeout_s > 0"),
        ({"judge": {"timeout_s": float("inf")}}, "judge", "timeout_s > 0"),
        ({"judge": {"concurrency": 1.5}}, "judge.concurrency", "a whole number"),
        ({"judge": {"concurency": 1}}, "judge.concurency", "did you mean 'concurrency'?"),
        ({"attribution": {"referrer": "x"}}, "attribution.referrer", "did you mean 'referer'?"),
        ({"routing": {"model": {}}}, "routing.model", "did you mean 'models'?"),
        ({"rooting": {}}, "rooting", "did you mean 'routing'?"),
        ({"routing": {"defaults": {"odrer": ["x"]}}}, "routing.defaults", "did you mean 'order'?"),
        ({"routing": {"defaults": {"order": "x"}}}, "routing.defaults", "order must be a list of text"),
        ({"routing": {"defaults": {"only": [1]}}}, "routing.defaults", "only must be a list of text"),
        ({"routing": {"defaults": {"zdr": "yes"}}}, "routing.defaults", "zdr must be true or false"),
        ({"routing": {"defaults": {"data_collection": "denny"}}}, "routing.defaults", "allow or deny"),
        ({"routing": {"defaults": {"quantizations": ["pf8"]}}}, "routing.defaults", "did you mean 'fp8'?"),
        ({"routing": {"defaults": {"sort": "prize"}}}, "routing.defaults", "sort must be price"),
        ({"routing": {"defaults": {"sort": {"by": "speed"}}}}, "routing.defaults", "sort must be price"),
        ({"routing": {"defaults": {"max_price": 5}}}, "routing.defaults", "max_price must hold numbers"),
        ({"routing": {"defaults": {"max_price": {"promt": 5}}}}, "routing.defaults", "max_price must hold numbers"),
        ({"routing": {"defaults": {"fallbacks": list("abcd")}}}, "routing.defaults", "at most three"),
        ({"routing": {"models": {"a/b-5.2": {"ordr": []}}}}, "routing.models.a/b-5.2", "did you mean 'order'?"),
        ({"routing": {"models": {"a/b": 5}}}, "routing.models", "a mapping"),
    ],
)
def test_what_the_block_may_not_say(tmp_path: Path, block: dict[str, Any], where: str, said: str) -> None:
    (error,) = errors(suite(tmp_path, block))
    assert f"error: {WHERE}.{where}" in error
    assert said in error


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"base_url": "http://example.org"}, "base_url:"),
        ({"judge": {"concurrency": 0}}, "judge:"),
        ({"attribution": {"referrer": "x"}}, "referrer:"),
        ({"routing": {"defaults": {"odrer": ["x"]}}}, "defaults:"),
        ({"routing": {"defaults": {}, "models": {"a/b": {"zdr": True}, "a/b-5.2": {"zdr": 1}}}}, "a/b-5.2:"),
    ],
)
def test_an_error_stands_at_its_line(tmp_path: Path, block: dict[str, Any], text: str) -> None:
    config = write_suite(tmp_path, [check()], models={"providers": {"openrouter": block}})
    (problem,) = problems(config)
    assert problem.line == line_of(tmp_path, text)


def test_every_error_is_told_at_once(tmp_path: Path) -> None:
    block = {
        "api_key_env": "a key",
        "base_url": "http://example.org",
        "judge": {"timeout_s": -1},
        "routing": {"defaults": {"zdr": 1, "sort": "x"}, "models": {"a/b": {"only": 5}}},
    }
    assert len(errors(suite(tmp_path, block))) == 6


@pytest.mark.parametrize("url", ["http://localhost:8080/api", "http://127.0.0.1/api", "http://[::1]/api", "$ROUTER"])
def test_a_url_may_be_of_this_machine_or_in_a_variable(tmp_path: Path, url: str) -> None:
    assert problems(suite(tmp_path, {"base_url": url})) == []


@pytest.mark.parametrize(
    "table",
    [
        {"order": [], "only": ["a"], "ignore": ["b"], "fallbacks": ["a/b", "c/d", "e/f"]},
        {"quantizations": ["fp8", "unknown"], "sort": "throughput", "allow_fallbacks": True},
        {"sort": {"by": "latency", "partition": "none"}, "require_parameters": False, "data_collection": "allow"},
        {"max_price": {"prompt": 1, "completion": 2.5}, "zdr": False},
    ],
)
def test_a_routing_table_that_openrouter_takes(tmp_path: Path, table: dict[str, Any]) -> None:
    block = {"routing": {"defaults": table, "models": {"z-ai/glm-5.2": table}}}
    assert problems(suite(tmp_path, block, provider_options={"routing": table})) == []


def test_what_belongs_to_the_agents_run_is_accepted_with_a_warning(tmp_path: Path) -> None:
    text = (
        "name: s\ndataset: {path: cases}\noutputs: [{path: output}]\njudges:\n  - name: j\n    check: return True\n"
        "models:\n  providers:\n    openrouter:\n      preflight: off\n      budget: {run_usd: 5}\n"
        "      routing: {policy: strict, enforcement: audit}\n"
    )
    preflight, budget = warnings(write_text(tmp_path, text))
    assert preflight.startswith(f"eval.yaml:10:7: warning: {WHERE}.preflight: is not used yet")
    assert budget.startswith(f"eval.yaml:11:7: warning: {WHERE}.budget: is not used yet")


@pytest.mark.parametrize(
    ("options", "where", "said"),
    [
        ({"routing": {"odrer": ["a"]}}, "provider_options.routing", "did you mean 'order'?"),
        ({"routing": {"zdr": 1}}, "provider_options.routing", "true or false"),
        ({"routing": ["a"]}, "provider_options.routing", "a mapping"),
        ({"fallbacks": list("abcd")}, "provider_options.fallbacks", "at most three models, got 4"),
        ({"fallbacks": "a/b"}, "provider_options.fallbacks", "a list"),
        ({"max_tokens": 0}, "provider_options.max_tokens", "1 or more, got 0"),
        ({"max_token": 5}, "provider_options.max_token", "did you mean 'max_tokens'?"),
        ({"extra_body": 5}, "provider_options.extra_body", "a mapping"),
        ("z-ai", "provider_options", "a mapping"),
    ],
)
def test_what_provider_options_may_not_say(tmp_path: Path, options: object, where: str, said: str) -> None:
    (error,) = errors(suite(tmp_path, provider_options=options))
    assert f"error: judges[0].{where}: " in error
    assert said in error
    assert int(error.split(":")[1]) >= line_of(tmp_path, "provider_options:")


@pytest.mark.parametrize(
    ("model", "default", "environ", "fine"),
    [
        ("claude-sonnet-5-5", GLM, "", False),
        (["claude-sonnet-5-5", "openai:/x"], GLM, "", False),
        ("openai:/openrouter", None, "", False),
        (..., None, "claude-x", False),
        (..., None, "", False),
        (GLM, "claude-x", "", True),
        ("openrouter/z-ai/glm-5.2", None, "", True),
        (["claude-sonnet-5-5", GLM], None, "", True),
        (..., GLM, "claude-x", True),
        (..., None, GLM, True),
    ],
)
def test_provider_options_go_with_a_model_of_openrouter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Any, default: str | None, environ: str, fine: bool
) -> None:
    monkeypatch.setenv("EVAL_JUDGE_MODEL", environ)
    config = write_suite(
        tmp_path,
        [llm(model=model, provider_options={"max_tokens": 5})],
        models={"judge": default} if default else ...,
    )
    told = errors(config)
    assert (told == []) is fine
    assert all("judges[0].provider_options: is only valid with an openrouter:/ model" in error for error in told)


OWN: list[tuple[str, Any]] = [
    ("provider_options", {"max_tokens": 5}),
    ("reasoning_effort", "high"),
    ("guard", "flag"),
    ("abstain", True),
    ("early_stop", True),
]


@pytest.mark.parametrize(("key", "value"), OWN)
@pytest.mark.parametrize("judge", [check("j"), {"name": "j", "builtin": "cost_budget"}, check("j", prompt="x")])
def test_only_judges_that_ask_a_model_take_them(tmp_path: Path, judge: dict[str, Any], key: str, value: object) -> None:
    (error,) = errors(write_suite(tmp_path, [{**judge, key: value}]))
    assert f"judges[0].{key}: only judges that ask a model take it" in error
    assert int(error.split(":")[1]) == line_of(tmp_path, f"{key}:")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("reasoning_effort", "hihg", "did you mean 'high'?"),
        ("reasoning_effort", "", "must be one of none, minimal, low, medium, high, xhigh, max"),
        ("reasoning_effort", 3, "expected text"),
        ("guard", "penalise", "did you mean 'penalize'?"),
        ("guard", "", "must be one of off, flag, penalize"),
        ("guard", True, "must be one of off, flag, penalize"),
        ("guard", 2, "expected text"),
        ("abstain", "yes", "expected true or false"),
        ("abstain", 1, "expected true or false"),
        ("early_stop", "true", "expected true or false"),
        ("early_stop", 3, "expected true or false"),
        ("early-stop", True, "did you mean 'early_stop'?"),
        ("reasoning_efort", "low", "did you mean 'reasoning_effort'?"),
        ("gard", "flag", "did you mean 'guard'?"),
    ],
)
def test_what_adjudges_own_keys_may_not_say(tmp_path: Path, key: str, value: Any, said: str) -> None:
    (error,) = errors(write_suite(tmp_path, [llm(**{key: value})]))
    assert f"judges[0].{key}: " in error
    assert said in error
    assert int(error.split(":")[1]) == line_of(tmp_path, f"{key}:")


@pytest.mark.parametrize(
    ("written", "guard"),
    [("off", Guard.OFF), ("'off'", Guard.OFF), ("flag", Guard.FLAG), ("penalize", Guard.PENALIZE), ("", Guard.OFF)],
)
def test_guard_as_people_write_it(tmp_path: Path, written: str, guard: Guard) -> None:
    text = (
        "dataset: {path: cases}\noutputs: [{path: output}]\njudges:\n  - name: j\n    feedback_type: bool\n"
        f"    prompt: '{{{{ outputs }}}}'\n    guard: {written}\n"
    )
    judge = only_judge(write_text(tmp_path, text))
    assert isinstance(judge, LLMJudge)
    assert judge.guard is guard
    assert judge.guards is (guard is not Guard.OFF)


def test_adjudges_own_keys_are_read(tmp_path: Path) -> None:
    config = write_suite(
        tmp_path, [llm(reasoning_effort="none", guard="flag", abstain=True, early_stop=True, samples=3)]
    )
    judge = only_judge(config)
    assert isinstance(judge, LLMJudge)
    assert (judge.effort, judge.guard, judge.early_stop, judge.samples) == ("none", Guard.FLAG, True, 3)
    assert [(criterion.name, criterion.abstain) for criterion in judge.criteria] == [("good", True), ("guard", False)]


@pytest.mark.parametrize("effort", ["none", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_every_effort_is_taken(tmp_path: Path, effort: str) -> None:
    judge = only_judge(write_suite(tmp_path, [llm(reasoning_effort=effort)]))
    assert isinstance(judge, LLMJudge)
    assert judge.effort == effort


def test_early_stop_asks_fewer_samples(tmp_path: Path) -> None:
    with LoopbackProvider(lambda _: PASSES) as provider:
        result = asked(write_suite(tmp_path, [llm(samples=5, early_stop=True)]), provider)
        assert len(provider.requests) == 3
    assert result.score("case-1", "good").value is True
    assert result.decision == "pass"


def test_an_abstention_is_in_no_rate(tmp_path: Path) -> None:
    config = write_suite(tmp_path, [llm(abstain=True)], {f"case-{k}": {"output/a.md": f"answer {k}"} for k in range(3)})

    def reply(request: Request) -> Verdict:
        return Verdict({"rationale": "r", "passed": None if "answer 1" in request.prompt else True})

    with LoopbackProvider(reply) as provider:
        result = asked(config, provider)
    summary = result.summary("good")
    assert (summary.n, summary.abstained, summary.unscored, summary.value) == (2, 1, 0, 1.0)
    assert result.exit_code == 0
