"""Requirements 52 to 59 of the article: the gate in CI, every dimension of every task against its baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from tests.support.golden import SOLVES, agent, git, ran, ran_done, scoring, typed, write_done, write_suite
from tests.support.llm import environment
from tests.support.provider import Reply, Request

NAMES = tuple(f"t{number}" for number in range(6))


def suite(folder: Path, **settings: Any) -> Path:
    return write_done(folder, *NAMES, **{"judge": {"samples": 3}, **settings})


def one_fell(request: Request) -> Reply:
    """Five points of a dimension of one task became two."""
    return scoring(correctness=5, scope=2 if "this is t3" in request.prompt else 5)(request)


def baseline(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / "baseline.json").read_text())
    return found


class Story:
    """A green run whose scores are taken for the baseline, and a red run after it."""

    def __init__(self, folder: Path) -> None:
        self.root = suite(folder)
        self.first = ran_done(self.root, scoring(correctness=5, scope=5), "--update-baseline", "accept", output="first")
        self.kept = (self.root / "baseline.json").read_bytes()
        self.red = ran_done(self.root, one_fell, "--update-baseline", "ratchet", output="red")
        self.after = (self.root / "baseline.json").read_bytes()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return Story(tmp_path_factory.mktemp("ci"))


def test_req_52_the_baseline_holds_every_dimension_of_every_task(story: Story) -> None:
    assert story.first.done.returncode == 0
    tasks = json.loads(story.kept)["tasks"]
    assert tuple(tasks) == NAMES
    for task in tasks.values():
        assert task["scores"] == {"correctness": [5, 5, 5], "scope": [5, 5, 5]}


def test_req_53_a_dimension_of_a_task_that_falls_fails_the_build(story: Story) -> None:
    assert story.red.done.returncode == 1
    words = {
        (check.reason.partition(":")[0], check.metric)
        for check in story.red.result.gate.checks
        if check.metric in ("regressed", "same")
    }
    assert ("t3.scope", "regressed") in words
    assert {place for place, word in words if word == "regressed"} <= {"t3.scope", "all tasks.scope"}
    assert ("t3.correctness", "same") in words


@pytest.mark.parametrize(
    ("setting", "flag", "before", "status"),
    [
        (None, None, 4.3, 0),
        (None, None, 4.31, 1),
        (1.0, None, 5, 0),
        (None, "1", 5, 0),
        (1.0, "0.5", 5, 1),
    ],
)
def test_req_54_how_far_a_score_may_fall(
    tmp_path: Path, setting: float | None, flag: str | None, before: float, status: int
) -> None:
    settings = {"gate": "point", "judge": {"samples": 1}, **({"max_drop": setting} if setting else {})}
    root = suite(tmp_path, **settings)
    (root / "baseline.json").write_text(json.dumps({"t0": {"scope": before}}))
    flags = ["--max-drop", flag] if flag else []
    done = ran_done(root, scoring(correctness=4, scope=4), "--case", "t0", *flags)
    assert done.done.returncode == status, done.done.stdout


def test_req_55_what_has_no_baseline_is_not_compared(tmp_path: Path) -> None:
    root = suite(tmp_path, gate="point")
    none = ran_done(root, scoring(correctness=1, scope=1))
    assert none.done.returncode == 0
    known: dict[str, Any] = {name: {"scope": 1} for name in NAMES if name != "t5"}
    (root / "baseline.json").write_text(json.dumps(known))
    done = ran_done(root, scoring(correctness=1, scope=1))
    assert done.done.returncode == 0
    found = {check.reason.partition(":")[0] for check in done.result.gate.checks if check.metric == "new"}
    assert found == {*(f"{name}.correctness" for name in NAMES if name != "t5"), "t5"}


def test_req_56_what_fell_is_printed_and_the_exit_code_is_1(story: Story) -> None:
    (line,) = [line for line in story.red.done.stdout.splitlines() if "t3.scope" in line]
    assert "t3.scope: regressed, 5.00 -> 2.00" in line
    assert story.red.done.returncode == 1
    assert "t3.scope" in (story.red.folder / "summary.md").read_text().replace("\\", "")


def test_req_57_only_a_green_run_moves_the_baseline_and_only_when_asked(story: Story, tmp_path: Path) -> None:
    assert story.after == story.kept
    assert "stays as it is: the run did not pass" in story.red.done.stderr
    root = suite(tmp_path)
    (root / "baseline.json").write_text(json.dumps({name: {"scope": 4} for name in NAMES}))
    before = (root / "baseline.json").read_bytes()
    assert ran_done(root, scoring(correctness=5, scope=4)).done.returncode == 0
    assert (root / "baseline.json").read_bytes() == before
    done = ran_done(root, scoring(correctness=5, scope=4), "--update-baseline", "ratchet")
    assert done.done.returncode == 0
    assert baseline(root)["tasks"]["t0"]["scores"] == {"correctness": [5, 5, 5], "scope": [4]}


def test_req_58_a_pull_request_runs_the_tasks_that_it_touches(tmp_path: Path) -> None:
    root = suite(tmp_path)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Tasks"]):
        git(root, *words)
    well = scoring(correctness=5, scope=5)
    nothing = ran(root, well, "--changed-since", "HEAD")
    assert (nothing.done.returncode, nothing.requests) == (0, ())
    assert "no task differs from HEAD; nothing was run" in nothing.done.stderr
    (root / "tasks" / "t2" / "task.yaml").write_text(
        (root / "tasks" / "t2" / "task.yaml").read_text() + "tags: [new]\n"
    )
    some = ran_done(root, well, "--changed-since", "HEAD", output="some")
    assert [case.id for case in some.result.cases] == ["t2"]
    (root / "rubric.md").write_text((root / "rubric.md").read_text().replace("unrelated code", "other code"))
    every = ran_done(root, well, "--changed-since", "HEAD", output="every")
    assert [case.id for case in every.result.cases] == list(NAMES)


def test_req_58_the_workflow_begins_on_changes_of_the_agent_and_by_the_clock() -> None:
    text = (ROOT / "examples" / "ci" / "github" / ".github" / "workflows" / "golden-tasks.yml").read_text()
    starts = yaml.load(text, Loader=yaml.BaseLoader)["on"]  # text: YAML 1.1 takes `on` for true
    assert {"prompts/**", "tools/**", "**/system_prompt*"} <= set(starts["pull_request"]["paths"])
    assert [len(one["cron"].split()) for one in starts["schedule"]] == [5]
    assert "pull_request_target" not in starts
    assert "uses: ./.github/actions/adjudge" in text


def test_req_59_scores_of_two_models_under_test_are_set_side_by_side(tmp_path: Path) -> None:
    script = SOLVES + 'test "$ADJUDGE_MODEL" = large || seq 9 | sed "s/^/# /" >> app.py\n'
    tasks = {name: {"prompt": f"Mend load(): this is {name}."} for name in ("a", "b")}
    root = write_suite(tmp_path, tasks, agent=agent(tmp_path, script), gate="point")

    def answer(request: Request) -> Reply:
        return scoring(correctness=5, scope=2 if "# 9" in request.prompt else 5)(request)

    large = ran(root, answer, "--model", "large", "--update-baseline", "accept", output="large")
    small = ran(root, answer, "--model", "small", output="small")
    assert (large.done.returncode, small.done.returncode) == (0, 1)
    assert "a.scope: regressed, 5.00 -> 2.00" in small.done.stdout
    done = typed("compare", "small", "large", "--json", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    moved = {one["criterion"]: one.get("difference") for one in json.loads(done.stdout)["judges"]}
    assert (moved["correctness"], moved["scope"]) == (0, -3)
