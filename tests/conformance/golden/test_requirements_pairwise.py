"""Requirements 48 to 51 of the article: two traces of one task set side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.golden import FIXED, MORE, Ran, patch_of, ran, scoring, typed, write_suite
from tests.support.llm import environment
from tests.support.provider import LoopbackProvider, Reply, Request
from tests.support.replies import Verdict

LONG = FIXED + "\n\n# " + "a comment that says nothing. " * 20 + "\n"
WELL = scoring(correctness=4, scope=4)
TASKS = {"one": {"prompt": "Mend load() for the first time."}, "two": {"prompt": "Mend load() for the second time."}}


class Compared(NamedTuple):
    """What `adjudge pairwise` printed and wrote about two runs, and what it asked."""

    printed: str
    pair: dict[str, Any]
    requests: list[Request]


def sides(request: Request) -> tuple[str, str]:
    first, _, second = request.prompt.partition("# Output A")[2].partition("# Output B")
    return first, second


def prefers(mark: str) -> Callable[[Request], Reply]:
    """A judge who prefers the output that holds a mark, wherever it stands."""

    def answer(request: Request) -> Reply:
        if not request.prompt.startswith("Two agents"):
            return WELL(request)
        first, second = (mark in text for text in sides(request))
        return Verdict({"rationale": f"for {mark}", "preferred": "tie" if first == second else "A" if first else "B"})

    return answer


def loses(request: Request) -> Reply:
    """The output with the long comment loses."""
    if not request.prompt.startswith("Two agents"):
        return WELL(request)
    return Verdict({"rationale": "brief", "preferred": "B" if "says nothing" in sides(request)[0] else "A"})


def first_is_better(request: Request) -> Reply:
    return Verdict({"rationale": "it stands first", "preferred": "A"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    """A brief and a long patch of the same two tasks, each scored."""
    folder = tmp_path_factory.mktemp("pairwise")
    root = write_suite(folder, TASKS, gate="point")
    made = []
    for name, source in (("brief", FIXED), ("long", LONG)):
        (folder / f"{name}-work").mkdir()
        for task in TASKS:
            patch = patch_of(root / "repo", {"app.py": source, "test_app.py": MORE})
            (folder / f"{name}-work" / f"{task}.patch").write_text(patch)
        made.append(ran(root, WELL, "--patch", folder / f"{name}-work", output=name))
    brief, long = made
    return brief, long


def compared(runs: tuple[Ran, Ran], folder: Path, answer: Callable[[Request], Reply]) -> Compared:
    home = runs[0].root.parent
    with LoopbackProvider(answer) as provider:
        words = ["pairwise", "brief", "long", "--output", str(folder / "out"), "--fresh"]
        done = typed(*words, cwd=home, env=environment(home, provider))
        asked = list(provider.requests)
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads((folder / "out" / "pairwise.json").read_text())["pairs"]
    return Compared(done.stdout, pair["result"], asked)


@pytest.mark.parametrize(("mark", "winner"), [("says nothing", "baseline"), ("no such text", "tie")])
def test_req_48_two_traces_of_a_task_have_a_winner_or_a_tie_and_a_reason(
    runs: tuple[Ran, Ran], tmp_path: Path, mark: str, winner: str
) -> None:
    found = compared(runs, tmp_path, prefers(mark))
    assert [(case["case"], case["winner"]) for case in found.pair["cases"]] == [("one", winner), ("two", winner)]
    for case in found.pair["cases"]:
        assert [order["rationale"] for order in case["orders"]] == [f"for {mark}"] * 2
    request = found.requests[0]
    assert "Mend load() for the" in request.prompt.partition("# Output A")[0]
    assert all("config.get('name', 'unnamed')" in side for side in sides(request))
    schema = request.schema
    assert schema is not None
    assert schema["properties"]["preferred"]["enum"] == ["A", "tie", "B"]


def test_req_49_a_comparison_is_shown_and_the_scores_decide_over_the_build(runs: tuple[Ran, Ran]) -> None:
    brief, _ = runs
    flags = ["--patch", str(brief.root.parent / "long-work"), "--baseline", "brief"]
    lost = ran(brief.root, loses, *flags, output="lost")
    (pair,) = lost.result.pairwise
    assert (pair.wins, pair.losses, pair.win_rate) == (0, 2, 0)
    assert ["pairwise", "pairwise"] in [line.split()[:2] for line in lost.done.stdout.splitlines()]
    assert lost.done.returncode == 0
    baseline = brief.root / "baseline.json"
    baseline.write_text(json.dumps({"one": {"scope": 5}, "two": {"scope": 5}}))
    try:
        won = ran(brief.root, prefers("says nothing"), *flags, output="won")
    finally:
        baseline.unlink()
    (pair,) = won.result.pairwise
    assert (pair.wins, won.done.returncode) == (2, 1)


def test_req_50_both_orders_are_asked_and_a_flip_is_a_tie(runs: tuple[Ran, Ran], tmp_path: Path) -> None:
    found = compared(runs, tmp_path, first_is_better)
    assert len(found.requests) == 4
    places = sorted(["says nothing" in side for side in sides(request)] for request in found.requests)
    assert places == [[False, True], [False, True], [True, False], [True, False]]
    assert (found.pair["ties"], found.pair["flips"]) == (2, 2)
    assert found.pair.get("wins", 0) == found.pair.get("losses", 0) == 0
    assert found.pair["first_share"] == 1
    steady = compared(runs, tmp_path / "steady", loses)
    assert (steady.pair["wins"], steady.pair.get("flips", 0), steady.pair["first_share"]) == (2, 0, 0.5)


def test_req_51_the_judge_is_told_that_brevity_is_good_and_its_length_bias_is_measured(
    runs: tuple[Ran, Ran], tmp_path: Path
) -> None:
    found = compared(runs, tmp_path, prefers("says nothing"))
    for request in found.requests:
        assert "neither does length" in request.system
        assert "the briefer is better" in request.system
    assert (found.pair["longer"]["won"], found.pair["longer"]["n"]) == (2, 2)
    assert "the longer output won 2 of 2" in found.printed
    other = compared(runs, tmp_path / "other", loses)
    assert (other.pair["longer"]["won"], other.pair["longer"]["n"]) == (0, 2)
