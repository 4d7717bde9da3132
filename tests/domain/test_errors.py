"""Why something has no score, and how problems are told."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from adjudge.domain import AdjudgeError, ConfigError, ErrorKind, Failure, MissingExtraError, Problem, StoreError

FINAL = {
    ErrorKind.REFUSED,
    ErrorKind.TRUNCATED,
    ErrorKind.UNPARSEABLE,
    ErrorKind.OFF_SCALE,
    ErrorKind.WRONG_TYPE,
    ErrorKind.TOO_FEW_VOTES,
    ErrorKind.RAISED,
    ErrorKind.OUTPUT_LIMIT,
}


@pytest.mark.parametrize("kind", ErrorKind)
def test_every_kind_is_told_in_one_sentence(kind: ErrorKind) -> None:
    assert kind.sentence[0].isupper()
    assert kind.sentence.endswith(".")
    assert kind.sentence.count(". ") == 0


def test_no_two_kinds_read_the_same() -> None:
    assert len({kind.sentence for kind in ErrorKind}) == len(ErrorKind)


@pytest.mark.parametrize(
    "name",
    ["timeout", "rate_limited", "refused", "off_scale", "unparseable", "budget", "sandbox", "config", "crashed"],
)
def test_the_kinds_of_the_design_exist(name: str) -> None:
    assert ErrorKind(name).value == name


@pytest.mark.parametrize("kind", ErrorKind)
def test_a_resumed_run_asks_again_only_where_the_judge_gave_no_answer_of_its_own(kind: ErrorKind) -> None:
    assert kind.transient == (kind not in FINAL)


def test_the_set_of_kinds_is_closed() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kind": "bad_mood"}, Failure)


def test_a_failure_says_its_kind_and_the_particulars() -> None:
    assert str(Failure(ErrorKind.TIMEOUT, "after 3 s")) == "timeout: after 3 s"


def test_a_failure_without_particulars_says_what_happened() -> None:
    assert str(Failure(ErrorKind.TIMEOUT)) == f"timeout: {ErrorKind.TIMEOUT.sentence}"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"message": "empty"}, "error: empty", id="message alone"),
        pytest.param({"message": "empty", "file": "a.yaml"}, "a.yaml: error: empty", id="whole file"),
        pytest.param(
            {"message": "no such key", "file": "a.yaml", "line": 3, "column": 5, "key": "judges", "hint": "judge?"},
            "a.yaml:3:5: error: judges: no such key (judge?)",
            id="everything",
        ),
        pytest.param(
            {"message": "ignored", "file": "a.yaml", "line": 1, "column": 1, "warning": True},
            "a.yaml:1:1: warning: ignored",
            id="warning",
        ),
    ],
)
def test_a_problem_reads_as_compilers_write_it(fields: dict[str, Any], text: str) -> None:
    assert str(Problem(**fields)) == text


def test_a_config_error_tells_every_problem() -> None:
    problems = [Problem(message=f"problem {k}", file="a.yaml", line=k, column=1) for k in range(1, 4)]
    error = ConfigError(problems)
    assert error.problems == problems
    assert str(error).splitlines() == [str(problem) for problem in problems]


def test_a_config_error_takes_a_single_sentence() -> None:
    assert [problem.message for problem in ConfigError("no suite here").problems] == ["no suite here"]


@pytest.mark.parametrize(
    "error", [ConfigError("x"), StoreError("x"), MissingExtraError("x")], ids=lambda e: type(e).__name__
)
def test_one_base_catches_every_error_raised_on_purpose(error: Exception) -> None:
    assert isinstance(error, AdjudgeError)
    assert "x" in str(error)


def test_a_problem_survives_json() -> None:
    problem = Problem(message="m", file="f", line=2, column=3, key="k", hint="h", warning=True)
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
