"""adjudge flaky"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from adjudge.cli.common import Refused, complain, result_console, store_error
from adjudge.domain import StoreError

if TYPE_CHECKING:
    from adjudge.scoring.flaky import Rerun, Spread


@click.command("flaky")
@click.argument("runs", type=click.Path(path_type=Path, exists=True, file_okay=False), nargs=-1, required=True)
@click.option(
    "--range",
    "most",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    metavar="POINTS",
    help="How far the means of one dimension may lie apart.",
)
@click.option("--quarantine", "write", is_flag=True, help="Put what is flaky into quarantine.json.")
@click.option("--days", type=click.IntRange(1, 366), default=14, show_default=True, help="For how long.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(runs: tuple[Path, ...], most: float, write: bool, days: int, as_json: bool) -> int:
    """Show how far the scores of coding tasks lie apart over three or more RUNS of them. A report, not a gate: exits 0.

    Make the runs with --fresh, each into an --output of its own: answers from the cache do not spread.
    """
    from adjudge.scoring.flaky import LEAST_RERUNS, spreads, unlike

    if len({run.resolve() for run in runs}) < LEAST_RERUNS:
        raise click.UsageError(f"{LEAST_RERUNS} different runs or more are needed to tell what is flaky")
    reruns, root = _reruns(runs)
    if why := unlike(reruns):
        raise click.ClickException(why)
    found = spreads(reruns, most=most)
    if not found:
        raise click.ClickException("there is no task that ran in all of them")
    for name in dict.fromkeys(task for rerun in reruns for task in rerun.tasks):
        if not all(name in rerun.tasks for rerun in reruns):
            complain(f"{name} did not run in all of them, and is left out", colour="yellow")
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1))
    else:
        _print(found)
    if write:
        _write(found, root, days, quiet=as_json)
    return 0


def _reruns(runs: Sequence[Path]) -> tuple[list[Rerun], Path]:
    """The runs, and the folder of tasks that the last of them ran."""
    from adjudge.engine import read_run
    from adjudge.scoring.flaky import Rerun

    made: list[Rerun] = []
    root = Path()
    for run in runs:
        try:
            snapshot, result = read_run(run)
        except StoreError as error:
            raise store_error(error) from None
        if snapshot.tasks is None or snapshot.execution is None:
            raise click.ClickException(f"{run} is no run of coding tasks")
        root = Path(snapshot.execution.project)
        tasks = tuple(stub.id for stub in result.cases)
        made.append(Rerun(name=str(run), rules=snapshot.tasks, tasks=tasks, scores=tuple(result.scores)))
    return made, root


def _print(found: Sequence[Spread]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = result_console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("task", "dimension or hard check", "reruns", "range", "variance", ""):
        table.add_column(heading, overflow="fold")
    for one in sorted(found, key=lambda one: (not one.flaky, -(one.range or 0.0))):
        word = "flaky" if one.flaky else "too few scores" if one.range is None else "stable"
        cells = (one.task, one.dimension, _values(one), _number(one.range), _number(one.variance), word)
        table.add_row(*[Text(cell, style="yellow" if one.flaky else "") for cell in cells])
    console.print(table)


def _values(one: Spread) -> str:
    if one.hard:
        return " ".join("-" if value is None else "passed" if value else "failed" for value in one.values)
    return " ".join(_number(value) for value in one.values)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _write(found: Sequence[Spread], root: Path, days: int, *, quiet: bool) -> None:
    from adjudge.domain import Problem
    from adjudge.formats.golden import QUARANTINE, read_quarantine, write_quarantine
    from adjudge.scoring.flaky import quarantine

    path = root / QUARANTINE
    problems: list[Problem] = []
    today = datetime.datetime.now(tz=datetime.UTC).date()
    now, over = read_quarantine(path, str(path), today, [one.task for one in found], problems)
    if errors := [problem for problem in problems if not problem.warning]:
        raise Refused(errors)
    entries = quarantine(found, [*now, *over], today=today, days=days)
    if entries != (*now, *over):
        write_quarantine(path, entries)
    if not quiet:
        flaky = sum(one.flaky for one in found)
        click.echo(f"wrote {path}: {flaky} flaky" if entries != (*now, *over) else f"{path}: nothing is flaky")
