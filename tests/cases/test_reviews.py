"""What people said of earlier runs, as it is read from `review.yaml`."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from adjudge.cases import harvest
from adjudge.domain import Binary, Criterion, Examples, LLMJudge, Numeric, Scale
from tests.support.configs import Files, write_case

MADE: Files = {"output/a.md": "made\n"}


def judge(scale: Scale | None = None, mix: tuple[str, ...] = ("pass", "fail"), name: str = "good") -> LLMJudge:
    criterion = Criterion(name=name, scale=scale or Binary())
    return LLMJudge(name=name, criteria=(criterion,), examples=Examples(mix=mix))


def review(folder: Path, run: str, cases: dict[str, Files] | None = None, **said: Any) -> Path:
    """A run that was reviewed."""
    home = folder / "runs" / run
    home.mkdir(parents=True)
    (home / "review.yaml").write_text(yaml.safe_dump({"run_id": run, **said}, allow_unicode=True))
    for name, files in (cases or {}).items():
        write_case(home / "cases" / name, files)
    return home


def labels(folder: Path, by: LLMJudge | None = None, **options: Any) -> list[tuple[str, str, bool]]:
    """(run, case, whether people passed it) of every exemplar, best first."""
    found = harvest(folder / "runs", by or judge(), outputs=("output",), **options)
    return [(entry.run, entry.case, entry.passed) for entry in found.pool]


def verdict_of(folder: Path, value: Any, scale: Scale | None = None) -> bool | None:
    """What a person's verdict on one case counts as."""
    review(folder, "r1", verdicts={"good": {"a": value}})
    found = labels(folder, judge(scale))
    return found[0][2] if found else None


def test_a_comment_flags_a_case_and_silence_accepts_it(tmp_path: Path) -> None:
    review(tmp_path, "r1", feedback={"a": "", "b": "Wrong title.", "c": "  \n", "d": None})
    found = harvest(tmp_path / "runs", judge(), outputs=())
    assert {entry.case: (entry.passed, entry.verdict) for entry in found.pool} == {
        "a": (True, "accepted"),
        "b": (False, "rejected"),
        "c": (True, "accepted"),
        "d": (True, "accepted"),
    }
    assert found.pool[0].comment == "Wrong title."


@pytest.mark.parametrize("comment", [404, 0, False, 1.5, ["wrong", "title"]])
def test_a_comment_that_yaml_reads_as_something_else_is_no_silence(tmp_path: Path, comment: object) -> None:
    review(tmp_path, "r1", feedback={"a": comment})
    assert labels(tmp_path) == [("r1", "a", False)]


@pytest.mark.parametrize(
    "verdicts",
    [
        {"good": {"a": False, "b": {"value": True, "comment": "Just so."}}},
        {"a": {"good": False}, "b": {"good": {"value": True, "comment": "Just so."}}},
        {"a": {"good": {"passed": False}}, "b": {"good": {"verdict": True, "rationale": "Just so."}, "other": False}},
    ],
    ids=["by judge", "by case", "other spellings"],
)
def test_a_verdict_on_the_judge_wins_over_the_plain_comment(tmp_path: Path, verdicts: dict[str, Any]) -> None:
    review(tmp_path, "r1", feedback={"a": "", "b": "Bad.", "c": "Bad."}, verdicts=verdicts)
    found = {entry.case: entry for entry in harvest(tmp_path / "runs", judge(), outputs=()).pool}
    assert {name: entry.passed for name, entry in found.items()} == {"a": False, "b": True, "c": False}
    assert (found["b"].comment, found["b"].verdict) == ("Just so.", "True")


def test_a_verdict_on_another_judge_says_nothing_of_this_one(tmp_path: Path) -> None:
    review(tmp_path, "r1", verdicts={"other": {"a": False}})
    assert labels(tmp_path) == []


@pytest.mark.parametrize(
    ("value", "passed"),
    [(5, True), (4, True), (3.9, None), (3, None), (2.1, None), (2, False), (1, False), (0, None), (6, None)],
)
def test_numbers_count_where_they_are_clear(tmp_path: Path, value: float, passed: bool | None) -> None:
    assert verdict_of(tmp_path, value, Numeric(1, 5, integer=True)) is passed


@pytest.mark.parametrize(("value", "passed"), [(-1, False), (-0.5, False), (0, None), (0.5, True), (1, True)])
def test_clear_is_a_quarter_of_the_judges_own_scale(tmp_path: Path, value: float, passed: bool | None) -> None:
    assert verdict_of(tmp_path, value, Numeric(-1, 1)) is passed


def test_a_scale_that_nobody_declared_is_one_to_five(tmp_path: Path) -> None:
    assert verdict_of(tmp_path, 5, Numeric(1, 5, enforced=False)) is True


@pytest.mark.parametrize("value", [0, 1, 5, "pass", "true", [True], float("nan"), float("inf"), 10**400])
def test_what_is_no_verdict_on_a_yes_or_no_is_not_used(tmp_path: Path, value: object) -> None:
    assert verdict_of(tmp_path, value) is None


@pytest.mark.parametrize("value", ["5", [5], float("nan"), 10**400])
def test_what_is_no_number_is_not_used_on_a_scale(tmp_path: Path, value: object) -> None:
    assert verdict_of(tmp_path, value, Numeric(1, 5)) is None


def test_a_verdict_between_pass_and_fail_does_not_fall_back_on_the_comment(tmp_path: Path) -> None:
    review(tmp_path, "r1", feedback={"a": "Bad."}, verdicts={"good": {"a": 3}})
    assert labels(tmp_path, judge(Numeric(1, 5))) == []


