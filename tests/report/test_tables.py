"""A result as a table, one row a score."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.domain import CaseStub, MissingExtraError, RunResult, SampleRecord, Status, StoreError, Usage
from adjudge.report import tables
from adjudge.report.tables import COLUMNS, rows, write_table
from adjudge.sheets import guarded, unguarded
from tests.support.build import RESULT, result, score, summary


def made() -> RunResult:
    usage = Usage(calls=2, input=10, output=3, cache_read=5, cost_usd=0.5)
    samples = (SampleRecord(status=Status.SCORED, value=True), SampleRecord(status=Status.SCORED, value=True))
    scores = [
        score(True, "a", rationale='fine,\r\n"yes"', usage=usage, samples=samples, agreement=1.0, normalised=1.0),
        score(None, "b"),
        score(4, "c"),
        score("good", "d"),
        score(None, "e", status=Status.SKIPPED),
    ]
    return result(scores, judges=[summary(scores, kind="llm", model="m")], cases=(CaseStub("a", ("x", "y")),))


def read_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))


def test_csv_says_what_is_unscored_and_makes_no_0_of_it(tmp_path: Path) -> None:
    assert write_table(made(), tmp_path / "t.csv", "csv") == 5
    found = read_csv(tmp_path / "t.csv")
    assert tuple(found[0]) == COLUMNS
    assert [row["value"] for row in found] == ["1.0", "", "4.0", "", ""]
    assert [row["value_text"] for row in found] == ["true", "", "4", "good", ""]
    assert [row["status"] for row in found] == ["scored", "unscored", "scored", "scored", "skipped"]
    assert (found[1]["error_kind"], found[0]["rationale"]) == ("timeout", 'fine,\r\n"yes"')
    assert (found[0]["kind"], found[0]["model"], found[0]["tags"]) == ("llm", "m", "x, y")
    assert (found[0]["input_tokens"], found[0]["cost_usd"], found[0]["samples"]) == ("15", "0.5", "2")
    assert (found[1]["cost_usd"], found[4]["samples"]) == ("", "0")
    assert (tmp_path / "t.csv").read_bytes().startswith(b"case,judge,")
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "'=1"])
def test_no_cell_is_a_formula(text: str, tmp_path: Path) -> None:
    write_table(result([score(True, text, rationale=text), score(text, "b")]), tmp_path / "t.csv", "csv")
    found = read_csv(tmp_path / "t.csv")
    assert found[0]["case"] == found[0]["rationale"] == found[1]["value_text"] == f"'{text}"
    assert unguarded(found[0]["case"]) == text


def test_a_negative_number_stays_a_number(tmp_path: Path) -> None:
    write_table(result([score(-1.5)]), tmp_path / "t.csv", "csv")
    (row,) = read_csv(tmp_path / "t.csv")
    assert (row["value"], row["value_text"]) == ("-1.5", "-1.5")


@given(st.text())
def test_guarding_can_be_undone(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert guarded(text)[:1] not in set("=+-@\t\r")


@given(RESULT)
def test_json_lines_hold_every_score(whole: RunResult) -> None:
    file = io.StringIO()
    assert tables.write_rows(whole, file, "jsonl") == len(whole.scores)
    found = [json.loads(line) for line in file.getvalue().split("\n")[:-1]]
    assert [(row["case"], row["status"]) for row in found] == [(s.case, s.status.value) for s in whole.scores]


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    for form in ("csv", "jsonl"):
        write_table(result([score(True, rationale="x\ud800y")]), tmp_path / form, form)
        assert "x?y" in (tmp_path / form).read_text()


def test_parquet_has_types(tmp_path: Path) -> None:
    from pyarrow import parquet

    assert write_table(made(), tmp_path / "t.parquet", "parquet") == 5
    table: Any = parquet.read_table(tmp_path / "t.parquet")
    assert tuple(table.column_names) == COLUMNS
    kinds = {field.name: str(field.type) for field in table.schema}
    assert (kinds["value"], kinds["calls"], kinds["flagged"]) == ("double", "int64", "bool")
    assert table.column("value").to_pylist() == [1.0, None, 4.0, None, None]
    assert table.column("tags").to_pylist()[0] == ["x", "y"]


def test_without_pyarrow_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adjudge\[parquet\]'"):
        write_table(made(), tmp_path / "t.parquet", "parquet")
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_table(made(), tmp_path / "no" / "t.csv", "csv")
    with pytest.raises(ValueError, match="one of csv"):
        write_table(made(), tmp_path / "t", "xlsx")


def test_a_large_run_is_written_row_by_row(tmp_path: Path) -> None:
    scores = [score(True, f"case-{k}", by=f"judge-{j}", rationale="r" * 100) for k in range(4000) for j in range(5)]
    large = result(scores, judges=[])
    tracemalloc.start()
    try:
        assert write_table(large, tmp_path / "t.csv", "csv") == 20_000
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
    assert sum(1 for _ in rows(large)) == 20_000
