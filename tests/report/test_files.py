"""The files of a run directory."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings

from adjudge.domain import ErrorKind, Failure, LeftOut, RunResult, StoreError, result_schema
from adjudge.report import append_step_summary, result_json, summary_markdown, write_files
from tests.support.build import RESULT, result, score

NAMES = ["junit.xml", "result.json", "summary.md"]
SCHEMA = jsonschema.Draft202012Validator(result_schema())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_schema_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(result_schema())


@given(made=RESULT)
def test_any_result_comes_back_from_its_json(made: RunResult) -> None:
    assert msgspec.json.decode(result_json(made), type=RunResult) == made


@settings(max_examples=50)
@given(made=RESULT)
def test_the_json_of_any_result_follows_the_schema(made: RunResult) -> None:
    assert [error.message for error in SCHEMA.iter_errors(msgspec.json.decode(result_json(made)))] == []


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"suite": 3}, id="number for a name"),
        pytest.param({"gate": {"decision": "maybe"}}, id="no such decision"),
        pytest.param(
            {"scores": [{"case": "a", "judge": "j", "criterion": "j", "status": "zero"}]}, id="no such status"
        ),
    ],
)
def test_the_schema_refuses_what_is_no_result(broken: dict[str, object]) -> None:
    sound = msgspec.json.decode(result_json(result([score(True)])))
    assert SCHEMA.is_valid(sound)
    assert not SCHEMA.is_valid({**sound, **broken})


@settings(max_examples=25)
@given(made=RESULT)
def test_the_same_result_gives_the_same_bytes_twice(made: RunResult) -> None:
    read_again = msgspec.json.decode(result_json(made), type=RunResult)
    assert result_json(read_again) == result_json(made)
    assert summary_markdown(read_again) == summary_markdown(made)


def test_every_file_is_written_and_written_again_the_same(tmp_path: Path) -> None:
    made = result([score(True), score(False, case="b", rationale="no"), score(case="c")])
    write_files(made, tmp_path)
    first = contents(tmp_path)
    write_files(made, tmp_path)
    assert contents(tmp_path) == first
    assert list(first) == NAMES
    assert first["result.json"] == result_json(made)
    assert first["summary.md"].decode() == summary_markdown(made)


def test_a_later_result_replaces_the_earlier_one_whole(tmp_path: Path) -> None:
    write_files(result([score(True, rationale="long " * 1000)]), tmp_path)
    short = result([score(False)])
    write_files(short, tmp_path)
    assert msgspec.json.decode((tmp_path / "result.json").read_bytes(), type=RunResult) == short


def test_other_users_can_read_the_files(tmp_path: Path) -> None:
    write_files(result([score(True)]), tmp_path)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o644}


def test_a_reader_sees_the_old_file_or_the_new_one_never_half(tmp_path: Path) -> None:
    write_files(result([score(True)]), tmp_path)
    with (tmp_path / "result.json").open("rb") as reader:
        write_files(result([score(False)]), tmp_path)
        assert msgspec.json.decode(reader.read(), type=RunResult).score("a", "good").value is True


def test_a_link_in_the_run_directory_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("keep")
    run = tmp_path / "run"
    run.mkdir()
    (run / "result.json").symlink_to(outside)
    write_files(result([score(True)]), run)
    assert outside.read_text() == "keep"


@pytest.mark.parametrize("blocked", NAMES)
def test_a_file_that_cannot_be_written_is_a_store_error_that_names_it(tmp_path: Path, blocked: str) -> None:
    (tmp_path / blocked / "in the way").mkdir(parents=True)
    with pytest.raises(StoreError, match=blocked):
        write_files(result([score(True)]), tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_run_directory_that_is_gone_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_files(result([score(True)]), tmp_path / "gone")


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(result([score(True, rationale="half a pair: \ud83d")]), id="rationale"),
        pytest.param(result([score(True, case=os.fsdecode(b"caf\xe9"))]), id="case of a folder in latin-1"),
        pytest.param(result([score(error=Failure(ErrorKind.RAISED, "\udcff"))]), id="message"),
        pytest.param(result([score(True)], left_out=(LeftOut("llm", "\udcff"),)), id="left out"),
    ],
)
def test_text_that_utf_8_cannot_hold_keeps_no_file_from_being_written(made: RunResult, tmp_path: Path) -> None:
    write_files(made, tmp_path)
    for data in contents(tmp_path).values():
        data.decode()
    assert SCHEMA.is_valid(msgspec.json.decode((tmp_path / "result.json").read_bytes()))


def test_the_summary_is_appended_where_github_asks_for_it(tmp_path: Path) -> None:
    target = tmp_path / "step"
    target.write_text("before\n")
    made = result([score(True)])
    append_step_summary(made, {"GITHUB_STEP_SUMMARY": str(target)})
    assert target.read_text() == "before\n" + summary_markdown(made)


@pytest.mark.parametrize("target", ["", "gone/step"], ids=["not asked for", "no such folder"])
def test_a_step_summary_that_cannot_be_appended_stops_nothing(target: str, tmp_path: Path) -> None:
    append_step_summary(result([score(True)]), {"GITHUB_STEP_SUMMARY": target} if target else {})
    assert list(tmp_path.iterdir()) == []


def test_a_step_summary_takes_text_that_utf_8_cannot_hold(tmp_path: Path) -> None:
    target = tmp_path / "step"
    append_step_summary(result([score(False, rationale="\udcff")]), {"GITHUB_STEP_SUMMARY": str(target)})
    assert "suite" in target.read_text()
