"""Requirements 31 to 40 of the article: which model judges, what it is sent, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import Decision, ErrorKind, Status
from tests.support.golden import (
    RUBRIC,
    SOLUTION,
    SOLVES,
    Ran,
    agent,
    by_prompt,
    judged,
    patch_of,
    ran,
    scoring,
    typed,
    write_suite,
)
from tests.support.llm import environment
from tests.support.provider import LoopbackProvider, Reply, Request
from tests.support.replies import Text, Verdict

WELL = scoring(correctness=5, scope=4)
ANCHOR = "passes by weakening a test."
PROSE = """\
I looked at {the diff} first, and at `{"correctness": {}}` in it. My verdict:

```json
{"correctness": {"rationale": "sound", "score": 4}, "scope": {"rationale": "tight", "score": 5}}
```
"""


def suite(folder: Path, **settings: Any) -> Path:
    settings.setdefault("judge", {"samples": 1})
    return write_suite(folder, agent=agent(folder, SOLVES), **settings)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two tasks, with a rubric that is long enough to be kept by the provider."""
    folder = tmp_path_factory.mktemp("call")
    script = by_prompt({"first": SOLVES, "second": SOLVES.replace("fall back", "fall back again")})
    tasks = {name: {"prompt": f"Do the {name} one."} for name in ("first", "second")}
    root = write_suite(folder, tasks, agent=agent(folder, script))
    examples = "".join(f"Example {n}: a patch that renames {n} variables earns {n % 5 + 1}.\n" for n in range(200))
    (root / "rubric.md").write_text(f"{RUBRIC.partition('Output schema')[0]}\n{examples}")
    return ran(root, WELL)


@pytest.mark.parametrize(
    ("flag", "setting", "environ", "asked"),
    [
        ("", "", "", "claude-sonnet-4-6"),
        ("", "", "claude-haiku-4-5", "claude-haiku-4-5"),
        ("", "claude-opus-4-7", "claude-haiku-4-5", "claude-opus-4-7"),
        ("claude-sonnet-5-5", "claude-opus-4-7", "claude-haiku-4-5", "claude-sonnet-5-5"),
    ],
    ids=["the default", "EVAL_JUDGE_MODEL", "golden.yaml", "--judge-model"],
)
def test_req_31_the_model_that_judges(tmp_path: Path, flag: str, setting: str, environ: str, asked: str) -> None:
    judge = {"samples": 1, **({"model": setting} if setting else {})}
    flags = ["--judge-model", flag] if flag else []
    done = ran(suite(tmp_path, judge=judge), WELL, *flags, EVAL_JUDGE_MODEL=environ)
    assert [request.model for request in done.requests] == [asked]
    assert asked in (done.folder / "summary.md").read_text().replace("\\", "")


def test_req_32_a_cheap_model_scores_and_a_stronger_one_compares(tmp_path: Path) -> None:
    root = suite(tmp_path)
    one = ran(root, WELL, output="one")
    two = ran(root, WELL, "--fresh", output="two")
    assert {request.model for request in (*one.requests, *two.requests)} == {"claude-sonnet-4-6"}
    words = ["pairwise", str(one.folder), str(two.folder), "--judge-model", "claude-opus-4-7"]
    with LoopbackProvider(lambda _: Verdict({"rationale": "alike", "preferred": "tie"})) as provider:
        done = typed(*words, cwd=tmp_path, env=environment(tmp_path, provider))
        assert {request.model for request in provider.requests} == {"claude-opus-4-7"}
    assert done.returncode == 0, done.stderr


def test_req_33_the_rubric_is_the_system_prompt_and_the_trace_the_message(run: Ran) -> None:
    for request in run.requests:
        assert ANCHOR in request.system
        assert ANCHOR not in request.prompt
        assert "def test_unnamed" in request.prompt
        assert "def test_unnamed" not in request.system
        assert [message["role"] for message in request.body["messages"]] == ["user"]


def test_req_34_the_trace_has_fixed_headings_in_a_fixed_order(run: Ran) -> None:
    for request in run.requests:
        headings = [line[3:] for line in request.prompt.splitlines() if line.startswith("## ")]
        wanted = ["Task prompt", "Files touched", "Unified diff", "Agent's final message"]
        assert [heading for heading in headings if heading in wanted] == wanted


