"""Sheets that people fill in."""

from __future__ import annotations

import csv
from pathlib import Path

from adjudge.sheets import MAX_CELL, read_sheet


def test_reading_a_sheet_leaves_the_limits_of_the_process_alone(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "a.csv"
    path.write_text(f"case,comment\na,{'x' * 200_000}\n")
    rows, problems = read_sheet(path, ("case",))
    assert not problems
    assert len(rows[0][1]["comment"]) == 200_000
    path.write_text(f"case,comment\na,{'x' * (MAX_CELL + 1)}\n")
    assert "is no CSV" in str(read_sheet(path, ("case",))[1][0])
    assert csv.field_size_limit() == before
