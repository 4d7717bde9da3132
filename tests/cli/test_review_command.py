"""`adjudge review`: sheets out, labels in, and judges beside them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.cases import harvest
from adjudge.domain import (
    CaseStub,
    Criterion,
    Examples,
    Label,
    Levels,
    LLMJudge,
    Numeric,
    OffScaleError,
    Review,
    Value,
)
from adjudge.report.reviews import parse
from adjudge.scoring.people import said_by_people
from tests.support.llm import call, environment
from tests.support.suites import check, write_suite

JUDGES = [
    check("good", "return 'good' in outputs['files']['output/a.md'], '=looked'"),
    check("grade", "return len(outputs['files']['output/a.md']), 'long'", score_range=[1, 5]),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a finished run, `run`, of three cases."""
    texts = {"c1": "good", "c2": "bad", "c3": "good"}
    write_suite(tmp_path, JUDGES, cases={name: {"output/a.md": text} for name, text in texts.items()})
    done = call("run", "-q", "--output", "run", cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    return tmp_path


def review(home: Path, *arguments: str) -> Any:
    return call("review", "run", *arguments, cwd=home, env=environment(home))


def exported(home: Path, name: str = "sheet.csv", *more: str) -> list[dict[str, str]]:
    done = review(home, "--export", "csv", "--output", name, *more)
    assert done.returncode == 0, done.stderr
    with (home / name).open(newline="") as file:
        return list(csv.DictReader(file))


def filled(home: Path, said: dict[tuple[str, str], tuple[str, str]]) -> Path:
    """The sheet with verdicts and comments, by (case, judge)."""
    rows = exported(home)
    for row in rows:
        if (row["case"], row["judge"]) in said:
            row["verdict"], row["comment"] = said[row["case"], row["judge"]]
    with (home / "filled.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return home / "filled.csv"


SAID = {
    ("c1", ""): ("pass", ""),
    ("c2", ""): ("", 'Wrong title,\nand "more".'),
    ("c1", "good"): ("yes", ""),
    ("c3", "good"): ("fail", "'=not so"),
    ("c1", "grade"): ("5", "-1 for style"),
}


def test_a_sheet_shows_what_the_judges_said(home: Path) -> None:
    rows = exported(home)
    assert [(r["case"], r["judge"]) for r in rows[:3]] == [("c1", ""), ("c1", "good"), ("c1", "grade")]
    assert (rows[1]["value"], rows[1]["rationale"]) == ("true", "'=looked")
    assert {(r["value"], r["rationale"]) for r in exported(home, "blind.csv", "--blind")} == {("", "")}


def test_labels_come_back_and_go_out_again_as_they_were(home: Path) -> None:
    done = review(home, "--import", str(filled(home, SAID)), "--reviewer", "Ada")
    assert done.returncode == 0, done.stderr
    kept = yaml.safe_load((home / "run" / "review.yaml").read_text())
    assert kept == {
        "run_id": "run",
        "reviewed_cases": 3,
        "feedback_cases": 1,
        "reviewer": "Ada",
        "feedback": {"c1": "", "c2": 'Wrong title,\nand "more".'},
        "verdicts": {
            "good": {"c1": {"value": True, "comment": ""}, "c3": {"value": False, "comment": "=not so"}},
            "grade": {"c1": {"value": 5, "comment": "-1 for style"}},
        },
    }
    before = (home / "run" / "review.yaml").read_bytes()
    for form in ("csv", "yaml"):
        first = review(home, "--export", form, "--output", f"a.{form}")
        assert first.returncode == 0, first.stderr
        done = review(home, "--import", f"a.{form}")
        assert done.returncode == 0, done.stderr
        assert (home / "run" / "review.yaml").read_bytes() == before
        review(home, "--export", form, "--output", f"b.{form}")
        assert (home / f"a.{form}").read_bytes() == (home / f"b.{form}").read_bytes()


def test_judges_are_set_beside_the_labels(home: Path) -> None:
    assert adjudge.read(home / "run").summary("good").people is None
    review(home, "--import", str(filled(home, SAID)))
    result = adjudge.read(home / "run")
    people = result.summary("good").people
    assert people is not None
    assert (people.n, people.agree, people.false_pass_cases) == (3, 2, ("c3",))
    assert [case.annotations for case in result.cases] == [{}, {}, {}]
    assert result.warnings == ()


def test_a_harvest_of_examples_reads_what_is_written(home: Path) -> None:
    review(home, "--import", str(filled(home, SAID)))
    judge = LLMJudge(name="good", criteria=(Criterion(name="good"),), examples=Examples())
    found = harvest(home, judge, outputs=("output",))
    assert not found.problems
    assert {(entry.case, entry.passed) for entry in found.pool} == {("c1", True), ("c2", False), ("c3", False)}


def test_what_no_row_speaks_of_is_kept_and_what_is_emptied_goes(home: Path) -> None:
    review(home, "--import", str(filled(home, SAID)))
    (home / "part.csv").write_text("case;judge;verdict;comment\nc1;grade;;\nc2;good;no;\n")
    done = review(home, "--import", "part.csv")
    assert done.returncode == 0, done.stderr
    kept = yaml.safe_load((home / "run" / "review.yaml").read_text())
    assert kept["feedback"]["c1"] == ""
    assert set(kept["verdicts"]) == {"good"}
    assert {case: said["value"] for case, said in kept["verdicts"]["good"].items()} == {
        "c1": True,
        "c2": False,
        "c3": False,
    }


def test_every_problem_is_told_with_its_line_and_nothing_is_written(home: Path) -> None:
    lines = ["case,judge,criterion,verdict,comment", "c9,good,,true,", "c1,god,,true,", "c1,good,,maybe,"]
    lines += ["c1,grade,,9,", "c1,grade,,4,", "c1,,,true,but", "c2,,,false,", "c3,good,x,true,"]
    (home / "bad.csv").write_text("\n".join(lines) + "\n")
    done = review(home, "--import", "bad.csv")
    assert done.returncode == 2
    for line in range(2, 10):
        assert f"bad.csv:{line}:" in done.stderr
    assert "8 errors" in done.stderr
    assert not (home / "run" / "review.yaml").exists()


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", 'case,judge,verdict\n"c1,good,true\n', "\x00", "case,judge,verdict,\xff"]
)
def test_a_file_that_is_no_sheet(home: Path, text: str) -> None:
    (home / "bad.csv").write_bytes(text.encode("latin-1"))
    done = review(home, "--import", "bad.csv")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert not (home / "run" / "review.yaml").exists()


@pytest.mark.parametrize(
    "text", ["[", "- a", "feedback: 3", "verdicts: {grade: {c1: 99}}", "verdicts: {good: [1]}", "\x00"]
)
def test_a_broken_review_is_a_warning_and_is_not_written_over(home: Path, text: str) -> None:
    (home / "run" / "review.yaml").write_text(text)
    result = adjudge.read(home / "run")
    assert [(p.file, p.warning) for p in result.warnings] == [("review.yaml", True)]
    assert result.decision == "pass"
    done = review(home, "--import", str(filled(home, SAID)))
    assert done.returncode == 2
    assert (home / "run" / "review.yaml").read_text() == text


def test_verdicts_by_case_and_what_is_somebody_elses(home: Path) -> None:
    (home / "run" / "review.yaml").write_text("verdicts: {c1: {good: true}}\nmlflow_feedback: {k: 1}\n")
    people = adjudge.read(home / "run").summary("good").people
    assert people is not None
    assert people.n == 1
    review(home, "--import", str(filled(home, {})))
    kept = yaml.safe_load((home / "run" / "review.yaml").read_text())
    assert kept["mlflow_feedback"] == {"k": 1}
    assert kept["verdicts"] == {"good": {"c1": {"value": True, "comment": ""}}}


@pytest.mark.parametrize(
    ("raw", "scale", "value"),
    [
        ("true", None, True),
        ("3.5", None, 3.5),
        (" 4 ", Numeric(1, 5, integer=True), 4),
        ("no", Levels(("no", "yes")), "no"),
        ("yes", Levels(("no", "yes"), mean=True), 1),
    ],
)
def test_verdicts_as_people_write_them(raw: str, scale: Any, value: Value) -> None:
    assert parse(raw, scale) == value
    assert type(parse(raw, scale)) is type(value)


@pytest.mark.parametrize(
    ("raw", "scale"),
    [
        ("3.5", Numeric(1, 5, integer=True)),
        ("nan", None),
        ("true", Numeric(1, 5)),
        ("good", Levels(("a", "b"))),
        ("1e999", None),
    ],
)
def test_verdicts_off_the_scale(raw: str, scale: Any) -> None:
    with pytest.raises(OffScaleError):
        parse(raw, scale)


@pytest.mark.parametrize("arguments", [(), ("--export", "csv", "--import", "f"), ("--import", "f", "--blind")])
def test_flags_that_do_not_go_together(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = call("review", "run", *arguments, cwd=tmp_path, env=environment(tmp_path))
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("annotations", "labels", "said"),
    [
        ({"verdicts": {"good": 1}, "acceptable": True}, Review(verdicts={"good": {"a": Label(2)}}), 2),
        ({"verdicts": {"good": 1}}, Review(feedback={"a": ""}), 1),
        ({"acceptable": True}, Review(feedback={"a": "Wrong."}), False),
        ({"acceptable": True}, Review(verdicts={"good": {"a": Label(None, "Hm.")}}), True),
        ({"acceptable": True}, Review(feedback={"b": ""}), True),
        ({}, Review(), None),
    ],
)
def test_what_is_said_of_the_judge_and_of_this_run_goes_first(
    annotations: dict[str, Any], labels: Review, said: Any
) -> None:
    assert said_by_people(CaseStub(id="a", annotations=annotations), "good", "good", labels) == said
