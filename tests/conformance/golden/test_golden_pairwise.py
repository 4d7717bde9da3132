"""Two or more runs, or patches, compared two at a time: both orders, flips, length, strengths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_cli import run as adjudge
from tests.conformance.golden.test_golden_gate import SOLVES
from tests.support.golden import FIXED, MORE, agent, judged, patch_of, scoring, write_suite
from tests.support.provider import LoopbackProvider
from tests.support.replies import Reply, Verdict
from tests.support.request import Request

LONG = FIXED + "\n\n# " + "a comment that says nothing. " * 20 + "\n"


def outputs(request: Request) -> tuple[str, str]:
    """What stands first in a comparison, and what stands second."""
    first, _, second = request.prompt.partition("# Output A")[2].partition("# Output B")
    return first, second


def prefers(word: str) -> Any:
    """A judge who prefers the output that holds a word, wherever it stands; a tie where both or neither do."""

    def answer(request: Request) -> Reply:
        first, second = (word in text for text in outputs(request))
        value = "tie" if first == second else "A" if first else "B"
        return Verdict({"rationale": "seen", "preferred": value})

    return answer


@pytest.fixture
def patches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite with two tasks, and three folders with a patch of each."""
    monkeypatch.chdir(tmp_path)
    root = write_suite(
        tmp_path, {name: {"prompt": f"Fix load(), for the {name} time."} for name in ("one", "two", "three")}
    )
    texts = {"short": FIXED, "long": LONG, "other": FIXED.replace("unnamed", "no name")}
    for name, source in texts.items():
        folder = tmp_path / name
        folder.mkdir()
        patch = patch_of(root / "repo", {"app.py": source, "test_app.py": MORE})
        for task in ("one", "two", "three"):
            (folder / f"{task}.patch").write_text(patch)
    return tmp_path


def compare(folder: Path, provider: LoopbackProvider, *words: str) -> Any:
    return adjudge("pairwise", *words, cwd=folder, **provider.env())


def test_patches_are_compared_in_both_orders_and_length_is_measured(patches: Path) -> None:
    with LoopbackProvider(prefers("says nothing")) as provider:
        done = compare(patches, provider, "short", "long", "--suite", "evals", "--output", "out")
        assert done.returncode == 0, done.stderr
        asked = len(provider.requests)
        assert asked == 6
        assert "the longer output won 3 of 3" in done.stdout
        again = compare(patches, provider, "short", "long", "--suite", "evals", "--output", "out")
        assert again.returncode == 0
        assert len(provider.requests) == asked
    (pair,) = json.loads((patches / "out" / "pairwise.json").read_text())["pairs"]
    result = pair["result"]
    assert (result["losses"], result.get("flips", 0)) == (3, 0)
    assert (result["longer"]["won"], result["longer"]["n"]) == (3, 3)
    own, other = result["cases"][0]["shown_chars"]
    assert own < other
    run = patches / "out" / "short--long"
    told = "0 wins, 3 losses, 0 ties, of them 0 flips with the place; exact sign test p 0.25"
    assert told in (run / "summary.md").read_text()
    assert "the longer output won 3 of 3 won cases" in (run / "summary.md").read_text()
    assert "<td>3 of 3, p 0.25</td>" in (run / "report.html").read_text()


def test_a_preference_for_a_place_is_a_tie(patches: Path) -> None:
    with LoopbackProvider(lambda _: Verdict({"rationale": "the first", "preferred": "A"})) as provider:
        done = compare(patches, provider, "short", "long", "--suite", "evals", "--json")
    (pair,) = json.loads(done.stdout)["pairs"]
    assert (pair["result"]["ties"], pair["result"]["flips"], pair["result"]["first_share"]) == (3, 3, 1.0)
    assert "longer" not in pair["result"] or pair["result"]["longer"] is None


def test_three_systems_have_strengths(patches: Path) -> None:
    with LoopbackProvider(prefers("no name")) as provider:
        done = compare(patches, provider, "short", "long", "other", "--suite", "evals", "--json")
    found = json.loads(done.stdout)
    assert found["strengths"][0]["system"] == "other"
    assert len(found["pairs"]) == 3
    best = found["strengths"][0]
    assert best["low"] < best["value"] < best["high"]


def test_two_runs_are_compared_by_the_suite_they_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = write_suite(tmp_path, agent=agent(tmp_path, SOLVES))
    with LoopbackProvider(scoring(correctness=5, scope=4)) as provider:
        judged(root, provider, output="a")
        agent(tmp_path, SOLVES.replace("unnamed", "nameless"))
        judged(root, provider, output="b", fresh=True)
    with LoopbackProvider(prefers("nameless")) as provider:
        done = compare(tmp_path, provider, "a", "b", "--json")
        assert done.returncode == 0, done.stderr
        assert "Which of the two patches would you rather merge" in provider.requests[0].prompt
    (pair,) = json.loads(done.stdout)["pairs"]
    assert pair["result"]["losses"] == 1


def test_an_answer_that_cannot_be_had_is_no_tie(patches: Path) -> None:
    with LoopbackProvider(lambda _: Verdict({"rationale": "?", "preferred": "C"})) as provider:
        done = compare(patches, provider, "short", "long", "--suite", "evals", "--json")
    assert done.returncode == 4
    (pair,) = json.loads(done.stdout)["pairs"]
    assert pair["result"]["unscored"] == 3
    assert pair["result"].get("ties", 0) == 0


def test_sides_that_are_none_are_told(patches: Path) -> None:
    assert adjudge("pairwise", "short", cwd=patches).returncode == 2
    assert adjudge("pairwise", "short", "short", cwd=patches).returncode == 2
    done = adjudge("pairwise", "short", "long", cwd=patches)
    assert done.returncode == 2
    assert "--suite" in done.stderr
