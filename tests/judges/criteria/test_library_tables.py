"""Ready criteria on CSV files, workbooks and databases."""

from __future__ import annotations

import datetime
import io
import sqlite3
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria import Finding
from adjudge.judges.criteria.library import databases
from adjudge.judges.criteria.library.databases import sqlite_query_equals
from adjudge.judges.criteria.library.tables import csv_cell_equals, xlsx_cell_equals

DAY = datetime.datetime(2026, 1, 2)  # noqa: DTZ001 - as a workbook has it

# --- CSV


@pytest.mark.parametrize(
    ("row", "col", "expected", "value"),
    [
        pytest.param(0, 0, "n", True, id="row 0 is the header"),
        pytest.param(1, 1, "1", True, id="by numbers"),
        pytest.param(1, 1, 1, True, id="a number as text"),
        pytest.param(1, 1, 1.0, False, id="another text"),
        pytest.param(3, 0, "y", True, id="an empty line counts by number"),
        pytest.param(1, "n", "y", True, id="and not by name"),
        pytest.param(0, "n", "x", True, id="row 0 is data by name"),
        pytest.param(0, "v", "2", True, id="of equal names the last"),
        pytest.param(1, -1, "2", True, id="from the right"),
        pytest.param(1, "v", "", False, id="a short row has no cell"),
        pytest.param(-1, 0, "y", False, id="rows are not counted back"),
        pytest.param(9, 0, "y", False, id="no such row"),
        pytest.param(0, 9, "y", False, id="no such column"),
        pytest.param(0, "w", "", False, id="no such name"),
        pytest.param(4, 0, "a,\nb", True, id="quoted"),
    ],
)
def test_cells_of_csv(tmp_path: Path, row: int, col: int | str, expected: Any, value: bool) -> None:
    (tmp_path / "a.csv").write_text('n,v,v\nx,1,2\n\ny,3\n"a,\nb",5,6\n')
    assert csv_cell_equals(tmp_path, "a.csv", row, col, expected).value is value


def test_csv_tells_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("n\r\ncaf\u00e9\r\n".encode("latin-1"))
    finding = csv_cell_equals(tmp_path, "a.csv", 1, "n", "tea")
    assert finding == Finding(False, "there is no row 1, column 'n' of a.csv; not UTF-8, read as Windows-1252")
    finding = csv_cell_equals(tmp_path, "a.csv", 0, "n", "tea")
    assert finding.evidence.startswith("row 0, column 'n' of a.csv is 'caf\u00e9', not 'tea'")


def test_a_cell_larger_than_csv_takes_is_false(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + "x" * 200_000)
    assert "is no CSV" in csv_cell_equals(tmp_path, "a.csv", 1, 0, "x").evidence


@pytest.mark.parametrize(("row", "col"), [("1", 0), (True, 0), (0, None), (0, 1.5), (0, True)])
def test_csv_places_are_numbers_or_names(tmp_path: Path, row: Any, col: Any) -> None:
    with pytest.raises(ValueError, match="must be a whole number"):
        csv_cell_equals(tmp_path, "a.csv", row, col, "x")


# --- workbooks


@pytest.fixture
def book(tmp_path: Path) -> str:
    openpyxl: Any = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    page = book.active
    page.title = "First"
    page["A1"], page["B2"], page["C3"], page["D4"] = "name", 42, True, DAY
    page["E5"] = "=B2*2"
    second = book.create_sheet("Second")
    second["A1"] = "other"
    book.save(tmp_path / "a.xlsx")
    return "a.xlsx"


