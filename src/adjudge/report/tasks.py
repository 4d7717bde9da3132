"""Coding tasks beside their baseline: the words that every report uses, and the table on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjudge.domain import TaskCell, TaskRow, TaskTable, Trust, Word
from adjudge.report.words import count, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

QUIET: frozenset[Word | None] = frozenset({Word.SAME, Word.IMPROVED, Word.NEW, None})
_FALLS = frozenset({Word.REGRESSED, Word.NOISE, Word.FLAKY})
_STYLES = {
    Word.FAILED: "bold red",
    Word.MISSING: "bold red",
    Word.REGRESSED: "bold red",
    Word.UNSCORED: "magenta",
    Word.CHANGED: "yellow",
    Word.NOISE: "yellow",
    Word.FLAKY: "yellow",
    Word.ABSTAINED: "dim",
    Word.NEW: "cyan",
    Word.IMPROVED: "green",
    Word.SAME: "dim",
}
_TRUST = {Trust.CALIBRATED: "green", Trust.WEAK: "yellow", Trust.UNCALIBRATED: "yellow"}
MAX_ROWS = 50
"""More tasks than these are shown only where something is to be said of them."""
_TASK_WIDTH, _CELL_WIDTH, _WIDE_CELL_WIDTH = 24, 17, 28
"""Columns of a terminal that a task and a dimension need, the latter with its word below or beside its score."""


def trust(table: TaskTable) -> str:
    """`the judge rubric is uncalibrated: there is no certificate`."""
    return f"the judge {table.judge} is {table.calibration.trust.value}: {table.calibration.reason}"


def caption(table: TaskTable) -> str:
    """`4 tasks: 1 failed, 1 regressed, 2 same`."""
    found = Counter(row.word for row in table.rows)
    words = [f"{found[word]} {word.value}" for word in Word if found[word]]
    words += [f"{found[None]} without a rubric's score"] if found[None] else []
    return f"{count(len(table.rows), 'task', 'tasks')}: {', '.join(words)}"


def gate_rule(table: TaskTable) -> str:
    """What makes a fall a regression, in a sentence."""
    if not table.dimensions:
        return "The rubric's judge was not asked, so that there is no score to compare."
    if not table.compared:
        return "There is no baseline yet: --update-baseline accept writes one."
    if table.against_point:
        return f"A fall of more than {table.max_drop:g} fails. Intervals are at 95%."
    return (
        f"A fall fails when it is larger than {table.max_drop:g} and than what chance makes of equal runs. "
        "Intervals are at 95%."
    )


def scored(cell: TaskCell) -> str:
    """`3.00 was 4.67`, with what there is of it."""
    after = "" if cell.after is None else f"{cell.after:.2f}"
    before = "" if cell.before is None else f"was {cell.before:.2f}"
    return f"{after} {before}".strip()


def fall(cell: TaskCell) -> str:
    """`fell 1.67, 0.91 to 2.43`, the interval at 95%; empty for what did not fall."""
    if cell.word not in _FALLS or cell.drop is None or cell.low is None or cell.high is None:
        return ""
    return f"fell {cell.drop:.2f}, {cell.low:.2f} to {cell.high:.2f}"


def beside(cell: TaskCell) -> str:
    """One cell in a sentence: `regressed: 3.00 was 4.67, fell 1.67, 0.91 to 2.43 (95%)`."""
    parts = [scored(cell), f"{text} (95%)" if (text := fall(cell)) else "", cell.note]
    told = ", ".join(part for part in parts if part)
    return f"{cell.word.value}: {told}" if told else cell.word.value


def remarks(row: TaskRow) -> list[str]:
    """`hard check expected_files failed`, `in quarantine until 2026-01-01`."""
    found = [f"hard check {name} failed" for name in row.hard]
    found += [f"soft check {name} failed" for name in row.soft]
    return found + ([f"in quarantine until {row.quarantined}"] if row.quarantined else [])


def split(table: TaskTable) -> tuple[Sequence[TaskRow], Sequence[TaskRow]]:
    """(rows to show, rows of which there is nothing to say), the latter only where there are many. Where no judge was
    asked, only tasks that failed a check are rows."""
    if not table.dimensions:
        return [row for row in table.rows if row.hard or row.soft], ()
    if len(table.rows) <= MAX_ROWS:
        return table.rows, ()
    told = [row for row in table.rows if row.word not in QUIET or row.soft]
    return told, [row for row in table.rows if row.word in QUIET and not row.soft]


def print_tasks(table: TaskTable, console: Console, *, verbose: bool = False) -> None:
    """Print a row a task and a column a dimension; a line a cell where the terminal is too narrow for that."""
    from rich.text import Text

    shown, rest = (table.rows, ()) if verbose and table.dimensions else split(table)
    console.print(Text(one_line(caption(table)), style="bold"))
    wide = console.width >= _TASK_WIDTH + _CELL_WIDTH * len(table.dimensions)
    if shown or table.overall:
        (_print_matrix if wide else _print_lines)(table, shown, console)
    if rest:
        console.print(Text(f"and {len(rest)} more: new, improved or same; -v shows them", style="dim"))
    console.print(Text(gate_rule(table), style="dim"))
    console.print(Text(one_line(trust(table)), style=_TRUST[table.calibration.trust]))


def _print_matrix(table: TaskTable, rows: Sequence[TaskRow], console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column("task", overflow="fold", min_width=12)
    for name in table.dimensions:
        made.add_column(Text(one_line(name, 60)), overflow="fold", min_width=_CELL_WIDTH - 3)
    beside = console.width >= 2 * _TASK_WIDTH + _WIDE_CELL_WIDTH * len(table.dimensions)
    overall = TaskRow(task="all tasks", cells=table.overall)
    for row in (*rows, *((overall,) if table.overall else ())):
        cells = {cell.dimension: cell for cell in row.cells}
        label = Text(one_line(row.task, 100), style="italic" if row is overall else "")
        for remark in remarks(row):
            label.append(f"\n  {one_line(remark, 100)}", style="yellow")
        made.add_row(label, *[_cell(cells.get(name), " " if beside else "\n") for name in table.dimensions])
    console.print(made)


def _cell(cell: TaskCell | None, between: str) -> Text:
    from rich.text import Text

    if cell is None:
        return Text("-", style="dim")
    text = Text(f"{score}{between}" if (score := scored(cell)) else "")
    text.append(cell.word.value, style=_STYLES[cell.word])
    if told := fall(cell):
        text.append("\n" + (told if between == " " else told.replace(", ", "\n")), style="dim")
    return text


def _print_lines(table: TaskTable, rows: Sequence[TaskRow], console: Console) -> None:
    from rich.text import Text

    for row in rows:
        console.print(Text(one_line(row.task, 100), style="bold"))
        for remark in remarks(row):
            console.print(Text(f"  {one_line(remark, 100)}", style="yellow"))
        _print_cells(row.cells, console)
    if table.overall:
        console.print(Text("all tasks", style="bold"))
        _print_cells(table.overall, console)


def _print_cells(cells: Sequence[TaskCell], console: Console) -> None:
    from rich.text import Text

    for cell in cells:
        text = Text(f"  {one_line(cell.dimension, 60)}: ")
        text.append(cell.word.value, style=_STYLES[cell.word])
        told = ", ".join(part for part in (scored(cell), fall(cell)) if part)
        console.print(text.append(f" {told}" if told else ""))