def test_the_longest_comment_comes_first_then_the_newest_run(tmp_path: Path) -> None:
    review(tmp_path, "2026-01-01", feedback={"a": "A long comment.", "b": "", "c": "short"})
    review(tmp_path, "2026-02-01", feedback={"c": "short", "b": "", "a": "   padded   "})
    assert labels(tmp_path) == [
        ("2026-01-01", "a", False),
        ("2026-02-01", "a", False),
        ("2026-02-01", "c", False),
        ("2026-01-01", "c", False),
        ("2026-02-01", "b", True),
        ("2026-01-01", "b", True),
    ]


@pytest.mark.parametrize(
    ("mix", "cases"),
    [(("pass",), ["a"]), (("fail",), ["b"]), (("pass", "fail"), ["b", "a"]), (("fail", "pass"), ["b", "a"])],
)
def test_only_the_classes_of_the_mix_are_kept(tmp_path: Path, mix: tuple[str, ...], cases: list[str]) -> None:
    review(tmp_path, "r1", feedback={"a": "", "b": "Bad."})
    assert [case for _, case, _ in labels(tmp_path, judge(mix=mix))] == cases


@pytest.mark.parametrize("place", ["r2", "r2/", "r2/cases", "../runs/r2", "link"])
def test_the_run_being_scored_is_left_out_however_it_is_named(tmp_path: Path, place: str) -> None:
    review(tmp_path, "r1", feedback={"a": ""})
    review(tmp_path, "r2", {"a": MADE}, feedback={"a": "Bad."})
    (tmp_path / "runs" / "link").symlink_to("r2")
    own = Path(f"{tmp_path}/runs/{place}")
    assert labels(tmp_path, own_run=own) == [("r1", "a", True)]


def test_a_run_that_a_link_leads_to_is_read_once(tmp_path: Path) -> None:
    review(tmp_path, "r1", feedback={"a": ""})
    for name in ("latest", "a-first"):
        (tmp_path / "runs" / name).symlink_to("r1")
    assert labels(tmp_path) == [("r1", "a", True)]


def test_input_and_outputs_are_those_of_the_earlier_run(tmp_path: Path) -> None:
    files: Files = {
        "input.yaml": "request: old\n",
        "output/a.md": "made\n",
        "output/b/c.txt": "more\n",
        "output/pic.png": b"\x89PNG\0\0",
        "other/d.md": "not declared\n",
    }
    review(tmp_path, "r1", {"a": files}, feedback={"a": ""})
    (entry,) = harvest(tmp_path / "runs", judge(), outputs=("output",)).pool
    assert entry.inputs == "request: old\n"
    assert entry.outputs == "output/a.md:\nmade\n\n\noutput/b/c.txt:\nmore\n"


def test_a_review_without_its_cases_is_a_label_without_excerpts(tmp_path: Path) -> None:
    review(tmp_path, "r1", feedback={"a": "Bad."})
    (entry,) = harvest(tmp_path / "runs", judge(), outputs=("output",)).pool
    assert (entry.comment, entry.inputs, entry.outputs) == ("Bad.", "", "")


@pytest.mark.parametrize("case", ["../../secret", "/etc", "..", ".", "a/../../../secret"])
def test_a_case_that_a_review_names_reaches_nothing_outside_of_its_run(tmp_path: Path, case: str) -> None:
    write_case(tmp_path / "secret", {"input.yaml": "SECRET", "output/a.md": "SECRET"})
    review(tmp_path, "r1", feedback={case: ""})
    write_case(tmp_path / "runs" / "r1", {"input.yaml": "SECRET", "output/a.md": "SECRET"})
    for entry in harvest(tmp_path / "runs", judge(), outputs=("output",)).pool:
        assert "SECRET" not in entry.inputs + entry.outputs


def test_links_out_of_a_case_and_special_files_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("SECRET")
    home = review(tmp_path, "r1", {"a": MADE}, feedback={"a": ""}) / "cases" / "a"
    (home / "output" / "link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(home / "output" / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(home / "output")
        listening.bind("socket")
        (entry,) = harvest(tmp_path / "runs", judge(), outputs=("output",)).pool
    assert entry.outputs == "output/a.md:\nmade\n"


@pytest.mark.parametrize(
    "text", ["", "[]", "5", "feedback: 5\nverdicts: [1]\n", "feedback: {a: {b: c}\n", "\0", "a: &a [*a]\n"]
)
def test_a_review_that_cannot_be_read_leaves_the_others(tmp_path: Path, text: str) -> None:
    review(tmp_path, "r1", feedback={"a": ""})
    review(tmp_path, "r2").joinpath("review.yaml").write_text(text)
    found = harvest(tmp_path / "runs", judge(), outputs=())
    assert [entry.run for entry in found.pool] == ["r1"]
    assert all(problem.warning and "r2" in problem.file for problem in found.problems)


def test_a_broken_review_is_told_with_its_place(tmp_path: Path) -> None:
    review(tmp_path, "r1").joinpath("review.yaml").write_text("feedback:\n  a: [1\n")
    (problem,) = harvest(tmp_path / "runs", judge(), outputs=()).problems
    assert problem.warning
    assert problem.file.endswith("r1/review.yaml")
    assert problem.line >= 2


def test_without_runs_there_are_no_exemplars(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    assert labels(tmp_path) == []
    assert harvest(tmp_path / "gone", judge(), outputs=()).pool == ()
