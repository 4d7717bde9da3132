"""Judge TOMLs for JEV, a decision model."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.formats.rewardkit import Overrides
from tests.support.judge_folders import GOOD, HEAD, Judged, answers, criteria, judged, refused
from tests.support.replies import Empty, HttpError, Reply, Stall, Usage, Verdict

NO_FILES = '[judge]\njudge = "jev"\n'
JEV = f'{NO_FILES}files = ["a.txt"]\n'
LEVELS = 'type = "rubric"\nlevels = ["none", "some", "all"]'


def decided(tmp_path: Path, text: str, *replies: Reply, files: dict[str, str | bytes] | None = None) -> Judged:
    return judged(tmp_path, text, replies or None, workspace=files or {"a.txt": "ALPHA"})


@pytest.mark.parametrize(
    ("probability", "value", "keys"),
    [(0.5, 1.0, ""), (0.49, 0.0, ""), (1.0, 1.0, ""), (0.0, 0.0, ""), (0.9, 0.0, "negate = true")],
)
def test_a_probability_of_one_half_is_a_yes(tmp_path: Path, probability: float, value: float, keys: str) -> None:
    """9: the raw probability is kept."""
    done = decided(tmp_path, JEV + criteria("a", keys=keys), Verdict({"a": probability}))
    row = done.row("a")
    assert (row["value"], row["raw"], done.reward) == (value, probability, value)
    assert "reasoning" not in row


@pytest.mark.parametrize(("mean", "value"), [(0.0, 0.0), (1.5, 0.75), (2.0, 1.0)])
def test_a_rubric_is_the_mean_of_its_levels(tmp_path: Path, mean: float, value: float) -> None:
    """9: raw / (levels - 1)."""
    row = decided(tmp_path, JEV + criteria("a", keys=LEVELS), Verdict({"a": (mean, 0.8)})).row("a")
    assert (row["value"], row["raw"]) == (value, mean)


def test_what_jev_is_asked(tmp_path: Path) -> None:
    """9: the wire."""
    text = f'{JEV}model = "typesafe-ai/jev"\n' + criteria("a") + criteria("b", keys=LEVELS)
    (request,) = decided(tmp_path, text).requests
    assert (request.path, request.model) == ("/v1/systemone", "typesafe-ai/jev")
    assert request.headers["authorization"].startswith("Bearer ")
    assert "ALPHA" in request.body["state"]
    assert request.questions == {
        "a": {"type": "noul", "instructions": "Ask a."},
        "b": {"type": "score", "instructions": "Ask b.", "criteria": ["none", "some", "all"]},
    }


def test_details_of_jev(tmp_path: Path) -> None:
    """7, 9: kind, judge, usage."""
    text = JEV + criteria("a")
    leaf = decided(tmp_path, text, Verdict({"a": 0.7}, Usage(input=11, output=2))).leaf
    assert leaf["kind"] == "jev"
    assert leaf["judge"] == {
        "model": "jev-latest",
        "timeout": 300,
        "files": ["a.txt"],
        "reference": None,
        "mode": "batched",
        "samples": 1,
    }
    assert (leaf["usage"]["input_tokens"], leaf["usage"]["output_tokens"], leaf["usage"]["total_tokens"]) == (11, 2, 13)
    assert "guard" not in leaf


def test_individual_mode_is_one_request_a_criterion(tmp_path: Path) -> None:
    """9: with its own files."""
    text = f'{JEV}mode = "individual"\n' + criteria("a") + criteria("b", keys='files = ["b.txt"]')
    done = judged(tmp_path, text, answers({"a": 0.9, "b": 0.1}), workspace={"a.txt": "ALPHA", "b.txt": "BETA"})
    seen = {next(iter(request.questions)): request.prompt for request in done.requests}
    assert len(done.requests) == 2
    assert ("ALPHA" in seen["a"], "BETA" in seen["a"]) == (True, False)
    assert ("ALPHA" in seen["b"], "BETA" in seen["b"]) == (False, True)
    assert done.reward == 0.5


def test_samples_of_jev_have_a_median(tmp_path: Path) -> None:
    """5, 9."""
    replies = [Verdict({"a": (mean, 0.5)}) for mean in (2.0, 0.5, 1.0)]
    text = f"{JEV}samples = 3\n" + criteria("a", keys=LEVELS)
    done = judged(tmp_path, text, replies, max_concurrency=1, workspace={"a.txt": "ALPHA"})
    row = done.row("a")
    assert (row["raw"], row["value"], sorted(row["samples"])) == (1.0, 0.5, [0.5, 1.0, 2.0])
    assert row["agreement"] == 0.75


@pytest.mark.parametrize(
    ("keys", "criterion", "key"),
    [
        ('guard = "flag"', "", "judge.guard"),
        ('reasoning_effort = "low"', "", "judge.reasoning_effort"),
        ('atif-trajectory = "t.json"', "", "judge.atif-trajectory"),
        ('atif_trajectory = "t.json"', "", "judge.atif_trajectory"),
        ('prompt_template = "t.md"', "", "judge.prompt_template"),
        ("", 'type = "likert"', "criterion[0].type"),
        ("", 'type = "numeric"', "criterion[0].type"),
    ],
)
def test_what_jev_does_not_take_is_an_error_at_its_key(tmp_path: Path, keys: str, criterion: str, key: str) -> None:
    """9: binary and rubric only, no guard, no effort, no trajectory, no template."""
    (problem,) = refused(tmp_path, {"quality.toml": f"{JEV}{keys}\n{GOOD}{criterion}\n", "t.md": "{criteria}"})
    assert problem.key == key
    assert "JEV" in problem.message
    assert problem.line == (4 if keys else 8)


def test_all_that_jev_does_not_take_comes_at_once(tmp_path: Path) -> None:
    keys = 'guard = "flag"\nreasoning_effort = "low"\n'
    problems = refused(tmp_path, f"{JEV}{keys}" + criteria("a", "b", keys='type = "likert"'))
    assert len(problems) == 4


def test_jev_without_anything_to_look_at_is_an_error_at_its_place(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, NO_FILES + GOOD)
    assert (problem.key, problem.line) == ("judge.files", 1)
    assert "needs files" in problem.message


def test_an_effort_for_the_whole_run_does_not_concern_jev(tmp_path: Path) -> None:
    """9: a run-wide override is ignored."""
    overrides = Overrides(effort="high", model="jev-2")
    done = judged(
        tmp_path, JEV + criteria("a"), [Verdict({"a": 1.0})], overrides=overrides, workspace={"a.txt": "ALPHA"}
    )
    assert (done.reward, done.requests[0].model) == (1.0, "jev-2")


def test_jev_in_place_of_a_model(tmp_path: Path) -> None:
    """2: --judge jev."""
    text = f'{HEAD}files = ["a.txt"]\n' + criteria("a")
    done = judged(tmp_path, text, [Verdict({"a": 0.6})], overrides=Overrides(judge="jev"), workspace={"a.txt": "A"})
    assert (done.reward, done.leaf["kind"]) == (1.0, "jev")


def test_images_are_not_for_jev(tmp_path: Path) -> None:
    """9: text only; the other inputs keep their scores."""
    files = {"a.toml": f'{NO_FILES}files = ["p.png"]\n' + criteria("a"), "b.toml": JEV + criteria("b")}
    done = judged(tmp_path, files, answers({"b": 0.9}), workspace={"p.png": b"\x89PNG", "a.txt": "ALPHA"})
    bad, fine = (c["detail"] for c in done.details["reward"]["components"])
    assert "images" in bad["error"]
    assert fine["score"] == 1.0
    assert done.reward is None


def test_too_much_for_jev_is_said_before_it_is_asked(tmp_path: Path) -> None:
    """9: files and the longest criterion fit in 32k tokens; nothing checks it there."""
    done = decided(tmp_path, JEV + criteria("a"), files={"a.txt": "word " * 40_000})
    assert done.requests == ()
    assert "32000" in done.row("a")["error"]


def test_a_time_out_of_jev_counts_as_0(tmp_path: Path) -> None:
    """9: as for an LLM."""
    done = decided(tmp_path, f"{JEV}timeout = 1\n" + criteria("a"), Stall())
    assert (done.reward, done.row("a")["unscored"]) == (0.0, "timeout")
    assert "counted as 0" in done.warnings


@pytest.mark.parametrize("reply", [HttpError(400), Empty(), Verdict({"a": 1.5}), Verdict({"b": 1.0})])
def test_a_failure_of_jev_is_no_score(tmp_path: Path, reply: Reply) -> None:
    """11.1."""
    done = decided(tmp_path, JEV + criteria("a"), reply)
    assert done.reward is None
    assert done.row("a")["error"]
