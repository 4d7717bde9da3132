"""The table of coding tasks beside their baseline, in the page."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from adjudge.domain import TaskCell, TaskRow, TaskTable
from adjudge.report import tasks


def task_table(table: TaskTable, cases: Collection[str]) -> dict[str, Any]:
    """What `tasks.html` shows. Tasks that are among `cases` are links to them."""
    shown, rest = tasks.split(table)
    return {
        "caption": tasks.caption(table),
        "rule": tasks.gate_rule(table),
        "trust": table.calibration.trust.value,
        "why": table.calibration.reason,
        "judge": table.judge,
        "dimensions": table.dimensions,
        "shown": [_row(row, table, cases) for row in shown],
        "rest": [_row(row, table, cases) for row in rest],
        "overall": _row(TaskRow(task="", cells=table.overall), table, ()) if table.overall else None,
    }


def _row(row: TaskRow, table: TaskTable, cases: Collection[str]) -> dict[str, Any]:
    cells = {cell.dimension: cell for cell in row.cells}
    return {
        "task": row.task,
        "here": row.task in cases,
        "hard": row.hard,
        "soft": row.soft,
        "quarantined": row.quarantined,
        "cells": [_cell(cells[name], bool(row.quarantined)) if name in cells else None for name in table.dimensions],
    }


def _cell(cell: TaskCell, told: bool) -> dict[str, Any]:
    """One cell; its note is left out where the row has `told` it."""
    return {
        "word": cell.word.value,
        "after": "" if cell.after is None else f"{cell.after:.2f}",
        "before": "" if cell.before is None else f"{cell.before:.2f}",
        "fall": tasks.fall(cell),
        "note": "" if told else cell.note,
    }
