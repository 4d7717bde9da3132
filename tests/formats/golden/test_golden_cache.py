"""What the provider kept of the rubric between calls is measured and shown; a rubric too short for that is told of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge import formats
from adjudge.engine import RunOptions, make_plan
from adjudge.models import least_cacheable
from tests.support.golden import SOLUTION, patch_of, scoring, write_suite
from tests.support.llm import call, environment
from tests.support.provider import LoopbackProvider, Reply, Request
from tests.support.replies import Usage, Verdict


def lengthen(rubric: Path) -> None:
    """With examples, beyond what any provider asks for."""
    with rubric.open("a") as file:
        file.write("\n## Examples\n\n" + "A patch that bends a test to pass earns a 1 for its correctness.\n" * 400)


def keeping(read: int, written: int) -> Callable[[Request], Reply]:
    """A judge whose provider writes the rubric to its cache once, and reads it from there afterwards."""
    calls: list[Request] = []

    def answer(request: Request) -> Reply:
        calls.append(request)
        usage = Usage(input=100, output=20, cache_write=written) if len(calls) == 1 else None
        usage = usage or Usage(input=100, output=20, cache_read=read)
        return Verdict({name: {"rationale": "seen", "score": 4} for name in ("correctness", "scope")}, usage=usage)

    return answer


@pytest.mark.parametrize(("kept", "share"), [(900, "60%"), (0, "0%")])
def test_the_hit_rate_is_shown_where_costs_are(tmp_path: Path, kept: int, share: str) -> None:
    root = write_suite(tmp_path, judge={"model": "claude-sonnet-4-6", "samples": 3})
    (tmp_path / "fix-load.patch").write_text(patch_of(root / "repo", SOLUTION))
    words = ("run", root, "--patch", tmp_path / "fix-load.patch", "--output", "run", "--max-concurrency", "1")
    with LoopbackProvider(keeping(kept, kept)) as provider:
        done = call(*words, cwd=tmp_path, env=environment(tmp_path, provider))
    assert done.returncode == 0, done.stderr
    told = f"3 model calls, {300 + 3 * kept} input and 60 output tokens, {share} of the input read from the provider's"
    assert told in done.stdout
    assert told in (tmp_path / "run" / "summary.md").read_text()
    usage = json.loads((tmp_path / "run" / "result.json").read_text())["usage"]
    assert (usage["input"], usage.get("cache_read", 0), usage.get("cache_write", 0)) == (300, 2 * kept, kept)


def test_a_run_without_a_model_shows_none(tmp_path: Path) -> None:
    root = write_suite(tmp_path)
    (tmp_path / "fix-load.patch").write_text(patch_of(root / "repo", SOLUTION))
    done = call("run", root, "--patch", "fix-load.patch", "--no-llm", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "cache" not in done.stdout


@pytest.mark.parametrize(
    ("tasks", "longer", "model", "told"),
    [
        (7, False, "claude-sonnet-4-6", True),
        (7, True, "claude-sonnet-4-6", False),
        (6, False, "claude-sonnet-4-6", False),  # too few calls for it to matter
        (7, False, "openai/gpt-5.4", False),  # which keeps by itself
    ],
)
def test_a_rubric_too_short_to_be_kept_is_told_of(
    tmp_path: Path, tasks: int, longer: bool, model: str, told: bool
) -> None:
    root = write_suite(tmp_path, {f"t{n}": {} for n in range(tasks)}, judge={"model": model, "samples": 3})
    if longer:
        lengthen(root / "rubric.md")
    plan = make_plan(formats.load(root), RunOptions(offline=True, keep_going=True))
    found = [str(problem) for problem in plan.warnings if "rubric (about" in str(problem)]
    assert len(found) == told
    least = least_cacheable("claude-sonnet-4-6")
    assert all(f"from {least} tokens on" in text and "warning: " in text for text in found)


def test_the_rubric_is_equal_in_every_call_and_marked_to_be_kept_and_the_trace_is_neither(tmp_path: Path) -> None:
    root = write_suite(tmp_path, {"a": {}, "b": {"prompt": "Another prompt."}}, judge={"samples": 1})
    lengthen(root / "rubric.md")
    for name in ("a", "b"):
        (tmp_path / "patches").mkdir(exist_ok=True)
        (tmp_path / "patches" / f"{name}.patch").write_text(patch_of(root / "repo", SOLUTION))
    with LoopbackProvider(scoring(correctness=4, scope=4)) as provider:
        words = ("run", root, "--patch", "patches")
        done = call(*words, cwd=tmp_path, env=environment(tmp_path, provider))
    assert done.returncode == 0, done.stderr
    first, second = (request.body for request in provider.requests)
    assert first["system"] == second["system"]
    assert "solves the stated problem" in json.dumps(first["system"])
    for body in (first, second):
        parts = [*(body["system"] if isinstance(body["system"], list) else []), *body["messages"][0]["content"]]
        marked = [part["text"] for part in parts if "cache_control" in part]
        assert marked
        assert not any("unnamed" in text or "Another prompt" in text for text in marked)
        assert "unnamed" in json.dumps(body["messages"])