@pytest.mark.parametrize(("dimensions", "setting", "cap"), [(2, None, 800), (5, None, 1000), (2, 300, 300)])
def test_req_35_the_length_of_an_answer_is_capped(
    tmp_path: Path, dimensions: int, setting: int | None, cap: int
) -> None:
    root = suite(tmp_path, judge={"samples": 1, **({"max_tokens": setting} if setting else {})})
    names = [f"part{n}" for n in range(dimensions)]
    rubric = "".join(f"{n}. {name}\n   - 5: good\n   - 1: bad\n" for n, name in enumerate(names, 1))
    (root / "rubric.md").write_text(rubric)
    done = ran(root, scoring(**dict.fromkeys(names, 4)))
    assert [request.body["max_tokens"] for request in done.requests] == [cap]
    assert done.done.returncode == 0


def test_req_36_the_rubric_is_kept_by_the_provider_and_the_trace_is_not(run: Ran) -> None:
    first, second = run.requests
    for request in (first, second):
        (block,) = request.body["system"]
        assert block["cache_control"] == {"type": "ephemeral"}
        assert "cache_control" not in str(request.body["messages"])
    assert first.body["system"] == second.body["system"]
    assert first.body["tools"] == second.body["tools"]
    assert first.prompt != second.prompt


def test_req_37_an_answer_is_found_among_other_text(tmp_path: Path) -> None:
    done = ran(suite(tmp_path), lambda _: Text(PROSE))
    assert len(done.requests) == 1
    assert [done.score("fix-load", "rubric", name).value for name in ("correctness", "scope")] == [4, 5]


def wrong(**answer: Any) -> Callable[[Request], Reply]:
    """A judge who answers well about one task, and so about the other."""
    good = {"rationale": "seen", "score": 4}

    def reply(request: Request) -> Reply:
        return Verdict({"correctness": good, "scope": good} if "Do well" in request.prompt else answer)

    return reply


def lost(folder: Path, reply: Callable[[Request], Reply]) -> tuple[Any, Any]:
    """(the result, the score of `correctness`) of a run with one task that is judged well, and one that is not."""
    root = write_suite(
        folder, {"well": {"prompt": "Do well."}, "badly": {"prompt": "Do it."}}, agent=agent(folder, SOLVES)
    )
    with LoopbackProvider(reply) as provider:
        result = judged(root, provider)
    return result, result.score("badly", "rubric", "correctness")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"correctness": {"rationale": "no score"}, "scope": {"rationale": "seen", "score": 4}},
        {"correctness": {"rationale": "x", "score": "high"}, "scope": {"rationale": "seen", "score": 4}},
        {"correctness": {"rationale": "x", "score": None}, "scope": {"rationale": "seen", "score": 4}},
        {"correctness": "good", "scope": "good"},
    ],
    ids=["nothing", "no score", "a word", "null", "words"],
)
def test_req_38_a_malformed_answer_fails_loudly_and_is_in_no_mean(tmp_path: Path, answer: dict[str, Any]) -> None:
    result, found = lost(tmp_path, wrong(**answer))
    assert (found.status, found.value) == (Status.UNSCORED, None)
    assert found.error is not None
    assert result.gate.decision is Decision.BROKEN
    summary = result.summary("rubric", "correctness")
    assert (summary.value, summary.n, summary.unscored) == (4, 1, 1)


@pytest.mark.parametrize("score", [6, -1, 3.5, 5.01])
def test_req_39_a_score_that_is_no_whole_number_from_0_to_5_is_none(tmp_path: Path, score: float) -> None:
    _, found = lost(
        tmp_path, wrong(correctness={"rationale": "x", "score": score}, scope={"rationale": "x", "score": 4})
    )
    assert (found.status, found.value) == (Status.UNSCORED, None)
    assert found.error is not None
    assert found.error.kind in (ErrorKind.OFF_SCALE, ErrorKind.WRONG_TYPE)
    assert f"{score:g}" in found.error.message


@pytest.mark.parametrize("model", ["openai:/gpt-5.2", "openai:/mistral-large", "anthropic:/claude-opus-4-7"])
def test_req_40_any_provider_judges(tmp_path: Path, model: str) -> None:
    root = suite(tmp_path)
    (tmp_path / "fix-load.patch").write_text(patch_of(root / "repo", SOLUTION))
    done = ran(root, WELL, "--patch", tmp_path / "fix-load.patch", "--judge-model", model)
    (request,) = done.requests
    assert request.model == model.partition(":/")[2]
    assert request.wire == ("anthropic" if "claude" in model else "openai")
    assert ANCHOR in request.system
    assert done.score("fix-load", "rubric", "scope").value == 4
    assert done.done.returncode == 0
