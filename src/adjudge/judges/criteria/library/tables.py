"""Criteria on cells of tables."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path
from typing import Any

from adjudge.domain import MissingExtraError
from adjudge.judges.criteria.finding import Finding
from adjudge.judges.criteria.library.reading import (
    UnusableError,
    brief,
    cut,
    failing,
    need_string,
    need_whole,
    read_bytes,
    read_raw_text,
    same,
)

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")
_MAX_UNPACKED = 128 * 1024 * 1024


@failing(False)
def csv_cell_equals(workspace: Path, path: str, row: int, col: int | str, expected: Any) -> Finding:
    """Whether a cell of a CSV file is the expected text.

    A number as `col` counts all lines, so that row 0 is the header; a name is looked up in the header, and row 0 is
    then the first line of data.
    """
    need_whole("row", row)
    if not isinstance(col, str):
        need_whole("col", col)
    text, note = read_raw_text(workspace, path)
    reader = csv.reader(io.StringIO(text, newline=""))
    place = f"row {row}, column {brief(col)} of {path}"
    try:
        cell = _named(reader, row, col) if isinstance(col, str) else _numbered(reader, row, col)
    except csv.Error as error:
        return Finding(False, f"{path} is no CSV: {error}{note}")
    if cell is None:
        return Finding(False, f"there is no {place}{note}")
    equal = cell == str(expected)
    return Finding(equal, f"{place} is {brief(cell)}{'' if equal else f', not {brief(str(expected))}'}{note}")


def _numbered(reader: Any, row: int, col: int) -> str | None:
    cells: list[str] | None = next((line for at, line in enumerate(reader) if at == row), None)
    return cells[col] if cells is not None and -len(cells) <= col < len(cells) else None


def _named(reader: Any, row: int, col: str) -> str | None:
    lines = (line for line in reader if line)
    header: list[str] = next(lines, [])
    if col not in header:
        return None
    at = len(header) - 1 - header[::-1].index(col)  # of columns with one name, the last
    cells: list[str] | None = next((line for number, line in enumerate(lines) if number == row), None)
    return cells[at] if cells is not None and at < len(cells) else None


@failing(False)
def xlsx_cell_equals(workspace: Path, path: str, cell: str, expected: Any, sheet: str | None = None) -> Finding:
    """Whether a cell of a workbook has the expected value; of a formula, the value that was stored with it.

    Raises:
        MissingExtraError: openpyxl is not installed.
        ValueError: `cell` is not like `B2`, or `sheet` is not a name.
    """
    match = _CELL.fullmatch(need_string("cell", cell))
    if match is None:
        raise ValueError(f"cell must be like 'B2', got {brief(cell)}")
    if sheet is not None:
        need_string("sheet", sheet)
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("xlsx_cell_equals needs openpyxl: pip install 'adjudge[documents]'") from None
    data = read_bytes(workspace, path)
    try:
        _check_size(data)
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        names = list(book.sheetnames)
        if sheet is not None and sheet not in names:
            return Finding(False, f"{path} has no sheet {brief(sheet)}; it has {brief(names)}")
        page = book.active if sheet is None else book[sheet]
        number, column = int(match[2]), _column(match[1])
        rows = page.iter_rows(min_row=number, max_row=number, min_col=column, max_col=column, values_only=True)
        actual = next((values[0] for values in rows if values), None)
    except UnusableError as error:
        return Finding(False, f"{path} {error}")
    except Exception as error:  # whatever a parser does with a hostile file
        return Finding(False, f"{path} cannot be read as a workbook: {type(error).__name__}: {cut(str(error), 150)}")
    place = f"cell {cell} of {path}{'' if sheet is None else f' on the sheet {brief(sheet)}'}"
    equal = same(expected, actual)
    return Finding(equal, f"{place} is {brief(actual)}{'' if equal else f', not {brief(expected)}'}")


def _check_size(data: bytes) -> None:
    """Keep out a small file that unpacks to gigabytes. What unpacks to more than it declares, zipfile refuses."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > _MAX_UNPACKED:
            raise UnusableError("unpacks to more than is read")


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
