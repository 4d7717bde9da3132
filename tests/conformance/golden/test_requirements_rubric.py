"""Requirements 22 to 30 of the article: the rubric, its dimensions and anchors, and 0 for what a judge cannot tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.domain import Decision, Status
from tests.conftest import ROOT
from tests.support.golden import SOLVES, Ran, agent, judged, ran, scoring, typed, write_suite
from tests.support.llm import environment
from tests.support.provider import LoopbackProvider, Reply, Request
from tests.support.replies import Verdict

EXAMPLE = (ROOT / "examples" / "golden" / "rubric.md").read_text()
SEEDS = ROOT.parent / "shared" / "reference" / "seeds"
DIMENSIONS = ("correctness_beyond_tests", "minimal_diff", "code_quality", "communication")
SCHEMA = '\nOutput schema:\n{\n  "minimal_diff": {"grade": "1-5", "because": "..."}\n}\n'


def answer(request: Request) -> Reply:
    """5, 3 and 1 for the first dimensions, and for the last 0 about one task and 4 about the other."""
    last = 0 if "the first one" in request.prompt else 4
    scores = dict(zip(DIMENSIONS, (5, 3, 1, last), strict=True))
    return Verdict({name: {"rationale": f"why {name}", "score": score} for name, score in scores.items()})


def suite(folder: Path, rubric: str = EXAMPLE + SCHEMA) -> Path:
    tasks = {"one": {"prompt": "Do the first one."}, "two": {"prompt": "Do the second."}}
    root = write_suite(folder, tasks, agent=agent(folder, SOLVES))
    (root / "rubric.md").write_text(rubric)
    return root


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(suite(tmp_path_factory.mktemp("rubric")), answer)


def test_req_22_the_rubric_is_a_file_and_its_version_is_known(tmp_path: Path) -> None:
    root = suite(tmp_path)
    assert ran(root, answer, "--update-baseline", "accept").done.returncode == 0
    known = json.loads((root / "baseline.json").read_text())["judge"]["rubric"]
    assert len(known) == 64
    (root / "rubric.md").write_text(EXAMPLE.replace("one or two edits", "one edit"))
    changed = ran(root, answer, output="again")
    assert (changed.done.returncode, changed.requests) == (2, ())
    assert "another judge, and do not compare with this run's: rubric" in changed.done.stderr
    (root / "rubric.md").unlink()
    assert "evals/rubric.md" in ran(root, answer, output="again").done.stderr


def test_req_23_every_dimension_has_a_score_of_its_own(run: Ran) -> None:
    (judge,) = {one.judge for one in run.result.judges if one.kind == "llm"}
    assert tuple(one.criterion for one in run.result.judges if one.judge == judge) == DIMENSIONS
    assert [run.result.summary(judge, name).value for name in DIMENSIONS] == [5, 3, 1, 4]


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the article of ../shared/reference is not here")
def test_req_23_the_articles_own_rubric_is_read(tmp_path: Path) -> None:
    (seed,) = SEEDS.glob("004_*.txt")
    text = seed.read_text().partition("# evals/rubric.md\n")[2].partition("Two non-obvious rules")[0]
    root = suite(tmp_path, text)
    done = ran(root, answer)
    assert done.done.returncode == 0, done.done.stderr
    assert "rubric.md" not in done.done.stderr
    assert [one.criterion for one in done.result.judges if one.kind == "llm"] == list(DIMENSIONS)
    anchors = [" ".join(line.split()) for line in text.splitlines() if line.strip()[:4] in ("- 5:", "- 3:", "- 1:")]
    assert len(anchors) == 12
    assert all(anchor in " ".join(done.requests[0].system.split()) for anchor in anchors)
    assert "Output schema" not in done.requests[0].system


def test_req_24_scores_are_whole_numbers_from_1_to_5(run: Ran) -> None:
    schema = run.requests[0].schema
    assert schema is not None
    for name in DIMENSIONS:
        score = schema["properties"][name]["properties"]["score"]
        assert (score["type"], score["minimum"], score["maximum"]) == ("integer", 0, 5)
        assert "whole number from 1 to 5" in score["description"]
    assert [run.score("two", "rubric", name).value for name in DIMENSIONS] == [5, 3, 1, 4]
    assert [run.score("two", "rubric", name).normalised for name in DIMENSIONS] == [1, 0.5, 0, 0.75]


def test_req_25_what_earns_a_5_a_3_and_a_1_is_told_to_the_judge(run: Ran) -> None:
    anchors = [line for line in EXAMPLE.splitlines() if line.strip().startswith(("- 5:", "- 3:", "- 1:"))]
    assert len(anchors) == 12
    for request in run.requests:
        assert all(anchor in request.system for anchor in anchors)


@pytest.mark.parametrize(
    ("rubric", "status", "said"),
    [
        ("1. scope\n   - 5: only what was asked.\n", 0, "warning: rubric: scope has one anchor"),
        ("1. scope\n2. clarity\n", 2, "error: rubric: it names no dimension"),
        ("1. scope\n   - 9: splendid\n   - 1: bad\n", 2, "error: rubric: scope: the anchor 9 lies outside of 0 to 5"),
    ],
)
def test_req_25_a_dimension_without_anchors_is_told_of(tmp_path: Path, rubric: str, status: int, said: str) -> None:
    done = typed("validate", suite(tmp_path, rubric), cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == status
    assert "rubric.md" in done.stderr
    assert said in done.stderr


def test_req_26_zero_says_that_the_judge_could_not_tell(run: Ran) -> None:
    found = run.score("one", "rubric", "communication")
    assert (found.status, found.value, found.normalised) == (Status.ABSTAINED, None, None)
    assert run.done.returncode == 0
    assert "0 unscored, 1 abstained" in run.done.stdout
    assert "Use 0 for a dimension" in run.requests[0].system
    assert "its score is 0" in run.requests[0].system


def test_req_27_zeros_are_in_no_mean_and_are_no_regression(tmp_path: Path, run: Ran) -> None:
    mean = run.result.summary("rubric", "communication")
    assert (mean.value, mean.n, mean.abstained) == (4, 1, 1)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES), gate="point")
    (root / "baseline.json").write_text(json.dumps({"fix-load": {"correctness": 4, "scope": 4}}))
    for scope, decision in ((0, Decision.PASS), (3, Decision.FAIL)):
        with LoopbackProvider(scoring(correctness=4, scope=scope)) as provider:
            result = judged(root, provider, fresh=True)
        assert result.gate.decision is decision


def test_req_28_the_judge_is_told_to_invent_nothing(run: Ran) -> None:
    assert "do not invent details that are not in it" in run.requests[0].system


def test_req_29_every_score_has_a_reason(run: Ran) -> None:
    schema = run.requests[0].schema
    assert schema is not None
    for name in DIMENSIONS:
        assert "rationale" in schema["properties"][name]["required"]
        assert run.score("one", "rubric", name).rationale == f"why {name}"


def test_req_30_the_form_of_the_answer_is_stated_once(run: Ran) -> None:
    (request, _) = run.requests
    schema = request.schema
    assert request.tool_name == "submit_verdicts"
    assert schema is not None
    assert tuple(schema["required"]) == DIMENSIONS
    assert schema["additionalProperties"] is False
    assert '"because"' not in request.system  # the rubric's own schema, which says something else
    assert "Output schema" not in request.system
    assert "says nothing, or claims what is not in the diff." in request.system
