"""Requirements 60 to 66 of the article: prompt caching, stable tasks, flaky ones, and judges that change."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.golden import (
    RUBRIC,
    SOLUTION,
    SOLVES,
    agent,
    patch_of,
    ran,
    ran_done,
    scoring,
    typed,
    write_done,
    write_suite,
)
from tests.support.llm import environment
from tests.support.provider import Reply, Request
from tests.support.replies import Usage, Verdict

WELL = scoring(correctness=5, scope=5)


def suite(folder: Path, *names: str, rubric: str = RUBRIC, **settings: Any) -> Path:
    root = write_done(folder, *(names or ("fix-load",)), **{"gate": "point", **settings})
    (root / "rubric.md").write_text(rubric)
    return root


def padded(characters: int) -> str:
    """The rubric with examples, which make it so long."""
    example = "Example: a patch that renames a variable which nobody asked for earns a 3.\n"
    return f"{RUBRIC.partition('Output schema')[0]}\n{example * (characters // len(example))}"


@pytest.mark.parametrize(
    ("model", "least", "short"),
    [("claude-sonnet-4-5", 1024, 1_000), ("claude-sonnet-4-6", 2048, 3_000), ("claude-opus-4-7", 2048, 3_000)],
)
def test_req_60_a_rubric_that_is_too_short_to_be_kept_is_told_of(
    tmp_path: Path, model: str, least: int, short: int
) -> None:
    said = f"{model} keeps a prompt's beginning between calls from {least} tokens on"
    flags = ["--judge-model", model, "--samples", "20"]
    root = suite(tmp_path, rubric=padded(short))
    first = ran_done(root, WELL, *flags)
    assert first.done.returncode == 0
    assert said in first.done.stderr
    assert "rubric (about " in first.done.stderr
    assert not any("cache_control" in str(request.body) for request in first.requests)
    (root / "rubric.md").write_text(padded(least * 4))
    second = ran_done(root, WELL, *flags, output="padded")
    assert said not in second.done.stderr
    assert all("cache_control" in str(request.body["system"]) for request in second.requests)


def test_req_61_what_the_provider_had_kept_is_measured(tmp_path: Path) -> None:
    answer = {name: {"rationale": "seen", "score": 5} for name in ("correctness", "scope")}

    def kept(request: Request) -> Reply:
        usage = Usage(input=100, cache_write=900) if request.index == 0 else Usage(input=100, cache_read=900)
        return Verdict(answer, usage=usage)

    done = ran_done(suite(tmp_path, rubric=padded(9_000)), kept, "--samples", "5", "--max-concurrency", "1")
    assert len(done.requests) == 5
    assert (done.result.usage.cache_read, done.result.usage.cache_write, done.result.usage.input) == (3600, 900, 500)
    assert "72% of the input read from the provider's cache" in (done.folder / "summary.md").read_text()


def test_req_62_a_task_is_known_by_its_id_whatever_its_place(tmp_path: Path) -> None:
    root = suite(tmp_path, "b", "c")
    assert ran_done(root, WELL, "--update-baseline", "accept").done.returncode == 0
    (root / "tasks" / "b").rename(root / "tasks" / "z-last")
    (root / "tasks" / "c").rename(root / "tasks" / "1-first")
    moved = ran_done(root, scoring(correctness=5, scope=3), output="moved")
    assert moved.done.returncode == 1
    for task in ("b", "c"):
        assert f"{task}.scope: regressed, 5.00 -> 3.00" in moved.done.stdout
    file = root / "tasks" / "z-last" / "task.yaml"
    file.write_text(file.read_text().replace("this is b", "this is another b"))
    changed = ran_done(root, WELL, output="changed")
    assert changed.done.returncode == 3
    assert "b: changed: the baseline knows another version of it" in changed.done.stdout
    assert any(check.reason.startswith("c.scope: same") for check in changed.result.gate.checks)


def test_req_63_a_task_whose_reruns_differ_is_put_into_quarantine(tmp_path: Path) -> None:
    root = suite(tmp_path, "steady", "flaky")

    def answer(rerun: int) -> Any:
        return lambda r: scoring(correctness=5, scope=(5, 2, 4)[rerun] if "this is flaky" in r.prompt else 4)(r)

    for number in range(3):
        ran_done(root, answer(number), output=f"rerun{number}")
    words = ["flaky", "rerun0", "rerun1", "rerun2", "--quarantine", "--days", "7"]
    done = typed(*words, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    (row,) = [line.split() for line in done.stdout.splitlines() if line.startswith("flaky") and "scope" in line]
    assert row == ["flaky", "scope", "5.00", "2.00", "4.00", "3.00", "2.33", "flaky"]
    (entry,) = json.loads((root / "quarantine.json").read_text())
    assert (entry["task"], entry["dimension"]) == ("flaky", "scope")
    assert datetime.date.fromisoformat(entry["until"]) > datetime.datetime.now(tz=datetime.UTC).date()
    (root / "baseline.json").write_text(json.dumps({name: {"scope": 5} for name in ("steady", "flaky")}))
    scores = {"steady": 5, "flaky": 1}
    after = ran_done(root, lambda r: scoring(correctness=5, scope=scores[_task(r)])(r), output="after")
    assert after.done.returncode == 0
    assert any(check.reason.startswith("flaky.scope: flaky, 5.00 -> 1.00") for check in after.result.gate.checks)
    scores["steady"] = 1
    again = ran_done(root, lambda r: scoring(correctness=5, scope=scores[_task(r)])(r), output="again")
    assert again.done.returncode == 1


def _task(request: Request) -> str:
    return "flaky" if "this is flaky" in request.prompt else "steady"


@pytest.mark.parametrize(
    ("author", "told"),
    [
        ("claude-sonnet-4-6", "is the judge as well"),
        ("claude-opus-4-7", "is the agent under test as well"),
        ("a person", ""),
    ],
)
def test_req_64_a_model_that_wrote_the_solution_should_not_be_judged_by_it_nor_judge(
    tmp_path: Path, author: str, told: str
) -> None:
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    golden = {"patch": patch_of(root / "repo", SOLUTION), "author": author}
    (root / "tasks" / "fix-load" / "golden.json").write_text(json.dumps(golden))
    done = ran(root, WELL, "--model", "claude-opus-4-7")
    assert done.done.returncode == 0
    said = " ".join(done.done.stderr.split())
    assert ("wrote the reference solution of fix-load" in said) is bool(told)
    assert told in said


def test_req_65_after_a_change_of_judge_there_is_a_new_calibration_and_a_new_baseline(tmp_path: Path) -> None:
    root = suite(tmp_path, "a", "b")
    assert ran_done(root, WELL, "--update-baseline", "accept").done.returncode == 0
    other = ["--judge-model", "claude-opus-4-7"]
    refused = ran_done(root, WELL, *other, output="refused")
    assert (refused.done.returncode, refused.requests) == (2, ())
    assert "another judge" in refused.done.stderr
    assert "model claude-sonnet-4-6 -> claude-opus-4-7" in refused.done.stderr
    assert "calibrate the judge anew, then --update-baseline accept takes this run's scores" in refused.done.stderr
    lower = scoring(correctness=4, scope=4)
    part = ran_done(root, lower, *other, "--update-baseline", "accept", "--case", "a", output="part")
    assert (part.done.returncode, part.requests) == (2, ())
    assert "the others would keep that judge's scores: run all of them" in part.done.stderr
    accepted = ran_done(root, lower, *other, "--update-baseline", "accept", output="accepted")
    assert accepted.done.returncode == 0, accepted.done.stdout
    assert json.loads((root / "baseline.json").read_text())["judge"]["model"] == "claude-opus-4-7"
    assert ran_done(root, lower, *other, output="next").done.returncode == 0


def test_req_65_a_certificate_is_of_one_judge(tmp_path: Path) -> None:
    root = suite(tmp_path)
    done = ran_done(root, WELL)
    (tmp_path / "labels.csv").write_text("trace,labeller,correctness\nrun/fix-load,ann,5\n")
    typed("calibrate", "labels.csv", "--run", "run", cwd=tmp_path, env=environment(tmp_path))
    assert (root / "certificate.json").is_file()
    for model, reason in (("claude-sonnet-4-6", "1 traces"), ("claude-opus-4-7", "the certificate is stale")):
        done = ran_done(root, WELL, "--judge-model", model, "--require-calibration", output=model)
        assert done.done.returncode == 3
        assert reason in done.done.stdout


@pytest.mark.parametrize(
    ("change", "named"),
    [("rubric", "rubric"), ("effort", "decoding"), ("max_tokens", "decoding"), ("dimension", "rubric, parser")],
)
def test_req_66_scores_of_two_kinds_of_judge_are_never_mixed(tmp_path: Path, change: str, named: str) -> None:
    root = suite(tmp_path, judge={"samples": 1, "model": "claude-opus-4-7"})
    assert ran_done(root, WELL, "--update-baseline", "accept").done.returncode == 0
    judge = json.loads((root / "baseline.json").read_text())["judge"]
    assert judge["model"] == "claude-opus-4-7"
    assert {len(judge[key]) for key in ("rubric", "prompt", "parser", "decoding")} == {64}
    settings = {"samples": 1, "model": "claude-opus-4-7"}
    if change in ("effort", "max_tokens"):
        settings[change] = "high" if change == "effort" else 900
        write_suite(tmp_path, {}, judge=settings)
    else:
        more = "\n3. naming\n   - 5: good\n   - 1: bad\n" if change == "dimension" else "Be strict.\n"
        (root / "rubric.md").write_text(f"{RUBRIC.partition('Output schema')[0]}{more}")
    mixed = ran_done(root, scoring(correctness=5, scope=5, naming=5), output="mixed")
    assert (mixed.done.returncode, mixed.requests) == (2, ())
    assert f"its scores are of another judge, and do not compare with this run's: {named}" in mixed.done.stderr