@pytest.mark.parametrize(
    ("cell", "expected", "sheet", "value"),
    [
        ("A1", "name", None, True),
        ("b2", 42, None, True),
        ("$B$2", 42.0, "First", True),
        ("B2", "42", None, False),
        ("C3", True, None, True),
        ("C3", 1, None, False),
        ("D4", DAY, None, True),
        ("A1", "other", "Second", True),
        ("A1", "other", None, False),
        ("Z99", None, None, True),
        ("Z99", "", None, False),
        ("E5", 84, None, False),
        ("A1", "other", "Third", False),
    ],
)
def test_cells_of_a_workbook(
    tmp_path: Path, book: str, cell: str, expected: Any, sheet: str | None, value: bool
) -> None:
    assert xlsx_cell_equals(tmp_path, book, cell, expected, sheet).value is value


def test_a_stored_value_of_a_formula_counts(tmp_path: Path, book: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(tmp_path / book) as old, zipfile.ZipFile(data, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                assert b"<f>B2*2</f><v" in content
                content = content.replace(b"<f>B2*2</f><v/>", b"<f>B2*2</f><v>84</v>")
                content = content.replace(b"<f>B2*2</f><v></v>", b"<f>B2*2</f><v>84</v>")
            new.writestr(name, content)
    (tmp_path / "b.xlsx").write_bytes(data.getvalue())
    assert xlsx_cell_equals(tmp_path, "b.xlsx", "E5", 84) == Finding(True, "cell E5 of b.xlsx is 84")


def test_the_sheets_are_listed_where_one_is_missing(tmp_path: Path, book: str) -> None:
    finding = xlsx_cell_equals(tmp_path, book, "A1", "x", "Third")
    assert finding.evidence == "a.xlsx has no sheet 'Third'; it has ['First', 'Second']"


def test_bad_workbooks_are_false(tmp_path: Path, book: str) -> None:
    whole = (tmp_path / book).read_bytes()
    with zipfile.ZipFile(tmp_path / "empty.xlsx", "w"):
        pass
    for name, content in (("text.xlsx", b"no zip"), ("cut.xlsx", whole[:-300]), ("zero.xlsx", b"")):
        (tmp_path / name).write_bytes(content)
    spoilt = bytearray(whole)
    spoilt[200:1500:7] = bytes(len(spoilt[200:1500:7]))
    (tmp_path / "spoilt.xlsx").write_bytes(spoilt)
    for name in ("text.xlsx", "cut.xlsx", "zero.xlsx", "empty.xlsx", "spoilt.xlsx"):
        finding = xlsx_cell_equals(tmp_path, name, "A1", "name")
        assert finding.value is False, name
        assert "cannot be read as a workbook" in finding.evidence


def test_a_workbook_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path, book: str) -> None:
    with zipfile.ZipFile(tmp_path / book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/big.xml", b" " * 200_000_000)
    started = time.monotonic()
    finding = xlsx_cell_equals(tmp_path, book, "A1", "name")
    assert finding == Finding(False, "a.xlsx unpacks to more than is read")
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("cell", "sheet", "message"),
    [
        ("1A", None, "cell must be like 'B2'"),
        ("", None, "cell"),
        (3, None, "cell"),
        ("A1", 0, "sheet must be a string"),
    ],
)
def test_a_bad_place_is_the_authors(tmp_path: Path, cell: Any, sheet: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        xlsx_cell_equals(tmp_path, "a.xlsx", cell, 1, sheet)


def test_without_openpyxl_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'adjudge\[documents\]'"):
        xlsx_cell_equals(tmp_path, "a.xlsx", "A1", 1)


# --- databases


@pytest.fixture
def database(tmp_path: Path) -> str:
    connection = sqlite3.connect(tmp_path / "a b?#%.db")
    connection.executescript("CREATE TABLE t (a, b); INSERT INTO t VALUES (3, 'x'), (4, 'y')")
    connection.close()
    return "a b?#%.db"


@pytest.mark.parametrize(
    ("query", "expected", "value"),
    [
        ("SELECT a FROM t", 3, True),
        ("SELECT b, a FROM t ORDER BY a DESC", "y", True),
        ("SELECT count(*) FROM t", 2, True),
        ("SELECT count(*) FROM t;", "2", False),
        ("SELECT count(*) = 2 FROM t", True, True),
        ("SELECT NULL", None, True),
        ("SELECT a FROM t WHERE a = 9", None, False),
        ("SELECT a FROM missing", 3, False),
        ("SELECT missing FROM t", 3, False),
        ("PRAGMA user_version", 0, True),
        ("WITH w AS (SELECT 5 AS n) SELECT n FROM w -- why", 5, True),
    ],
)
def test_queries(tmp_path: Path, database: str, query: str, expected: Any, value: bool) -> None:
    assert sqlite_query_equals(tmp_path, database, query, expected).value is value


def test_a_query_changes_nothing_and_leaves_nothing(tmp_path: Path, database: str) -> None:
    before = (tmp_path / database).read_bytes()
    for query in ("DELETE FROM t", "CREATE TABLE u (a)", "INSERT INTO t VALUES (1, 2) RETURNING a"):
        assert "readonly" in sqlite_query_equals(tmp_path, database, query, 1).evidence
    sqlite_query_equals(tmp_path, database, "SELECT a FROM t", 3)
    assert (tmp_path / database).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [database]


def test_what_is_still_in_the_log_counts(tmp_path: Path) -> None:
    writer = sqlite3.connect(tmp_path / "wal.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    assert (tmp_path / "wal.db-wal").stat().st_size > 0
    assert sqlite_query_equals(tmp_path, "wal.db", "SELECT a FROM t", 7).value is True
    writer.close()
    left = sorted(tmp_path.iterdir())
    assert sqlite_query_equals(tmp_path, "wal.db", "SELECT a FROM t", 7).value is True
    assert sorted(tmp_path.iterdir()) == left


def test_a_query_that_runs_away_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the work made it so, with a view in the place of a table."""
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute(
        "CREATE VIEW t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) AS a FROM n"
    )
    connection.close()
    monkeypatch.setattr(databases, "QUERY_SECONDS", 0.3)
    started = time.monotonic()
    finding = sqlite_query_equals(tmp_path, "a.db", "SELECT a FROM t", 3)
    assert finding.value is False
    assert "took longer than 0.3 seconds" in finding.evidence
    assert time.monotonic() - started < 3


def test_a_value_of_gigabytes_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE VIEW t AS SELECT zeroblob(900000000) AS a")
    connection.close()
    assert "too big" in sqlite_query_equals(tmp_path, "a.db", "SELECT a FROM t", 3).evidence


def test_text_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE t AS SELECT CAST(x'61ff' AS TEXT) AS a")
    connection.commit()
    connection.close()
    assert sqlite_query_equals(tmp_path, "a.db", "SELECT a FROM t", "a\N{REPLACEMENT CHARACTER}").value is True


def test_what_is_no_database_is_false(tmp_path: Path, database: str) -> None:
    spoilt = bytearray((tmp_path / database).read_bytes())
    spoilt[100:8000:3] = bytes(len(spoilt[100:8000:3]))
    for name, content in (("text", b"hello" * 500), ("empty", b""), ("spoilt", bytes(spoilt))):
        (tmp_path / name).write_bytes(content)
        assert sqlite_query_equals(tmp_path, name, "SELECT a FROM t", 3).value is False
    assert sqlite_query_equals(tmp_path, "nope.db", "SELECT 1", 1) == Finding(False, "nope.db does not exist")
    assert not (tmp_path / "nope.db").exists()
    assert sqlite_query_equals(tmp_path, ".", "SELECT 1", 1).value is False


@pytest.mark.parametrize("query", ["SELEC a", "SELECT a FROM", "", "SELECT 1; SELECT 2", "SELECT 'a", "\0", 3])
def test_a_query_that_is_no_sql_is_the_authors(tmp_path: Path, database: str, query: Any) -> None:
    with pytest.raises(ValueError, match="query"):
        sqlite_query_equals(tmp_path, database, query, 1)
