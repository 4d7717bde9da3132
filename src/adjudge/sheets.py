"""Sheets that people fill in with a spreadsheet or an editor: CSV or YAML, one row a line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from adjudge.domain import Problem
from adjudge.located import parse_yaml, read_text

MAX_CELL = 10_000_000
"""Characters."""
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a spreadsheet takes for a formula, also behind marks that keep it from doing so."""

Row = dict[str, Any]


def guarded(text: str) -> str:
    """Text that a spreadsheet shows and does not compute. `unguarded` undoes it."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text of a cell that may have been guarded."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def read_sheet(path: Path, needed: Collection[str]) -> tuple[list[tuple[int, Row]], list[Problem]]:
    """(line, row) of each row of a CSV or YAML file with the columns in `needed`, and every problem."""
    file = str(path)
    if path.suffix.lower() not in (".yaml", ".yml"):
        try:
            return _rows_of_csv(path.read_bytes().decode("utf-8-sig"), file, needed)
        except OSError as error:
            return [], [Problem(file=file, message=f"cannot be read: {error.strerror}")]
        except UnicodeDecodeError:
            return [], [Problem(file=file, message="is not UTF-8 text", hint="save it as CSV UTF-8")]
    text = read_text(path, file)
    if isinstance(text, Problem):
        return [], [text]
    root, problems = parse_yaml(text, file)
    if problems or root is None:
        return [], problems
    if not isinstance(root.value, list) or not all(isinstance(node.value, dict) for node in root.value):
        return [], [Problem(file=file, message="expected a list of rows, each a mapping")]
    return [(int(node.line), node.plain()) for node in root.value], []


def _rows_of_csv(text: str, file: str, needed: Collection[str]) -> tuple[list[tuple[int, Row]], list[Problem]]:
    """Commas or semicolons separate the cells."""
    first = text.partition("\n")[0]
    delimiter = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found: list[tuple[int, Row]] = []
    problems: list[Problem] = []
    header: list[str] | None = None
    line = 1
    before = csv.field_size_limit(MAX_CELL)  # of the whole process: what is judged is read by the usual one
    try:
        for cells in reader:
            start, line = line, reader.line_num + 1
            if header is None:
                header = [cell.strip().lower() for cell in cells]
            elif any(cell.strip() for cell in cells):
                if len(cells) > len(header):
                    problems.append(Problem(file=file, line=start, column=1, message="has more cells than columns"))
                found.append((start, dict(zip(header, map(unguarded, cells), strict=False))))
    except csv.Error as error:
        problems.append(Problem(file=file, line=line, column=1, message=f"is no CSV: {error}"))
    finally:
        csv.field_size_limit(before)
    missing = [name for name in needed if name not in (header or ())]
    if missing:
        problems = [Problem(file=file, line=1, column=1, message=f"there is no column {', '.join(missing)}")]
    return found, problems
